import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Cluster, openCluster } from './cluster.ts'
import { asSuperuser, type SocketAddress } from './database.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { codeOf } from './error-parts.ts'
import { makeDirectory } from './make-directory.ts'

/** The list of a backup's files, each with its size and the hash of its content. */
export type Manifest = {
  readonly format: 1
  readonly postgresMajor: string
  readonly startedAt: string
  readonly endedAt: string
  readonly files: readonly ManifestFile[]
}
type ManifestFile = { readonly path: string; readonly size: number; readonly sha256: string }

/** The name of the manifest, which is written last: a directory without it holds no complete backup. */
const manifestName = 'manifest.json'

/**
 * Copies a running database into the new directory `into` with PostgreSQL's own backup functions, and then reads
 * every copied file back. Sessions can write meanwhile. Throws `EmbeddedPostgresError` when `into` is not empty or
 * a copy differs; the directory then has no manifest.
 */
export async function backUpDatabase(options: {
  dataDir: string
  address: SocketAddress
  into: string
}): Promise<Manifest> {
  const cluster = await openCluster(options.dataDir)
  const into = resolve(options.into)
  await makeEmpty(into)
  const startedAt = new Date().toISOString()
  const files = await asSuperuser(options.address, async client => {
    // The slot ends with the session; without it a checkpoint could remove log files that the copy needs.
    await client.query("select pg_create_physical_replication_slot('enrolment_backup', true, true)")
    await client.query("select pg_backup_start('enrolment', true)")
    const copied = await copyData(cluster, into)
    const { rows } = await client.query<{ labelfile: string; first: string; last: string }>(
      `select labelfile, substring(labelfile from 'file ([0-9A-F]{24})') as first, pg_walfile_name(lsn) as last
       from pg_backup_stop(wait_for_archive => false)`,
    )
    const [stopped] = rows
    if (!stopped) throw new Error('the backup did not end')
    const label = join(into, 'postgres/backup_label')
    await writeFile(label, stopped.labelfile, { mode: 0o600, flush: true })
    const log = await copyLog(cluster, into, stopped)
    return [...copied, ...log, await described(into, label)]
  })
  await verifyFiles(into, files)
  const manifest: Manifest = {
    format: 1,
    postgresMajor: cluster.binaries.majorVersion,
    startedAt,
    endedAt: new Date().toISOString(),
    files,
  }
  await writeManifest(into, manifest)
  return manifest
}

/** Writes the manifest of a backup whose files are all there. */
export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const unfinished = join(directory, `${manifestName}.new`)
  await writeFile(unfinished, `${JSON.stringify(manifest)}\n`, { mode: 0o600, flush: true })
  await rename(unfinished, join(directory, manifestName))
}

/** Reads a backup's manifest. Throws `EmbeddedPostgresError` when it is missing or of an unknown format. */
export async function readManifest(directory: string): Promise<Manifest> {
  const text = await readFile(join(directory, manifestName), 'utf8').catch(() => '')
  const manifest: Partial<Manifest> = text === '' ? {} : JSON.parse(text)
  if (manifest.format !== 1)
    throw new EmbeddedPostgresError(
      `There is no complete backup in ${directory}: its ${manifestName}, which is written last, is missing or unknown. Name the directory of a backup that was finished.`,
    )
  return manifest as Manifest
}

/** Compares every file with the manifest. Throws `EmbeddedPostgresError` that names the first file that differs. */
export async function verifyFiles(directory: string, files: readonly ManifestFile[]): Promise<void> {
  for (const file of files) {
    const found = await described(directory, join(directory, file.path)).catch(() => undefined)
    if (found?.sha256 !== file.sha256 || found.size !== file.size)
      throw new EmbeddedPostgresError(
        `${join(directory, file.path)} is not as it was written: this backup cannot be used; take another.`,
      )
  }
}

/** Copies one file and returns the size and the hash of what was read. */
export async function copyFile(from: string, to: string): Promise<{ size: number; sha256: string }> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const hash = createHash('sha256')
  let size = 0
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      size += chunk.length
      done(null, chunk)
    },
  })
  await pipeline(createReadStream(from), hashing, createWriteStream(to, { mode: 0o600, flush: true }))
  return { size, sha256: hash.digest('hex') }
}

async function makeEmpty(directory: string): Promise<void> {
  let found: string[]
  try {
    await makeDirectory(directory)
    found = await readdir(directory)
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${directory} cannot be made a directory (${codeOf(error)}): give a backup a directory of its own.`,
    )
  }
  if (found.length > 0)
    throw new EmbeddedPostgresError(`${directory} is not empty: give a backup a directory of its own.`)
}

// Folders whose content PostgreSQL creates again at a start, and files that belong to the running server.
const emptied = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])
const leftOut =
  /(^|\/)(postmaster\.(pid|opts)|pg_internal\.init.*|pgsql_tmp.*|backup_label.*|tablespace_map.*)$/

async function copyData(cluster: Cluster, into: string): Promise<ManifestFile[]> {
  const files: ManifestFile[] = []
  for (const path of await listFiles(cluster.directory, into)) {
    const copy = join('postgres', path)
    try {
      files.push({ path: copy, ...(await copyFile(join(cluster.directory, path), join(into, copy))) })
    } catch (error) {
      // A table was dropped or rewritten after its file was listed; the log files of the backup repeat that change.
      if (codeOf(error) !== 'ENOENT') throw error
      await rm(join(into, copy), { force: true })
    }
  }
  return files
}

/**
 * The files to copy. `pg_control` comes last, because its checkpoint must not be older than the files copied before
 * it.
 */
async function listFiles(directory: string, into: string): Promise<string[]> {
  const files: string[] = []
  const visit = async (folder: string): Promise<void> => {
    await mkdir(join(into, 'postgres', folder), { recursive: true, mode: 0o700 })
    if (emptied.has(folder)) return
    for (const entry of await readdir(join(directory, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (leftOut.test(path)) continue
      if (entry.isDirectory()) await visit(path)
      else if (entry.isFile() && path !== controlFile) files.push(path)
    }
  }
  await visit('')
  return [...files, controlFile]
}

const controlFile = 'global/pg_control'

/** Copies the log files from the start of the backup to its end. */
async function copyLog(
  cluster: Cluster,
  into: string,
  { first, last }: { first: string; last: string },
): Promise<ManifestFile[]> {
  const folder = join(cluster.directory, 'pg_wal')
  const names = (await readdir(folder)).filter(name => /^[0-9A-F]{24}$/.test(name)).sort()
  const wanted = names.filter(name => name >= first && name <= last)
  if (wanted[0] !== first || wanted.at(-1) !== last)
    throw new EmbeddedPostgresError(
      'PostgreSQL has removed a log file that the backup needs: run the backup again.',
    )
  const files: ManifestFile[] = []
  for (const name of wanted) {
    const path = join('postgres/pg_wal', name)
    files.push({ path, ...(await copyFile(join(folder, name), join(into, path))) })
  }
  await mkdir(join(into, 'postgres/pg_wal/archive_status'), { recursive: true, mode: 0o700 })
  return files
}

async function described(directory: string, file: string): Promise<ManifestFile> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return { path: relative(directory, file), size: (await stat(file)).size, sha256: hash.digest('hex') }
}

/** Makes the names in a directory durable, so that they survive a power cut. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory)
  await handle.sync().finally(() => handle.close())
}
