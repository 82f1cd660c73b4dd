import { type Static, Type } from 'typebox'
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

/** What a swap request asks for (contract §8). */
export const SwapRequest = shape('SwapRequest', {
  userid: Userid,
  add: BenefitNames,
  remove: BenefitNames,
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
  body: shape('EnrolRequest', { userid: Userid, name: CodeName, consents: Type.Optional(GivenConsents) }),
  reply: HeldBenefit,
  errors: [...benefitErrors, 'benefit_unknown', 'ineligible', 'slots_exceeded'],
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
