import { readFile, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import { applicationName, type SocketAddress } from './database.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { commandLineOf, isTaken, lifeOf, sendSignal } from './processes.ts'

/** A PostgreSQL that runs in the data directory. */
export type Postmaster = {
  pid: number
  life: string
  socketDirectory: string
  isReady: boolean
  port: number
}

/** The PostgreSQL that runs in the data directory, whoever started it; `undefined` when none runs. */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const noted = await readPidFile(cluster)
  if (!noted) return undefined
  const life = lifeOf(noted.pid)
  if (!life || !(await runsIn(cluster, noted))) return undefined
  return { ...noted, life }
}

/** The address at which the application reaches a running PostgreSQL. */
export function addressOf(postmaster: { socketDirectory: string; port: number }): SocketAddress {
  const { socketDirectory, port } = postmaster
  return { host: socketDirectory, port, user: applicationName, database: applicationName }
}

/**
 * Stops PostgreSQL with all its sessions, and waits until its process is gone. When a signal has no effect, a stronger one
 * follows. Throws `EmbeddedPostgresError` when the process survives all of them.
 */
export async function stopPostmaster(postmaster: Pick<Postmaster, 'pid' | 'life'>): Promise<void> {
  for (const { signal, patience } of stops) {
    // The process is checked just before each signal, so that a later process with the same id is never signaled.
    if (!isAlive(postmaster) || !sendSignal(postmaster.pid, signal)) return
    if (await waitUntilGone(postmaster, patience)) return
  }
  throw new EmbeddedPostgresError(
    `The database process ${postmaster.pid} does not end: end it by hand (it may be waiting for its disk) and try again.`,
  )
}

/**
 * Removes a `postmaster.pid` that would keep PostgreSQL from starting: one whose process id now belongs to an
 * unrelated process, which is left alone. PostgreSQL itself removes the file of a dead process.
 */
export async function removeStalePidFile(cluster: Cluster): Promise<void> {
  const noted = await readPidFile(cluster)
  if (noted && isTaken(noted.pid) && !(await findPostmaster(cluster))) await rm(pidFileOf(cluster))
}

/** The socket directory that the last PostgreSQL wrote down, whether it still runs or not. */
export async function notedSocketDirectory(cluster: Cluster): Promise<string | undefined> {
  return (await readPidFile(cluster))?.socketDirectory || undefined
}

// Together less than the 15 s within which the service must have stopped.
const stops = [
  { signal: 'SIGINT', patience: 8_000 },
  { signal: 'SIGQUIT', patience: 3_000 },
  { signal: 'SIGKILL', patience: 2_000 },
] as const

/** Whether this process still runs, and its id was not given to a later process. */
function isAlive(postmaster: Pick<Postmaster, 'pid' | 'life'>): boolean {
  return lifeOf(postmaster.pid) === postmaster.life
}

async function waitUntilGone(
  postmaster: Pick<Postmaster, 'pid' | 'life'>,
  patience: number,
): Promise<boolean> {
  const deadline = performance.now() + patience
  while (isAlive(postmaster)) {
    if (performance.now() > deadline) return false
    await sleep(5)
  }
  return true
}

function pidFileOf(cluster: Cluster): string {
  return join(cluster.directory, 'postmaster.pid')
}

type Noted = { pid: number; port: number; socketDirectory: string; isReady: boolean }

/**
 * Reads the file that PostgreSQL writes, one value in a line: process id, data directory, start time, port, socket
 * directory, host, shared memory, state.
 */
async function readPidFile(cluster: Cluster): Promise<Noted | undefined> {
  const lines = (await readFile(pidFileOf(cluster), 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined
  const isReady = lines[7]?.trim() === 'ready'
  return { pid, port: Number(lines[3] ?? 0), socketDirectory: lines[4]?.trim() ?? '', isReady }
}

async function runsIn(cluster: Cluster, noted: Noted): Promise<boolean> {
  const commandLine = commandLineOf(noted.pid) ?? ''
  const program = commandLine.split(' -')[0] ?? ''
  if (basename(program) !== 'postgres') return false
  // The working directory proves it, but even root may not read that of another user's process (in a container
  // without CAP_SYS_PTRACE). Then the socket directory decides, whose name is new and random at every start.
  const workingDirectory = await stat(`/proc/${noted.pid}/cwd`).catch(() => undefined)
  if (!workingDirectory) return noted.socketDirectory !== '' && commandLine.includes(noted.socketDirectory)
  const ours = await stat(cluster.directory)
  return workingDirectory.dev === ours.dev && workingDirectory.ino === ours.ino
}
