import { createServer } from 'node:http'
import { OperatorError } from '../operator-error.ts'

/** Starts the operator's listener on loopback with `GET /metrics`; without a port there is none. Gives what ends it. */
export const startMetricsListener = async (
  port: number | undefined,
  source: { metrics(): Promise<string> },
): Promise<() => Promise<void>> => {
  if (port === undefined) return async () => {}
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    source.metrics().then(
      text =>
        response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text),
      () => response.writeHead(503).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', () =>
      reject(new OperatorError(`ENROLMENT_METRICS_PORT ${port} is taken: give another port, or none.`)),
    )
    server.listen(port, '127.0.0.1', resolve)
  })
  return () =>
    new Promise(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
}
