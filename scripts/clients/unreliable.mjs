// Stands between a walk and the service as a bad day would: each write that has a key is answered 503 the first time, and a
// token counts as expired at once. GET /seen says how many tokens were fetched, and how many writes were sent again.
//   node scripts/clients/unreliable.mjs http://127.0.0.1:8080

import { createServer, request as requestHttp } from 'node:http'
import { exampleProblem } from '../../contract/dist/index.js'

const target = new URL(process.argv[2])
const keys = new Set()
const seen = { tokens: 0, repeated: 0 }

const server = createServer((request, response) => {
  if (request.url === '/seen') return response.end(JSON.stringify(seen))
  const key = request.headers['idempotency-key']
  if (key !== undefined && !keys.has(key)) {
    keys.add(key)
    request.resume()
    response.writeHead(503, { 'retry-after': '0', 'content-type': 'application/problem+json; charset=utf-8' })
    return response.end(JSON.stringify(exampleProblem('unavailable', target.origin)))
  }
  if (key !== undefined) seen.repeated += 1
  const isToken = request.url === '/oauth2/token'
  const { hostname, port } = target
  const options = { hostname, port, path: request.url, method: request.method, headers: request.headers }
  request.pipe(
    requestHttp(options, async answer => {
      const chunks = []
      for await (const chunk of answer) chunks.push(chunk)
      let body = Buffer.concat(chunks)
      if (isToken && answer.statusCode === 200) {
        seen.tokens += 1
        body = Buffer.from(JSON.stringify({ ...JSON.parse(body), expires_in: 5 }))
      }
      const { 'content-length': _, 'transfer-encoding': __, ...headers } = answer.headers
      response.writeHead(answer.statusCode, { ...headers, 'content-length': body.length }).end(body)
    }),
  )
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
