import { chmod, chown, lstat, mkdir, mkdtemp, rm, rmdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import type { Account } from './programs.ts'

/** The port, which is only part of the socket file's name: nothing listens on the network. */
export const SOCKET_PORT = 5432

/**
 * Creates a new directory (0700) for the Unix socket in the system's temp folder, where its path is short enough
 * and the account can reach it. Throws `EmbeddedPostgresError` when there is no such place.
 */
export async function makeSocketDirectory(account: Account): Promise<string> {
  for (const folder of [tmpdir(), '/tmp']) {
    if (Buffer.byteLength(join(folder, `${prefix}XXXXXX`, socketFile)) > LONGEST_PATH) continue
    if (account && !(await isOpenToAll(folder))) continue
    const directory = await mkdtemp(join(folder, prefix)).catch(() => undefined)
    if (!directory) continue
    await giveTo(account, directory)
    return directory
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL's socket needs a temp folder with a short path that can be written: set TMPDIR to one (${tmpdir()} and /tmp are not).`,
  )
}

/**
 * Prepares a socket directory for another start: it exists, and holds nothing that a killed PostgreSQL left. Throws
 * `EmbeddedPostgresError` when another user has taken its name.
 */
export async function renewSocketDirectory(directory: string, account: Account): Promise<void> {
  const made = await mkdir(directory, { mode: 0o700 }).then(
    () => true,
    () => false,
  )
  if (made) return giveTo(account, directory)
  const found = await lstat(directory).catch(() => undefined)
  if (!found?.isDirectory() || found.uid !== ownerId(account) || (found.mode & 0o077) !== 0)
    throw new EmbeddedPostgresError(
      `PostgreSQL's socket directory ${directory} cannot be created again: see which user took it, and start again.`,
    )
  await removeSocketFiles(directory)
}

/**
 * Removes the socket directory of a PostgreSQL that has ended. A directory that was not created by
 * `makeSocketDirectory` is left alone.
 */
export async function removeSocketDirectory(directory: string, account: Account): Promise<void> {
  const found = await lstat(directory).catch(() => undefined)
  if (!found?.isDirectory() || found.uid !== ownerId(account) || !basename(directory).startsWith(prefix))
    return
  await removeSocketFiles(directory)
  await rmdir(directory).catch(() => undefined)
}

/** Whether the socket still exists; a program that cleans temp folders may have removed it. */
export async function hasSocket(directory: string): Promise<boolean> {
  const found = await stat(join(directory, socketFile)).catch(() => undefined)
  return found?.isSocket() ?? false
}

const prefix = 'enrolment-'
const socketFile = `.s.PGSQL.${SOCKET_PORT}`
// Linux allows 107 bytes; macOS four less.
const LONGEST_PATH = 103

async function removeSocketFiles(directory: string): Promise<void> {
  for (const file of [socketFile, `${socketFile}.lock`]) await rm(join(directory, file), { force: true })
}

async function giveTo(account: Account, directory: string): Promise<void> {
  await chmod(directory, 0o700)
  if (account) await chown(directory, account.uid, account.gid)
}

function ownerId(account: Account): number | undefined {
  return account?.uid ?? process.getuid?.()
}

async function isOpenToAll(directory: string): Promise<boolean> {
  const found = await stat(directory).catch(() => undefined)
  if (!found || (found.mode & 0o001) === 0) return false
  return dirname(directory) === directory || isOpenToAll(dirname(directory))
}
