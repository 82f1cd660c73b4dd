import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { eventNames } from '../../contract/src/index.ts'
import { enrolmentTransitions, userTransitions } from '../../service/src/membership/rules/history.ts'
import { everydayOr, isLong, wholeRunTest } from '../long.ts'
import { startTestService, type TestService } from '../rig.ts'
import { fileOf } from './catalogue.ts'
import { type Command, fiftyCommands, type Step, stepNames, twoZones } from './life-commands.ts'
import { openWorld } from './life-world.ts'
import { pricedLives } from './months-add-up.ts'
import { lives } from './stage.ts'

// Twenty lives for each of two seeds, and those below that are written out, still meet all that the last test asks for.
const runs = Number(process.env['MODEL_RUNS'] ?? everydayOr(6, isLong ? 75 : 20))

const LIVES_OF_A_DATABASE = 15

/** A partner's ping, notices about endpoints, and the answers of an insurer. */
const raisedElsewhere = new Set<string>([
  'webhook_test',
  'webhook_failing',
  'webhook_disabled',
  'webhook_recovered',
  'benefit_insurer_accepted',
  'benefit_insurer_refused',
  'benefit_cover_changed',
])

/**
 * Random lives of the same userids at two partners, in the service and in the reference model, compared after each
 * step: MODEL_RUNS lives for each seed. Together, the seeds of a file must do everything that can be done, meet every
 * refusal and see every event. A file has few seeds, so that files run side by side.
 */
export function testSeeds(seeds: readonly number[]): void {
  let service: TestService | undefined
  let lived = 0
  const done: Record<string, number> = {}
  const moved = new Set<string>()
  afterAll(() => service?.[Symbol.asyncDispose]())
  // A restart handles every partner in the database: with only one database each life would cost more than the last.
  const freshEnough = async (): Promise<TestService> => {
    if (service && lived % LIVES_OF_A_DATABASE !== 0) return service
    await service?.[Symbol.asyncDispose]()
    service = await startTestService({ ...lives, catalogue: fileOf(pricedLives) })
    return service
  }

  /** Runs the commands, and records what was done and what moved. */
  const live = async (zones: readonly string[], commands: readonly Command[]) => {
    const world = await openWorld(await freshEnough(), zones, name => {
      done[name] = (done[name] ?? 0) + 1
    })
    lived += 1
    for (const one of commands) await world.step(one)
    for (const name of await world.moves()) moved.add(name)
    done['adjustment'] = (done['adjustment'] ?? 0) + (await world.months())
  }

  const both = ['America/New_York', 'Europe/Madrid']
  const ofOne = (steps: readonly Step[]) => steps.map((one): Command => ({ ...one, user: 'u1', partner: 0 }))

  // A lapse is rare at random, because it takes 90 days without a write: one life has it for certain.
  test('the service lives as the model does where a prefill lapses or is erased', async () => {
    const lapsing: readonly Step[] = [
      { op: 'prefill' },
      { op: 'clock', to: 'days', n: 91, late: false },
      { op: 'prefill' },
      { op: 'erase' },
      { op: 'prefill' },
      { op: 'clock', to: 'days', n: 95, late: true },
      { op: 'prefill' },
    ]
    await live(both, ofOne(lapsing))
  })

  test('the service lives as the model does before a start, past a due date, and on an offer that no longer fits', async () => {
    const person = { state: 'FL', dob: '1990-03-27' }
    const rare: readonly Step[] = [
      { op: 'create', offer: 'mid', picks: ['art', 'eyes'], days: 9, agreed: [], ...person },
      { op: 'decline', b: 'art' },
      { op: 'enrol', b: 'books', agreed: false },
      { op: 'clock', to: 'days', n: 10, late: true },
      { op: 'clock', to: 'days', n: 31, late: true },
      { op: 'offer', offer: 'top', effective: 'auto' },
      { op: 'update', state: 'NY' },
      { op: 'enrol', b: 'care', agreed: false },
      { op: 'cancel', effective: 'endofperiod' },
      { op: 'swap', add: ['art'], remove: [] },
      { op: 'reinstate' },
      { op: 'update', state: 'FL' },
      { op: 'clock', to: 'after', n: 2, late: false },
    ]
    await live(both, ofOne(rare))
  })

  test('the service lives as the model does where an operator corrects what is held', async () => {
    const person = { state: 'FL', dob: '1990-03-27' }
    const corrected: readonly Step[] = [
      { op: 'create', offer: 'mid', picks: ['art', 'books'], days: 0, agreed: [], ...person },
      { op: 'moveend', place: 1, days: 3 },
      { op: 'moveend', place: 1, days: 3 },
      { op: 'movestart', place: 2, days: -4 },
      { op: 'movestart', place: 2, days: 90 },
      { op: 'swap', add: ['care'], remove: [0] },
      { op: 'void', place: 1 },
      { op: 'enrol', b: 'care', agreed: false },
      { op: 'movestart', place: 2, days: 5 },
      { op: 'clock', to: 'days', n: 6, late: true },
      { op: 'moveend', place: 1, days: -2 },
      { op: 'clock', to: 'after', n: 2, late: false },
    ]
    await live(both, ofOne(corrected))
  })

  test('the service lives as the model does where an end that an operator gave meets a move and a cancel', async () => {
    const person = { state: 'FL', dob: '1990-03-27' }
    const kept: readonly Step[] = [
      { op: 'create', offer: 'mid', picks: ['dental', 'art'], days: 0, agreed: [], ...person },
      { op: 'moveend', place: 2, days: 40 },
      { op: 'moveend', place: 3, days: 20 },
      { op: 'update', state: 'NY' },
      { op: 'movestart', place: 2, days: -3 },
      { op: 'update', state: 'FL' },
      { op: 'cancel', effective: 'immediate' },
      { op: 'reinstate' },
      { op: 'update', state: 'NY' },
      { op: 'cancel', effective: 'endofperiod' },
      { op: 'update', state: 'FL' },
      { op: 'reinstate' },
      { op: 'cancel', effective: 'immediate' },
      { op: 'clock', to: 'days', n: 28, late: false },
      { op: 'reinstate' },
      { op: 'clock', to: 'after', n: 2, late: false },
    ]
    await live(both, ofOne(kept))
    const cut: readonly Step[] = [
      { op: 'create', offer: 'mid', picks: ['dental', 'art'], days: 0, agreed: [], ...person },
      { op: 'clock', to: 'days', n: 3, late: false },
      { op: 'cancel', effective: 'endofperiod' },
      { op: 'moveend', place: 2, days: -2 },
      { op: 'moveend', place: 2, days: -2 },
      { op: 'enrol', b: 'dental', agreed: false },
      { op: 'clock', to: 'after', n: 2, late: false },
      { op: 'reinstate' },
    ]
    await live(both, ofOne(cut))
  })

  test('the service lives as the model does where a consent comes later, and a reinstate too late', async () => {
    const person = { state: 'FL', dob: '1990-03-27' }
    const late: readonly Step[] = [
      { op: 'create', offer: 'mid', picks: ['art'], days: 0, agreed: [], ...person },
      { op: 'enrol', b: 'eyes', agreed: false },
      { op: 'enrol', b: 'eyes', agreed: true },
      { op: 'cancel', effective: 'immediate' },
      { op: 'clock', to: 'days', n: 32, late: true },
      { op: 'reinstate' },
    ]
    const beforeItsStart: readonly Step[] = [
      { op: 'create', offer: 'mid', picks: ['eyes'], days: 9, agreed: [], ...person },
      { op: 'enrol', b: 'eyes', agreed: true },
    ]
    const ofAnother = beforeItsStart.map((one): Command => ({ ...one, user: 'u2', partner: 1 }))
    await live(both, [...ofOne(late), ...ofAnother])
  })

  test.each(seeds)('the service lives as the model does, seed %i', { timeout: 1_800_000 }, async seed => {
    await fc.assert(fc.asyncProperty(twoZones, fiftyCommands, live), {
      seed,
      numRuns: runs,
      endOnFailure: !process.env['MODEL_SHRINK'],
    })
  })

  // Few lives do not cover everything.
  wholeRunTest(
    'every command was done, every refusal met, every event raised and every transition seen',
    () => {
      if (process.env['MODEL_COUNTS']) console.log(done)
      expect([...stepNames, ...refusals, ...raised, 'adjustment'].filter(name => !done[name])).toEqual([])
      expect(possible().filter(name => !moved.has(name))).toEqual([])
    },
  )
}

const raised = [...eventNames.filter(name => !raisedElsewhere.has(name)), 'benefit_declined expired'].map(
  name => `event ${name}`,
)

const refusals = [
  'user_not_found',
  'user_exists',
  'user_cancelled',
  'not_cancelled',
  'reinstate_expired',
  'ineligible',
  'slots_exceeded',
  'already_on_offer',
  'change_locked',
  'benefit_in_force',
  'benefit_unknown',
  'cancel_pending',
  'bad_request',
]

/** The transitions that these commands can cause; the others belong to the registration page. */
function possible(): string[] {
  const elsewhere = ['registering', 'selected']
  const never = [
    // Refused picks are answered, not stored; only a swap's pick can be rejected, at its boundary.
    'new>rejected',
    // A scheduled pick fails or waits again only after a new catalogue: see boundary-order.test.ts.
    'scheduled>rejected',
    'scheduled>actionrequired',
    // Cover that ends at an age gets its end when it begins, and begins when it is picked.
    'actionrequired>endscheduled',
    'scheduled>endscheduled',
    // These lives correct only benefits that are held.
    ...['ended', 'withdrawn', 'declined', 'rejected'].map(state => `${state}>void`),
  ]
  const all = [
    ...Object.entries(userTransitions).flatMap(([from, to]) => to.map(state => `user ${from}>${state}`)),
    ...Object.entries(enrolmentTransitions).flatMap(([from, to]) => to.map(state => `${from}>${state}`)),
  ]
  return all.filter(name => !never.includes(name) && !elsewhere.some(state => name.includes(state)))
}
