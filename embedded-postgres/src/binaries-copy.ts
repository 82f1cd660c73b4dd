import { createHash } from 'node:crypto'
import { cp, lstat, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { messageOf } from './error-parts.ts'

/**
 * Copies the installed programs once into the first of `folders` that allows it, readable by everybody and writable
 * only by this user, and returns the directory of the copy. Two processes may do so at once. Throws
 * `EmbeddedPostgresError` when no folder allows it.
 */
export async function copyBinaries(
  installed: string,
  folders: readonly string[],
  completeLinks: (directory: string) => Promise<boolean>,
): Promise<string> {
  const files = await listFiles(join(installed, 'native'))
  const { version }: { version: string } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  const stamp = stampOf(files)
  const isWhole = async (copy: string) =>
    stampOf(await listFiles(join(copy, 'native')).catch(() => [])) === stamp && completeLinks(copy)

  const reasons: string[] = []
  for (const folder of folders) {
    const copy = join(folder, `enrolment-postgres-${version}-${stamp}`)
    try {
      if ((await isOurs(copy)) && (await isWhole(copy))) return copy
      const unfinished = await mkdtemp(join(folder, `.${basename(copy)}-`))
      try {
        await copyFiles(installed, unfinished)
        await putInPlace(unfinished, copy, isWhole)
      } finally {
        await rm(unfinished, { recursive: true, force: true })
      }
      if (await isWhole(copy)) return copy
      reasons.push(`${copy} is not complete`)
    } catch (error) {
      reasons.push(messageOf(error))
    }
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL's programs could not be copied to ${folders.join(', ')} (${reasons.join('; ')}): make room or give write access there, or set DATABASE_URL.`,
  )
}

type File = { path: string; size: number }

/** The regular files below `native` that are copied. */
async function listFiles(native: string): Promise<File[]> {
  const files: File[] = []
  for (const entry of await readdir(native, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || isForCompilers(entry.name)) continue
    const file = join(entry.parentPath, entry.name)
    files.push({ path: relative(native, file), size: (await lstat(file)).size })
  }
  return files.sort((one, other) => (one.path < other.path ? -1 : 1))
}

function stampOf(files: readonly File[]): string {
  const names = files.map(file => `${file.path} ${file.size}\n`)
  return createHash('sha256').update(names.join('')).digest('hex').slice(0, 16)
}

/**
 * Whether this user has a copy there. Throws when another user has put something in its place, which anybody can do
 * in /tmp.
 */
async function isOurs(copy: string): Promise<boolean> {
  const top = await lstat(copy).catch(() => undefined)
  if (!top) return false
  if (top.isDirectory() && top.uid === process.getuid?.() && (top.mode & 0o022) === 0) return true
  throw new Error(`${copy} belongs to another user`)
}

async function copyFiles(installed: string, target: string): Promise<void> {
  const native = join(target, 'native')
  const filter = (path: string) => !isForCompilers(path)
  await cp(join(installed, 'native'), native, { recursive: true, verbatimSymlinks: true, filter })
  for (const entry of await readdir(native, { recursive: true, withFileTypes: true })) {
    const isOpenToAll = entry.isDirectory() || entry.parentPath === join(native, 'bin')
    if (!entry.isSymbolicLink()) await finish(join(entry.parentPath, entry.name), isOpenToAll ? 0o755 : 0o644)
  }
  for (const folder of [native, target]) await finish(folder, 0o755)
}

/** Whether a file is a static library, which only a compiler needs. */
function isForCompilers(path: string): boolean {
  return path.endsWith('.a')
}

/** Sets the mode, whatever the umask was, and syncs, so that a power cut leaves no empty file. */
async function finish(path: string, mode: number): Promise<void> {
  const handle = await open(path)
  try {
    await handle.chmod(mode)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function putInPlace(
  unfinished: string,
  copy: string,
  isWhole: (copy: string) => Promise<boolean>,
): Promise<void> {
  try {
    await rename(unfinished, copy)
  } catch (error) {
    // Another process was faster.
    if (await isWhole(copy)) return
    if (!(await isOurs(copy))) throw error
    // A program that cleans up old files has removed some of an earlier copy.
    const old = `${unfinished}-old`
    await rename(copy, old)
    await rename(unfinished, copy)
    await rm(old, { recursive: true, force: true })
  }
}
