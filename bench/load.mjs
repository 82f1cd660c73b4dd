// A load generator, in a process of its own so that it shares no event loop with the server that it measures. It
// sends HTTP/1.1 over plain sockets, one request at a time on each, to take as little processor time from the
// server as possible.
//   node bench/load.mjs '{"address":…,"connections":…,"seconds":…,"kind":…,"partners":[{"token":…,"apikey":…}],…}'
// Without an argument the same comes by standard input. With `requests` it runs until that many are answered, for a minute
// at most. `addresses` names several processes, which get equal shares of the connections; `head` is a complete request
// head to send as it is.
// Prints {"requests","seconds","statuses","bytes","milliseconds":{"median","p99"}}.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

const job = JSON.parse(process.argv[2] ?? (await text(process.stdin)))
const { connections, seconds, head, kind, name, partners = [], prefix = '', from = 0, users = 1 } = job
const atLeast = job.requests ?? 0
const targets = (job.addresses ?? [job.address]).map(address => new URL(address))

let count = 0
const address1 = {
  addline1: '12 Ocean Drive',
  addline2: '',
  addline3: '',
  city: 'Miami',
  state: 'FL',
  zipcode: '33101',
}
const person = {
  firstname: 'Ada',
  lastname: 'Rivera',
  email: 'ada.rivera@example.com',
  zipcode: '33101',
  dob: '1990-03-27',
  phone: '3055550142',
  gender: 'F',
  address: address1,
}
const residence = { age: 36, state: 'FL', zipcode: '33101', partnername: '', offername: '' }
const elsewhere = [
  { state: 'FL', zipcode: '33101' },
  { state: 'CA', zipcode: '90001' },
  { state: 'NY', zipcode: '10001' },
  { state: 'TX', zipcode: '73301' },
]
/** The name of the next of `users` existing users, over and over, starting at number `from`. */
function known() {
  return `${prefix}-${(from + count) % users}`
}
function json(path, body, more = '') {
  return { path, body: JSON.stringify(body), more }
}

const makers = {
  // A new user and a new key for each request.
  prefill: () => {
    const userid = `${name}-${count - 1}`
    return json('/user/prefill', { userid, ...person }, `Version: v2\r\nIdempotency-Key: ${userid}\r\n`)
  },
  // Keys that have been used before.
  repeats: () => {
    const userid = known()
    return json('/user/prefill', { userid, ...person }, `Version: v2\r\nIdempotency-Key: ${userid}\r\n`)
  },
  v1: () => json('/user/prefill', { userid: `${name}-${count}`, ...person }),
  benefits: () => json('/user/benefits', { userid: known(), ...residence }),
  // Ages and places vary, as they do when people look around, so that remembered answers help less.
  varied: () => {
    const place = elsewhere[count % elsewhere.length]
    return json('/user/benefits', { userid: known(), ...residence, age: 20 + (count % 40), ...place })
  },
  create: () =>
    json('/user/account/create', {
      userid: `${name}-${count}`,
      ...person,
      offername: 'starter',
      benefits: ['telehealth'],
    }),
  token: () => ({ path: '/oauth2/token', body: 'grant_type=client_credentials', more: '' }),
  // A small request with 20,000 faults.
  wrong: () => ({ path: '/user/account/create', body: manyFaults, more: '' }),
  // A public page; `head` says which.
  page: () => ({ body: '', more: '' }),
  mix: () => makers[count % 10 < 6 ? 'benefits' : count % 10 < 9 ? 'prefill' : 'create'](),
}

function headFor(path) {
  const { token, apikey, basic } = partners[count % partners.length]
  const isToken = path === '/oauth2/token'
  return [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${isToken ? `Basic ${basic}` : `Bearer ${token}`}`,
    `x-api-key: ${apikey}`,
    `Content-Type: ${isToken ? 'application/x-www-form-urlencoded' : 'application/json'}\r\n`,
  ].join('\r\n')
}
const manyFaults = `{"userid":"zz","consents":[${'{},'.repeat(20_000)}{}]}`

function requestText() {
  count += 1
  const { path, body, more } = makers[kind]()
  return `${head ?? headFor(path)}${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

const statuses = {}
const times = []
let requests = 0
let bytes = 0
const startedAt = performance.now()
function goesOn(now) {
  return now < startedAt + seconds * 1000 || (requests < atLeast && now < startedAt + 60_000)
}

/** Reads one complete answer from the received bytes; returns its status and length, or undefined. */
function readAnswer(received) {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const text = received.latin1Slice(0, end)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
  const total = end + 4 + length
  const isLast = /\r\nconnection: close/i.test(text)
  return received.length < total ? undefined : { status: text.slice(9, 12), total, isLast }
}

function talk(target) {
  return new Promise(resolve => {
    const socket = connect(Number(target.port), target.hostname)
    let received = Buffer.alloc(0)
    let sentAt = 0
    const send = () => {
      sentAt = performance.now()
      socket.write(requestText())
    }
    socket.setNoDelay(true)
    socket.on('connect', send)
    socket.on('data', chunk => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const answer = readAnswer(received)
      if (!answer) return
      received = received.subarray(answer.total)
      const now = performance.now()
      times.push(now - sentAt)
      requests += 1
      bytes = answer.total
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      // The server announces the close with the last of a thousand answers; a request sent after it would not be
      // answered.
      if (answer.isLast) socket.destroy()
      else if (goesOn(now)) send()
      else socket.end()
    })
    socket.on('close', () => (goesOn(performance.now()) ? resolve(talk(target)) : resolve()))
    socket.on('error', () => {})
  })
}

await Promise.all(Array.from({ length: connections }, (_, at) => talk(targets[at % targets.length])))
times.sort((a, b) => a - b)
function at(share) {
  return Math.round((times[Math.floor(times.length * share)] ?? 0) * 1000) / 1000
}
const result = {
  requests,
  seconds: (performance.now() - startedAt) / 1000,
  statuses,
  bytes,
  milliseconds: { median: at(0.5), p99: at(0.99) },
}
process.stdout.write(`${JSON.stringify(result)}\n`)
