import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const tests = fileURLToPath(new URL('.', import.meta.url))

/** Where a test file runs beside the embedded database, as the lines `// @…` at its beginning say. */
export type Lanes = {
  readonly file: string
  /** `// @databases citus stock`: it shows how a database behaves; what databases take in is asked of the statements. */
  readonly databases: readonly string[]
  /** `// @prism`: the nightly job runs it through Prism, which compares requests and answers with the description. */
  readonly prism: boolean
  /** `// @whole`: `.ci/run` leaves nothing out of it, as it needs a browser or `npm test` runs nothing of it. */
  readonly whole: boolean
  /** `// @nightly`: only `npm run test:long` and who names it runs it, as cheaper tests see most of the same every day. */
  readonly nightly: boolean
  /** `// @slow`: it starts first, as otherwise one worker would be left with it while the others rest. */
  readonly slow: boolean
}

const known = new Set(['databases', 'prism', 'whole', 'nightly', 'slow'])

/** Reads the lines of all files of `tests`; an unknown word in them is thrown with the file's name. */
export function readLanes(): Lanes[] {
  return readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.test.ts'))
    .map(name => lanesOf(name))
}

function lanesOf(name: string): Lanes {
  const [head = ''] = /^(\/\/ @.*\n)*/.exec(readFileSync(join(tests, name), 'utf8')) ?? []
  const lines = [...head.matchAll(/^\/\/ @(\S+)(.*)$/gm)].map(([, tag = '', rest = '']) => ({
    tag,
    words: rest.match(/\S+/g) ?? [],
  }))
  const databases = lines.find(({ tag }) => tag === 'databases')?.words ?? []
  const wrong = [
    ...lines.map(({ tag }) => tag).filter(tag => !known.has(tag)),
    ...databases.filter(word => !['citus', 'stock'].includes(word)),
  ]
  if (wrong.length > 0) throw new Error(`tests/${name} begins with an unknown lane: ${wrong.join(', ')}`)
  const has = (wanted: string) => lines.some(({ tag }) => tag === wanted)
  return {
    file: `tests/${name}`,
    databases,
    prism: has('prism'),
    whole: has('whole'),
    nightly: has('nightly'),
    slow: has('slow'),
  }
}
