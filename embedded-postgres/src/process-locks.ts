import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lifeOf } from './processes.ts'

/**
 * What a process may do with a database directory: `turn` is held while it starts or stops PostgreSQL, `own` by the
 * one service that keeps PostgreSQL running, `use` by each command that works with the database.
 */
type LockKind = 'turn' | 'own' | 'use'

/** A lock of one process, which ends with `release()` or with the process. */
export type ProcessLock = { release(): Promise<void> }

// Node has no file locks. A lock is an empty file named after one run of one process. Anybody may delete the lock
// of a dead process without a race, because no process will ever take a lock of that name again.
let locksTaken = 0

/** Takes a lock in `directory`. It does not check which locks other processes hold. */
export async function takeLock(directory: string, kind: LockKind): Promise<ProcessLock> {
  locksTaken += 1
  const file = join(directory, `${kind}.${process.pid}.${lifeOf(process.pid) ?? 'unknown'}.${locksTaken}`)
  await writeFile(file, '', { flag: 'wx', mode: 0o600 })
  return { release: () => rm(file, { force: true }) }
}

/** The ids of the processes that hold a lock of this kind. Locks of dead processes are removed. */
export async function holders(directory: string, kind: LockKind): Promise<number[]> {
  const pids: number[] = []
  for (const file of await readdir(directory)) {
    const [fileKind, pid, life] = file.split('.')
    if (fileKind !== kind) continue
    if (lifeOf(Number(pid)) === life) pids.push(Number(pid))
    else await rm(join(directory, file), { force: true })
  }
  return pids
}

/**
 * Runs `work` while no other process and no other call starts or stops the database. Returns `undefined`, without
 * having run it, when the turn does not come within `patience` milliseconds.
 */
export async function inTurn<T>(
  directory: string,
  patience: number,
  work: () => Promise<T>,
): Promise<{ done: T } | undefined> {
  const turn = await takeTurn(directory, performance.now() + patience)
  if (!turn) return undefined
  try {
    return { done: await work() }
  } finally {
    await turn.release()
  }
}

async function takeTurn(directory: string, deadline: number): Promise<ProcessLock | undefined> {
  for (;;) {
    if ((await holders(directory, 'turn')).length === 0) {
      // The lock is taken before the others are checked, so that of two calls at once at least one sees the other.
      const turn = await takeLock(directory, 'turn')
      if ((await holders(directory, 'turn')).length === 1) return turn
      await turn.release()
    }
    if (performance.now() > deadline) return undefined
    await sleep(5 + Math.random() * 30)
  }
}
