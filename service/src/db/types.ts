import type { Query } from './sql.ts'

/** The address of a database: a URL, which may name several nodes of a cluster, or the socket of the embedded one. */
export type DatabaseAddress = { url: string } | { host: string; port: number; user: string; database: string }

/** Runs statements, alone or inside a transaction. */
export type Executor = {
  /**
   * Runs one statement and returns its rows. On a cluster it runs in the cell of the partner that it names, and on any node
   * where it names none.
   */
  query<Row>(query: Query): Promise<Row[]>
}

/** A pool of connections, on a cluster one for each node. */
export type Database = Executor & {
  /**
   * Runs `work` in one transaction, up to five times when the database asks to run it again; on a cluster, on the node of
   * its first statement. If the answer to the commit was lost, rejects with `CommitUnknown`.
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
  /** Runs statements given as plain text, for migrations and statements that take no bound values; on a cluster, at the coordinator. */
  script(text: string): Promise<void>
  /**
   * Runs statements on one connection outside a transaction, on a cluster at the coordinator. The connection is closed
   * afterwards, with all settings made on it.
   */
  alone<T>(work: (databaseSession: Executor) => Promise<T>): Promise<T>
  close(): Promise<void>
  /** The use of the pools right now: their size, their busy connections, and how many callers wait for one. */
  use(): { readonly busy: number; readonly waiting: number; readonly most: number }
  /** How many connections have broken. After each break another server may answer, with other rows. */
  lostConnections(): number
  /**
   * Runs `work`, which makes or drops tables, in one transaction, again after a deadlock; on a cluster at the coordinator, which
   * alone may do so.
   */
  define<T>(work: (tx: Executor) => Promise<T>): Promise<T>
  /** The name of the cell that this is the database of; `''` on plain PostgreSQL, and for a cluster as a whole. */
  readonly cell: string
  /** The name of a partner's cell; `''` on plain PostgreSQL, which has one cell. */
  cellOf(partnerId: string): string
  /** The database of a partner's cell, on a cluster; `by-cell.ts` has what asks for it. */
  inCellOf(partnerId: string): Database
  /** The databases of all cells; none on plain PostgreSQL. */
  cells(): readonly Database[]
  /** The nodes of a cluster that do not answer, with the cells of each: what their partners ask for is refused. */
  silent(): readonly { readonly node: string; readonly cells: readonly string[] }[]
  /** Learns the cell of a partner that was just read or made. */
  noteCell(partnerId: string, cell: string): void
  /** Reads which cells there are, where, and which partners belong to each; nothing on plain PostgreSQL. */
  learnCells(): Promise<void>
}
