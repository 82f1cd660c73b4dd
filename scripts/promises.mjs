// What is promised, and the names of the tests that show it, as Markdown: `npm run promises`. The promises are the sections of
// docs/contract.md and what stands beside them; the names are read from the files of tests, so the table cannot age. It ends with 1
// where a promise has no test, a file of tests shows none, or docs/trust.md names a file that is not there.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
// The two files of the model only give it seeds.
const git = [
  '-c',
  'safe.directory=*',
  'ls-files',
  '*.test.ts',
  'tests/*/walks/*.txt',
  ':!tests/page/walks/spanish',
  'tests/life/model-seeds.ts',
  ':!tests/life/model*.test.ts',
]
const files = execFileSync('git', git, { cwd: root, encoding: 'utf8' }).trim().split('\n')
function read(file) {
  return readFileSync(root + file, 'utf8')
}

/** Which files show a section of the contract; a file is listed at the first that fits. */
const sections = [
  [3, /api\/(token|authentic|failed-auth)|\/oauth\//],
  [4, /api\/key|prefill-keys|\/idempotency\//],
  [5, /prefill/],
  [6, /api\/(benefits|listing|by-state|read-)|\/benefits\/|life\/tiles/],
  [19, /dependant|family|tiers/],
  [16, /statement|user-list|month|money|quarter/],
  [18, /bulk|import/],
  [
    7,
    /life\/(create|update|cancel|erase|reinstate|correct)|api\/(create|get-user|beneficiar)|\/(accounts|imports)\//,
  ],
  [8, /life\/(offers|swap|single|at-once|void|timeline)|\/offers\//],
  [9, /life\/|\/(membership|calendar)\//],
  [10, /(tests|src)\/(webhooks|egress)\/|event/],
  [11, /(tests|src)\/(page|registration|look)\/|^embed\//],
  [13, /api\/(limits|openapi|overload|metrics|clock|audit)|change-log|releases\/|shedding|rate-limit/],
  [14, /(tests|src)\/(command|cli)\/|^(cli|command|embedded-postgres)\//],
  [12, /api\/(.*errors|problems)/],
  [2, /tests\/api\/|src\/http\//],
]
const besides = [
  ['docs/catalogue.md: what is offered, and to whom', /catalogue|^contract\//],
  ['docs/feeds.md: what insurers are told', /feeds\//],
  ['docs/support.md: the operators’ console', /console|operators/],
  [
    'docs/trust.md: who might harm what, and what stops them',
    /(tests|src)\/(trust|faults|vault|audit|partners)\//,
  ],
  ['docs/scaling.md: databases and clusters', /(tests|src)\/(database|db)\//],
  ['the client and the documents', /^client\/|tests\/docs\/|src\/(docs|demo)\//],
  ['ARCHITECTURE.md, and the tests themselves', /./],
]
const titles = new Map(
  [...read('docs/contract.md').matchAll(/^## (\d+)\. (.*)$/gm)].map(([, at, title]) => [+at, title]),
)
const promises = new Map([
  ...sections.map(([at, shown]) => [`contract §${at}: ${titles.get(at)}`, shown]),
  ...besides,
])

/** The names of a file's tests, with their groups, as they are written; those of its walks. */
function namesOf(file) {
  if (file.endsWith('.txt')) return [...read(file).matchAll(/^== (.*)/gm)].map(([, name]) => name)
  const quoted = /(['`"])((?:\\.|(?!\1)[\s\S])+?)\1/.source
  const begun = new RegExp(
    `^ *(?:(?:test|describe|\\w*[tT]est\\w*|onOneServer|describeIn\\w+)(?:\\.\\w+(?:\\([^\\n]*?\\))?)*|\\][^\\n]*\\))\\(\\s*${quoted},`,
    'gm',
  )
  const text = read(file)
  // A table of cases gives their names itself.
  const rows = [...text.matchAll(/^ +(?:\{ )?name: (['`])(.+?)\1,/gm)].map(([, , name]) => name)
  return [...text.matchAll(begun)]
    .map(([, , name]) => name.replace(/\s+/g, ' '))
    .flatMap(name =>
      name.startsWith('$name') && rows.length > 0
        ? rows.splice(0).map(row => name.replace('$name', row))
        : [name],
    )
}

const rows = new Map([...promises.keys()].map(promise => [promise, []]))
for (const file of files) {
  const [promise] = [...promises].find(([, pattern]) => pattern.test(file))
  rows.get(promise).push(file)
}
const wrong = [...rows]
  .filter(([, shown]) => shown.length === 0)
  .map(([promise]) => `no test shows ${promise}`)
let count = 0
for (const [promise, shown] of [...rows].toSorted(([one], [other]) =>
  one.localeCompare(other, 'en', { numeric: true }),
)) {
  process.stdout.write(`\n## ${promise}\n\n| file | holds |\n|---|---|\n`)
  for (const file of shown) {
    const names = namesOf(file)
    count += names.length
    if (names.length === 0) wrong.push(`no name of a test was found in ${file}`)
    process.stdout.write(`| \`${file}\` | ${names.map(name => name.replaceAll('|', '\\|')).join('; ')} |\n`)
  }
}
const named = [...read('docs/trust.md').matchAll(/`(tests\/[\w/-]+)`/g)].map(([, name]) => name)
for (const name of new Set(named))
  if (!files.some(file => file.startsWith(name)))
    wrong.push(`docs/trust.md names ${name}, which is not there`)
process.stdout.write(`\n${rows.size} promises, ${files.length} files, ${count} names\n`)
for (const line of wrong) process.stderr.write(`!!!! ${line}\n`)
process.exitCode = wrong.length > 0 ? 1 : 0
