/** Keeps one PostgreSQL running for as long as this process wants it: starts it, restarts it, watches its disk, stops it. */
import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sharedAccountName } from './account.ts'
import { type Cluster, openCluster } from './cluster.ts'
import type { SocketAddress } from './database.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { messageOf } from './error-parts.ts'
import { shortenLog } from './log-file.ts'
import { addressOf, findPostmaster, stopPostmaster } from './postmaster.ts'
import { type ProcessLock, takeLock } from './process-locks.ts'
import { hasSocket, removeSocketDirectory } from './socket-directory.ts'
import { type Started, startPostgres } from './start.ts'

/** Writes one line to the service's log. */
export type Log = (event: string, fields?: Record<string, unknown>) => void

/** A database that this process keeps running. */
export type OwnedDatabase = {
  /** Stays the same while the database is owned, even when PostgreSQL is restarted. */
  address: SocketAddress
  /** Stops PostgreSQL and gives up the ownership. Never throws; a second call waits for the first. */
  stop(): Promise<void>
  /** Whether the disk has so little space left that writes should be refused. */
  lowOnSpace(): boolean
}

/**
 * Starts the database under `dataDir` and keeps it running until `stop()`: if PostgreSQL dies, it is started again.
 * A PostgreSQL left by a killed owner is stopped and started again. Throws `EmbeddedPostgresError` when another
 * process owns the database, or when the directory or the system cannot be used. With `isThrownAway`, for tests, nothing is
 * synced to the disk: the data outlives PostgreSQL, but not the machine.
 */
export async function ownEmbeddedDatabase(options: {
  dataDir: string
  log: Log
  isThrownAway?: boolean
}): Promise<OwnedDatabase> {
  const cluster = await openCluster(options.dataDir, options.isThrownAway)
  const lock = await takeLock(cluster.locks, 'service', PATIENCE_FOR_COMMANDS)
  if ('holder' in lock)
    throw new EmbeddedPostgresError(
      `The database in ${cluster.dataDir} is in use by the process ${lock.holder.pid}: stop that one first, or choose another directory with --data.`,
    )
  try {
    return keepRunning(await takeOver(cluster, lock, options.log))
  } catch (error) {
    await lock.release()
    throw error
  }
}

// A backup or a migration that has the database to itself ends by itself.
const PATIENCE_FOR_COMMANDS = 60_000
const SHORTEST_PAUSE = 50
const LONGEST_PAUSE = 5_000
const PAUSE_BETWEEN_CHECKS = 5_000
// Enough for the log that PostgreSQL writes before the next check, and for a clean shutdown.
const LEAST_SPACE = 256 * 1024 * 1024

type Owned = { cluster: Cluster; log: Log; lock: ProcessLock; socketDirectory: string; started: Started }

async function takeOver(cluster: Cluster, lock: ProcessLock, log: Log): Promise<Owned> {
  const startedAt = performance.now()
  const orphan = await findPostmaster(cluster)
  if (orphan) log('database_orphan_found', { pid: orphan.pid })
  const started = await startPostgres(cluster)
  // Root must learn which user runs PostgreSQL in its place, and whether other programs share that user.
  if (cluster.account)
    log('database_account', {
      user: cluster.account.name,
      isShared: cluster.account.name === sharedAccountName,
    })
  log('database_started', {
    pid: started.postmaster.pid,
    milliseconds: Math.round(performance.now() - startedAt),
  })
  return { cluster, log, lock, started, socketDirectory: started.postmaster.socketDirectory }
}

function keepRunning(owned: Owned): OwnedDatabase {
  const stopping = new AbortController()
  const supervised = restartWheneverItDies(owned, stopping.signal)
  let isLow = false
  const watched = lookAfter(owned, stopping.signal, low => {
    isLow = low
  })
  let stopped: Promise<void> | undefined
  return {
    address: addressOf(owned.started.postmaster),
    lowOnSpace: () => isLow,
    stop: () => {
      stopping.abort()
      stopped ??= Promise.all([supervised, watched]).then(() => giveUp(owned))
      return stopped
    },
  }
}

async function restartWheneverItDies(owned: Owned, stopping: AbortSignal): Promise<void> {
  const { cluster, log, socketDirectory } = owned
  const asked = new Promise<undefined>(resolve =>
    stopping.addEventListener('abort', () => resolve(undefined)),
  )
  let started: Started | undefined = owned.started
  let pause = SHORTEST_PAUSE
  while (!stopping.aborted) {
    const since = performance.now()
    const ending = await Promise.race([started?.ended, asked])
    if (stopping.aborted) return
    if (started)
      log('database_died', { pid: started.postmaster.pid, code: ending?.code, signal: ending?.signal })
    // A PostgreSQL that ran for a while is restarted quickly; one that dies at once is restarted after growing
    // pauses.
    if (performance.now() - since > LONGEST_PAUSE) pause = SHORTEST_PAUSE
    await sleep(pause, undefined, { signal: stopping, ref: false }).catch(() => undefined)
    pause = Math.min(pause * 2, LONGEST_PAUSE)
    started = await restart()
  }

  async function restart(): Promise<Started | undefined> {
    try {
      const again = await startPostgres(cluster, { socketDirectory, signal: stopping })
      log('database_restarted', { pid: again.postmaster.pid })
      return again
    } catch (error) {
      if (!stopping.aborted) log('database_restart_failed', { error: messageOf(error) })
      return undefined
    }
  }
}

async function lookAfter(
  owned: Owned,
  stopping: AbortSignal,
  onChange: (isLow: boolean) => void,
): Promise<void> {
  const { cluster, log, socketDirectory } = owned
  let wasLow = false
  while (!stopping.aborted) {
    try {
      const isLow = (await freeSpace(cluster.dataDir)) < LEAST_SPACE
      if (isLow !== wasLow) log(isLow ? 'database_low_on_space' : 'database_space_regained')
      wasLow = isLow
      onChange(isLow)
      await shortenLog(cluster.logFile)
      const running = await findPostmaster(cluster)
      // Without its socket PostgreSQL gets no new sessions. The address must stay the same, so PostgreSQL is
      // stopped and `restartWheneverItDies` starts it again.
      if (running?.isReady && !(await hasSocket(socketDirectory))) await stopPostmaster(running)
    } catch (error) {
      log('database_check_failed', { error: messageOf(error) })
    }
    await sleep(PAUSE_BETWEEN_CHECKS, undefined, { signal: stopping, ref: false }).catch(() => undefined)
  }
}

async function freeSpace(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

async function giveUp(owned: Owned): Promise<void> {
  const { cluster, log, lock, socketDirectory } = owned
  try {
    const running = await findPostmaster(cluster)
    if (running) await stopPostmaster(running)
    await removeSocketDirectory(socketDirectory, cluster.account)
    await lock.release()
    log('database_stopped')
  } catch (error) {
    log('database_stop_failed', { error: messageOf(error) })
  }
}
