import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lifeOf } from './processes.ts'

/** Who has a database directory to itself: a service, as long as it runs, or a command for the time of its work. */
export type Owner = 'service' | 'command'

/** The lock of one owner, which ends with `release()` or with the process. */
export type ProcessLock = { release(): Promise<void> }

/** A process that has the lock. */
export type Holder = { readonly owner: Owner; readonly pid: number }

// Node has no file locks. A lock is an empty file named after one run of one process. Anybody may delete the lock
// of a dead process without a race, because no process will ever take a lock of that name again.
let locksTaken = 0

/** The processes that have the lock; of two that take it at once both may, for a moment. Locks of dead processes are removed. */
export async function holders(directory: string): Promise<readonly Holder[]> {
  const found: Holder[] = []
  for (const file of await readdir(directory)) {
    const [owner = '', pid, life] = file.split('.')
    if (lifeOf(Number(pid)) !== life) await rm(join(directory, file), { force: true })
    else if (owner === 'service' || owner === 'command') found.push({ owner, pid: Number(pid) })
  }
  return found
}

/**
 * Takes the lock of a database directory. Returns who has it, when that is a service, or a command that keeps it for longer than
 * `patience` milliseconds.
 */
export async function takeLock(
  directory: string,
  owner: Owner,
  patience: number,
): Promise<ProcessLock | { readonly holder: Holder }> {
  const deadline = performance.now() + patience
  for (;;) {
    const [holder] = await holders(directory)
    if (!holder) {
      locksTaken += 1
      const file = join(
        directory,
        `${owner}.${process.pid}.${lifeOf(process.pid) ?? 'unknown'}.${locksTaken}`,
      )
      await writeFile(file, '', { flag: 'wx', mode: 0o600 })
      // The lock is taken before the others are checked, so that of two calls at once at least one sees the other.
      if ((await holders(directory)).length === 1) return { release: () => rm(file, { force: true }) }
      await rm(file, { force: true })
      if (performance.now() > deadline + PATIENCE_FOR_RACES)
        throw new Error('the lock was taken by several again and again')
    } else if (holder.owner === 'service' || performance.now() > deadline) return { holder }
    await sleep(5 + Math.random() * 30)
  }
}

const PATIENCE_FOR_RACES = 60_000
