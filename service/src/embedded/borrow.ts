import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../operator-error.ts'
import { type Claim, claim, holders, inTurn } from './claims.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { prepareDatabase, type SocketAddress } from './database.ts'
import { addressOf, findPostmaster, stopPostmaster } from './postmaster.ts'
import { removeSocketDirectory } from './socket-directory.ts'
import { startPostgres } from './start.ts'

/** A database that a command works with until `release()`; the command ends its sessions before that. */
export type BorrowedDatabase = { address: SocketAddress; release(): Promise<void> }

/**
 * Gives a command the running database under `dataDir`, or starts it; at `release()` one that nobody else uses is ended,
 * when its sessions have ended. Refuses with an `OperatorError` when it cannot be had within a minute.
 */
export async function borrowEmbeddedDatabase(options: { dataDir: string }): Promise<BorrowedDatabase> {
  const cluster = await openCluster(options.dataDir)
  const deadline = performance.now() + patience
  while (performance.now() < deadline) {
    const turn = await inTurn(cluster.claims, deadline - performance.now(), () => join(cluster))
    if (turn?.done) return turn.done
    // Its owner is about to start it again.
    await sleep(50)
  }
  const others = [...(await holders(cluster.claims, 'turn')), ...(await holders(cluster.claims, 'own'))]
  throw new OperatorError(
    `The database in ${cluster.dataDir} has not become ready within a minute; the process ${others.join(', ')} looks after it: see ${cluster.logFile}.`,
  )
}

const patience = 60_000

/** `undefined` when the database is down and somebody else's to start. */
async function join(cluster: Cluster): Promise<BorrowedDatabase | undefined> {
  const use = await claim(cluster.claims, 'use')
  try {
    const address = await reach(cluster)
    if (address) return { address, release: () => release(cluster, use) }
  } catch (error) {
    await use.withdraw()
    throw error
  }
  await use.withdraw()
  return undefined
}

async function reach(cluster: Cluster): Promise<SocketAddress | undefined> {
  const running = await findPostmaster(cluster)
  const isOwned = (await holders(cluster.claims, 'own')).length > 0
  if (running?.isReady && (await accepts(addressOf(running)))) return addressOf(running)
  if (isOwned) return undefined
  return addressOf((await startPostgres(cluster)).postmaster)
}

/** Whether it takes sessions: it may be on its way down, or its socket may have been cleaned away. */
async function accepts(address: SocketAddress): Promise<boolean> {
  return prepareDatabase(address).then(
    () => true,
    () => false,
  )
}

async function release(cluster: Cluster, use: Claim): Promise<void> {
  await use.withdraw()
  // Left running when the turn does not come: whoever has it so long sees to the database, and so does the next owner.
  await inTurn(cluster.claims, patience, async () => {
    const others = [...(await holders(cluster.claims, 'own')), ...(await holders(cluster.claims, 'use'))]
    const running = await findPostmaster(cluster)
    if (others.length > 0 || !running) return
    await stopPostmaster(running, 'smart')
    await removeSocketDirectory(running.socketDirectory, cluster.account)
  })
}
