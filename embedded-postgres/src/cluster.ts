/** The data directory: where it is, who runs PostgreSQL in it, and how its files are first created. */
import { constants } from 'node:fs'
import { access, chown, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { chooseAccount } from './account.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { codeOf, messageOf } from './error-parts.ts'
import { makeDirectory } from './make-directory.ts'
import { holders } from './process-locks.ts'
import type { Account } from './programs.ts'
import { reasonIn, runAs } from './programs.ts'

/** A data directory on this machine, and all that is needed to run PostgreSQL in it. */
export type Cluster = {
  dataDir: string
  /** PostgreSQL's own directory; `prepareCluster` creates it. */
  directory: string
  /** The directory of the files of `process-locks.ts`. */
  locks: string
  logFile: string
  account: Account
  binaries: Binaries
  /** Whether the data need not outlive the machine, so that nothing waits for the disk. */
  isThrownAway: boolean
}

/**
 * Creates the data directory (0700) when it is missing, and finds out who can run PostgreSQL there and from which
 * place. Throws `EmbeddedPostgresError` when the directory cannot be used or the system cannot run PostgreSQL.
 */
export async function openCluster(dataDir: string, isThrownAway = false): Promise<Cluster> {
  const absolute = resolve(dataDir)
  const directory = join(absolute, 'postgres')
  const locks = join(absolute, 'locks')
  try {
    await makeDirectory(absolute)
    await access(absolute, constants.R_OK | constants.W_OK | constants.X_OK)
    await makeDirectory(locks)
    await access(locks, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(absolute, error)
  }
  const account = await chooseAccount(directory)
  const binaries = await findBinaries(absolute, account)
  const logFile = join(absolute, 'postgres.log')
  return { dataDir: absolute, directory, locks, logFile, account, binaries, isThrownAway }
}

/**
 * Whether the data directory holds a database, or another process is about to create one. Creates nothing. Returns
 * true when it cannot tell; `openCluster` then refuses with the reason.
 */
export async function holdsDatabase(dataDir: string): Promise<boolean> {
  const locks = join(resolve(dataDir), 'locks')
  try {
    await access(join(resolve(dataDir), 'postgres'))
    return true
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return true
  }
  try {
    return (await holders(locks)).length > 0
  } catch (error) {
    return codeOf(error) !== 'ENOENT'
  }
}

/**
 * Creates the database files when they are missing; the caller holds the lock. Throws `EmbeddedPostgresError` when
 * they were created by another major version, or cannot be created.
 */
export async function prepareCluster(cluster: Cluster): Promise<void> {
  const version = await readFile(join(cluster.directory, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (version === undefined) return makeCluster(cluster)
  if (version.trim() !== cluster.binaries.majorVersion)
    throw new EmbeddedPostgresError(
      `The database in ${cluster.directory} was created by PostgreSQL ${version.trim()}, and this is PostgreSQL ${cluster.binaries.majorVersion}: run the version of the service that created it, and copy it there into a PostgreSQL of your own ("Moving to another PostgreSQL" in docs/operating.md).`,
    )
}

/**
 * What the names of unfinished databases begin with. Their files are created or restored under such a name, and renamed
 * when they are complete, so that a kill half-way leaves nothing that looks like a database but cannot start.
 */
export const unfinishedPrefix = 'postgres-unfinished-'

async function makeCluster(cluster: Cluster): Promise<void> {
  const { dataDir, account, directory } = cluster
  const unfinished = await mkdtemp(join(dataDir, unfinishedPrefix))
  try {
    if (account) await chown(unfinished, account.uid, account.gid)
    const args = [...initdbArguments(unfinished), ...(cluster.isThrownAway ? ['--no-sync'] : [])]
    const command = { program: cluster.binaries.initdb, args, cwd: unfinished }
    const { status, output } = await runAs(account, command)
    if (status !== 0)
      throw new EmbeddedPostgresError(
        `The database could not be created in ${dataDir} (${reasonIn(output)}): fix that, or set DATABASE_URL.`,
      )
    await rename(unfinished, directory).catch(error => {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].some(code => code === codeOf(error))) throw error
      throw new EmbeddedPostgresError(
        `${directory} holds no database (it has no PG_VERSION), and is not empty: move it away, or choose another directory with --data.`,
      )
    })
    const parent = await open(dataDir)
    await parent.sync().finally(() => parent.close())
  } finally {
    await removeLeftover(unfinished)
  }
}

/**
 * Removes an unfinished database. After its parent was killed, initdb goes on writing for a while, and a directory that is
 * written to cannot be emptied at once. A directory that stays costs disk space but prevents no start.
 */
export async function removeLeftover(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }).catch(() => undefined)
}

function initdbArguments(directory: string): string[] {
  const promises = ['--encoding=UTF8', '--locale=C', '--data-checksums', '--username=postgres']
  // `access.ts` decides who is let in. If PostgreSQL is ever started by hand, only the owner of its files is.
  const access = ['--auth-local=peer', '--auth-host=reject']
  const sizes = Object.entries(smallMachine).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  return ['-D', pathForPostgres(directory), '--no-instructions', ...promises, ...access, ...sizes]
}

/**
 * The name of `directory` in the arguments of a PostgreSQL program that is started inside it. An unprivileged user
 * cannot reach a directory below a private one of root by its path, but may stay in it as the working directory.
 */
export function pathForPostgres(directory: string): string {
  return process.platform === 'linux' ? '/proc/self/cwd' : directory
}

// These go into postgresql.conf, where an operator may change them; the settings that no operator may change are in
// `start.ts`.
const smallMachine = {
  // Enough for the pools of ten processes, some commands, and an operator's psql.
  max_connections: '200',
  // The working set is small rows of recent users; the operating system's cache does the rest.
  shared_buffers: '128MB',
  // Half of the default: recovery after a crash takes seconds, and the write-ahead log does not fill a small disk.
  max_wal_size: '512MB',
  // Short statements by key gain nothing from parallel workers, and containers offer them little shared memory.
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  // Most reads are answered from memory, so three more processes for asynchronous input would only take room.
  io_method: 'sync',
}

function unusable(dataDir: string, error: unknown): EmbeddedPostgresError {
  const code = codeOf(error)
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return new EmbeddedPostgresError(
      `The data directory ${dataDir} is not a directory: choose another with --data.`,
    )
  if (code === 'EACCES' || code === 'EPERM')
    return new EmbeddedPostgresError(
      `The data directory ${dataDir} cannot be read and written by this user: change its owner or choose another with --data.`,
    )
  return new EmbeddedPostgresError(
    `The data directory ${dataDir} cannot be used (${messageOf(error)}): fix that or choose another with --data.`,
  )
}
