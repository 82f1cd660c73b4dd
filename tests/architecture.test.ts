import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// The shape of the code: where imports may lead, and which folder writes which table.

const root = fileURLToPath(new URL('..', import.meta.url))
const source = 'service/src/'
const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
}).split('\n')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const product = files.filter(
  file =>
    /^(contract|command|client|cli|embed|embedded-postgres|service)\/src\/.*\.tsx?$/.test(file) &&
    !/\.test\.ts$/.test(file),
)
const service = product.filter(file => file.startsWith(source))

/** The folder of service/src that a file stands in, or the file itself where it is in none. */
function placeOf(file: string): string {
  return file.slice(source.length).split('/')[0] ?? ''
}
function importsOf(file: string): string[] {
  const targets = [...read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
  return targets.map(([, target = '']) => normalize(join(dirname(file), target)))
}

/** The line of the picture in ARCHITECTURE.md that names a folder: the highest first. */
function linesOfThePicture(): ReadonlyMap<string, number> {
  const picture = (read('ARCHITECTURE.md').split('```')[1] ?? '').split('\n')
  const places = (line: string) => /^(?:\S+ )+/.exec(line)?.[0].trim().split(' ') ?? []
  return new Map(picture.flatMap((line, index) => places(line).map(place => [place, index] as const)))
}

test('each folder of the service stands in the picture of ARCHITECTURE.md, and imports lead down in it or along a line', () => {
  const lines = linesOfThePicture()
  const folders = new Set(service.map(placeOf).filter(place => !place.includes('.')))
  expect([...lines.keys()].filter(place => !place.endsWith('.ts')).sort()).toEqual([...folders].sort())
  const upward = service.flatMap(file => {
    const from = lines.get(placeOf(file))
    return importsOf(file)
      .filter(target => {
        const to = lines.get(placeOf(target))
        return from !== undefined && to !== undefined && to < from
      })
      .map(target => `${file} imports ${target}`)
  })
  expect(upward).toEqual([])
})

test('no file imports itself by way of others, and no rule of a user knows HTTP or SQL', () => {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' > '))
    if (path.includes(file) || done.has(file)) return
    for (const target of importsOf(file)) if (product.includes(target)) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of product) visit(file, [])
  expect(circles).toEqual([])
  const rules = service.filter(file => file.startsWith(`${source}membership/rules/`))
  expect(rules.filter(file => importsOf(file).some(target => /\/(http|db)\//.test(target)))).toEqual([])
})

// Whoever changes a table looks into these folders for the statements that write it.
const writes: Readonly<Record<string, readonly string[]>> = {
  audit: ['audit_blocks', 'audit_log'],
  catalogue: ['catalogue_versions'],
  console: ['installation', 'operator_requests'],
  db: ['event_log_heads', 'partners'],
  feeds: [
    'feed_differences',
    'feed_runs',
    'feed_seen',
    'feed_versions',
    'feeds',
    'insurer_farewells',
    'insurer_lines',
  ],
  files: ['files'],
  idempotency: ['idempotency_keys'],
  'installation.ts': ['installation'],
  membership: [
    ...['charged_from', 'consents', 'corrected_pasts', 'covered_dependants', 'data_keys', 'deliveries'],
    ...['enrolments', 'erasures', 'event_log_heads', 'events', 'feed_seen', 'held_periods', 'history'],
    ...[
      'idempotency_keys',
      'insurer_farewells',
      'insurer_lines',
      'operator_requests',
      'page_languages',
      'page_sessions',
    ],
    ...['refused_creates', 'retained_records', 'sealed_records', 'users'],
  ],
  operators: ['installation', 'operator_links', 'operator_sessions', 'operators'],
  partners: [
    'access_tokens',
    'caller_changes',
    'credential_uses',
    'credentials',
    'event_log_heads',
    'partners',
  ],
  'quiet.ts': ['installation'],
  registration: ['page_languages', 'page_sessions'],
  schedule: ['erasures', 'idempotency_keys', 'sealed_records'],
  statements: ['corrected_pasts', 'statement_lines', 'statements'],
  webhooks: [
    ...['dead_deliveries', 'deliveries', 'delivery_attempts', 'delivery_attempts_rest'],
    ...['endpoint_health', 'erasures', 'event_log_heads', 'events', 'webhook_endpoints'],
  ],
}

test('a folder writes only the tables that are listed for it', () => {
  const migrations = files
    .filter(file => /^service\/migrations\/.*\.sql$/.test(file))
    .map(read)
    .join('\n')
  const tables = new Set(
    [...migrations.matchAll(/^create table (?:if not exists )?(\w+)/gm)].map(([, name = '']) => name),
  )
  const found = new Map<string, Set<string>>()
  for (const file of service) {
    const code = read(file).replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, '')
    const written = /\b(?:delete from|insert into|update|partition of)\s+(\w+)|\browsInto[^'(]*\(\s*'(\w+)'/g
    for (const [, named, declared] of code.matchAll(written)) {
      const table = named ?? declared ?? ''
      if (tables.has(table)) found.set(placeOf(file), (found.get(placeOf(file)) ?? new Set()).add(table))
    }
  }
  const sorted = [...found].sort().map(([folder, names]) => [folder, [...names].sort()])
  expect(Object.fromEntries(sorted)).toEqual(writes)
})

test('each export of a package says what it promises', () => {
  // A type of the elements of a list stands below the list, which says it for both.
  const exported = /(?<=^(.*)\n)export (?:async )?(?:function\*?|const|let|class|type) (\w+)(.*)$/gm
  const bare = product.flatMap(file =>
    [...read(file).matchAll(exported)]
      .filter(
        ([, above = '', , rest = '']) => !above.endsWith('*/') && !/^ = \(typeof \w+\)\[number\]$/.test(rest),
      )
      .map(([, , name]) => `${file}: ${name}`),
  )
  expect(bare).toEqual([])
})
