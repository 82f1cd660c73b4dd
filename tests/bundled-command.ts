import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A module still finds its assets from the place where it was built, whatever file it has become a part of. */
const inItsOwnPlace: Plugin = {
  name: 'in its own place',
  setup({ onLoad }) {
    onLoad({ filter: /\/(contract|embedded-postgres|service)\/dist\/.*\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll(
        'import.meta.url',
        JSON.stringify(pathToFileURL(path).href),
      ),
      loader: 'js',
    }))
  },
}

/**
 * Bundles the built `enrolment` into a few files, which take a third of the processor time to load; the everyday run
 * starts the command hundreds of times. `pg` is not bundled, because fault tests change it before it is loaded.
 * `remove` deletes the files.
 */
export async function bundleCommand(): Promise<{ path: string; remove: () => Promise<void> }> {
  // `pg` is found from here.
  const parent = join(root, 'node_modules/.everyday')
  await mkdir(parent, { recursive: true })
  const outdir = await mkdtemp(join(parent, 'run-'))
  // Some tests run it as an ordinary user.
  await chmod(outdir, 0o755)
  await build({
    entryPoints: { enrolment: join(root, 'service/dist/main.js') },
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    outExtension: { '.js': '.mjs' },
    external: ['pg'],
    keepNames: true,
    // Modules written for CommonJS load Node's modules with `require`.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    plugins: [inItsOwnPlace],
    logLevel: 'error',
  })
  return { path: join(outdir, 'enrolment.mjs'), remove: () => rm(outdir, { recursive: true, force: true }) }
}
