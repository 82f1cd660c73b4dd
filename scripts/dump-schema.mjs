// Compares docs/schema.sql with the schema that the migrations create on a stock PostgreSQL 15, as its pg_dump
// prints it.
//   node scripts/dump-schema.mjs SERVER_URL          compares; exits with 1 and prints the difference when the file is old
//   node scripts/dump-schema.mjs SERVER_URL --write  writes the file
// SERVER_URL names a server on which databases may be created; PG_DUMP names a pg_dump other than that of the PATH.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const file = fileURLToPath(new URL('../docs/schema.sql', import.meta.url))
const bin = fileURLToPath(new URL('../service/bin/enrolment.js', import.meta.url))
const [serverUrl, mode] = process.argv.slice(2)

function fail(text) {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

function run(program, args, environment = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: tmpdir(),
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...environment },
  })
  if (error || status !== 0) fail(`${program} failed: ${error?.message ?? stderr}`)
  return stdout
}

/** Removes what differs between machines: versions, session settings, and the dump's own guard lines. */
function readable(dump) {
  return `${[
    '-- Made by scripts/dump-schema.mjs from the migrations; do not edit.',
    ...dump
      .split('\n')
      .filter(line => !/^(--|SET |SELECT pg_catalog\.set_config|\\(un)?restrict )/.test(line)),
  ]
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`
}

function firstDifference(a, b) {
  const [left, right] = [a.split('\n'), b.split('\n')]
  const at = left.findIndex((line, index) => line !== right[index])
  return `line ${at + 1}:\n- ${left[at] ?? ''}\n+ ${right[at] ?? ''}`
}

if (!serverUrl) fail('Give the address of a PostgreSQL 15: node scripts/dump-schema.mjs SERVER_URL [--write]')
const admin = new pg.Client({ connectionString: serverUrl })
await admin.connect()
const { rows } = await admin.query('show server_version_num')
const major = Math.floor(Number(rows[0].server_version_num) / 10_000)
if (major !== 15) fail(`The dump is made on PostgreSQL 15, and this is ${major}.`)
const name = `enrolment_schema_${process.pid}`
await admin.query(`create database ${name} template template0 encoding 'UTF8' locale 'C'`)
let dump
try {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const keys = { ENROLMENT_ROOT_KEY: Buffer.alloc(32, 1).toString('base64') }
  run(process.execPath, [bin, 'migrate', '--data', join(tmpdir(), name)], { ...keys, DATABASE_URL: url.href })
  dump = readable(
    run(process.env.PG_DUMP ?? 'pg_dump', ['--schema-only', '--no-owner', '--no-privileges', url.href]),
  )
} finally {
  await admin.query(`drop database ${name} with (force)`)
  await admin.end()
}

if (mode === '--write') {
  writeFileSync(file, dump)
} else {
  const kept = readFileSync(file, 'utf8')
  if (kept !== dump)
    fail(
      `docs/schema.sql is not what the migrations make (remake it with --write); ${firstDifference(kept, dump)}`,
    )
}
