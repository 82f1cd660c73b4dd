import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A file for browsers that scripts/build-browser.mjs built. */
export type BuiltFile = { readonly plain: Buffer; readonly packed: Buffer; readonly type: string }

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The folder in which the build leaves the files of the page and of the console. */
export const builtFolder = new URL('../../dist/page/', import.meta.url)

/** Reads the description that the build wrote of its files; rejects when nothing was built. */
export async function readManifest<T>(folder: URL): Promise<T> {
  return JSON.parse(await readFile(new URL('manifest.json', folder), 'utf8'))
}

/** Reads a built file; rejects when it is not there. */
export async function readBuiltFile(folder: URL, name: string): Promise<BuiltFile> {
  const plain = await readFile(new URL(name, folder))
  const type = types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
  return { plain, packed: gzipSync(plain, { level: 9 }), type }
}

/** Sends a built file, compressed if the browser accepts it. Its name changes with its content, so caches keep it forever. */
export function sendBuiltFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, cache }: { file: BuiltFile; cache: 'public' | 'private' },
): FastifyReply {
  const isPacked = acceptsGzip(request)
  if (isPacked) reply.header('Content-Encoding', 'gzip')
  return reply
    .header('Vary', 'Accept-Encoding')
    .header('Cache-Control', `${cache}, max-age=31536000, immutable`)
    .type(file.type)
    .send(isPacked ? file.packed : file.plain)
}

/** Whether a browser accepts gzip, as all do. */
export function acceptsGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b/.test(headers['accept-encoding'] ?? '')
}
