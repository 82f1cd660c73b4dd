import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from '../../http/built-files.ts'
import { ServiceError } from '../../http/service-error.ts'
import { document, type View } from '../views/layout.ts'
import type { Exchange, PageRoutes } from './page-context.ts'

/** Mounts routes with the headers of the page, closed to other sites; `fail` answers what they throw. */
export function mountGuarded(
  app: FastifyInstance,
  routes: PageRoutes,
  {
    mount,
    fail,
  }: {
    readonly mount: (scope: FastifyInstance) => void
    readonly fail: (exchange: Exchange, error: unknown) => Promise<FastifyReply>
  },
): void {
  void app.register(async scope => {
    scope.addHook('onRequest', async (request, reply) => {
      setPageHeaders(reply)
      checkSender(request, new URL(routes.context.baseUrl()).origin)
    })
    scope.setErrorHandler((error, _, reply) => fail({ ...routes, reply }, error))
    mount(scope)
  })
}

/**
 * Refuses requests from other sites, because forms of the page come from our own origin. Browsers that send no referrer
 * send `Origin: null` even with our own forms; then `Sec-Fetch-Site` decides. Throws `insufficient_scope`.
 */
function checkSender(request: FastifyRequest, own: string): void {
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const isForeign = site === 'cross-site' || (!isRead && site === 'same-site')
  const isOtherOrigin = origin !== undefined && origin !== 'null' && origin !== own
  // A link and the frame are meant to be opened from other sites.
  const mayBeOpened = isRead && request.route.opensFromElsewhere === true
  if ((isForeign || isOtherOrigin) && !mayBeOpened) throw new ServiceError('insufficient_scope')
}

declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyContextConfig {
    /** Other sites may link to this route. */
    opensFromElsewhere?: boolean
  }
}

function policyWith(images: string): string {
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${images}; connect-src 'self'; form-action 'self'; base-uri 'none'`
}

/** The headers of every answer of the page (docs/page-protocol.md). */
function setPageHeaders(reply: FastifyReply): void {
  reply
    .header('Content-Security-Policy', `${policyWith("'self'")}; frame-ancestors 'none'`)
    .header('Cross-Origin-Resource-Policy', 'same-origin')
    .header('Cache-Control', 'no-store')
    .header('Referrer-Policy', 'no-referrer')
}

/**
 * The headers of the frame: only these origins may embed it; with an empty list, no site may. A look may contain a
 * logo.
 */
export function setFrameHeaders(reply: FastifyReply, origins: readonly string[]): void {
  setPageHeaders(reply)
  const ancestors = origins.length > 0 ? origins.join(' ') : "'none'"
  reply
    .header('Content-Security-Policy', `${policyWith("'self' data:")}; frame-ancestors ${ancestors}`)
    .header('Cross-Origin-Embedder-Policy', 'require-corp')
    .header('Cross-Origin-Resource-Policy', 'cross-origin')
}

/** What each 401 of the service carries (contract §3); a browser does not know the scheme, and shows the page. */
export const challenge = { 'WWW-Authenticate': 'Bearer' } as const

const pack = promisify(gzip)

/** Compressing an answer of fewer bytes saves no network packet. */
const WORTH_PACKING = 1200

/** Answers a view as HTML, compressed if the browser accepts it. */
export async function sendView(reply: FastifyReply, view: View, status = 200): Promise<FastifyReply> {
  const markup = document(view)
  reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('Content-Language', view.page.locale)
    .header('Vary', 'Accept-Encoding')
  if (markup.length < WORTH_PACKING || !acceptsGzip(reply.request)) return reply.send(markup)
  return reply.header('Content-Encoding', 'gzip').send(await pack(markup, { level: 5 }))
}
