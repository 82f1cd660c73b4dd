import type { Socket } from 'node:net'
import pg from 'pg'

/**
 * Statements that are sent together, with a single answer for all of them. Sent one by one, each answer costs
 * PostgreSQL a write to the socket and this process a turn of the event loop, which is more than many a statement
 * costs.
 *
 * The driver ends each statement with the message Sync, which the server answers. A flight sends Sync once, after the
 * last statement. When a statement fails, the server skips everything up to Sync, so nothing after the failure takes
 * place. A transaction that the flight began then stays open: the sender of the flight rolls it back.
 */

/** A statement of a flight. */
export type Statement = { readonly name: string; readonly text: string; readonly values?: unknown[] }

/** The server's answer to the last statement; or the first failure, and the index of its statement. */
type Landing = { readonly command: string } | { readonly failure: unknown; readonly index: number }

/** Sends statements together; rows that they return are not read. Resolves when all are done or one has failed. */
export function fly(client: pg.PoolClient, statements: readonly Statement[]): Promise<Landing> {
  return new Promise(resolve => client.query(new Flight(statements, resolve)))
}

/** The connection to which the driver writes, with its lists of the statements that the server knows by name. */
type Connection = pg.Connection & {
  /**
   * The statements that the server has confirmed; the driver adds each of them by `name` and `text` of the query under way.
   */
  readonly parsedStatements: Record<string, string | undefined>
  /** The statements that were sent and that the server has not confirmed yet. */
  readonly submittedNamedStatements: Record<string, string | undefined>
}

/** The driver's own conversion of bound values, which its types leave out. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils

/**
 * One query for the driver, which calls these methods as the server's messages arrive. It writes the messages of all
 * statements itself: a `Query` of the driver for each of them would take this process twice the time.
 */
class Flight extends pg.Query {
  // The name of the statement whose answer is next; the driver uses it to record that the server knows the statement.
  declare name: string | undefined
  declare text: string | undefined
  declare callback: (failure: unknown) => void
  private readonly statements: readonly Statement[]
  private index = 0
  private command = ''
  private unsendable: unknown

  constructor(statements: readonly Statement[], land: (landing: Landing) => void) {
    super(statements[0])
    this.statements = statements
    this.callback = failure => {
      // A failure after the last statement is one of the connection, and everything that was sent has taken place.
      const isDone = this.index === statements.length
      land(failure && !isDone ? { failure, index: this.index } : { command: this.command })
    }
  }

  override submit = (connection: pg.Connection): void => {
    const { parsedStatements, submittedNamedStatements } = connection as Connection
    connection.stream.cork()
    try {
      for (const { name, text, values } of this.statements) {
        if ((parsedStatements[name] ?? submittedNamedStatements[name]) === undefined) {
          connection.parse({ name, text, types: [] }, true)
          submittedNamedStatements[name] = text
        }
        connection.bind({ statement: name, values, valueMapper: prepareValue } as pg.BindConfig, true)
        connection.execute(null, true)
      }
    } catch (error) {
      // A value that cannot be sent: the server gets only the statements before it.
      this.unsendable = error
    }
    connection.sync()
    connection.stream.uncork()
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.command = text
    this.index += 1
    const next = this.statements[this.index]
    this.name = next?.name
    this.text = next?.text
  }

  handleError(failure: unknown, connection: Connection): void {
    // The server has skipped the rest without reading it.
    for (const { name } of this.statements.slice(this.index)) delete connection.submittedNamedStatements[name]
    this.callback(failure)
  }

  handleReadyForQuery(): void {
    this.callback(this.unsendable)
  }

  handleRowDescription = nothing
  handleDataRow = nothing
}

function nothing() {}

/**
 * Lets everything that `send` sends before it first waits leave in one write, since each write costs both sides about
 * 10 µs.
 */
export function atOnce<T>(client: pg.PoolClient, send: () => T): T {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.cork()
  try {
    return send()
  } finally {
    stream.uncork()
  }
}
