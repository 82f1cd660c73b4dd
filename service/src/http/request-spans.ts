import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { OpenSpan, Tracing } from '../tracing.ts'
import { traceparentOf } from './trace-context.ts'

/**
 * Makes a span of each request from its first hook to the end of its answer, as a part of its caller's trace. From then on the
 * request's `traceparent` is that of the span, so that the log names its trace, and webhooks carry it on. `nameOf` is the pattern of
 * a route; `undefined`: its requests get no span.
 */
export function traceRequests(
  app: FastifyInstance,
  tracing: Tracing,
  nameOf: (route: FastifyRequest['route']) => string | undefined,
): void {
  const open = new WeakMap<FastifyRequest, OpenSpan>()
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, headers } = request
    const route = nameOf(request.routeOptions.config)
    if (route === undefined) return done()
    const own = tracing.begin({
      name: `${method} ${route}`,
      kind: 'SERVER',
      attributes: { 'http.request.method': method, 'http.route': route },
      under: traceparentOf(headers),
    })
    open.set(request, own)
    request.raw.headers['traceparent'] = own.traceparent
    own.within(done)
  })
  // A body arrives in events of its connection, which know nothing of the request.
  app.addHook('onRoute', route => {
    const { handler } = route
    route.handler = function handleTraced(request, reply) {
      const own = open.get(request)
      return own ? own.within(() => handler.call(this, request, reply)) : handler.call(this, request, reply)
    }
  })
  app.addHook('onResponse', (request, { statusCode }, done) => {
    const own = open.get(request)
    own?.span.setAttribute('http.response.status_code', statusCode)
    own?.end(statusCode >= 500 ? `${statusCode}` : undefined)
    done()
  })
}
