import type { ChildProcess } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, vi } from 'vitest'
import { timesOf } from '../long.ts'
import { openRandom, seedsOf } from '../seeds.ts'
import { checkReadable } from '../trust/readable.ts'
import { pooledClients, startBalancer } from './balancer.ts'
import { type Bench, type BenchOptions, openBench } from './bench.ts'
import { DRAIN_SECONDS, type Hurting, isAlive, victims, type Way, workersOf } from './victims.ts'
import { type Opened, writes } from './writes.ts'

/** The ways in which victims are hurt. */
type Hurt = { readonly [V in keyof typeof victims]?: readonly (keyof (typeof victims)[V])[] }

/** A row of `cases.test.ts`. */
export type Case = {
  /** Who is hurt, and under which circumstances. */
  readonly name: string
  /** The ways in which its victims are hurt, by turns, each at any moment of the work. */
  readonly hurt?: Hurt
  /** Points of the program at which a process ends, by turns, each at a pass up to this one. */
  readonly points?: readonly (readonly [point: string, most: number])[]
  /** How often somebody is hurt in `npm run test:long`; else each way and each point comes once. */
  readonly times: number
  /** The ways and points of `npm test`, if not all. */
  readonly everyday?: readonly string[]
  /** Long runs that failed by a fault of the service stay here for ever, with as many times as it takes to get to what failed. */
  readonly kept?: readonly { readonly seed: number; readonly times: number }[]
  readonly bench?: BenchOptions
  readonly processes?: 2
  /** How many processes answer requests within one `serve`. */
  readonly workers?: 2
  /** How far the clock of the second process is ahead. */
  readonly aheadMs?: number
  readonly writers?: number
  /** How long each of them rests after a write, if not as the journal says. */
  readonly pauseMs?: number
  /** What goes on beside the writers' prefills, creates and erasures. */
  readonly writes?: readonly (keyof typeof writes)[]
  /** A second endpoint gets each user's events in their order. */
  readonly ordered?: true
  /** No request may be refused, and no connection that is kept may break. */
  readonly refusesNothing?: true
  /** How long it goes on at least, and the pause after each time. */
  readonly minutes?: number
  readonly everyMs?: number
  /** Where it runs, if not on the embedded database alone: `url` is a stock one. */
  readonly databases?: readonly ('embedded' | 'url' | 'cluster')[]
  /** Whether `npm test` and `.ci/run` leave it out. */
  readonly isNightly?: true
}

/** What is done once: a victim is hurt in a way, or a process ends at a pass of a point up to this one. */
type Step = { readonly name: string } & ({ readonly way: Way } | { readonly most: number })

/** A case with what is done in it, how often, and the seed of what is drawn. */
export type Plan = Case & { readonly steps: readonly Step[]; readonly seed: number }

const isEveryday = process.env['TESTS'] === 'everyday'
/** Of more times there are several runs, each with a seed of its own. */
const TIMES_IN_RUN = 100

/** The runs of a case on the database of this test; none where it does not run. */
export function plansOf(one: Case): readonly Plan[] {
  const { databases = ['embedded'], isNightly, everyday } = one
  if (!databases.includes(kindOfServer()) || (isNightly && isEveryday)) return []
  const all = stepsOf(one)
  const steps = isEveryday && everyday ? all.filter(({ name }) => everyday.includes(name)) : all
  const times = Math.max(steps.length, timesOf(0, one.times))
  return [
    ...(one.kept ?? []).map(run => ({ ...one, ...run, steps: all })),
    ...seedsOf(Math.ceil(times / TIMES_IN_RUN)).map(seed => ({
      ...{ ...one, steps, seed },
      times: Math.min(times, TIMES_IN_RUN),
    })),
  ]
}

function kindOfServer() {
  return inject('testServer').kind
}

function stepsOf({ hurt = {}, points = [] }: Case): readonly Step[] {
  const ways = Object.entries(hurt).flatMap(([victim, names]) => {
    const own: Readonly<Record<string, Way>> = victims[victim as keyof Hurt]
    return names.map(name => ({ name, way: own[name] as Way }))
  })
  return [...ways, ...points.map(([name, most]) => ({ name, most }))]
}

/**
 * The course of all cases: the service starts, writes pour in through a journal, one victim after the other is hurt and comes
 * back, and the ledger compares all records.
 */
export async function runCase(plan: Plan): Promise<void> {
  const bench = await openBench(plan.bench)
  const endings: (() => unknown)[] = [bench.close]
  try {
    const { processes: count = 1, refusesNothing, minutes = 0 } = plan
    if (plan.steps.some(step => 'way' in step)) await revive(bench, plan)
    const balancer = refusesNothing && count === 2 ? await startBalancer(bench.ports) : undefined
    if (balancer) endings.unshift(balancer.close)
    const pool =
      refusesNothing && pooledClients(bench, { port: balancer?.port ?? bench.ports[0] ?? 0, count: 8 })
    const beside = await openBeside(bench, plan, endings)
    const journal = bench.openJournal({
      ...{ writers: plan.writers ?? 8, name: 'w', processes: count },
      ...(plan.pauseMs !== undefined && { pauseMs: plan.pauseMs }),
      ...(pool && { clients: pool.clients }),
    })
    endings.unshift(journal.stop)
    const until = Date.now() + minutes * 60_000
    const random = openRandom(plan.seed)
    // Each in its turn, so that a short pass meets all.
    for (let turn = 0; turn < plan.times || Date.now() < until; turn += 1) {
      await hurtOnce(plan.steps[turn % plan.steps.length] as Step, plan, { bench, random, balancer })
      await pause(plan.everyMs ?? 0)
    }
    await revive(bench, plan)
    await bench.more(20)
    await beside()
    await journal.stop()
    if (pool) {
      bench.checkNothingRefused()
      await pool.close()
    } else await leaveToLast(bench)
    await bench.check()
    const { place, partner, ports, clientOf } = bench
    if (plan.bench?.keyring)
      await checkReadable(clientOf(ports[0] ?? 0), { place, partner, entries: bench.entries() })
  } finally {
    for (const end of endings) await end()
  }
}

/** Begins what goes on beside the writers; returns a function that ends it, and fails where it had failed. */
async function openBeside(
  bench: Bench,
  { writes: names = [], ordered }: Plan,
  endings: (() => unknown)[],
): Promise<() => Promise<unknown>> {
  if (ordered) {
    const { url, username, password } = bench.receiver
    const wish = { url: `${url}/2`, username, password, events: ['all' as const] }
    await bench.clientOf(bench.ports[0] ?? 0).createWebhook({ ...wish, ordering: 'user' })
  }
  let isOver = false
  endings.unshift(() => {
    isOver = true
  })
  const going = names.map(async name => {
    const { act, close }: Opened = await writes[name].open(bench)
    if (close) endings.unshift(close)
    for (let count = 0; !isOver; count += 1) {
      await act(count)
      await pause(writes[name].restMs)
    }
  })
  const all = Promise.all(going)
  all.catch(() => {})
  return () => {
    isOver = true
    return all
  }
}

async function hurtOnce(step: Step, plan: Plan, hurting: Hurting): Promise<void> {
  const { bench, random } = hurting
  if ('way' in step) {
    await revive(bench, plan)
    await bench.more(20)
    // At a different moment of the work each time.
    await pause(random(300))
    await step.way(hurting)
  } else {
    await bench.processes[0]?.stop('SIGKILL')
    await bench.killedAt({ point: step.name, count: 1 + random(step.most) })
  }
  const isLost = ['postgres', 'session', 'commit'].some(victim => victim in (plan.hurt ?? {}))
  if (!isLost) await bench.noteUndelivered()
  // Where one of two has ended, the other delivers.
  if (plan.processes) await arriving(bench)
}

/** Waits until some more events have arrived. */
async function arriving({ receiver: { arrived } }: Bench): Promise<void> {
  const wanted = arrived.size + 10
  await vi.waitFor(() => expect(arrived.size).toBeGreaterThan(wanted), { timeout: 120_000, interval: 20 })
}

/** Starts each process that does not run, and again where the machine was too slow for it, as a supervisor would. */
async function revive(bench: Bench, plan: Plan): Promise<void> {
  const { processes = 1, workers = 1, aheadMs = 0, refusesNothing } = plan
  const isDead = (child?: ChildProcess) => !child || child.exitCode !== null || child.signalCode !== null
  for (let process = 0; process < processes; process += 1)
    for (let tries = 5; isDead(bench.processes[process]?.child); tries -= 1)
      await bench
        .start({
          process,
          aheadMs: process === 1 ? aheadMs : 0,
          drainSeconds: refusesNothing ? DRAIN_SECONDS : 0,
          env: { ENROLMENT_PROCESSES: String(workers) },
        })
        .catch((error: unknown) => {
          if (tries === 0) throw error
        })
}

/** Ends all processes in order, and leaves to a last one what waits: on a database that still runs it waits no more. */
async function leaveToLast(bench: Bench): Promise<void> {
  for (const one of bench.processes) {
    expect(await one.stop()).toBe(0)
    expect(workersOf(one).filter(isAlive)).toEqual([])
  }
  await bench.letAllBeDue()
  await bench.start()
}
