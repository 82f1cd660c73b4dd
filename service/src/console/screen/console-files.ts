import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'

/** The files that a browser loads for the console, by their addresses. */
export type ConsoleFiles = {
  readonly script: string
  readonly stylesheet: string
  readonly icon: string
  readonly served: ReadonlyMap<
    string,
    { readonly packed: Buffer; readonly plain: Buffer; readonly type: string }
  >
}

type Manifest = {
  readonly icon: string
  readonly console: { readonly script: string; readonly stylesheet: string }
}

const built = new URL('../../../dist/page/', import.meta.url)
const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Reads the files that scripts/build-browser.mjs built for the console; rejects when nothing was built. */
export async function readConsoleFiles(folder: URL = built): Promise<ConsoleFiles> {
  const manifest: Manifest = JSON.parse(await readFile(new URL('manifest.json', folder), 'utf8'))
  const names = [manifest.console.script, manifest.console.stylesheet, manifest.icon] as const
  const served = new Map<string, { packed: Buffer; plain: Buffer; type: string }>()
  for (const name of names) {
    const plain = await readFile(new URL(name, folder))
    const type = types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    served.set(`/files/${name}`, { plain, packed: gzipSync(plain, { level: 9 }), type })
  }
  const [script, stylesheet, icon] = names
  return {
    script: `/files/${script}`,
    stylesheet: `/files/${stylesheet}`,
    icon: `/files/${icon}`,
    served,
  }
}
