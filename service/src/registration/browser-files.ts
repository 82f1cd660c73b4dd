import type { FastifyInstance } from 'fastify'
import {
  type BuiltFile,
  builtFolder,
  readBuiltFile,
  readManifest,
  sendBuiltFile,
} from '../http/built-files.ts'
import { queryIn } from '../http/form.ts'
import { ServiceError } from '../http/service-error.ts'
import { lookCss, parseLookQuery } from '../look/look.ts'

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

const forEver = 'public, max-age=31536000, immutable'

/** Reads the built files of a folder once; rejects when nothing was built. */
export function openBrowserFiles(basePath: string, folder: URL = builtFolder) {
  const served = new Map<string, BuiltFile>()
  const dropIns = new Map<string, string>()
  let opened: Promise<BrowserFiles> | undefined

  const open = async (): Promise<BrowserFiles> => {
    const manifest = await readManifest<Manifest>(folder)
    const { embed, released } = manifest
    for (const { version, file } of [...released, embed]) dropIns.set(`${version}/${embed.file}`, file)
    for (const name of [manifest.script, manifest.stylesheet, manifest.icon, ...dropIns.values()])
      served.set(name, await readBuiltFile(folder, name))
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

  /** Mounts the files; the drop-in may be loaded by any site, with an integrity attribute. */
  const mount = (app: FastifyInstance): void => {
    app.get(`${basePath}/page/look.css`, async (request, reply) => {
      const checked = parseLookQuery(queryIn(request.url))
      return reply
        .code(checked.ok ? 200 : 400)
        .header('Cache-Control', checked.ok ? forEver : 'no-store')
        .header('Cross-Origin-Resource-Policy', 'same-origin')
        .type('text/css; charset=utf-8')
        .send(checked.ok ? lookCss(checked.look) : '')
    })
    app.get(`${basePath}/page/:file`, async (request, reply) => {
      const { script, stylesheet, icon } = await files()
      const { file } = request.params as { file: string }
      const found = served.get(file)
      if (!found || ![script, stylesheet, icon].includes(`${basePath}/page/${file}`))
        throw new ServiceError('not_found')
      reply.header('Cross-Origin-Resource-Policy', 'same-origin')
      return sendBuiltFile(request, reply, { file: found, cache: 'public' })
    })
    app.get(`${basePath}/embed/:version/:file`, async (request, reply) => {
      await files()
      const { version, file } = request.params as { version: string; file: string }
      const found = served.get(dropIns.get(`${version}/${file}`) ?? '')
      if (!found) throw new ServiceError('not_found')
      reply.header('Cross-Origin-Resource-Policy', 'cross-origin').header('Access-Control-Allow-Origin', '*')
      return sendBuiltFile(request, reply, { file: found, cache: 'public' })
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
