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
  /** The database cannot serve now. */
  readonly unavailable: boolean
  /** A row was written that refers to one that is gone. */
  readonly refersToNothing: boolean
  /** An earlier statement of the transaction failed, and that is the reason. */
  readonly followsAnother: boolean
}

/**
 * Serialization failures, deadlocks, and XX000, by which a node of a cluster reports whatever went wrong at another: that it went
 * away, moved the rows, or refused them. The transaction is not committed then, and another attempt tells which it was.
 */
const retryCodes = new Set(['40001', '40P01', 'XX000'])
/**
 * Besides serialization failures and deadlocks: a violated unique key, and the division by zero by which a statement
 * that wrote too few rows fails its transaction (`membership/saving/save.ts`).
 */
const lostRaceCodes = new Set([...retryCodes, '23505', '22012'])
const connectionClasses = ['08', '57P']
// 25006: a server that has become a standby.
const unavailableCodes = new Set([
  '25006',
  '53100',
  '53200',
  '53300',
  '55000',
  '55P03',
  '57014',
  '58030',
  'XX000',
])
const networkCodes = new Set(
  'ECONNREFUSED EHOSTUNREACH ENOTFOUND ECONNRESET EPIPE ENOENT ETIMEDOUT EAI_AGAIN'.split(' '),
)

/** The service cannot do now what was asked, but may do it later. `cause` is the fault; a planned refusal has none. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** The connection broke during a commit: whether it took place is not known. */
export class CommitUnknown extends Unavailable {
  override name = 'CommitUnknown'
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
    unavailable: lost || unavailableCodes.has(code),
    refersToNothing: code === '23503',
    followsAnother: code === '25P02',
  }
}

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : ''
  return typeof code === 'string' ? code : ''
}

// node-postgres reports a lost connection and its own time-outs without a code.
function isLostConnection(error: unknown, code: string): boolean {
  return (
    networkCodes.has(code) ||
    (error instanceof Error &&
      code === '' &&
      /connection terminated|query read timeout|timeout exceeded when trying to connect|client has encountered a connection error|connection ended|cannot use a pool after/i.test(
        error.message,
      ))
  )
}
