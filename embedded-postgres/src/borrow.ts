import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, openCluster } from './cluster.ts'
import { prepareDatabase, type SocketAddress } from './database.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { addressOf, findPostmaster, stopPostmaster } from './postmaster.ts'
import { holders, inTurn, type ProcessLock, takeLock } from './process-locks.ts'
import { removeSocketDirectory } from './socket-directory.ts'
import { startPostgres } from './start.ts'

/** A database that a command uses until `release()`; the command ends its own sessions first. */
export type BorrowedDatabase = { address: SocketAddress; release(): Promise<void> }

/**
 * Gives a command the running database under `dataDir`, or starts it. At `release()` PostgreSQL is stopped, unless
 * another process uses it. Throws `EmbeddedPostgresError` when the database is not available within a minute.
 */
export async function borrowEmbeddedDatabase(options: { dataDir: string }): Promise<BorrowedDatabase> {
  const cluster = await openCluster(options.dataDir)
  const deadline = performance.now() + patience
  while (performance.now() < deadline) {
    const turn = await inTurn(cluster.locks, deadline - performance.now(), () => join(cluster))
    if (turn?.done) return turn.done
    // Its owner is about to start it again.
    await sleep(50)
  }
  const others = [...(await holders(cluster.locks, 'turn')), ...(await holders(cluster.locks, 'own'))]
  throw new EmbeddedPostgresError(
    `The database in ${cluster.dataDir} has not become ready within a minute; the process ${others.join(', ')} is in charge of it: see ${cluster.logFile}.`,
  )
}

const patience = 60_000

/** Joins the users of the database; `undefined` when it is down and another process owns it, which will start it. */
async function join(cluster: Cluster): Promise<BorrowedDatabase | undefined> {
  const use = await takeLock(cluster.locks, 'use')
  try {
    const address = await reach(cluster)
    if (address) return { address, release: () => release(cluster, use) }
  } catch (error) {
    await use.release()
    throw error
  }
  await use.release()
  return undefined
}

async function reach(cluster: Cluster): Promise<SocketAddress | undefined> {
  const running = await findPostmaster(cluster)
  const isOwned = (await holders(cluster.locks, 'own')).length > 0
  if (running?.isReady && (await accepts(addressOf(running)))) return addressOf(running)
  if (isOwned) return undefined
  return addressOf((await startPostgres(cluster)).postmaster)
}

/** Whether PostgreSQL accepts sessions: it may be shutting down, or its socket may have been removed by a cleaner. */
async function accepts(address: SocketAddress): Promise<boolean> {
  return prepareDatabase(address).then(
    () => true,
    () => false,
  )
}

async function release(cluster: Cluster, use: ProcessLock): Promise<void> {
  await use.release()
  // If the turn does not come, PostgreSQL keeps running: the process that has the turn so long is in charge of it,
  // and so is the next owner.
  await inTurn(cluster.locks, patience, async () => {
    const others = [...(await holders(cluster.locks, 'own')), ...(await holders(cluster.locks, 'use'))]
    const running = await findPostmaster(cluster)
    if (others.length > 0 || !running) return
    await stopPostmaster(running, 'smart')
    await removeSocketDirectory(running.socketDirectory, cluster.account)
  })
}
