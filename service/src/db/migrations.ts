import { readdir, readFile } from 'node:fs/promises'

/** The folder of this version’s migrations. */
export const ownMigrations = new URL('../../migrations/', import.meta.url)

/** One file of the migrations folder. */
export type Migration = {
  readonly name: string
  /** Whether the whole file is one transaction; otherwise each statement stands alone and may be repeated. */
  readonly kind: 'one transaction' | 'no transaction'
  /** Sent one after the other; each ends with a semicolon at the end of a line. */
  readonly statements: readonly string[]
}

/**
 * Whether a version of the service serves on a schema that this file, which it does not know, has changed. A file that only
 * adds says nothing about versions; one that takes something away ends in `.from-1.2.sql`, after the first version that
 * does without it.
 */
export function runsBeside(name: string, version: string): boolean {
  const [, major, minor] = /\.from-(\d+)\.(\d+)\.sql$/.exec(name) ?? []
  if (major === undefined) return true
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number)
  return ownMajor > Number(major) || (ownMajor === Number(major) && ownMinor >= Number(minor))
}

/** The first line of a file whose statements PostgreSQL refuses inside a transaction, `create index concurrently` above all. */
const NO_TRANSACTION = '-- no transaction'

/** Reads the migrations of a folder, in order. */
export async function readMigrations(folder: URL = ownMigrations): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter(name => /^\d{3}_.*\.sql$/.test(name)).sort()
  return Promise.all(names.map(async name => parse(name, await readFile(new URL(name, folder), 'utf8'))))
}

function parse(name: string, text: string): Migration {
  const isAlone = text.split('\n')[0]?.trim() === NO_TRANSACTION
  // One by one also within a transaction: Citus sends the whole text of a query to its nodes.
  const statements = text
    .split(/;[ \t]*$/m)
    .map(statement => statement.replace(/^\s*--.*$/gm, '').trim())
    .filter(statement => statement !== '')
  return { name, kind: isAlone ? 'no transaction' : 'one transaction', statements }
}
