import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, openCluster } from './cluster.ts'
import { prepareDatabase, type SocketAddress } from './database.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { addressOf, findPostmaster, stopPostmaster } from './postmaster.ts'
import { holders, takeLock } from './process-locks.ts'
import { removeSocketDirectory } from './socket-directory.ts'
import { startPostgres } from './start.ts'

/**
 * The database that a service runs under `dataDir`; waits while that service starts it. `undefined` where no service runs there,
 * also when PostgreSQL was left behind by one that was killed. Throws `EmbeddedPostgresError` when it is not ready within a minute.
 */
export async function findRunningDatabase(options: { dataDir: string }): Promise<SocketAddress | undefined> {
  return reach(await openCluster(options.dataDir))
}

/**
 * Works on the database under `dataDir`: on that of a running service, or on one that is started for the work, and made if there
 * is none. Throws `EmbeddedPostgresError` when a service or another command that is about to use it does not get ready.
 */
export async function withDatabase<T>(
  options: { dataDir: string },
  work: (address: SocketAddress) => Promise<T>,
): Promise<T> {
  const cluster = await openCluster(options.dataDir)
  const lock = await takeLock(cluster.locks, 'command', PATIENCE)
  if ('holder' in lock) {
    const running = lock.holder.owner === 'service' ? await reach(cluster) : undefined
    if (running) return work(running)
    throw new EmbeddedPostgresError(
      `The process ${lock.holder.pid} has the database in ${cluster.dataDir} to itself: wait for its end, and run this again.`,
    )
  }
  try {
    const { postmaster } = await startPostgres(cluster)
    try {
      return await work(addressOf(postmaster))
    } finally {
      await stopPostmaster(postmaster)
      await removeSocketDirectory(postmaster.socketDirectory, cluster.account)
    }
  } finally {
    await lock.release()
  }
}

const PATIENCE = 60_000

async function reach(cluster: Cluster): Promise<SocketAddress | undefined> {
  const deadline = performance.now() + PATIENCE
  for (;;) {
    const service = (await holders(cluster.locks)).find(({ owner }) => owner === 'service')
    if (!service) return undefined
    const running = await findPostmaster(cluster)
    if (running?.isReady && (await accepts(addressOf(running)))) return addressOf(running)
    if (performance.now() > deadline)
      throw new EmbeddedPostgresError(
        `The database in ${cluster.dataDir} has not become ready within a minute; the process ${service.pid} is in charge of it: see ${cluster.logFile}.`,
      )
    // It is about to be started, or started again.
    await sleep(50)
  }
}

/** Whether PostgreSQL accepts sessions: it may be shutting down, or its socket may have been removed by a cleaner. */
async function accepts(address: SocketAddress): Promise<boolean> {
  return prepareDatabase(address).then(
    () => true,
    () => false,
  )
}
