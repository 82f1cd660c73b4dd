import { existsSync } from 'node:fs'
import { constants, type FileHandle, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { coalesce } from '../../db/coalesce.ts'
import { OperatorError } from '../../operator-error.ts'
import { codeOf } from '../../vault/private-file.ts'

/** One erasure: which user, and when. A new user under the same userid has another serviceid. */
export type ListedErasure = {
  readonly partnerId: string
  readonly serviceId: string
  readonly erasedAt: string
}

/**
 * The list of erasures outside the database: with it, a database restored from an earlier backup can erase again the
 * people whom the backup still contains. It holds serviceids, and nothing that names a person.
 */
export type ErasureList = {
  readonly path: string
  /**
   * Resolves once the erasure is on the disk; an erasure that is already listed is not written again. Rejects when it
   * could not be written.
   */
  note(erasure: ListedErasure): Promise<void>
  /** Every listed erasure. */
  entries(): readonly ListedErasure[]
}

/**
 * The path of the list: the one that the operator sets, or else the file `erasures` of the data directory. With another
 * PostgreSQL that file counts only when it exists, because an operator who restored a database has put it there;
 * otherwise `undefined`, and no list is kept.
 */
export function erasureListPath(where: {
  readonly erasures: string | undefined
  readonly databaseUrl: string | undefined
  readonly dataDir: string
}): string | undefined {
  const beside = join(where.dataDir, 'erasures')
  return where.erasures ?? (where.databaseUrl === undefined || existsSync(beside) ? beside : undefined)
}

/**
 * Opens the list, or creates it when it is missing, so that a path that cannot be written shows at the start. Throws
 * OperatorError for such a path, and for a list with an invalid line, because applying only the other lines could leave
 * an erased person in the database.
 */
export async function openErasureList(path: string): Promise<ErasureList> {
  const listed = new Map<string, ListedErasure>()
  try {
    const file = await openToAppend(path)
    try {
      const text = await file.readFile('utf8')
      for (const erasure of parse(text, path)) listed.set(nameOf(erasure), erasure)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `The list of erasures ${path} cannot be opened (${codeOf(error) ?? 'unknown error'}): check the path and its permissions.`,
      { cause: error },
    )
  }
  /** Erasures that arrive while a write is under way are written together by the next write. */
  const write = coalesce<ListedErasure, void>({
    name: 'list erasures',
    maxBatch: 1000,
    run: async erasures => {
      await append(path, erasures)
      for (const one of erasures) listed.set(nameOf(one), one)
      return erasures.map(() => ({ ok: true, value: undefined }))
    },
  })
  return {
    path,
    note: erasure => (listed.has(nameOf(erasure)) ? Promise.resolve() : write(erasure)),
    entries: () => [...listed.values()],
  }
}

function nameOf({ partnerId, serviceId }: ListedErasure): string {
  return `${partnerId} ${serviceId}`
}

async function append(path: string, erasures: readonly ListedErasure[]): Promise<void> {
  const file = await openToAppend(path)
  try {
    const { size } = await file.stat()
    // A killed process may have left half a line; nobody was told that this erasure is listed.
    const isTorn = size > 0 && (await lastByte(file, size)) !== NEWLINE
    const lines = erasures.map(one => `1 ${one.partnerId} ${one.serviceId} ${one.erasedAt}\n`)
    await file.appendFile((isTorn ? '\n' : '') + lines.join(''))
    await file.datasync()
  } finally {
    await file.close()
  }
}

async function lastByte(file: FileHandle, size: number): Promise<number | undefined> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0]
}

/** Opens the file. When it creates the file, it also flushes the directory, so that the file's name is on the disk. */
async function openToAppend(path: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_RDWR } = constants
  try {
    return await open(path, O_RDWR | O_APPEND)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT, 0o600)
  try {
    // A command of root may come before the first start of the service, which runs as another user.
    if (process.getuid?.() === 0) {
      const { uid, gid } = await stat(dirname(path))
      await file.chown(uid, gid)
    }
    await file.sync()
    if (process.platform !== 'win32') {
      const directory = await open(dirname(path), 'r')
      await directory.sync().finally(() => directory.close())
    }
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

function parse(text: string, path: string): ListedErasure[] {
  return text.split('\n').flatMap((line, index) => {
    const [, partnerId, serviceId, erasedAt] = LINE.exec(line) ?? []
    if (partnerId !== undefined && serviceId !== undefined && erasedAt !== undefined)
      return [{ partnerId, serviceId, erasedAt }]
    if (line.length < WHOLE_LINE && HALF_LINE.test(line)) return []
    throw new OperatorError(
      `Line ${index + 1} of the list of erasures ${path} is no erasure: restore the list, or remove the line if you know that it names nobody.`,
    )
  })
}

const NEWLINE = 10
/** Each line begins with the number of its format, because operators join the lists of several machines. */
const LINE = /^1 ([0-9a-f-]{36}) ([0-9a-f-]{36}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/
const WHOLE_LINE = 100
/** What a process killed in the middle of a write can leave. */
const HALF_LINE = /^1?( [0-9a-f-]*( [0-9a-f-]*( [\d:.TZ-]*)?)?)?$/
