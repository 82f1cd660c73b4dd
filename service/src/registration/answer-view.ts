import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { acceptsGzip } from '../http/built-files.ts'
import { document, type View } from './views/layout.ts'

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
