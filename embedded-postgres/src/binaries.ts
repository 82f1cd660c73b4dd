import { readFile, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { copyBinaries } from './binaries-copy.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import type { Account } from './programs.ts'
import { reasonIn, runAs } from './programs.ts'

/** The paths of PostgreSQL's programs, and their major version. */
export type Binaries = { postgres: string; initdb: string; majorVersion: string }

/**
 * Finds the PostgreSQL of this platform at a place where `account` can run it. If the installed one cannot be run
 * there, it is copied: into `dataDir` for an ordinary user, into a directory of the system for root. Throws
 * `EmbeddedPostgresError` that suggests DATABASE_URL when this system cannot run PostgreSQL.
 */
export async function findBinaries(dataDir: string, account: Account): Promise<Binaries> {
  const installed = findPackage()
  if (await completeLinks(installed)) {
    const here = await probe(installed, account)
    if ('binaries' in here) return here.binaries
    // If this user can run it and the account cannot, it lies in a private directory.
    const ours = account ? await probe(installed, undefined) : here
    if ('reason' in ours) throw unsupported(ours.reason)
  }
  const folders = account ? systemFolders : [dataDir]
  const there = await probe(await copyBinaries(installed, folders, completeLinks), account)
  if ('reason' in there) throw unsupported(there.reason)
  return there.binaries
}

// /var/cache is for files that can be created again; the others are for systems where it is read-only.
const systemFolders = ['/var/cache', '/var/tmp', '/tmp']

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw unsupported(`the package ${name} is not installed`)
  }
}

function unsupported(reason: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL cannot run on this system (${process.platform}-${process.arch}: ${reason}): set DATABASE_URL to a PostgreSQL 15 or later.`,
  )
}

/**
 * Creates the links between libraries, which npm packages cannot hold and which a disabled install script has not
 * created.
 */
async function completeLinks(directory: string): Promise<boolean> {
  const list = await readFile(join(directory, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    const link = join(directory, target)
    await symlink(relative(dirname(target), source), link).catch(() => undefined)
    if (!(await stat(link).catch(() => undefined))) return false
  }
  return true
}

async function probe(
  directory: string,
  account: Account,
): Promise<{ binaries: Binaries } | { reason: string }> {
  const postgres = join(directory, 'native/bin/postgres')
  const { status, output } = await runAs(account, { program: postgres, args: ['--version'], cwd: '/' })
  const majorVersion = /\(PostgreSQL\) (\d+)/.exec(output)?.[1]
  if (status === 0 && majorVersion)
    return { binaries: { postgres, initdb: join(directory, 'native/bin/initdb'), majorVersion } }
  // On a musl system the file exists and its loader does not, which spawn reports as ENOENT of the file.
  return { reason: reasonIn(output) }
}
