import pg from 'pg'

/** Locks that another session holds, and a look at who waits for them. */
export type HeldLocks = {
  /** How many sessions of this database wait for a lock. */
  readonly waiting: () => Promise<number>
  /** Lets go of the locks. */
  readonly release: () => Promise<void>
}

/** Takes the locks that these statements take; they are held when this resolves. */
export async function holdLocks(databaseUrl: string, statements: readonly string[]): Promise<HeldLocks> {
  const holder = await connected(databaseUrl)
  // In a session of its own: within a transaction, pg_stat_activity goes on listing the sessions of its first query, and a
  // service that opens another connection would never be seen to wait.
  const watcher = await connected(databaseUrl)
  await holder.query('begin')
  for (const statement of statements) await holder.query(statement)
  const { rowCount } = await watcher.query("select 1 from pg_extension where extname = 'citus'")
  // On a cluster the session that waits is one of a node.
  const activity = rowCount === 0 ? 'pg_stat_activity' : 'citus_stat_activity'
  return {
    waiting: async () => {
      const { rows } = await watcher.query<{ count: number }>(
        `select count(*)::integer as count from ${activity}
         where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows[0]?.count ?? 0
    },
    release: async () => {
      await holder.query('commit')
      await Promise.all([holder.end(), watcher.end()])
    },
  }
}

async function connected(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl)
  // If the test fails half-way, the database is dropped together with its connections.
  client.on('error', () => {})
  await client.connect()
  return client
}
