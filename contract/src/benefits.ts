import { DependantIds } from './dependants.ts'
import {
  BenefitNames,
  CodeName,
  GivenConsents,
  OptionalTimestamp,
  optionalText,
  RequiredState,
  RequiredZipcode,
  Timestamp,
  Userid,
} from './fields.ts'
import { keyedErrors, operation, partnerErrors } from './operation.ts'
import { described, orNull, parameters, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'
import { exampleUser, HeldBenefit } from './user.ts'

/** The benefits request (interface §2.3, contract §6). */
export const BenefitsRequest = shape('BenefitsRequest', {
  userid: Userid,
  age: Type.Integer({ minimum: 0, maximum: 120, 'x-rule': 'must be a whole number from 0 to 120' }),
  state: RequiredState,
  zipcode: RequiredZipcode,
  partnername: optionalText(200, { description: '"" = no filter' }),
  offername: optionalText(64, { description: '"" = the offer of the user' }),
})
/** The shape of {@link BenefitsRequest}. */
export type BenefitsRequest = Static<typeof BenefitsRequest>

/** One benefit with its status (interface §2.4); the order of the members is part of the promise. */
export const BenefitWithStatus = shape('BenefitWithStatus', {
  name: Type.String({ description: 'Short benefit code' }),
  displayname: Type.String(),
  icon: Type.String({ description: 'URL of an icon' }),
  description: string('What the benefit is, in the language of `Accept-Language`'),
  status: Type.Enum(['notenrolled', 'enrolled'], {
    description: '`enrolled` when cover is in force at this instant',
  }),
  benefittype: Type.String({ description: 'dollar, service, discount or account' }),
  deeplinkdata: Type.String({ description: 'productname=…&producttype=…&redirectto=…, URL-encoded' }),
  isselectedforswap: described(
    orNull(Type.Boolean()),
    'Whether a pending swap moves it in or out; null: it cannot be swapped',
  ),
  swapeffectiveattimestamp: described(OptionalTimestamp, 'When a pending swap brings it, or null'),
  swapexpiresattimestamp: described(OptionalTimestamp, 'When a pending swap ends it, or null'),
})
/** The shape of {@link BenefitWithStatus}. */
export type BenefitWithStatus = Static<typeof BenefitWithStatus>

const shared = {
  caller: 'partner',
  scope: 'benefits:write',
  idempotency: 'keyed',
  tag: 'Benefits',
  section: 'contract §8',
} as const

/** Lists the benefits of a user with their status (interface §4.2, contract §6). */
export const getBenefits = operation({
  ...shared,
  id: 'getBenefits',
  method: 'POST',
  path: '/user/benefits',
  scope: 'benefits:read',
  idempotency: 'ignored',
  section: 'interface §4.2',
  summary: 'List the benefits open to a user, each with an enrolment status',
  body: BenefitsRequest,
  reply: Type.Array(BenefitWithStatus, { title: 'BenefitsWithStatus' }),
  errors: [...partnerErrors, 'partnername_not_allowed', 'offername_unknown', 'user_not_found'],
  example: {
    body: { userid: 'u-1001', age: 36, state: 'FL', zipcode: '33101', partnername: '', offername: '' },
    reply: [
      {
        name: 'accident',
        displayname: 'Accident coverage',
        icon: 'https://benefits.example.com/icons/accident.svg',
        description: 'A lump sum after an accident',
        status: 'enrolled',
        benefittype: 'dollar',
        deeplinkdata: 'productname=accident&producttype=dollar&redirectto=manage',
        isselectedforswap: null,
        swapeffectiveattimestamp: null,
        swapexpiresattimestamp: null,
      },
      {
        name: 'telehealth',
        displayname: 'Telehealth',
        icon: 'https://benefits.example.com/icons/telehealth.svg',
        description: 'A doctor by phone or video, day and night',
        status: 'notenrolled',
        benefittype: 'service',
        deeplinkdata: 'productname=telehealth&producttype=service&redirectto=swap',
        isselectedforswap: true,
        swapeffectiveattimestamp: '2026-12-01T05:00:00.000Z',
        swapexpiresattimestamp: null,
      },
    ],
  },
})

/** Whom benefits will cover beside the member (contract §19). */
const CoveredList = Type.Optional(
  Type.Array(
    shape(
      'BenefitCover',
      { name: CodeName, dependants: DependantIds },
      { 'x-rule': 'must be an object with name and dependants' },
    ),
    {
      maxItems: 200,
      'x-rule': 'must be a list of benefits with their dependants',
      description: 'Whom each benefit covers beside the member; what is not in it covers the member alone',
    },
  ),
)

/** What a swap request asks for (contract §8). */
export const SwapRequest = shape('SwapRequest', {
  userid: Userid,
  add: BenefitNames,
  remove: BenefitNames,
  covered: CoveredList,
  previewonly: Type.Optional(Type.Boolean({ 'x-rule': 'must be true or false' })),
})
/** The shape of {@link SwapRequest}. */
export type SwapRequest = Static<typeof SwapRequest>

/** A pending swap, or what it would be. */
export const Swap = shape('Swap', {
  userid: Type.String(),
  serviceid: Type.String(),
  add: Type.Array(Type.String()),
  remove: Type.Array(Type.String()),
  boundarytimestamp: Timestamp,
  lockedattimestamp: Timestamp,
})
/** The shape of {@link Swap}. */
export type Swap = Static<typeof Swap>

const exampleSwap = {
  userid: 'u-1001',
  serviceid: exampleUser.serviceid,
  add: ['telehealth'],
  remove: ['identity'],
  boundarytimestamp: '2026-12-01T05:00:00.000Z',
  lockedattimestamp: '2026-11-30T05:00:00.000Z',
}

const benefitErrors = [...partnerErrors, ...keyedErrors, 'user_not_found', 'user_cancelled'] as const

/** Errors of every operation that names who is covered. */
const coverErrors = ['dependant_unknown', 'dependant_not_eligible'] as const

/** Swaps selectable benefits at the next boundary (contract §8). */
export const swapBenefits = operation({
  ...shared,
  id: 'swapBenefits',
  method: 'POST',
  path: '/user/benefits/swap',
  summary: 'Swap benefits in and out at the next boundary; both lists empty undo a pending swap',
  body: SwapRequest,
  reply: Swap,
  errors: [
    ...benefitErrors,
    'benefit_unknown',
    'cancel_pending',
    'ineligible',
    ...coverErrors,
    'slots_exceeded',
    'change_locked',
  ],
  example: { body: { userid: 'u-1001', add: ['telehealth'], remove: ['identity'] }, reply: exampleSwap },
})

/** Undoes the pending swap (contract §8); without one: 200, nothing changes. */
export const undoSwap = operation({
  ...shared,
  id: 'undoSwap',
  method: 'DELETE',
  path: '/user/benefits/swap/{userid}',
  summary: 'Undo a pending swap',
  params: parameters({ userid: Userid }),
  reply: Swap,
  errors: [...benefitErrors, 'change_locked'],
  example: { reply: { ...exampleSwap, add: [], remove: [] } },
})

/** Enrols in one more benefit, now, in a free slot (contract §8). */
export const enrolBenefit = operation({
  ...shared,
  id: 'enrolBenefit',
  method: 'POST',
  path: '/user/benefits/enrol',
  summary: 'Enrol in one benefit now, in a free slot',
  body: shape('EnrolRequest', {
    userid: Userid,
    name: CodeName,
    consents: Type.Optional(GivenConsents),
    covered: CoveredList,
  }),
  reply: HeldBenefit,
  errors: [...benefitErrors, 'benefit_unknown', 'ineligible', ...coverErrors, 'slots_exceeded'],
  example: { body: { userid: 'u-1001', name: 'telehealth', consents: [] }, reply: exampleUser.benefits[0] },
})

/** Declines a benefit that is not in force (contract §8). */
export const declineBenefit = operation({
  ...shared,
  id: 'declineBenefit',
  method: 'POST',
  path: '/user/benefits/decline',
  summary: 'Decline a benefit that is not in force',
  body: shape('DeclineRequest', {
    userid: Userid,
    name: CodeName,
    reason: optionalText(200),
  }),
  reply: HeldBenefit,
  errors: [...benefitErrors, 'benefit_unknown', 'ineligible', 'benefit_in_force', 'change_locked'],
  example: {
    body: { userid: 'u-1001', name: 'telehealth', reason: 'not wanted' },
    reply: { ...exampleUser.benefits[0], name: 'telehealth', displayname: 'Telehealth', state: 'declined' },
  },
})

const CoverState = shape(
  'CoverState',
  {
    tier: Type.String({ description: 'Which price holds; "" while the benefit has no tiers' }),
    dependants: Type.Array(Type.String(), { description: 'The ids of those who are covered' }),
    cost: shape(
      'Cost',
      {
        cents: Type.Integer({ description: 'In cents' }),
        per: Type.Enum(['week', 'month'], { description: 'For how long; a week counts for each Monday' }),
      },
      { description: 'What the person pays' },
    ),
  },
  {
    description:
      'Who is covered, and what the person pays: `before` is now, `after` from `effectiveattimestamp` on',
  },
)

/** A change of who is covered, made, previewed or called off (contract §19). */
export const CoverChange = shape('CoverChange', {
  userid: Type.String(),
  serviceid: Type.String(),
  name: Type.String({ description: 'The code of the benefit' }),
  before: CoverState,
  after: CoverState,
  effectiveattimestamp: Timestamp,
  lockedattimestamp: Timestamp,
})
/** The shape of {@link CoverChange}. */
export type CoverChange = Static<typeof CoverChange>

const exampleCover = {
  userid: 'u-1001',
  serviceid: exampleUser.serviceid,
  name: 'dental',
  before: { tier: 'me', dependants: [], cost: { cents: 1200, per: 'month' } },
  after: {
    tier: 'mechildren',
    dependants: ['019abc12-3456-7def-8123-456789abcdf0'],
    cost: { cents: 2600, per: 'month' },
  },
  effectiveattimestamp: '2026-12-01T05:00:00.000Z',
  lockedattimestamp: '2026-11-30T05:00:00.000Z',
} as const

const coverChange = { ...shared, section: 'contract §19', reply: CoverChange } as const

/** Changes who is covered by a benefit from the next boundary on (contract §19). */
export const changeCover = operation({
  ...coverChange,
  id: 'changeCover',
  method: 'POST',
  path: '/user/benefits/cover',
  summary: 'Change whom a benefit covers, from the next boundary on',
  description:
    'It replaces what is pending for the benefit; the people who are covered already undo it. `before` is who is covered now, `after` who ' +
    'will be from `effectiveattimestamp` on, with what the person pays. A child who has reached the age limit by then is left out.',
  body: shape('CoverRequest', {
    userid: Userid,
    name: CodeName,
    dependants: DependantIds,
    previewonly: Type.Optional(
      Type.Boolean({
        'x-rule': 'must be true or false',
        description: '`true`: get the answer without making the change',
      }),
    ),
  }),
  errors: [
    ...benefitErrors,
    'benefit_unknown',
    'cancel_pending',
    'ineligible',
    ...coverErrors,
    'change_locked',
  ],
  example: {
    body: { userid: 'u-1001', name: 'dental', dependants: ['019abc12-3456-7def-8123-456789abcdf0'] },
    reply: exampleCover,
  },
})

/** Calls off a pending change of who is covered (contract §19); without one: 200, nothing changes. */
export const undoCover = operation({
  ...coverChange,
  id: 'undoCover',
  method: 'DELETE',
  path: '/user/benefits/cover/{userid}',
  summary: 'Call off a pending change of whom a benefit covers',
  params: parameters({ userid: Userid }),
  query: parameters({ name: CodeName }),
  errors: [...benefitErrors, 'benefit_unknown', 'ineligible', 'dependant_not_eligible', 'change_locked'],
  example: { reply: { ...exampleCover, after: exampleCover.before } },
})
