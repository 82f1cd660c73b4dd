import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lifeOf } from './processes.ts'

/**
 * Who may do what with a database directory: `turn` is held while starting or stopping PostgreSQL, `own` by the one
 * service that keeps it running, `use` by each command that works with it.
 */
export type ClaimKind = 'turn' | 'own' | 'use'

/** One process's claim; it ends with `withdraw()`, or with the process. */
export type Claim = { withdraw(): Promise<void> }

// Node has no file locks. A claim is an empty file whose name tells one life of one process, so that a dead one's
// claim can be swept away by anybody without a race: nobody will ever make a claim of that name again.
let claimsMade = 0

/** Makes a claim in `directory`, whatever the others hold. */
export async function claim(directory: string, kind: ClaimKind): Promise<Claim> {
  claimsMade += 1
  const file = join(directory, `${kind}.${process.pid}.${lifeOf(process.pid) ?? 'unknown'}.${claimsMade}`)
  await writeFile(file, '', { flag: 'wx', mode: 0o600 })
  return { withdraw: () => rm(file, { force: true }) }
}

/** The process ids of those who hold a claim of that kind; claims of dead processes are removed on the way. */
export async function holders(directory: string, kind: ClaimKind): Promise<number[]> {
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
 * Runs `work` while no other process and no other call starts or stops the database;
 * `undefined` without having run it when the turn does not come within `patience` milliseconds.
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
    await turn.withdraw()
  }
}

async function takeTurn(directory: string, deadline: number): Promise<Claim | undefined> {
  for (;;) {
    if ((await holders(directory, 'turn')).length === 0) {
      // Claim first, look afterwards: of two who do so at once at least one sees the other, so never do both go on.
      const turn = await claim(directory, 'turn')
      if ((await holders(directory, 'turn')).length === 1) return turn
      await turn.withdraw()
    }
    if (performance.now() > deadline) return undefined
    await sleep(5 + Math.random() * 30)
  }
}
