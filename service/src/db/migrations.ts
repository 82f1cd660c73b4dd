import { readdir, readFile } from 'node:fs/promises'

/** The folder of this version’s migrations. */
export const ownMigrations = new URL('../../migrations/', import.meta.url)

/** One file of the migrations folder. */
export type Migration = {
  readonly name: string
  /** Whether the whole file is one transaction; otherwise each statement stands alone and may be repeated. */
  readonly kind: 'one transaction' | 'no transaction'
  /** In the order in which one PostgreSQL runs them. */
  readonly parts: readonly MigrationPart[]
}

/**
 * Whether an older version of the service may still serve after this newer migration. A file that only
 * adds says nothing about versions; one that takes something away ends in `.from-1.2.sql`, after the first version that
 * does without it.
 */
export function runsBeside(name: string, version: string): boolean {
  const [, major, minor] = /\.from-(\d+)\.(\d+)\.sql$/.exec(name) ?? []
  if (major === undefined) return true
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number)
  return ownMajor > Number(major) || (ownMajor === Number(major) && ownMinor >= Number(minor))
}

/** Where the tables of a part are on a cluster. */
export type PartPlace = 'on every node' | 'in each cell'

/** Statements for one place, sent one after the other; each ends with a semicolon at the end of a line. */
type MigrationPart = { readonly place: PartPlace; readonly statements: readonly string[] }

/** The first line of a file whose statements PostgreSQL refuses inside a transaction, `create index concurrently` above all. */
const NO_TRANSACTION = '-- no transaction'

/** Reads the migrations of a folder, in order. */
export async function readMigrations(folder: URL = ownMigrations): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter(name => /^\d{3}_.*\.sql$/.test(name)).sort()
  return Promise.all(names.map(async name => parse(name, await readFile(new URL(name, folder), 'utf8'))))
}

/** The tables that are there after migrations, but partitions, and where each is on a cluster. */
export function tablesOf(migrations: readonly Migration[]): ReadonlyMap<string, PartPlace> {
  const tables = new Map<string, PartPlace>()
  for (const { place, statements } of migrations.flatMap(migration => migration.parts))
    for (const text of statements) {
      const [, made, dropped] = /^(?:create table (\w+) \(|drop table (\w+))/.exec(text) ?? []
      if (made) tables.set(made, place)
      if (dropped) tables.delete(dropped)
    }
  return tables
}

/** The tables of partners, parents first: on a cluster each cell has them. */
export async function tablesOfCells(): Promise<string[]> {
  const tables = tablesOf(await readMigrations())
  return [...tables.keys()].filter(name => tables.get(name) === 'in each cell')
}

/** The lines that say where the tables that follow are. */
const PLACES: ReadonlyMap<string, PartPlace> = new Map([
  ['-- On every node of a cluster.', 'on every node'],
  ['-- In each cell of a cluster.', 'in each cell'],
  // What the first migration calls it.
  ['-- At the coordinator of a cluster.', 'on every node'],
])

function parse(name: string, text: string): Migration {
  const lines = text.split('\n')
  const parts: { place: PartPlace; lines: string[] }[] = []
  for (const line of lines) {
    const place = PLACES.get(line) ?? (parts.length === 0 ? 'in each cell' : undefined)
    if (place) parts.push({ place, lines: [] })
    parts.at(-1)?.lines.push(line)
  }
  return {
    name,
    kind: lines[0]?.trim() === NO_TRANSACTION ? 'no transaction' : 'one transaction',
    parts: parts.map(part => ({ place: part.place, statements: statementsOf(part.lines.join('\n')) })),
  }
}

/** One by one also within a transaction: Citus sends the whole text of a query to its nodes. */
function statementsOf(text: string): string[] {
  return text
    .split(/;[ \t]*$/m)
    .map(statement => statement.replace(/^\s*--.*$/gm, '').trim())
    .filter(statement => statement !== '')
}
