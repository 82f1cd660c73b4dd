import pg from 'pg'

/** A Citus cluster on which tests make databases: the addresses of its nodes, the coordinator first. */
export type Cluster = readonly [coordinator: string, ...workers: string[]]

/** The cluster that a server coordinates, or `undefined` for a plain PostgreSQL. */
export async function clusterOf(url: string): Promise<Cluster | undefined> {
  const [citus] = await onNode<{ name: string }>(url, "select 1 from pg_extension where extname = 'citus'")
  if (!citus) return undefined
  const workers = await onNode<{ nodename: string; nodeport: number }>(
    url,
    "select nodename, nodeport from pg_dist_node where groupid <> 0 and noderole = 'primary' order by nodeport",
  )
  return [
    url,
    ...workers.map(({ nodename, nodeport }) => {
      const node = new URL(url)
      node.hostname = nodename
      node.port = `${nodeport}`
      return node.href
    }),
  ]
}

/** Creates an empty database on every node and joins them into a cluster. */
export async function createOnCluster(cluster: Cluster, name: string, origin: string): Promise<void> {
  await Promise.all(
    cluster.map(async node => {
      await onNode(node, `create database ${name} ${origin}`, `alter database ${name} set jit = off`)
      await onNode(databaseUrl(node, name), 'create extension citus')
    }),
  )
  const [coordinator, ...workers] = cluster.map(node => new URL(node))
  await onNode(
    databaseUrl(cluster[0], name),
    `select citus_set_coordinator_host('${coordinator?.hostname}', ${coordinator?.port})`,
    ...workers.map(({ hostname, port }) => `select citus_add_node('${hostname}', ${port})`),
  )
}

/** Closes a database to sessions, so that it can be copied: Citus keeps a session of its own in each database. */
export async function closeOnCluster(cluster: Cluster, name: string): Promise<void> {
  await Promise.all(
    cluster.map(async node => {
      await onNode(
        node,
        `alter database ${name} allow_connections false`,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      )
    }),
  )
}

/**
 * Copies a closed database, with its knowledge of nodes and tables, on every node. It has one cell, because each test pays for
 * every copied file; a statement of a test that names no partner is about that cell. Compiling plans would cost more than
 * running them.
 */
export async function copyOnCluster(cluster: Cluster, name: string, template: string): Promise<void> {
  await Promise.all(
    cluster.map(node =>
      onNode(
        node,
        `create database ${name} template ${template} strategy file_copy`,
        `alter database ${name} set search_path = cell_1, public`,
        `alter database ${name} set jit = off`,
      ),
    ),
  )
}

/** Drops a database on every node; a missing one is no error. */
export async function dropOnCluster(cluster: Cluster, name: string): Promise<void> {
  await Promise.all(
    cluster.map(async node => {
      for (;;) {
        try {
          return await onNode(node, `drop database if exists ${name} with (force)`)
        } catch (error) {
          // The other nodes, and Citus itself, may just have opened a session again.
          if ((error as { code?: string }).code !== '55006') throw error
        }
      }
    }),
  )
}

/**
 * Runs statements on one node, in the database that the address names, and gives the rows of the last. Each commits by itself,
 * and all share a connection, as opening one costs more than most of them.
 */
export async function onNode<Row extends pg.QueryResultRow>(
  url: string,
  ...texts: readonly [string, ...string[]]
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: Row[] = []
    for (const text of texts) rows = (await client.query<Row>(text)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** The URL of another database on the same server. */
export function databaseUrl(url: string, name: string): string {
  const other = new URL(url)
  other.pathname = `/${name}`
  return other.href
}
