import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { codeOf } from './error-parts.ts'

/** The address of a database for the pg driver: the directory of its Unix socket, port, user and database. */
export type SocketAddress = { host: string; port: number; user: string; database: string }

/**
 * The name of the application's role and of its database. The role is not a superuser, because a superuser's
 * statement `copy … to program` would let whoever injects a statement start programs.
 */
export const applicationName = 'enrolment'

/**
 * Creates a database of the application in the embedded PostgreSQL; with a template, as a copy of that database. Its files are
 * copied as they are: through the write-ahead log, page by page, a small database costs several times as much.
 */
export async function createDatabase(address: SocketAddress, name: string, template?: string): Promise<void> {
  await asSuperuser(address, async client => {
    const owner = pg.escapeIdentifier(applicationName)
    const origin = template
      ? `template ${pg.escapeIdentifier(template)} strategy file_copy`
      : "template template0 encoding 'UTF8' locale 'C'"
    await client.query(`create database ${pg.escapeIdentifier(name)} owner ${owner} ${origin}`)
  })
}

/**
 * Drops a database in the embedded PostgreSQL and ends the sessions in it; does nothing when there is none of that
 * name.
 */
export async function dropDatabase(address: SocketAddress, name: string): Promise<void> {
  await asSuperuser(address, async client => {
    await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
  })
}

/** Creates the application's role and database, unless they exist, in a PostgreSQL that has just been started. */
export async function prepareDatabase(address: SocketAddress): Promise<void> {
  const missing = await asSuperuser(address, async client => {
    const found = await client.query<{ role: boolean; database: boolean }>({
      text: `select exists (select from pg_roles where rolname = $1) as role,
                    exists (select from pg_database where datname = $1) as database`,
      values: [applicationName],
    })
    const { role, database } = found.rows[0] ?? { role: false, database: false }
    if (!role) await client.query(`create role ${pg.escapeIdentifier(applicationName)} login`)
    return !database
  })
  if (missing) await createDatabase(address, applicationName)
}

const patience = 10_000

/**
 * Runs `work` as PostgreSQL's superuser in the database `postgres`; waits some seconds for a PostgreSQL that is
 * starting.
 */
export async function asSuperuser<T>(
  address: SocketAddress,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connect(
    { ...address, user: 'postgres', database: 'postgres' },
    performance.now() + patience,
  )
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function connect(address: SocketAddress, deadline: number): Promise<pg.Client> {
  for (;;) {
    // `ssl` is set because pg would otherwise follow a PGSSLMODE in the environment, and Unix sockets have no TLS.
    const client = new pg.Client({ ...address, ssl: false, connectionTimeoutMillis: 5_000 })
    // When a session is ended from outside, its running query rejects too, and that is where callers learn of it.
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      if (!isStartingOrStopping(error) || performance.now() > deadline) throw error
      await sleep(20)
    }
  }
}

// In order: PostgreSQL is starting up, its socket does not exist yet, or nothing listens on it any more.
function isStartingOrStopping(error: unknown): boolean {
  return ['57P03', 'ENOENT', 'ECONNREFUSED'].includes(String(codeOf(error)))
}
