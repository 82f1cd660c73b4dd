// The yardstick for the cost of HTTP in Node: reads the body of every request and answers BENCH_ANSWER (base64).
import { createServer } from 'node:http'

const body = Buffer.from(process.env.BENCH_ANSWER ?? '', 'base64')
const server = createServer((request, response) => {
  const chunks = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
    })
    response.end(body)
  })
})
process.on('SIGTERM', () => process.exit(0))
await new Promise(resolve => server.listen(0, '127.0.0.1', 4096, resolve))
process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`)
