import type { Query } from './sql.ts'

/** The address of a database: a URL, or the socket of the embedded one. */
export type DatabaseAddress = { url: string } | { host: string; port: number; user: string; database: string }

/** Runs statements, alone or inside a transaction. */
export type Executor = {
  /** Runs one statement and returns its rows. */
  query<Row>(query: Query): Promise<Row[]>
}

/**
 * A pool of connections. On a cluster there is one for what all cells share and one for each cell: a statement goes to the cell of
 * the partner that it names as its `partner_id`, a transaction to that of its first statement. Where a statement names its partner
 * otherwise, and where several travel together, ask the cell's own database: `of`, `cells`.
 */
export type Database = Executor & {
  /**
   * Runs `work` in one transaction, up to five times when the database asks to run it again. If the answer to the commit was
   * lost, rejects with `CommitUnknown`.
   */
  transaction<T>(work: (tx: Executor) => Promise<T>): Promise<T>
  /**
   * Sends statements and their commit together as one transaction, so that no lock ever waits for this process.
   * Rejects with the failure of the first statement that fails, and then nothing is written; if the answer to the
   * commit was lost, rejects with `CommitUnknown`. `lockMs` is how long each statement waits for a lock; absent: as
   * long as any statement.
   */
  commit(statements: readonly Query[], lockMs?: number): Promise<void>
  /** Runs reads on one connection, so that they travel together and each sees at least what the earlier ones saw. */
  together<T>(work: (db: Executor) => Promise<T>): Promise<T>
  /** Runs statements given as plain text, for migrations and statements that take no bound values. */
  script(text: string): Promise<void>
  /** Runs statements on one connection outside a transaction. It is closed afterwards, with all settings made on it. */
  alone<T>(work: (databaseSession: Executor) => Promise<T>): Promise<T>
  close(): Promise<void>
  /** The use of the pools right now: their size, their busy connections, and how many callers wait for one. */
  use(): { readonly busy: number; readonly waiting: number; readonly most: number }
  /** How many connections have broken. After each break another server may answer, with other rows. */
  lostConnections(): number
  /** The name of the cell that this is the database of; `''` on plain PostgreSQL, and for a cluster as a whole. */
  readonly cell: string
  /** The database of a partner's cell; on plain PostgreSQL this one. Its statements reject with `Unavailable` while the partner is in none. */
  of(this: Database, partnerId: string): Database
  /** The databases of all cells; on plain PostgreSQL this one. */
  cells(this: Database): readonly Database[]
  /** The name of a partner's cell, by which its calls are queued; `''` on plain PostgreSQL, and of an unknown partner one of its own. */
  cellOf(partnerId: string): string
  /** Learns whether this is a cluster, and which cells it has; nothing on plain PostgreSQL. */
  learnCells(): Promise<void>
}
