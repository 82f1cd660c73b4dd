import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { acceptsGzip } from '../http/built-files.ts'
import type { View } from './views/model.ts'
import { renderPage } from './views/page.ts'

const pack = promisify(gzip)
/** Compressing an answer of fewer bytes saves no network packet. */
const WORTH_PACKING = 1200

function policyWith(images: string): string {
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${images}; connect-src 'self'; form-action 'self'; base-uri 'none'`
}

/** The headers of every answer of the page (docs/page-protocol.md). */
export function setPageHeaders(reply: FastifyReply): void {
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

/** Answers a view as HTML, compressed if the browser accepts it. */
export async function sendView(reply: FastifyReply, view: View, status = 200): Promise<FastifyReply> {
  const markup = renderPage(view)
  reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('Content-Language', view.page.locale)
    .header('Vary', 'Accept-Encoding')
  if (markup.length < WORTH_PACKING || !acceptsGzip(reply.request)) return reply.send(markup)
  return reply.header('Content-Encoding', 'gzip').send(await pack(markup, { level: 5 }))
}
