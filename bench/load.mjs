// A load generator, in a process of its own so that it shares no event loop with the server that it measures. It
// sends HTTP/1.1 over plain sockets, one request at a time on each, to take as little processor time from the
// server as possible.
//   echo '{"address":…,"connections":…,"seconds":…,"kind":…,"partners":[{"token":…,"apikey":…}],…}' | node bench/load.mjs
// With `requests` it runs until that many are answered, for a minute
// at most. `addresses` names several processes, which get equal shares of the connections; `head` is a complete request
// head to send as it is.
// Prints {"requests","seconds","statuses","bytes","milliseconds":{"median","p99"}}.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { millisecondsOf, person, readAnswer } from './generator.mjs'

const job = JSON.parse(await text(process.stdin))
const { connections, seconds, head, kind, name, partners = [] } = job
const { prefix = '', from = 0, users = 1, stride = 1 } = job
const atLeast = job.requests ?? 0
const targets = (job.addresses ?? [job.address]).map(address => new URL(address))

let count = 0
const residence = { age: 36, state: 'FL', zipcode: '33101', partnername: '', offername: '' }
const elsewhere = [
  { state: 'FL', zipcode: '33101' },
  { state: 'CA', zipcode: '90001' },
  { state: 'NY', zipcode: '10001' },
  { state: 'TX', zipcode: '73301' },
]
/** The name of the next of `users` existing users, over and over, starting at number `from`, in steps of `stride`. */
function known() {
  return `${prefix}-${(from + count * stride) % users}`
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
  // The same request again and again: `head`, and a body if it has one.
  same: () => ({ body: job.body ?? '', more: '' }),
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
const result = {
  requests,
  seconds: (performance.now() - startedAt) / 1000,
  statuses,
  bytes,
  milliseconds: millisecondsOf(times, 3),
}
process.stdout.write(`${JSON.stringify(result)}\n`)
