import { createServer } from 'node:http'
import { OperatorError } from '../operator-error.ts'

/** Where the operator's listener for metrics listens. */
type MetricsAddress = { readonly host: string; readonly port: number | undefined }

/**
 * Starts the operator's listener with `GET /metrics`, and returns a function that closes it; without a port nothing
 * listens. Throws OperatorError when it cannot listen there.
 */
export async function startMetricsListener(
  { host, port }: MetricsAddress,
  source: { metrics(): Promise<string> },
): Promise<() => Promise<void>> {
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
    server.once('error', (error: Error & { code?: string }) =>
      reject(
        new OperatorError(
          error.code === 'EADDRINUSE'
            ? `ENROLMENT_METRICS_PORT ${port} is taken: give another port, or none.`
            : `The metrics cannot be served on ${host}:${port} (${error.code}): give another ENROLMENT_METRICS_HOST or ENROLMENT_METRICS_PORT.`,
        ),
      ),
    )
    server.listen(port, host, resolve)
  })
  return () =>
    new Promise(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
}
