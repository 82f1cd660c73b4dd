import { readFile, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../operator-error.ts'
import type { Cluster } from './cluster.ts'
import { applicationName, type SocketAddress } from './database.ts'
import { commandLineOf, isTaken, lifeOf, sendSignal } from './processes.ts'

/** A live PostgreSQL in our data directory. */
export type Postmaster = {
  pid: number
  life: string
  socketDirectory: string
  isReady: boolean
  port: number
}

/** The PostgreSQL that runs in the data directory, whoever started it; `undefined` when none does. */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const noted = await readPidFile(cluster)
  if (!noted) return undefined
  const life = lifeOf(noted.pid)
  if (!life || !(await runsIn(cluster, noted))) return undefined
  return { ...noted, life }
}

/** Where the application reaches a running PostgreSQL. */
export function addressOf(postmaster: { socketDirectory: string; port: number }): SocketAddress {
  const { socketDirectory, port } = postmaster
  return { host: socketDirectory, port, user: applicationName, database: applicationName }
}

/**
 * Shuts PostgreSQL down and waits until it is gone. `fast` ends all sessions, `smart` lets them end by themselves for
 * some seconds first; one that does not obey is stopped harder. Refuses with an `OperatorError` when it survives even
 * that.
 */
export async function stopPostmaster(
  postmaster: Pick<Postmaster, 'pid' | 'life'>,
  mode: 'fast' | 'smart',
): Promise<void> {
  const steps = mode === 'smart' ? [smart, ...fastSteps] : fastSteps
  for (const { signal, patience } of steps) {
    // Looked at again just before each signal: a recycled process id is never signalled.
    if (!isAlive(postmaster) || !sendSignal(postmaster.pid, signal)) return
    if (await waitUntilGone(postmaster, patience)) return
  }
  throw new OperatorError(
    `The database process ${postmaster.pid} does not end: end it by hand (it may be waiting for its disk) and try again.`,
  )
}

/**
 * Removes a `postmaster.pid` that PostgreSQL itself would trip over: one whose process id has been given to a process
 * that is none of ours. That process is left alone. A dead process's file PostgreSQL clears away without help.
 */
export async function removeStalePidFile(cluster: Cluster): Promise<void> {
  const noted = await readPidFile(cluster)
  if (noted && isTaken(noted.pid) && !(await findPostmaster(cluster))) await rm(pidFileOf(cluster))
}

/** The socket directory that the last PostgreSQL noted, running or not. */
export async function notedSocketDirectory(cluster: Cluster): Promise<string | undefined> {
  return (await readPidFile(cluster))?.socketDirectory || undefined
}

const smart = { signal: 'SIGTERM', patience: 10_000 } as const
// Together below the 15 s within which the service has to be gone.
const fastSteps = [
  { signal: 'SIGINT', patience: 8_000 },
  { signal: 'SIGQUIT', patience: 3_000 },
  { signal: 'SIGKILL', patience: 2_000 },
] as const

/** Whether it still lives: the very process, not a later one with its id. */
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

/** PostgreSQL writes line by line: id, data directory, start, port, socket directory, host, memory, state. */
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
  // Its working directory is the proof, but even root may not see that of another user's process (in a container
  // without CAP_SYS_PTRACE). Then the socket directory is, whose name is new and random with every start.
  const place = await stat(`/proc/${noted.pid}/cwd`).catch(() => undefined)
  if (!place) return noted.socketDirectory !== '' && commandLine.includes(noted.socketDirectory)
  const ours = await stat(cluster.directory)
  return place.dev === ours.dev && place.ino === ours.ino
}
