import { chown, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { copyFile, type Manifest, readManifest, syncDirectory, verifyFiles } from './backup.ts'
import { type Cluster, holdsDatabase, openCluster, unfinishedPrefix } from './cluster.ts'
import type { SocketAddress } from './database.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { removeLeftovers } from './leftovers.ts'
import { addressOf, stopPostmaster } from './postmaster.ts'
import { takeLock } from './process-locks.ts'
import { removeSocketDirectory } from './socket-directory.ts'
import { startPostgres } from './start.ts'

/**
 * Restores a backup into a data directory without a database. The files are compared with the manifest, PostgreSQL
 * replays the backup's log, `prepare` works on the result, and only then the copy takes its place. Throws
 * `EmbeddedPostgresError` when the directory has a database or the backup is not complete; nothing is left there
 * then.
 */
export async function restoreDatabase(options: {
  dataDir: string
  from: string
  prepare: (address: SocketAddress) => Promise<void>
}): Promise<Manifest> {
  const from = resolve(options.from)
  const manifest = await readManifest(from)
  await verifyFiles(from, manifest.files)
  const isTaken = await holdsDatabase(options.dataDir)
  // Before the refusal, because it knows whether there is a database or only a file of this name.
  const cluster = await openCluster(options.dataDir)
  if (isTaken) throw taken(cluster.dataDir)
  const lock = await takeLock(cluster.locks, 'command', PATIENCE)
  if ('holder' in lock)
    throw new EmbeddedPostgresError(`Another process works on ${cluster.dataDir}: end it and try again.`)
  try {
    if ((await readdir(cluster.dataDir)).includes('postgres')) throw taken(cluster.dataDir)
    // Before the copy is made: an earlier one, whose restore was interrupted, could fill the disk.
    await removeLeftovers(cluster)
    const directory = await mkdtemp(join(cluster.dataDir, unfinishedPrefix))
    try {
      await copyBackup(cluster, { from, directory, manifest })
      await bringUp({ ...cluster, directory }, options.prepare)
      await rename(directory, cluster.directory)
      await syncDirectory(cluster.dataDir)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  } finally {
    await lock.release()
  }
  return manifest
}

const PATIENCE = 60_000

function taken(dataDir: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `There already is a database in ${dataDir}: restore into another directory, or move that one away.`,
  )
}

async function copyBackup(
  cluster: Cluster,
  { from, directory, manifest }: { from: string; directory: string; manifest: Manifest },
): Promise<void> {
  const source = join(from, 'postgres')
  const folders = ['']
  const give = async (path: string) => {
    if (cluster.account) await chown(path, cluster.account.uid, cluster.account.gid)
  }
  for (const folder of folders) {
    await mkdir(join(directory, folder), { recursive: true, mode: 0o700 })
    await give(join(directory, folder))
    for (const entry of await readdir(join(source, folder), { withFileTypes: true }))
      if (entry.isDirectory()) folders.push(join(folder, entry.name))
  }
  for (const { path, sha256 } of manifest.files) {
    const target = join(directory, path.slice('postgres/'.length))
    const copied = await copyFile(join(from, path), target)
    if (copied.sha256 !== sha256)
      throw new EmbeddedPostgresError(
        `${join(from, path)} changed while it was read, so nothing was restored: run it again when nothing else writes there.`,
      )
    await give(target)
  }
  for (const folder of folders) await syncDirectory(join(directory, folder))
}

async function bringUp(cluster: Cluster, prepare: (address: SocketAddress) => Promise<void>): Promise<void> {
  const { postmaster } = await startPostgres(cluster)
  try {
    await prepare(addressOf(postmaster))
  } finally {
    await stopPostmaster(postmaster)
    await removeSocketDirectory(postmaster.socketDirectory, cluster.account)
  }
}
