// @databases citus stock

import { test } from 'vitest'
import { isLong, minutesOf } from '../long.ts'
import { type Case, plansOf, runCase } from './course.ts'

// Who is hurt, how, when, and what is written meanwhile: each row is a case, and all run the same course (`course.ts`). A way to be
// hurt is a function of `victims.ts`, a point of the program a line of `points.mjs`, and a kind of write a function of `writes.ts`.

/** How long everything runs at once; by the file's name a minute. */
const minutes = Number(process.env['TEST_SOAK_MINUTES'] ?? (isLong ? minutesOf(10) : 1))

const cases: readonly Case[] = [
  {
    name: 'a process under load',
    hurt: { process: ['kill -9', 'SIGSTOP', 'SIGTERM', 'an error that nothing catches'] },
    writes: ['bulks'],
    times: 20,
    databases: ['embedded', 'url', 'cluster'],
  },
  {
    name: 'a process at a named point',
    points: [
      ['request arrived', 60],
      ['request read before', 30],
      ['request read after', 30],
      ['request before', 30],
      ['request before commit', 30],
      ['request after commit', 30],
      ['request before answer', 60],
      ['delivery claim before', 6],
      ['delivery claim after', 3],
      ['delivery sent', 40],
      ['delivery answered', 40],
      ['delivery result before', 6],
      ['delivery result after', 6],
      ['erasure before', 5],
      ['erasure key after', 5],
      ['erasure before commit', 5],
      ['erasure after commit', 5],
      ['erasure before answer', 5],
    ],
    times: 180,
    // One of a request, of an erasure and of each step of a delivery.
    everyday: [
      'request before commit',
      'erasure after commit',
      'delivery claim after',
      'delivery sent',
      'delivery answered',
      'delivery result after',
    ],
  },
  {
    name: 'one of two processes',
    hurt: { process: ['kill -9', 'SIGSTOP', 'SIGSTOP for longer than its claims'] },
    processes: 2,
    pauseMs: 100,
    times: 15,
    everyday: ['kill -9'],
  },
  {
    name: 'one of two processes whose clocks are an hour apart',
    hurt: { process: ['kill -9'] },
    processes: 2,
    aheadMs: 3_600_000,
    times: 4,
  },
  {
    name: 'one of two workers, or their parent',
    hurt: { worker: ['kill -9', 'SIGSTOP', 'kill -9 of their parent'] },
    workers: 2,
    times: 15,
    everyday: ['kill -9', 'kill -9 of their parent'],
  },
  {
    name: 'the embedded database, its disk, or its service',
    hurt: { postgres: ['kill -9', 'SIGSTOP', 'a full disk'], process: ['kill -9'] },
    bench: { home: 'embedded' },
    times: 30,
    everyday: ['kill -9', 'a full disk'],
  },
  {
    name: 'connections of the service',
    hurt: { session: ['ended', 'ended with all others'] },
    times: 30,
  },
  {
    name: 'a COMMIT',
    hurt: { commit: ['its answer cut off', 'cut before it', 'late, its connection cut'] },
    bench: { proxied: true },
    times: 30,
  },
  { name: 'the receiver', hurt: { receiver: ['cut off', 'away for a moment'] }, times: 30 },
  {
    name: 'root key and pepper, or who rotates them and a process with it',
    hurt: {
      keys: [
        'rotated',
        'killed before the commit of the new wraps',
        'killed before they are written',
        'killed once they are written',
        'killed after their commit',
      ],
    },
    bench: { keyring: 'file' },
    processes: 2,
    // Each time all users are exported.
    writers: 2,
    pauseMs: 200,
    times: 5,
    everyday: ['killed before the commit of the new wraps'],
  },
  {
    name: 'both processes, one after the other, refusing nothing',
    hurt: { process: ['replaced by another'] },
    processes: 2,
    refusesNothing: true,
    pauseMs: isLong ? 0 : 500,
    times: 6,
  },
  {
    name: 'both workers, refusing nothing',
    hurt: { worker: ['SIGHUP, which replaces all'] },
    workers: 2,
    refusesNothing: true,
    pauseMs: isLong ? 0 : 500,
    times: 6,
  },
  {
    name: `one of two processes, for ${minutes} minutes, with everything else at once`,
    hurt: { process: ['kill -9'] },
    processes: 2,
    writers: 2,
    writes: ['bulks', 'page', 'console', 'feed', 'statements'],
    ordered: true,
    times: 1,
    minutes,
    everyMs: 8000,
    databases: ['embedded', 'url', 'cluster'],
    isNightly: true,
  },
]

const plans = cases.flatMap(plansOf)

/** A bound that only catches a hang, on a machine that may be busy; repeated when it was too slow for the limits of statements. */
const unlessTooSlow = { timeout: 9_000_000, retry: { count: 3, condition: /^Too slow/ } }

test.concurrent.each(plans.filter(plan => !plan.refusesNothing))(
  '$name, hurt $times times under load: all books agree (TEST_SEED=$seed)',
  unlessTooSlow,
  runCase,
)

// One after the other, as kept connections must be used in time.
test.each(plans.filter(plan => plan.refusesNothing))(
  '$name, $times times under load: nothing is refused, and all books agree (TEST_SEED=$seed)',
  unlessTooSlow,
  runCase,
)
