import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../operator-error.ts'

/**
 * The text of the file at `path`, which only its owner may read or write; `undefined` when there is no such file.
 * Throws OperatorError when others may use the file too, or when it cannot be read.
 */
export function readPrivateFile(path: string): string | undefined {
  try {
    const file = openSync(path, 'r')
    try {
      refuseSharedFile(file, path)
      return readFileSync(file, 'utf8')
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw operatorError(error, `The file ${path} cannot be read`)
  }
}

/**
 * Writes `text` durably to a new file at `path` that only its owner may read, and returns the text that the file
 * then holds. An existing file is never overwritten: when several processes create the file at once, all of them
 * get the text of the first. A file that root creates belongs to the owner of its directory. Throws OperatorError when
 * the file cannot be written durably.
 */
export function createPrivateFile(path: string, text: string): string {
  const directory = dirname(path)
  const draft = `${path}.${randomUUID()}.new`
  try {
    const firstMade = mkdirSync(directory, { recursive: true, mode: 0o700 })
    try {
      // A command of root may come before the first start of the service, which runs as another user.
      writeDurably(draft, text, process.getuid?.() === 0 ? statSync(directory) : undefined)
      linkUnlessThere(draft, path)
    } finally {
      unlinkIfThere(draft)
    }
    syncUpTo(dirname(firstMade ?? directory), directory)
  } catch (error) {
    throw operatorError(error, `The file ${path} cannot be created`)
  }
  return readPrivateFile(path) ?? text
}

/**
 * Replaces the text of the file at `path` durably and atomically: a reader, or a process that starts after a crash,
 * finds the old text or the new text, never a mixture. The file keeps its owner. Callers take turns, because two
 * replacements at once would share a draft. Throws OperatorError when the text cannot be written durably.
 */
export function replacePrivateFile(path: string, text: string): void {
  try {
    // Follows a symbolic link, so that the file is replaced and the link stays.
    const target = realpathSync(path)
    const draft = `${target}.new`
    // A process that was killed may have left its draft.
    unlinkIfThere(draft)
    try {
      writeDurably(draft, text, statSync(target))
      renameSync(draft, target)
    } finally {
      unlinkIfThere(draft)
    }
    syncUpTo(dirname(target), dirname(target))
  } catch (error) {
    throw operatorError(error, `The file ${path} cannot be written`)
  }
}

/** A text that differs after each change of the file at `path`; `undefined` when the file cannot be inspected. */
export function fileMark(path: string): string | undefined {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
  } catch {
    return undefined
  }
}

function refuseSharedFile(file: number, path: string): void {
  // Windows has no such permissions and reports every file as open to all users.
  if (process.platform === 'win32') return
  if ((fstatSync(file).mode & 0o177) !== 0)
    throw new OperatorError(`Others than its owner may use the file ${path}: run chmod 600 on it.`)
}

function writeDurably(path: string, text: string, owner?: Stats): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    // The operator may run this as root although the service runs as another user.
    const mine = fstatSync(file)
    if (owner && (owner.uid !== mine.uid || owner.gid !== mine.gid)) fchownSync(file, owner.uid, owner.gid)
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function linkUnlessThere(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/**
 * Syncs `directory` and its parents up to `top`: a new name is durable only once the directory that holds it is
 * synced.
 */
function syncUpTo(top: string, directory: string): void {
  if (process.platform === 'win32') return
  const file = openSync(directory, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  if (directory !== top) syncUpTo(top, dirname(directory))
}

/** The code of a system's error, such as ENOENT; `undefined` for any other. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

function operatorError(error: unknown, what: string): OperatorError {
  if (error instanceof OperatorError) return error
  const code = codeOf(error) ?? 'unknown error'
  return new OperatorError(`${what} (${code}): check the path and its permissions.`, { cause: error })
}
