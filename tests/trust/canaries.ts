import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect } from 'vitest'
import type { Executor } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { ada, child } from '../rig.ts'

/** The personal data that the journals send; it may appear only as ciphertext. */
const canaries: readonly string[] = [
  ada.firstname,
  ada.lastname,
  ada.email,
  ada.phone,
  ada.dob,
  ada.address.addline1,
  child.firstname,
]

function found(text: string | Buffer, wanted = canaries): readonly string[] {
  return wanted.filter(canary => text.includes(canary))
}

function expectNone(place: string, among: readonly string[]): void {
  expect(among, `what is secret in ${place}`).toEqual([])
}

/** Finds no personal data, or nothing of `secrets`, in what the service wrote to its outputs. */
export function checkLogs(logs: string, secrets = canaries): void {
  expectNone('the logs', found(logs, secrets))
}

/** Finds no personal data, or nothing of `secrets`, in any row of any table, neither as text nor as bytes. */
export async function checkTables(database: Pick<Executor, 'query'>, secrets = canaries): Promise<void> {
  const tables = await database.query<{ name: string }>(
    sql`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any (current_schemas(false)) and c.relkind = 'r' order by 1`,
  )
  for (const { name } of tables) {
    const rows = await database.query<{ text: string }>({
      name: '',
      text: `select t::text as text from "${name}" t`,
      values: [],
    })
    const forms = (canary: string) => [canary, Buffer.from(canary).toString('hex')]
    const among = secrets.filter(one => forms(one).some(form => rows.some(row => row.text.includes(form))))
    expectNone(`the table ${name}`, among)
  }
}

/** A PostgreSQL below a directory: the folder of its data, and its own log. */
type Files = { readonly data: string; readonly log: string }
const embedded: Files = { data: 'postgres', log: 'postgres.log' }

/**
 * Finds no personal data in a directory and the servers in it, by default an embedded database: in data files, which also
 * contain dead rows, in write-ahead logs, and in PostgreSQL's own logs. The catalog's pages contain no personal data.
 */
export async function checkFiles(directory: string, servers: readonly Files[] = [embedded]): Promise<void> {
  const read: string[] = []
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path).catch(() => Buffer.alloc(0))
    expectNone(path, found(bytes))
    if (bytes.length > 0) read.push(relative(directory, path))
  }
  // A search of the wrong directory would find nothing either.
  const wanted = servers.flatMap(({ data, log }) => [
    log,
    `${data}/PG_VERSION`,
    expect.stringMatching(new RegExp(`^${data}/base/\\d+/\\d+$`)),
    expect.stringMatching(new RegExp(`^${data}/pg_wal/[0-9A-F]{24}$`)),
  ])
  expect(read).toEqual(expect.arrayContaining(wanted))
}
