import { mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const inMemory = '/dev/shm'
const prefix = 'enrolment-tests-'
// The databases of four workers and the write-ahead log take a few hundred megabytes.
const WANTED_BYTES = 2 * 1024 ** 3

/**
 * Makes the directory of the run's database server: in memory where Linux has room there, because hundreds of databases are
 * made and dropped, and each is some 300 files; otherwise below the directory for temporary files.
 */
export async function makeDataDir(): Promise<string> {
  if (!(await hasRoomInMemory())) return mkdtemp(join(tmpdir(), prefix))
  await removeLeftovers()
  return mkdtemp(join(inMemory, `${prefix}${process.pid}-`))
}

async function hasRoomInMemory(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(inMemory)
    const [, available] = /^MemAvailable: *(\d+) kB$/m.exec(await readFile('/proc/meminfo', 'utf8')) ?? []
    return bavail * bsize >= WANTED_BYTES && Number(available) * 1024 >= 2 * WANTED_BYTES
  } catch {
    return false
  }
}

/** Removes the directories of runs that were killed. A PostgreSQL that still runs in one stops when it misses its files. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(inMemory)) {
    const [, pid] = /^enrolment-tests-(\d+)-/.exec(name) ?? []
    if (pid && !isAlive(Number(pid))) await rm(join(inMemory, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
