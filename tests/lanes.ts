import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const tests = fileURLToPath(new URL('.', import.meta.url))

/** Where a test file runs beside the embedded database, as its folder says, what it opens, or a line `// @…` at its beginning. */
export type Lanes = {
  readonly file: string
  /** All for `tests/database`, or those of `// @databases citus stock`, where it shows how a database behaves. */
  readonly databases: readonly string[]
  /** `// @prism`: the nightly job runs it through Prism, which compares requests and answers with the description. */
  readonly prism: boolean
  /** It opens a browser, which npm does not install: `npm test` leaves it to `.ci/run`. */
  readonly browser: boolean
  /** It opens a browser, or `// @whole`: `.ci/run` leaves nothing out of it. */
  readonly whole: boolean
  /** `// @nightly`: only `npm run test:long` and who names it runs it, as cheaper tests see most of the same every day. */
  readonly nightly: boolean
  /** It kills, replaces or opens a browser: it starts first, as otherwise one worker is left with it while others rest. */
  readonly slow: boolean
}

const known = new Set(['databases', 'prism', 'whole', 'nightly'])
const slowFolders = ['faults', 'releases', 'trust']

/** Reads the lanes of all files of `tests`; an unknown word in their lines is thrown with the file's name. */
export function readLanes(): Lanes[] {
  return readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.test.ts'))
    .map(name => lanesOf(name))
}

function lanesOf(name: string): Lanes {
  const text = readFileSync(join(tests, name), 'utf8')
  const [folder = ''] = name.split('/')
  const [head = ''] = /^(\/\/ @.*\n)*/.exec(text) ?? []
  const lines = [...head.matchAll(/^\/\/ @(\S+)(.*)$/gm)].map(([, tag = '', rest = '']) => ({
    tag,
    words: rest.match(/\S+/g) ?? [],
  }))
  const usual = folder === 'database' ? ['citus', 'stock'] : []
  const databases = lines.find(({ tag }) => tag === 'databases')?.words ?? usual
  const wrong = [
    ...lines.map(({ tag }) => tag).filter(tag => !known.has(tag)),
    ...databases.filter(word => !['citus', 'stock', 'embedded'].includes(word)),
  ]
  if (wrong.length > 0) throw new Error(`tests/${name} begins with an unknown lane: ${wrong.join(', ')}`)
  const has = (wanted: string) => lines.some(({ tag }) => tag === wanted)
  const opensBrowser = text.includes('describeInBrowser(')
  return {
    file: `tests/${name}`,
    databases,
    prism: has('prism'),
    browser: opensBrowser,
    whole: has('whole') || (opensBrowser && !has('nightly')),
    nightly: has('nightly'),
    slow: opensBrowser || slowFolders.includes(folder),
  }
}
