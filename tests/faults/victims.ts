import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fetch } from 'undici'
import { expect, vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import type { Shown } from '../command/keyring-stage.ts'
import { run, runJson, type ServiceProcess } from '../command/process.ts'
import { isLong } from '../long.ts'
import type { Random } from '../seeds.ts'
import { checkReadable } from '../trust/readable.ts'
import type { Balancer } from './balancer.ts'
import { type Bench, endingAt } from './bench.ts'

/** What a fault may use: the bench, what draws numbers, and a balancer before the processes where the case has one. */
export type Hurting = {
  readonly bench: Bench
  readonly random: Random
  readonly balancer: Balancer | undefined
}

/** Hurts a victim once. What ended is started again by the case; what was only held up goes on when this resolves. */
export type Way = (hurting: Hurting) => Promise<unknown>

/** Longer than a process keeps what it has claimed. */
const BEYOND_CLAIMS_MS = 61_000

/** Who may be hurt, and in which ways. A new fault is a function here, and its name in a row of `cases.test.ts`. */
export const victims = {
  process: {
    'kill -9': ({ bench, random }) => any(bench.processes, random).stop('SIGKILL'),
    SIGSTOP: hurting => held(hurting, 500 + hurting.random(1500)),
    'SIGSTOP for longer than its claims': hurting => held(hurting, BEYOND_CLAIMS_MS),
    SIGTERM: async ({ bench, random }) => {
      const victim = any(bench.processes, random)
      expect(await victim.stop()).toBe(0)
      // Whatever it had accepted was answered, and the last lines are written, too.
      expect(statusesOf(victim).filter(status => status >= 500)).toEqual([])
      expect(victim.log().at(-1)?.event).toBe('stopped')
    },
    'an error that nothing catches': async ({ bench, random }) => {
      const victim = any(bench.processes, random)
      expect(await victim.stop('SIGUSR2')).toBe(1)
      expect(victim.log().at(-1)).toMatchObject({ event: 'crashed', cause: 'RangeError' })
    },
    'replaced by another': async ({ bench, balancer }) => {
      for (const [process, port] of bench.ports.entries()) {
        expect(await bench.processes[process]?.stop()).toBe(0)
        await bench.start({ process, drainSeconds: DRAIN_SECONDS })
        // Whoever restarts processes waits for this, too: else the balancer would have nowhere to send to.
        await vi.waitFor(() => expect(balancer?.sendsTo(port)).toBe(true), { timeout: 60_000, interval: 20 })
      }
    },
  },
  worker: {
    'kill -9': async ({ bench: { processes }, random }) => {
      const [service] = processes as [ServiceProcess]
      const before = workersOf(service)
      const victim = any(before.filter(isAlive), random)
      process.kill(victim, 'SIGKILL')
      await vi.waitFor(() => expect(workersOf(service).length).toBe(before.length + 1), patience)
      expect(workersOf(service).filter(isAlive)).toHaveLength(2)
    },
    SIGSTOP: async ({ bench: { processes }, random }) => {
      const [service] = processes as [ServiceProcess]
      await heldFor([any(workersOf(service).filter(isAlive), random)], 500 + random(1500))
    },
    'kill -9 of their parent': async ({ bench: { processes } }) => {
      const [service] = processes as [ServiceProcess]
      await service.stop('SIGKILL')
      await vi.waitFor(() => expect(workersOf(service).filter(isAlive)).toEqual([]), patience)
    },
    'SIGHUP, which replaces all': async ({ bench: { processes } }) => {
      const [service] = processes as [ServiceProcess]
      const former = workersOf(service)
      service.child.kill('SIGHUP')
      await vi.waitFor(async () => {
        expect((await fetch(`${service.address}/readyz`)).status).toBe(200)
        expect(former.filter(isAlive)).toEqual([])
      }, patience)
    },
  },
  postgres: {
    'kill -9': async ({ bench }) => {
      const killed = await postmasterOf(bench)
      process.kill(killed, 'SIGKILL')
      // Sessions that are busy outlive a killed postmaster for a moment, and go on answering.
      await vi.waitFor(async () => {
        const now = await postmasterOf(bench)
        expect(now > 1 && now !== killed).toBe(true)
      }, patience)
      expect(bench.processes[0]?.child.exitCode).toBeNull()
    },
    SIGSTOP: async ({ bench, random }) => {
      const postmaster = await postmasterOf(bench)
      const sessions = execFileSync('pgrep', ['-P', `${postmaster}`], { encoding: 'utf8' })
        .trim()
        .split('\n')
      await heldFor([postmaster, ...sessions.map(Number)], 500 + random(3000))
    },
    'a full disk': async ({ bench }) => {
      if (!bench.isSmall) return void process.stderr.write(NO_SMALL_DISK)
      const ready = (status: number) =>
        vi.waitFor(async () => {
          expect((await fetch(`${bench.processes[0]?.address}/readyz`)).status).toBe(status)
        }, patience)
      fillUp(join(bench.place.cwd, 'filler'))
      await ready(503)
      rmSync(join(bench.place.cwd, 'filler'))
      await ready(200)
      expect(bench.processes[0]?.child.exitCode).toBeNull()
    },
  },
  session: {
    ended: hurting => endSessions(hurting, 1),
    'ended with all others': hurting => endSessions(hurting, 1000),
  },
  commit: {
    'cut before it': ({ bench }) => bench.proxy?.arm('before', EVENT) ?? Promise.reject(),
    'its answer cut off': ({ bench }) => bench.proxy?.arm('after', EVENT) ?? Promise.reject(),
    'late, its connection cut': ({ bench }) => bench.proxy?.arm('late', EVENT) ?? Promise.reject(),
  },
  receiver: {
    'cut off': ({ bench }) => bench.receiver.away(0),
    'away for a moment': ({ bench, random }) => bench.receiver.away(500 + random(1000)),
  },
  keys: {
    rotated: async ({ bench }) => expect((await run(['keyring', 'rotate'], bench.place)).code).toBe(0),
    'killed before they are written': hurting => breakOff(hurting, 'before'),
    'killed once they are written': hurting => breakOff(hurting, 'after'),
    'killed before the commit of the new wraps': hurting => breakOff(hurting, 'before commit'),
    'killed after their commit': hurting => breakOff(hurting, 'after commit'),
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Way>>>>

/** So long that, even on a busy machine, each connection is used once more and gets the answer that asks it to close. */
export const DRAIN_SECONDS = isLong ? 20 : 5
/** Part of the body of every event, so of every write of a user. */
const EVENT = '"eventname"'
const NO_SMALL_DISK = '\nNOT RUN: a full disk, as only root can mount a small one, and not everywhere.\n'
/** Not by `expect.poll`, which does not know its test where tests run side by side. */
const patience = { timeout: 120_000, interval: 20 }

function any<T>(all: readonly T[], random: Random): T {
  return all[random(all.length)] as T
}

function held({ bench, random }: Hurting, ms: number): Promise<void> {
  return heldFor([any(bench.processes, random).pid], ms)
}

async function heldFor(pids: readonly number[], ms: number): Promise<void> {
  for (const pid of pids) signal(pid, 'SIGSTOP')
  await pause(ms)
  for (const pid of pids) signal(pid, 'SIGCONT')
}

/** It may have ended by itself meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The processes that have come to serve, in order. */
export function workersOf(service: ServiceProcess): number[] {
  return service.log().flatMap(({ event, pid }) => (event === 'worker_started' ? [Number(pid)] : []))
}

function statusesOf(service: ServiceProcess): number[] {
  return service.log().flatMap(line => (line.event === 'request' ? [Number(line['status'])] : []))
}

/** Rotates the keys, is killed there, and a process with it; the next one works, and the next rewrap ends it. */
async function breakOff({ bench, random }: Hurting, at: string): Promise<void> {
  const { place } = bench
  const env = { ...place.env, ...endingAt({ point: `rotation rewrap ${at}`, count: 1 }) }
  expect((await run(['keyring', 'rotate'], { ...place, env })).code).toBeNull()
  const killed = random(bench.processes.length)
  await bench.processes[killed]?.stop('SIGKILL')
  await bench.start({ process: killed })
  await bench.more(20)
  const { partner, ports, clientOf } = bench
  await checkReadable(clientOf(ports[killed] ?? 0), { place, partner, entries: bench.entries() })
  await runJson(['keyring', 'rewrap'], place)
  const { keys } = await runJson<Shown>(['keyring', 'show'], place)
  const used = keys.filter(({ kind, inuse }) => kind === 'root' && inuse['partners'] !== 0)
  expect(used.map(({ state, inuse }) => [state, inuse['partners']])).toEqual([['current', 1]])
}

async function postmasterOf({ dataDir }: Bench): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

async function endSessions({ bench: { database } }: Hurting, count: number): Promise<void> {
  await database.learnCells()
  const [node = database] = database.cells()
  await node.query(sql`
    select pg_terminate_backend(pid) from (
      select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      order by random() limit ${count}) found`)
}

/** Writes a file until not one more byte fits. */
function fillUp(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (let size = 1024 * 1024; size >= 1; ) {
      try {
        // When less fits, less than requested is written.
        if (writeSync(file, Buffer.alloc(size)) === 0) return
      } catch (error) {
        if ((error as { code?: string }).code !== 'ENOSPC') throw error
        size = Math.floor(size / 16)
      }
    }
  } finally {
    closeSync(file)
  }
}
