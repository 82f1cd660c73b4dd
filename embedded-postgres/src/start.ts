/** Starts PostgreSQL on a data directory, with the settings that no operator may change, and waits until it is ready. */
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { accessSettings, writeAccessFiles } from './access.ts'
import { type Cluster, pathForPostgres, prepareCluster } from './cluster.ts'
import { prepareDatabase } from './database.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { removeLeftovers } from './leftovers.ts'
import { shortenLog } from './log-file.ts'
import {
  addressOf,
  findPostmaster,
  notedSocketDirectory,
  type Postmaster,
  removeStalePidFile,
  stopPostmaster,
} from './postmaster.ts'
import { lifeOf } from './processes.ts'
import { reasonIn, spawnOptionsOf } from './programs.ts'
import {
  makeSocketDirectory,
  removeSocketDirectory,
  renewSocketDirectory,
  SOCKET_PORT,
} from './socket-directory.ts'

/** A PostgreSQL that this process started; `ended` resolves when it has ended, for whatever reason. */
export type Started = { postmaster: Postmaster; ended: Promise<Ending> }

/** How a process ended: its exit code, the signal that ended it, or the reason why it could not be started. */
type Ending = { code: number | null; signal: NodeJS.Signals | null; failure?: string }

/**
 * Starts PostgreSQL on a cluster, which is created first when it is missing, removes what a kill left beside it, and creates the application's role and
 * database. Its socket is in a new directory, or with `again` in the directory used before. The caller holds the
 * lock, so a PostgreSQL that still runs on the cluster was left by another process and is stopped. Throws
 * `EmbeddedPostgresError` with PostgreSQL's own reason, or an abort error when the signal aborts; no process is
 * left running then.
 */
export async function startPostgres(
  cluster: Cluster,
  again?: { socketDirectory: string; signal: AbortSignal },
): Promise<Started> {
  await removeLeftovers(cluster)
  await prepareCluster(cluster)
  await writeAccessFiles(cluster)
  await shortenLog(cluster.logFile)
  if (again) return startIn(again.socketDirectory, cluster, again.signal)
  const socketDirectory = await makeSocketDirectory(cluster.account)
  try {
    return await startIn(socketDirectory, cluster)
  } catch (error) {
    await removeSocketDirectory(socketDirectory, cluster.account)
    throw error
  }
}

async function startIn(socketDirectory: string, cluster: Cluster, signal?: AbortSignal): Promise<Started> {
  const deadline = performance.now() + PATIENCE_WITH_LEFTOVERS
  for (;;) {
    await clearTheWay(cluster, socketDirectory)
    const outcome = await attempt(cluster, socketDirectory, signal)
    if ('postmaster' in outcome) return outcome
    if (!isAboutLeftovers(outcome.output) || performance.now() > deadline)
      throw new EmbeddedPostgresError(
        `PostgreSQL does not start on ${cluster.directory} (${reasonIn(outcome.output)}): see ${cluster.logFile}.`,
      )
    await sleep(50, undefined, { signal })
  }
}

// After a kill -9 of the postmaster its sessions keep the shared memory until they notice: at once when idle, else
// at the end of their statement.
const PATIENCE_WITH_LEFTOVERS = 20_000

function isAboutLeftovers(output: string): boolean {
  return /shared memory block .* in use|lock file .* already exists/.test(output)
}

// Recovery after a crash takes seconds with a log of this size; the limit only catches a disk that hangs.
const PATIENCE_WITH_RECOVERY = 300_000

async function clearTheWay(cluster: Cluster, socketDirectory: string): Promise<void> {
  const old = await notedSocketDirectory(cluster)
  const orphan = await findPostmaster(cluster)
  if (orphan) await stopPostmaster(orphan)
  await removeStalePidFile(cluster)
  if (old && old !== socketDirectory) await removeSocketDirectory(old, cluster.account)
  await renewSocketDirectory(socketDirectory, cluster.account)
}

async function attempt(
  cluster: Cluster,
  socketDirectory: string,
  signal: AbortSignal | undefined,
): Promise<Started | { output: string }> {
  const logFile = await open(
    cluster.logFile,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  )
  const { size } = await logFile.stat()
  const child = spawn(cluster.binaries.postgres, postgresArguments(cluster, socketDirectory), {
    cwd: cluster.directory,
    // The environment is not passed on, because it may hold secrets; macOS needs a locale.
    env: { LC_ALL: 'C' },
    // PostgreSQL gets a session of its own, so that Ctrl-C reaches only this process, which stops PostgreSQL when
    // its own work has ended.
    detached: true,
    stdio: ['ignore', logFile.fd, logFile.fd],
    ...spawnOptionsOf(cluster.account),
  })
  child.unref()
  const ended = endingOf(child)
  await logFile.close()
  const born = { pid: child.pid ?? 0, life: lifeOf(child.pid ?? 0) ?? '' }
  try {
    const postmaster = await waitUntilReady({ cluster, pid: born.pid, ended, signal })
    if (!postmaster) {
      const { failure } = await ended
      return { output: failure ?? (await readFile(cluster.logFile)).subarray(size).toString() }
    }
    await prepareDatabase(addressOf(postmaster))
    return { postmaster, ended }
  } catch (error) {
    await stopPostmaster(born)
    throw error
  }
}

function endingOf(child: ChildProcess): Promise<Ending> {
  return new Promise(resolve => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    child.once('error', error => resolve({ code: null, signal: null, failure: error.message }))
  })
}

async function waitUntilReady(awaited: {
  cluster: Cluster
  pid: number
  ended: Promise<Ending>
  signal: AbortSignal | undefined
}): Promise<Postmaster | undefined> {
  const { cluster, signal } = awaited
  let hasEnded = false
  void awaited.ended.then(() => {
    hasEnded = true
  })
  const deadline = performance.now() + PATIENCE_WITH_RECOVERY
  while (performance.now() < deadline) {
    const found = await findPostmaster(cluster)
    if (found?.pid === awaited.pid && found.isReady) return found
    if (hasEnded) return undefined
    await sleep(5, undefined, { signal })
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL has been recovering ${cluster.directory} for ${PATIENCE_WITH_RECOVERY / 60_000} minutes: see ${cluster.logFile}.`,
  )
}

function postgresArguments(cluster: Cluster, socketDirectory: string): string[] {
  const settings = Object.entries({
    ...promises,
    ...(cluster.isThrownAway ? withoutSyncing : {}),
    ...accessSettings(cluster),
    port: String(SOCKET_PORT),
    unix_socket_directories: socketDirectory,
  })
  return [
    '-D',
    pathForPostgres(cluster.directory),
    ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}

const withoutSyncing = { fsync: 'off', full_page_writes: 'off' }

// These settings are given on the command line, so that postgresql.conf cannot change them; sizes are set there,
// see `cluster.ts`.
const promises = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // A recycled log file keeps its old content for months, including the wrapped keys of erased users.
  wal_recycle: 'off',
  min_wal_size: '32MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_destination: 'stderr',
  // PostgreSQL prints key values in details, statements and parameters, and values even in the first line of some
  // errors ("invalid input syntax for type integer: …"). So errors are not logged; the service gets them as answers
  // anyway.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_min_messages: 'log',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_statement: 'none',
  log_checkpoints: 'off',
}
