import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** How to reach a database by pg: the directory of its Unix socket, port, user and database. */
export type SocketAddress = { host: string; port: number; user: string; database: string }

/**
 * The application's name in PostgreSQL, as role and as database. The role is no superuser: who can make us run a
 * statement of his own must not be able to start programs by `copy … to program`.
 */
export const applicationName = 'enrolment'

/** Makes a database of the application in the embedded PostgreSQL; from a template whose name is given, a copy of it. */
export async function createDatabase(address: SocketAddress, name: string, template?: string): Promise<void> {
  await asSuperuser(address, async client => {
    const owner = pg.escapeIdentifier(applicationName)
    const origin = template
      ? `template ${pg.escapeIdentifier(template)}`
      : "template template0 encoding 'UTF8' locale 'C'"
    await client.query(`create database ${pg.escapeIdentifier(name)} owner ${owner} ${origin}`)
  })
}

/** Drops a database in the embedded PostgreSQL, ending the sessions in it; one that is not there is no fault. */
export async function dropDatabase(address: SocketAddress, name: string): Promise<void> {
  await asSuperuser(address, async client => {
    await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
  })
}

/** Sees to it that the application's role and database are there, in a PostgreSQL that has just been started. */
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

async function asSuperuser<T>(address: SocketAddress, work: (client: pg.Client) => Promise<T>): Promise<T> {
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
    // `ssl` is spelt out, since pg would follow a PGSSLMODE of our environment, and a socket knows no TLS.
    const client = new pg.Client({ ...address, ssl: false, connectionTimeoutMillis: 5_000 })
    // A session ended from outside also fails the query under way, which is where it is answered.
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

// cannot_connect_now, the socket not there yet, nobody listening any more.
function isStartingOrStopping(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === '57P03' || code === 'ENOENT' || code === 'ECONNREFUSED'
}
