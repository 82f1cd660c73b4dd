import { OperatorError } from '../operator-error.ts'
import { type DatabaseAddress, type Executor, openDatabase } from './database.ts'
import { failureOf } from './failure.ts'
import { sql } from './sql.ts'

/**
 * The settings that every database session must have: otherwise requests would wait without end, or plans read whole
 * tables.
 */
const EXPECTED = {
  statement_timeout: '5s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '10s',
  TimeZone: 'UTC',
  enable_seqscan: 'off',
} as const

const POOLER =
  'Connect to PostgreSQL directly, or through a pooler in session mode that passes start-up options on (docs/operating.md, "A pooler in front of PostgreSQL").'

/**
 * Connects to the database once, and checks that it and its sessions are as the
 * service needs them. Throws OperatorError with a sentence when the database cannot be reached, takes no writes or has another
 * encoding than UTF8, or when a pooler shares or changes sessions.
 */
export async function checkConnection(address: DatabaseAddress): Promise<void> {
  // Longer than a request may wait: while other processes start on the same machine, a slow answer does not mean that
  // no database is there.
  const error = await check(address, 10_000)
  if (error === undefined) return
  const sentence = explainConnection(error)
  throw sentence === undefined ? error : new OperatorError(sentence)
}

/** Returns what is wrong; `undefined`: nothing. */
async function check(address: DatabaseAddress, connectTimeoutMs: number): Promise<unknown> {
  const database = openDatabase(address, { max: 2, onError: () => {}, connectTimeoutMs })
  try {
    await database.alone(async one => {
      const first = await backendOf(one)
      // Two connections that are open at once share a server process, so a pooler lends sessions for a transaction
      // only.
      const second = await database.alone(backendOf)
      if (first === second)
        throw new OperatorError(
          `A pooler in transaction mode stands in front of PostgreSQL, and prepared statements and time limits of a session would be lost. ${POOLER}`,
        )
      const rows = await one.query<{ name: string; setting: string }>(sql`
        select name, current_setting(name) as setting from unnest(${Object.keys(EXPECTED)}::text[]) as name`)
      const lost = rows.filter(({ name, setting }) => EXPECTED[name as keyof typeof EXPECTED] !== setting)
      if (lost.length > 0)
        throw new OperatorError(
          `The settings of a session do not arrive at PostgreSQL (${lost.map(({ name, setting }) => `${name} is ${setting || 'empty'}`).join(', ')}), as a pooler drops them. ${POOLER}`,
        )
      await checkServer(one)
    })
    return undefined
  } catch (error) {
    return error
  } finally {
    await database.close()
  }
}

/** Throws OperatorError when the server takes no writes, or cannot store every character. */
async function checkServer(databaseSession: Executor): Promise<void> {
  const [server] = await databaseSession.query<{ encoding: string; standby: boolean; readonly: boolean }>(sql`
    select current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
      current_setting('transaction_read_only')::boolean as readonly`)
  if (server?.standby)
    throw new OperatorError(
      'DATABASE_URL names a standby, which takes no writes: name the primary. Promote the standby only once the primary has ended for good (docs/operating.md, "With your own PostgreSQL").',
    )
  if (server?.readonly)
    throw new OperatorError(
      'PostgreSQL lets the user of DATABASE_URL only read (default_transaction_read_only): reset that setting for the user and the database.',
    )
  if (server && server.encoding !== 'UTF8')
    throw new OperatorError(
      `The database has the encoding ${server.encoding}, in which not every character can be stored: make one with \`createdb --encoding UTF8 --template template0\`.`,
    )
}

async function backendOf(databaseSession: Executor): Promise<number> {
  const [row] = await databaseSession.query<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  return row?.pid ?? 0
}

/** The reason why the database cannot be reached, as a sentence; `undefined` when the error has another cause. */
export function explainConnection(error: unknown): string | undefined {
  const code = (error as { code?: string }).code ?? ''
  const text = error instanceof Error ? error.message : ''
  if (code === '28P01' || /SASL|password must be a string/.test(text))
    return 'PostgreSQL refused the password: check user and password in DATABASE_URL, where % / ? # [ ] @ : are percent-encoded, or PGPASSWORD.'
  if (code === '28000' && /no encryption|SSL off/.test(text))
    return 'PostgreSQL does not let this user in without encryption: add `?sslmode=verify-full` to DATABASE_URL, and `&sslrootcert=FILE` where its certificate is of an authority of your own; or check the user and the pg_hba.conf of the server.'
  if (code === '28000')
    return "PostgreSQL does not let this user in from here: check the user in DATABASE_URL and the server's pg_hba.conf."
  if (code === '3D000')
    return 'There is no such database: make it (`createdb`), or check the name in DATABASE_URL.'
  if (tlsCodes.has(code))
    return `The certificate of PostgreSQL is not trusted (${code}): add \`?sslmode=verify-full&sslrootcert=FILE\` to DATABASE_URL, with the certificate of the authority that signed it.`
  if (/does not support SSL/.test(text))
    return 'PostgreSQL speaks no TLS, and DATABASE_URL asks for it: switch it on at the server, or take `sslmode` out of DATABASE_URL.'
  if (code === '08P01' && /startup parameter/.test(text))
    return `A pooler in front of PostgreSQL refuses the options of a session. ${POOLER}`
  if (code === '42P05' || code === '26000')
    return `A pooler in transaction mode stands in front of PostgreSQL, and prepared statements are lost. ${POOLER}`
  if (code === '53300')
    return 'PostgreSQL has no connection left for this user or database: end others, or allow more (max_connections, connection limit).'
  if (code === '53100') return 'The disk of the database is full: make room, and try again.'
  if (code === '55P03' || code === '57014')
    return `The database answers, but took too long (${code}): another session holds a lock on what this needs, or keeps the server busy. End its transaction (\`pg_stat_activity\`, the oldest \`xact_start\`), or try again later.`
  if (code === '25006')
    return 'The database takes no writes: it is a standby, or set to read only (default_transaction_read_only).'
  if (failureOf(error).unavailable)
    return `The database cannot be reached${code ? ` (${code})` : ''}: check DATABASE_URL and that the server runs.`
  return undefined
}

const tlsCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])
