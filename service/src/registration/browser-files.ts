import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../http/service-error.ts'
import { parseThemeQuery, themeCss } from '../look/theme.ts'

/** The description that scripts/build-browser.mjs writes of the files that it built. */
type Manifest = {
  readonly script: string
  readonly stylesheet: string
  readonly icon: string
  readonly embed: DropInFile
  /** Earlier versions of the drop-in: an address that partners were given keeps its content. */
  readonly released: readonly DropInFile[]
}
type DropInFile = { readonly version: string; readonly file: string; readonly integrity: string }

/** The addresses of what browsers load, and the drop-in's version and integrity. */
export type BrowserFiles = {
  readonly script: string
  readonly stylesheet: string
  readonly icon: string
  readonly dropIn: { readonly address: string; readonly version: string; readonly integrity: string }
}

type Served = { readonly plain: Buffer; readonly packed: Buffer; readonly type: string }

const built = new URL('../../dist/page/', import.meta.url)
const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}
const forEver = 'public, max-age=31536000, immutable'

/** Reads the built files of a folder once; rejects when nothing was built. */
export function openBrowserFiles(basePath: string, folder: URL = built) {
  const served = new Map<string, Served>()
  const dropIns = new Map<string, string>()
  let opened: Promise<BrowserFiles> | undefined

  const open = async (): Promise<BrowserFiles> => {
    const manifest: Manifest = JSON.parse(await readFile(new URL('manifest.json', folder), 'utf8'))
    const { embed, released } = manifest
    for (const { version, file } of [...released, embed]) dropIns.set(`${version}/${embed.file}`, file)
    for (const name of [manifest.script, manifest.stylesheet, manifest.icon, ...dropIns.values()]) {
      const plain = await readFile(new URL(name, folder))
      const type = types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
      served.set(name, { plain, packed: gzipSync(plain, { level: 9 }), type })
    }
    return {
      script: `${basePath}/page/${manifest.script}`,
      stylesheet: `${basePath}/page/${manifest.stylesheet}`,
      icon: `${basePath}/page/${manifest.icon}`,
      dropIn: {
        address: `${basePath}/embed/${embed.version}/${embed.file}`,
        version: embed.version,
        integrity: embed.integrity,
      },
    }
  }
  const files = (): Promise<BrowserFiles> => {
    opened ??= open().catch(error => {
      opened = undefined
      throw error
    })
    return opened
  }

  const send = (request: FastifyRequest, reply: FastifyReply, name: string) => {
    const found = served.get(name)
    if (!found) throw new ServiceError('not_found')
    const isPacked = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    if (isPacked) reply.header('Content-Encoding', 'gzip')
    return reply
      .header('Vary', 'Accept-Encoding')
      .header('X-Content-Type-Options', 'nosniff')
      .header('Cache-Control', forEver)
      .type(found.type)
      .send(isPacked ? found.packed : found.plain)
  }

  /** Mounts the files; the drop-in may be loaded by any site, with an integrity attribute. */
  const mount = (app: FastifyInstance): void => {
    app.get(`${basePath}/page/theme.css`, async (request, reply) => {
      const [, query = ''] = request.url.split('?', 2)
      const checked = parseThemeQuery(new URLSearchParams(query))
      return reply
        .code(checked.ok ? 200 : 400)
        .header('X-Content-Type-Options', 'nosniff')
        .header('Cache-Control', checked.ok ? forEver : 'no-store')
        .header('Cross-Origin-Resource-Policy', 'same-origin')
        .type('text/css; charset=utf-8')
        .send(checked.ok ? themeCss(checked.theme) : '')
    })
    app.get(`${basePath}/page/:file`, async (request, reply) => {
      const { script, stylesheet, icon } = await files()
      const { file } = request.params as { file: string }
      if (![script, stylesheet, icon].includes(`${basePath}/page/${file}`))
        throw new ServiceError('not_found')
      reply.header('Cross-Origin-Resource-Policy', 'same-origin')
      return send(request, reply, file)
    })
    app.get(`${basePath}/embed/:version/:file`, async (request, reply) => {
      await files()
      const { version, file } = request.params as { version: string; file: string }
      const name = dropIns.get(`${version}/${file}`)
      if (!name) throw new ServiceError('not_found')
      reply.header('Cross-Origin-Resource-Policy', 'cross-origin').header('Access-Control-Allow-Origin', '*')
      return send(request, reply, name)
    })
    app.get(`${basePath}/embed/`, async (_request, reply) => {
      const { dropIn } = await files()
      const { version, integrity } = dropIn
      return reply
        .header('Cache-Control', 'no-cache')
        .type('application/json; charset=utf-8')
        .send(JSON.stringify({ version, path: dropIn.address, integrity }))
    })
  }
  return { files, mount }
}
