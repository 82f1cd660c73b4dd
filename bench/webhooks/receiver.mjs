// The partner's side: a plain node:http server in a process of its own, the same for every system. It answers 200
// at once, or after a while at /slow/…, and notes when each key first arrived, by the clock that all processes
// share.
import { createServer } from 'node:http'

const slowMs = Number(process.argv[2])
const arrivals = new Map()
let goal = Number.POSITIVE_INFINITY
let repeats = 0
function now() {
  return Number(process.hrtime.bigint()) / 1e6
}

const server = createServer((request, response) => {
  const at = now()
  const key = request.headers['idempotency-key']
  if (arrivals.has(key)) repeats += 1
  else arrivals.set(key, { at, url: request.url })
  request.resume()
  request.on('end', () => {
    const answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end('"received"')
    if (request.url.startsWith('/slow/')) setTimeout(answer, slowMs)
    else answer()
  })
  if (arrivals.size >= goal) {
    goal = Number.POSITIVE_INFINITY
    process.send({ reached: at })
  }
})

process.on('message', message => {
  if (message.do === 'expect') {
    arrivals.clear()
    repeats = 0
    goal = message.count ?? Number.POSITIVE_INFINITY
    process.send({ cleared: true })
  }
  if (message.do === 'report') {
    const rows = message.keys.map(key => arrivals.get(key)?.at ?? null)
    process.send({ arrivals: rows, received: arrivals.size, repeats })
  }
})
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () =>
  process.send({ address: `http://127.0.0.1:${server.address().port}` }),
)
