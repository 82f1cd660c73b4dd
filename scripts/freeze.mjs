// Makes a release's promises to later versions, as the last commit before its tag:
//   PG_DUMP=… node scripts/freeze.mjs VERSION SERVER_URL
// At the first release all migrations become one file, 001_baseline.sql. Then service/migrations/released.json gets the hash of
// each file, and tests/releases/VERSION what the release has written: one of each format, its commands, a year in a database, the
// backup of an embedded data directory, and the hash of each of these files. SERVER_URL names a PostgreSQL 15 on which databases may
// be created; PG_DUMP its pg_dump.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = new URL('../service/migrations/', import.meta.url)
const list = new URL('released.json', folder)
const [version, serverUrl] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(version ?? '') || !serverUrl) {
  process.stderr.write('node scripts/freeze.mjs VERSION SERVER_URL: one of them is missing.\n')
  process.exit(1)
}

function run(program, words, env = {}) {
  execFileSync(program, words, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
}

function files() {
  return readdirSync(folder)
    .filter(name => name.endsWith('.sql'))
    .sort()
}

function read(name) {
  return readFileSync(new URL(name, folder), 'utf8')
}

function hashOf(content) {
  return createHash('sha256').update(content).digest('hex')
}

const released = JSON.parse(readFileSync(list, 'utf8'))
if (Object.keys(released).length === 0 && files().length > 1) {
  const whole = files().map(read).join('\n')
  for (const name of files()) rmSync(new URL(name, folder))
  writeFileSync(new URL('001_baseline.sql', folder), whole)
}
run('npm', ['run', '--silent', 'build'])
// The schema that the files make is the one that docs/schema.sql shows.
run(process.execPath, ['scripts/dump-schema.mjs', serverUrl])
for (const name of files()) released[name] ??= hashOf(read(name))
writeFileSync(list, `${JSON.stringify(released, undefined, 2)}\n`)

const frozen = new URL(`../tests/releases/${version}/`, import.meta.url)
mkdirSync(frozen, { recursive: true })
run('npx', ['vitest', 'run', 'tests/releases', 'tests/docs/commands.test.ts'], {
  WRITE_RELEASE: version,
  TEST_DATABASE_URL: serverUrl,
})
const hashes = readdirSync(frozen)
  .filter(name => name !== 'hashes.json')
  .sort()
  .map(name => [name, hashOf(readFileSync(new URL(name, frozen)))])
writeFileSync(new URL('hashes.json', frozen), `${JSON.stringify(Object.fromEntries(hashes), undefined, 2)}\n`)
