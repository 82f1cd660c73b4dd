// Loads TypeScript sources into a script, bundled because Node 20 does not read TypeScript and they may not be built yet.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** The module with these statements, whose paths begin at the root of the repository. */
export async function load(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['source'],
    logLevel: 'error',
  })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}
