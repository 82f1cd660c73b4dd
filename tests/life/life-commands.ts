import fc from 'fast-check'
import { lifeCatalogue } from './catalogue.ts'
import type { Correcting } from './corrections.ts'

/** A partner's requests about one user, and an operator's corrections. */
export type Op =
  | { op: 'prefill' }
  | {
      op: 'create'
      offer: string
      picks: string[]
      days: number
      state: string
      dob: string
      agreed: string[]
    }
  | { op: 'update'; state?: string; dob?: string }
  | { op: 'cancel'; effective: 'endofperiod' | 'immediate' }
  | { op: 'reinstate' }
  | { op: 'erase' }
  | { op: 'offer'; offer: string; effective: 'auto' | 'immediate' | 'nextperiod' }
  | { op: 'undooffer' }
  | { op: 'swap'; add: string[]; remove: string[] }
  | { op: 'undoswap' }
  | { op: 'enrol'; b: string; agreed: boolean }
  | { op: 'decline'; b: string }
  | Correcting

/** The answer: a refusal's code, or lists of benefits. */
export type Answer = {
  refused?: string
  gained?: string[]
  lost?: string[]
  kept?: string[]
  notrestored?: string[]
}

/**
 * One step of a run: an operation, a move of the clock, or a restart. A benefit that is removed or corrected is named by
 * its place in the list of those held.
 */
export type Step =
  | Exclude<Op, { op: 'swap' } | Correcting>
  | { op: 'void'; place: number }
  | { op: 'movestart' | 'moveend'; place: number; days: number }
  | { op: 'swap'; add: string[]; remove: number[] }
  | { op: 'clock'; to: 'hours' | 'days' | 'before' | 'after'; n: number; late: boolean }
  | { op: 'restart' }

/** A step, with its user and its partner. */
export type Command = Step & { user: 'u1' | 'u2'; partner: 0 | 1 }

/** Everything that a run must have done. */
export const stepNames = [
  'prefill',
  'create',
  'update',
  'cancel',
  'reinstate',
  'erase',
  'offer',
  'undooffer',
  'swap',
  'undoswap',
  'enrol',
  'decline',
  'void',
  'movestart',
  'moveend',
  'clock',
  'restart',
] as const satisfies readonly Step['op'][]

const names = lifeCatalogue.benefits.map(benefit => benefit.name)
// eyes waits for its consent, so it can pass through the most states.
const anyBenefit = fc.constantFrom(...names, 'eyes', 'eyes', 'eyes', 'nothing')
const anyPick = fc.constantFrom('art', 'books', 'care', 'dental', 'eyes', 'eyes', 'fit', 'grow', 'home')
const anyOffer = fc.constantFrom('low', 'mid', 'top')
const anyState = fc.constantFrom('FL', 'FL', 'TX', 'NY')
// One of them turns 40 in the months of the runs.
const anyBirth = fc.constantFrom('1990-03-27', '1986-11-28', '1970-01-01')
function picksOf(max: number) {
  return fc.uniqueArray(anyPick, { maxLength: max })
}
// A swap removes something held, chosen by its place in the list once the list is known.
const anyPlaces = fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { maxLength: 2 })
function of<T extends Step['op']>(op: T) {
  return fc.constant(op)
}
function often<T>(weight: number, arbitrary: fc.Arbitrary<T>) {
  return { weight, arbitrary }
}

const create = fc.record({
  op: of('create'),
  offer: anyOffer,
  picks: picksOf(3),
  days: fc.constantFrom(0, 0, 0, 0, 1, 9, 40),
  state: anyState,
  dob: anyBirth,
  agreed: fc.subarray(['eyes', 'gold']),
})
const update = fc.oneof(
  fc.record({ op: of('update'), state: anyState }),
  fc.record({ op: of('update'), dob: anyBirth }),
)
const cancel = fc.record({ op: of('cancel'), effective: fc.constantFrom('endofperiod', 'immediate') })
const offer = fc.record({
  op: of('offer'),
  offer: anyOffer,
  effective: fc.constantFrom('auto', 'auto', 'immediate', 'nextperiod'),
})
const anyPlace = fc.integer({ min: 0, max: 5 })
const correction = fc.oneof(
  fc.record({ op: of('void'), place: anyPlace }),
  fc.record({ op: of('movestart'), place: anyPlace, days: fc.integer({ min: -20, max: 20 }) }),
  fc.record({ op: of('moveend'), place: anyPlace, days: fc.integer({ min: -20, max: 45 }) }),
)
const clock = fc.record({
  op: of('clock'),
  to: fc.constantFrom('hours', 'days', 'before', 'after', 'after'),
  n: fc.integer({ min: 1, max: 95 }),
  late: fc.boolean(),
})
const step = fc.oneof(
  often(3, fc.record({ op: of('prefill') })),
  often(9, create),
  often(4, update),
  often(4, cancel),
  often(4, fc.record({ op: of('reinstate') })),
  often(2, fc.record({ op: of('erase') })),
  often(8, offer),
  often(2, fc.record({ op: of('undooffer') })),
  often(9, fc.record({ op: of('swap'), add: picksOf(2), remove: anyPlaces })),
  often(2, fc.record({ op: of('undoswap') })),
  often(9, fc.record({ op: of('enrol'), b: anyBenefit, agreed: fc.boolean() })),
  often(4, fc.record({ op: of('decline'), b: anyBenefit })),
  often(10, correction),
  often(9, clock),
  often(1, fc.record({ op: of('restart') })),
) as fc.Arbitrary<Step>

/** A consent is sent only for a benefit that asks for one. */
function consenting(one: Step): Step {
  if (one.op !== 'enrol') return one
  const asks = lifeCatalogue.benefits.some(({ name, consent }) => name === one.b && consent !== undefined)
  return { ...one, agreed: one.agreed && asks }
}
const anyCommand: fc.Arbitrary<Command> = fc
  .tuple(step, fc.constantFrom('u1', 'u1', 'u1', 'u2'), fc.constantFrom(0, 0, 1))
  .map(([one, user, partner]) => ({ ...consenting(one), user, partner }) as Command)

/** 50 commands. They begin with three creates, because most others would otherwise find no user. */
export const fiftyCommands: fc.Arbitrary<Command[]> = fc
  .tuple(create, create, create, fc.array(anyCommand, { minLength: 47, maxLength: 47 }))
  .map(([one, two, three, more]) => [
    { ...one, user: 'u1', partner: 0 },
    { ...two, user: 'u1', partner: 1 },
    { ...three, user: 'u2', partner: 0 },
    ...more,
  ])

/** A time zone for each of the two partners. */
export const twoZones: fc.Arbitrary<[string, string]> = (() => {
  const zones = ['America/New_York', 'Europe/Madrid', 'America/St_Johns', 'Pacific/Auckland', 'Asia/Kolkata']
  return fc.tuple(fc.constantFrom(...zones), fc.constantFrom(...zones))
})()
