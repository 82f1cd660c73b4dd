// Sends prefills at a steady rate, whether earlier ones are answered or not, from a process of its own. Each stream
// has a partner's headers, a rate, and as many connections as it needs up to a limit. Times count from the instant
// at which a request was due, so that waiting for a connection is not hidden.
//   echo '{"address":…,"seconds":…,"streams":[{"name":…,"head":…,"perSecond":…,"connections":…}]}' | node bench/flood.mjs
// Prints for each stream
// {"drainedMs","offered","unsent","goodput","statuses","retryAfter","connections","milliseconds"}.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { millisecondsOf, person, readAnswer } from './generator.mjs'

const { address, seconds, streams } = JSON.parse(await text(process.stdin))
const { hostname, port } = new URL(address)
const DRAIN_MS = 10_000

const rest = JSON.stringify(person).slice(1)
function requestText(head, userid) {
  const body = `{"userid":"${userid}",${rest}`
  return `${head}Version: v2\r\nIdempotency-Key: ${userid}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function openStream({ name, head, perSecond, connections }) {
  const idle = []
  const waiting = []
  const counts = { offered: 0, unsent: 0, goodput: 0, retryAfter: 0, lost: 0 }
  const statuses = {}
  const times = []
  let open = 0
  let begun = 0
  let most = 0
  let isOver = false

  const begin = (line, dueAt) => {
    line.dueAt = dueAt
    line.isBusy = true
    begun += 1
    line.socket.write(requestText(head, `${name}-${begun}`))
  }
  const free = line => {
    line.isBusy = false
    const dueAt = waiting.shift()
    if (dueAt !== undefined) begin(line, dueAt)
    else idle.push(line)
  }
  const dial = dueAt => {
    const line = { socket: connect(Number(port), hostname), isBusy: true, dueAt, received: Buffer.alloc(0) }
    open += 1
    most = Math.max(most, open)
    line.socket.setNoDelay(true)
    line.socket.on('connect', () => begin(line, dueAt))
    line.socket.on('data', chunk => {
      line.received = line.received.length === 0 ? chunk : Buffer.concat([line.received, chunk])
      const answer = readAnswer(line.received)
      if (!answer) return
      line.received = line.received.subarray(answer.total)
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      if (answer.hasRetryAfter) counts.retryAfter += 1
      if (answer.status === '200') {
        times.push(performance.now() - line.dueAt)
        if (!isOver) counts.goodput += 1
      }
      line.isBusy = false
      if (answer.isLast) line.socket.destroy()
      else free(line)
    })
    line.socket.on('error', () => {})
    line.socket.on('close', () => {
      open -= 1
      if (line.isBusy) counts.lost += 1
      const at = idle.indexOf(line)
      if (at >= 0) idle.splice(at, 1)
    })
  }
  return {
    /** Sends the requests that are due by now. */
    offer(elapsedMs, now) {
      const due = (elapsedMs / 1000) * perSecond
      for (; counts.offered < due; counts.offered += 1) {
        const line = idle.pop()
        if (line) begin(line, now)
        else if (open < connections) dial(now)
        // A request waits when every connection is busy, like requests of a real connection pool.
        else if (waiting.length < connections) waiting.push(now)
        else counts.unsent += 1
      }
    },
    end() {
      isOver = true
      counts.unsent += waiting.length
      waiting.length = 0
    },
    isBusy: () => open > idle.length,
    result() {
      const milliseconds = millisecondsOf(times, 0)
      const drainedMs = Math.round(performance.now() - endedAt)
      return {
        name,
        drainedMs,
        ...counts,
        goodput: counts.goodput / seconds,
        statuses,
        connections: most,
        milliseconds,
      }
    },
  }
}

const opened = streams.map(openStream)
const startedAt = performance.now()
await new Promise(resolve => {
  const timer = setInterval(() => {
    const now = performance.now()
    if (now - startedAt < seconds * 1000) {
      for (const stream of opened) stream.offer(now - startedAt, now)
      return
    }
    clearInterval(timer)
    for (const stream of opened) stream.end()
    resolve()
  }, 2)
})
const endedAt = performance.now()
while (opened.some(stream => stream.isBusy()) && performance.now() - endedAt < DRAIN_MS)
  await new Promise(resolve => setTimeout(resolve, 20))
process.stdout.write(`${JSON.stringify(opened.map(stream => stream.result()))}\n`, () => process.exit(0))
