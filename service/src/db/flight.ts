import pg from 'pg'

/**
 * Statements that travel as one, with a single answer for all of them. Asked for one by one, each answer is a write to the
 * socket for PostgreSQL and a turn of the event loop for this process, which costs more than many a statement.
 *
 * The driver ends each statement by the message Sync, on which the server answers. A flight sends it once, behind the last
 * statement. When a statement fails, the server skips everything up to there, so nothing that follows takes place. A
 * transaction that the flight began stays open then: whoever sent the flight rolls it back.
 */

/** A statement of a flight. */
export type Statement = { readonly name: string; readonly text: string; readonly values?: unknown[] }

/** What the server said of the last statement; or the first failure, and the place of its statement. */
export type Landing = { readonly command: string } | { readonly failure: unknown; readonly place: number }

/** Sends statements as one; rows that they return are not read. Resolves when they are done or one has failed. */
export function fly(client: pg.PoolClient, statements: readonly Statement[]): Promise<Landing> {
  return new Promise(resolve => client.query(new Flight(statements, resolve)))
}

/** What the driver writes to, and where it notes which statements the server knows by name. */
type Connection = pg.Connection & { readonly submittedNamedStatements: Record<string, string> }

/** One query to the driver, which calls these methods as the messages of the server arrive. */
class Flight extends pg.Query {
  // Of the statement whose answer is next: by these the driver notes that the server knows it.
  declare name: string | undefined
  declare text: string | undefined
  declare callback: (failure: unknown) => void
  private readonly statements: readonly Statement[]
  private place = 0
  private command = ''
  private unsendable: unknown

  constructor(statements: readonly Statement[], land: (landing: Landing) => void) {
    super(statements[0])
    this.statements = statements
    this.callback = failure => {
      // What fails behind the last statement is the connection, and all that was sent has taken place.
      const isDone = this.place === statements.length
      land(failure && !isDone ? { failure, place: this.place } : { command: this.command })
    }
  }

  override submit = (connection: pg.Connection): void => {
    const withoutSync = Object.assign(Object.create(connection), { describe: nothing, sync: nothing })
    connection.stream.cork()
    for (const statement of this.statements) {
      const query = new pg.Query(statement, failure => {
        this.unsendable = failure
      })
      // What it refuses the driver also returns, though its types do not say so.
      const refused = query.submit(withoutSync) as unknown
      this.unsendable ??= refused
      if (this.unsendable) break
    }
    connection.sync()
    connection.stream.uncork()
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.command = text
    this.place += 1
    const next = this.statements[this.place]
    this.name = next?.name
    this.text = next?.text
  }

  handleError(failure: unknown, connection: Connection): void {
    // The server has skipped the rest without reading it.
    for (const { name } of this.statements.slice(this.place)) delete connection.submittedNamedStatements[name]
    this.callback(failure)
  }

  handleReadyForQuery(): void {
    this.callback(this.unsendable)
  }

  handleRowDescription = nothing
  handleDataRow = nothing
}

function nothing() {}
