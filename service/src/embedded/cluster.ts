import { constants } from 'node:fs'
import { access, chown, mkdir, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { OperatorError } from '../operator-error.ts'
import { type Account, chooseAccount } from './account.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { holders } from './claims.ts'
import { reasonIn, runAs } from './programs.ts'

/** One data directory on this machine, and all it takes to run the database in it. */
export type Cluster = {
  dataDir: string
  /** PostgreSQL's own directory; missing until `prepareCluster` has made it. */
  directory: string
  /** Holds the files of `claims.ts`. */
  claims: string
  logFile: string
  account: Account
  binaries: Binaries
}

/**
 * Makes the data directory (0700) when it is missing, and finds out who can run PostgreSQL there, and from where.
 * Refuses with an `OperatorError` when the directory cannot be used or the system cannot run it.
 */
export async function openCluster(dataDir: string): Promise<Cluster> {
  const absolute = resolve(dataDir)
  const directory = join(absolute, 'postgres')
  const claims = join(absolute, 'claims')
  try {
    await mkdir(absolute, { recursive: true, mode: 0o700 })
    await access(absolute, constants.R_OK | constants.W_OK | constants.X_OK)
    await mkdir(claims, { recursive: true, mode: 0o700 })
    await access(claims, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(absolute, error)
  }
  const account = await chooseAccount(directory)
  const binaries = await findBinaries(absolute, account)
  return { dataDir: absolute, directory, claims, logFile: join(absolute, 'postgres.log'), account, binaries }
}

/**
 * Whether a database is in the data directory, or about to be made there by another process. Makes nothing. Where that
 * cannot be seen it says yes: `openCluster` refuses with the reason.
 */
export async function holdsDatabase(dataDir: string): Promise<boolean> {
  const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'
  const claims = join(resolve(dataDir), 'claims')
  try {
    await access(join(resolve(dataDir), 'postgres'))
    return true
  } catch (error) {
    if (!isMissing(error)) return true
  }
  try {
    return (await holders(claims, 'own')).length + (await holders(claims, 'turn')).length > 0
  } catch (error) {
    return !isMissing(error)
  }
}

/**
 * Makes the database files when they are missing; only whoever has the turn may call it. Refuses with an
 * `OperatorError` when they were made by another major version, or cannot be made.
 */
export async function prepareCluster(cluster: Cluster): Promise<void> {
  const version = await readFile(join(cluster.directory, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (version === undefined) return makeCluster(cluster)
  if (version.trim() !== cluster.binaries.majorVersion)
    throw new OperatorError(
      `The database in ${cluster.directory} was made by PostgreSQL ${version.trim()}, and this is PostgreSQL ${cluster.binaries.majorVersion}: run the version of the service that made it, dump it there with pg_dump and load it here.`,
    )
}

// Made under another name and renamed when it is whole, so that a kill half-way leaves nothing that looks like a
// database and cannot start.
const unfinishedPrefix = 'postgres-unfinished-'

async function makeCluster(cluster: Cluster): Promise<void> {
  const { dataDir, account, directory } = cluster
  for (const name of await readdir(dataDir))
    if (name.startsWith(unfinishedPrefix)) await removeLeftover(join(dataDir, name))
  const unfinished = await mkdtemp(join(dataDir, unfinishedPrefix))
  try {
    if (account) await chown(unfinished, account.uid, account.gid)
    const command = { program: cluster.binaries.initdb, args: initdbArguments(unfinished), cwd: unfinished }
    const { status, output } = await runAs(account, command)
    if (status !== 0)
      throw new OperatorError(
        `The database could not be made in ${dataDir} (${reasonIn(output)}): mend that, or set DATABASE_URL.`,
      )
    await rename(unfinished, directory)
    const parent = await open(dataDir)
    await parent.sync().finally(() => parent.close())
  } finally {
    await removeLeftover(unfinished)
  }
}

// An initdb whose parent was killed writes on for a while, and a directory that somebody writes into cannot be emptied
// at once. One that stays all the same costs disk, and no start.
async function removeLeftover(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }).catch(() => undefined)
}

function initdbArguments(directory: string): string[] {
  const promises = ['--encoding=UTF8', '--locale=C', '--data-checksums', '--username=postgres']
  // Nobody gets at the socket but the user who owns the files (and root), so a password would guard nothing.
  const access = ['--auth-local=trust', '--auth-host=reject']
  const sizes = Object.entries(smallMachine).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  return ['-D', pathForPostgres(directory), '--no-instructions', ...promises, ...access, ...sizes]
}

/**
 * What to call `directory` in the arguments of a PostgreSQL program that is started inside it. An unprivileged user
 * cannot reach a directory below a private one of root by its path; but may stay where it was put.
 */
export function pathForPostgres(directory: string): string {
  return process.platform === 'linux' ? '/proc/self/cwd' : directory
}

// These go into postgresql.conf, where an operator may change them; what we promise is set by `postmaster.ts`.
const smallMachine = {
  // Room for the pools of one service, some commands and an operator's psql.
  max_connections: '100',
  // The working set is small rows of recent users; the operating system's cache does the rest.
  shared_buffers: '128MB',
  // Half of the default: a crash is recovered from in seconds, and the WAL cannot surprise a small disk.
  max_wal_size: '512MB',
  // Short statements by key gain nothing from helpers, and containers give little shared memory to them.
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  // Reads come from memory here; three processes for asynchronous input would only be in the way.
  io_method: 'sync',
}

function unusable(dataDir: string, error: unknown): OperatorError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return new OperatorError(`The data directory ${dataDir} is not a directory: choose another with --data.`)
  if (code === 'EACCES' || code === 'EPERM')
    return new OperatorError(
      `The data directory ${dataDir} cannot be read and written by this user: change its owner or choose another with --data.`,
    )
  const reason = error instanceof Error ? error.message : String(error)
  return new OperatorError(
    `The data directory ${dataDir} cannot be used (${reason}): mend that or choose another with --data.`,
  )
}
