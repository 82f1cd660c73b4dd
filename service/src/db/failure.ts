/** What a failed statement means for the connection, the transaction and the caller. */
type Failure = {
  /** The client must not be used again. */
  readonly connectionIsUnsafe: boolean
  /** The same transaction may succeed when it is run again. */
  readonly retryTransaction: boolean
  /** Another process wrote first: decide again on the state that it left. */
  readonly lostRace: boolean
  /** A row or key was locked by another transaction for too long. */
  readonly lockTimedOut: boolean
  /** The server is away or hangs: it takes no connection, or sent no answer within the driver's own limit. */
  readonly noAnswer: boolean
  /** The server takes no connection, so that nothing was sent to it. */
  readonly refusedConnection: boolean
  /** The statement found no table of its own: it was not sent to the cell that has its partner. */
  readonly isElsewhere: boolean
  /** The database cannot serve now. */
  readonly unavailable: boolean
  /** A row was written that refers to one that is gone. */
  readonly refersToNothing: boolean
  /** An earlier statement of the transaction failed, and that is the reason. */
  readonly followsAnother: boolean
}

const retryCodes = new Set(['40001', '40P01'])
/**
 * Besides serialization failures and deadlocks: a violated unique key, and the division by zero by which a statement
 * that wrote too few rows fails its transaction (`membership/saving/save.ts`).
 */
const lostRaceCodes = new Set([...retryCodes, '23505', '22012'])
const connectionClasses = ['08', '57P']
// 25006: a server that has become a standby.
const unavailableCodes = new Set(['25006', '53100', '53200', '53300', '55000', '55P03', '57014', '58030'])
const unreachable = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENOTFOUND'])
const networkCodes = new Set([...unreachable, 'ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT', 'EAI_AGAIN'])

/** The service cannot do now what was asked, but may do it later. `cause` is the fault; a planned refusal has none. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** The connection broke during a commit: whether it took place is not known. */
export class CommitUnknown extends Unavailable {
  override name = 'CommitUnknown'
}

/** A node of a cluster does not answer, and so nothing of its cells can be read or written now. */
export class SilentNode extends Unavailable {
  override name = 'SilentNode'
  /** Its address, `HOST:PORT`. */
  readonly node: string

  constructor(node: string, options?: ErrorOptions) {
    super(`the node ${node} does not answer`, options)
    this.node = node
  }
}

/** Whether an error means that the service or its database cannot work now; the caller answers 503. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Unavailable || failureOf(error).unavailable
}

/** What an error of the database means; every member is false for an unknown error. */
export function failureOf(error: unknown): Failure {
  const code = codeOf(error)
  const lost = isLostConnection(error, code) || connectionClasses.some(prefix => code.startsWith(prefix))
  return {
    // After a statement that timed out the state of the session is unknown, so the client is discarded.
    connectionIsUnsafe: lost || code === '57014' || code === '25P03',
    retryTransaction: retryCodes.has(code),
    lostRace: lostRaceCodes.has(code),
    lockTimedOut: code === '55P03',
    noAnswer: unreachable.has(code) || (code === '' && error instanceof Error && silences.has(error.message)),
    refusedConnection: unreachable.has(error instanceof SilentNode ? codeOf(error.cause) : code),
    isElsewhere: code === '42P01' || code === '3F000',
    unavailable: lost || unavailableCodes.has(code) || error instanceof SilentNode,
    refersToNothing: code === '23503',
    followsAnother: code === '25P02',
  }
}

/** The driver's messages when a statement had no answer within `query_timeout`, and a connection none within its limit. */
const silences = new Set(['Query read timeout', 'Connection terminated due to connection timeout'])

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : ''
  if (typeof code !== 'string') return ''
  const said = code === 'XX000' && error instanceof Error ? error.message : undefined
  return saidByNode.find(([begins]) => said?.startsWith(begins))?.[1] ?? code
}

/**
 * What a node of a cluster said about rows that were being copied to it: the coordinator passes the words on, and reports an internal
 * error. With each, the code that the node gave.
 */
const saidByNode: readonly (readonly [begins: string, code: string])[] = [
  ['duplicate key value violates unique constraint', '23505'],
  ['deadlock detected', '40P01'],
  ['canceling statement due to lock timeout', '55P03'],
  ['canceling statement due to', '57014'],
  ['terminating connection', '57P01'],
  ['the database system is', '57P03'],
]

/** How the coordinator of a cluster reports, as an internal error, that a node has just gone away, or a partner's rows moved. */
const lostNode =
  /server closed the connection|no connection to the server|could not (receive data from|send data to) server|connection not open|could not commit transaction for shard|failure on connection marked as essential|could not find valid entry for shard|shard for the given value does not exist/

// node-postgres reports a lost connection and its own time-outs without a code.
function isLostConnection(error: unknown, code: string): boolean {
  return (
    networkCodes.has(code) ||
    (code === 'XX000' && error instanceof Error && lostNode.test(error.message)) ||
    (error instanceof Error &&
      code === '' &&
      /connection terminated|query read timeout|timeout exceeded when trying to connect|client has encountered a connection error|connection ended|cannot use a pool after/i.test(
        error.message,
      ))
  )
}
