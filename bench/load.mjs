// A load generator as a process of its own, so that it shares no event loop with what it measures. It speaks HTTP/1.1
// on plain sockets, one request at a time on each: what the generator costs, the measured server does not get.
//   node bench/load.mjs '{"address":…,"connections":…,"seconds":…,"head":…,"kind":…,…}'
// Prints {"requests","seconds","statuses","bytes","milliseconds":{"median","p99"}}.
import { connect } from 'node:net'

const { address, connections, seconds, head, kind, name, users } = JSON.parse(process.argv[2] ?? '{}')
const { hostname, port } = new URL(address)

let count = 0
const address1 = {
  ...{ addline1: '12 Ocean Drive', addline2: '', addline3: '', city: 'Miami' },
  ...{ state: 'FL', zipcode: '33101' },
}
const person = {
  ...{ firstname: 'Ada', lastname: 'Rivera', email: 'ada.rivera@example.com', zipcode: '33101' },
  ...{ dob: '1990-03-27', phone: '3055550142', gender: 'F', address: address1 },
}
const makers = {
  // A new user and a new key each time.
  prefill: () => {
    count += 1
    const userid = `${name}-${count}`
    return {
      body: JSON.stringify({ userid, ...person }),
      more: `Version: v2\r\nIdempotency-Key: ${userid}\r\n`,
    }
  },
  benefits: () => {
    count += 1
    const asked = { age: 36, state: 'FL', zipcode: '33101', partnername: '', offername: '' }
    return { body: JSON.stringify({ userid: users[count % users.length], ...asked }), more: '' }
  },
}

const requestText = () => {
  const { body, more } = makers[kind]()
  return `${head}${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

const statuses = {}
const times = []
let requests = 0
let bytes = 0
const startedAt = performance.now()
const endsAt = startedAt + seconds * 1000

/** Reads one whole answer out of what has come; gives its status and length, or undefined. */
const readAnswer = received => {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const text = received.latin1Slice(0, end)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
  const total = end + 4 + length
  const isLast = /\r\nconnection: close/i.test(text)
  return received.length < total ? undefined : { status: text.slice(9, 12), total, isLast }
}

const talk = () =>
  new Promise(resolve => {
    const socket = connect(Number(port), hostname)
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
      // The server says so with the last of a thousand requests: what is sent after it is not served.
      if (answer.isLast) socket.destroy()
      else if (now < endsAt) send()
      else socket.end()
    })
    socket.on('close', () => (performance.now() < endsAt ? resolve(talk()) : resolve()))
    socket.on('error', () => {})
  })

await Promise.all(Array.from({ length: connections }, talk))
times.sort((a, b) => a - b)
const at = share => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10
const result = {
  requests,
  seconds: (performance.now() - startedAt) / 1000,
  statuses,
  bytes,
  milliseconds: { median: at(0.5), p99: at(0.99) },
}
process.stdout.write(`${JSON.stringify(result)}\n`)
