import { cancelReasons } from './cancel-reasons.ts'
import { dependantFields, MOST_DEPENDANTS } from './dependants.ts'
import {
  BenefitNames,
  CodeName,
  GivenConsents,
  MoreDetails,
  OptionalState,
  OwnName,
  optionalText,
  PlainDate,
  personFields,
  Timestamp,
  UpdatedMoreDetails,
  UpdatedState,
  Userid,
  updatedFields,
} from './fields.ts'
import { keyErrors, keyedErrors, operation, partnerErrors } from './operation.ts'
import { examplePrefill } from './prefill.ts'
import { described, orNull, parameters, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'
import { ErasedUser, exampleUser, User } from './user.ts'

/** The request of Create User (contract §7). */
export const CreateUser = shape('CreateUser', {
  userid: Userid,
  ...personFields,
  state: OptionalState,
  offername: optionalText(64, { description: 'The offer to start with' }),
  benefits: Type.Optional(BenefitNames),
  consents: Type.Optional(GivenConsents),
  dependants: Type.Optional(
    Type.Array(
      shape(
        'NewDependant',
        {
          ...dependantFields,
          benefits: Type.Optional(
            Type.Array(
              shape(
                'CoveringBenefit',
                { name: CodeName },
                { 'x-rule': 'must be an object with the name of a benefit' },
              ),
              {
                maxItems: 200,
                'x-rule': 'must be a list of benefits, each as an object with name',
                description: 'What covers the dependant: fixed benefits of the offer, or of `benefits`',
              },
            ),
          ),
        },
        { 'x-rule': 'must be an object with relationship, firstname, lastname and dob' },
      ),
      {
        maxItems: MOST_DEPENDANTS,
        'x-rule': `must be a list of at most ${MOST_DEPENDANTS} dependants`,
        description: 'Dependants, and what covers each; they are those of a former member no more',
      },
    ),
  ),
  effectivedate: Type.Optional(PlainDate),
  moredetails: Type.Optional(MoreDetails),
  partnername: OwnName,
})
/** The shape of {@link CreateUser}. */
export type CreateUser = Static<typeof CreateUser>

/** The request of Update User (contract §7). */
export const UpdateUser = shape('UpdateUser', {
  userid: Userid,
  ...updatedFields,
  state: UpdatedState,
  moredetails: Type.Optional(UpdatedMoreDetails),
  partnername: OwnName,
})
/** The shape of {@link UpdateUser}. */
export type UpdateUser = Static<typeof UpdateUser>

const JustUserid = shape('UseridRequest', { userid: Userid })
const shared = {
  method: 'POST',
  caller: 'partner',
  tag: 'Users',
  section: 'contract §7',
  idempotency: 'keyed',
} as const

/** Creates a user, active at once (interface §1, contract §7). */
export const createUser = operation({
  ...shared,
  id: 'createUser',
  path: '/user/account/create',
  scope: 'users:write',
  summary: 'Create a user from the request and the prefill; the offer comes into force',
  description:
    'The request is merged with an existing prefill: the request wins, a given address replaces the stored one ' +
    'whole. After merging, firstname, lastname, email, dob, state and zipcode must be present (state and zipcode ' +
    "at the top level or in the address). Without effectivedate it takes effect now; a date means its first instant in the partner's time zone.",
  body: CreateUser,
  reply: User,
  errors: [
    ...partnerErrors,
    ...keyedErrors,
    'partnername_not_allowed',
    'offername_required',
    'offername_unknown',
    'benefit_unknown',
    'user_exists',
    'ineligible',
    'dependant_not_eligible',
    'slots_exceeded',
    'offer_not_available',
  ],
  example: {
    body: {
      userid: examplePrefill.userid,
      offername: 'starter',
      benefits: ['telehealth'],
      consents: [],
      moredetails: { employeenumber: '40217' },
    },
    reply: exampleUser,
  },
})

/** Changes a user's data; eligibility is judged again (interface §1, contract §7). */
export const updateUser = operation({
  ...shared,
  id: 'updateUser',
  path: '/user/account/update',
  scope: 'users:write',
  summary: "Change a user's data; absent and empty mean unchanged, null clears",
  description:
    'Each update that is answered 200 moves `updatedat` and raises `user_update_successful`, even if it changes ' +
    'nothing, so that you know that it arrived. A repeat under the same Idempotency-Key does neither. A change of dob, ' +
    'state or zipcode judges eligibility again: a benefit whose own rules no longer admit the user ends with the ' +
    'period, what has not begun is withdrawn. The rules of an offer decide who may join it: a holder whom they no ' +
    'longer admit keeps it, with `offerineligible` in `conditions`.',
  body: UpdateUser,
  reply: User,
  errors: [...partnerErrors, ...keyedErrors, 'partnername_not_allowed', 'user_not_found', 'user_cancelled'],
  example: { body: { userid: 'u-1001', phone: '3055550199' }, reply: exampleUser },
})

/** The answer of a cancel (contract §7). */
export const Cancelled = shape('Cancelled', {
  userid: Type.String(),
  serviceid: Type.String(),
  status: described(
    Type.Enum(['active', 'cancelled']),
    'The state of the user, still `active` while the cancel is pending',
  ),
  effectiveattimestamp: Timestamp,
  benefits: described(
    Type.Array(
      shape('EndingBenefit', { name: string('The code of the benefit'), endsattimestamp: orNull(Timestamp) }),
    ),
    'When each benefit ends',
  ),
  reinstatableuntil: Timestamp,
})
/** The shape of {@link Cancelled}. */
export type Cancelled = Static<typeof Cancelled>

/** Cancels a user, at the end of the period or at once (interface §1, contract §7). */
export const cancelUser = operation({
  ...shared,
  id: 'cancelUser',
  method: 'DELETE',
  path: '/user/account/cancel/{userid}',
  scope: 'users:cancel',
  summary: 'Cancel a user at the end of the period, or at once',
  params: parameters({ userid: Userid }),
  query: parameters({
    effective: Type.Optional(
      Type.Enum(['endofperiod', 'immediate'], { 'x-rule': 'must be endofperiod or immediate' }),
    ),
    reason: Type.Optional(
      Type.Enum([...cancelReasons], { 'x-rule': `must be one of ${cancelReasons.join(', ')}` }),
    ),
    previewonly: Type.Optional(
      Type.Enum(['true', 'false'], {
        'x-rule': 'must be true or false',
        description: '`true`: get the answer that the cancel would have, without canceling',
      }),
    ),
  }),
  reply: Cancelled,
  errors: [...partnerErrors, ...keyedErrors, 'user_not_found'],
  example: {
    reply: {
      userid: 'u-1001',
      serviceid: exampleUser.serviceid,
      status: 'active',
      effectiveattimestamp: '2026-12-01T05:00:00.000Z',
      benefits: [{ name: 'accident', endsattimestamp: '2026-12-01T05:00:00.000Z' }],
      reinstatableuntil: '2026-12-31T05:00:00.000Z',
    },
  },
})

/** Undoes a cancel (contract §7). */
export const reinstateUser = operation({
  ...shared,
  id: 'reinstateUser',
  path: '/user/account/reinstate',
  scope: 'users:cancel',
  summary: 'Undo a pending cancel, or restore a user up to 30 days after the cancel took effect',
  body: JustUserid,
  reply: shape('ReinstatedUser', {
    ...User.properties,
    notrestored: Type.Array(
      shape('NotRestored', {
        name: string('The code of the benefit'),
        code: string('The code of the rule that refused it'),
        message: string('The reason, in words for the person'),
        dependantid: Type.Optional(
          Type.String({ description: 'The dependant who could not return to a benefit that did' }),
        ),
      }),
      { description: 'Benefits that could not return, and why' },
    ),
  }),
  errors: [
    ...partnerErrors,
    ...keyedErrors,
    'user_not_found',
    'not_cancelled',
    'reinstate_expired',
    'ineligible',
  ],
  example: { body: { userid: 'u-1001' }, reply: { ...exampleUser, notrestored: [] } },
})

/** Fetches a user (contract §7). */
export const getUser = operation({
  ...shared,
  id: 'getUser',
  path: '/user/account/get',
  scope: 'users:read',
  idempotency: 'ignored',
  summary: 'Fetch a user, with the timeline and what insurers answered when asked for',
  body: shape('GetUser', {
    userid: Userid,
    include: Type.Optional(
      Type.Array(Type.Enum(['timeline', 'insurer'], { 'x-rule': 'must be timeline or insurer' }), {
        maxItems: 2,
        'x-rule': 'must be a list of timeline and insurer',
      }),
    ),
  }),
  reply: Type.Union([User, ErasedUser], { title: 'UserOrErased' }),
  errors: [...partnerErrors, 'user_not_found'],
  example: { body: { userid: 'u-1001', include: ['timeline'] }, reply: { ...exampleUser, timeline: [] } },
})

/** Erases a user: cover ends, personal data becomes unreadable (contract §7). */
export const eraseUser = operation({
  ...shared,
  id: 'eraseUser',
  path: '/user/account/erase',
  scope: 'users:cancel',
  summary: "End all cover and destroy the user's personal data",
  body: JustUserid,
  reply: ErasedUser,
  errors: [...partnerErrors, ...keyErrors, 'user_not_found'],
  example: {
    body: { userid: 'u-1001' },
    reply: {
      userid: 'u-1001',
      serviceid: exampleUser.serviceid,
      status: 'erased',
      erasedat: '2026-11-20T15:04:05.123Z',
    },
  },
})
