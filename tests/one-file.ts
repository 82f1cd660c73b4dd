import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const starter = fileURLToPath(new URL('start-one-file.cjs', import.meta.url))

/** A change of the built output: in the module whose path ends like this, one text becomes the other. */
export type Change = { readonly module: string; readonly from: string; readonly to: string }

/**
 * Bundles the built `enrolment` with its packages into one file in `folder`, and returns the path of the program that starts
 * it: finding, loading and compiling more than a thousand files is most of the cost of a start, and tests start it hundreds of
 * times. `pg` is not bundled, because fault tests change it before it is loaded. With `changes` it is another version of the
 * service; throws when a change does not find its text exactly once.
 */
export async function buildOneFile(folder: string, changes: readonly Change[] = []): Promise<string> {
  await mkdir(folder, { recursive: true })
  // Some tests run it as an ordinary user.
  await chmod(folder, 0o755)
  const bundle = join(folder, 'bundle.cjs')
  const made = new Set<Change>()
  await build({
    entryPoints: [join(root, 'service/dist/main.js')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    external: ['pg', 'pino-pretty'],
    keepNames: true,
    minifyWhitespace: true,
    plugins: [inOwnPlace(changes, made)],
    logLevel: 'error',
  })
  const missed = changes.filter(change => !made.has(change))
  if (missed.length > 0) throw new Error(`not changed once: ${JSON.stringify(missed)}`)
  const program = join(folder, 'enrolment.cjs')
  const start = (how: string) => `require(${JSON.stringify(starter)}).${how}(${JSON.stringify(bundle)})\n`
  await writeFile(residentOf(program), start('stay'))
  await writeFile(program, start('start'))
  return program
}

/** The program beside it that stays and runs one command after the other, as it is told by messages. */
export function residentOf(program: string): string {
  return join(dirname(program), 'resident.cjs')
}

/** Makes the changes. A module still finds the files that it reads from the place where it was built. */
function inOwnPlace(changes: readonly Change[], made: Set<Change>): Plugin {
  return {
    name: 'in its own place',
    setup({ onLoad }) {
      onLoad(
        { filter: /[/\\](contract|embedded-postgres|service|cli)[/\\]dist[/\\].*\.js$/ },
        async ({ path }) => {
          let contents = await readFile(path, 'utf8')
          for (const change of changes.filter(({ module }) => path.endsWith(module))) {
            if (contents.split(change.from).length === 2) made.add(change)
            contents = contents.replace(change.from, () => change.to)
          }
          const place = JSON.stringify(pathToFileURL(path).href)
          contents = contents.replaceAll('import.meta.url', place)
          // Code that V8 has stored cannot import; what is not in the bundle is imported by the program that starts it.
          return { contents: contents.replace(/\bimport\((?!['"])/g, 'importElsewhere('), loader: 'js' }
        },
      )
    },
  }
}
