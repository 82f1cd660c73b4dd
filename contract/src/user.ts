import { OptionalTimestamp, Timestamp } from './fields.ts'
import { described, orNull, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'

/**
 * The states of a user in the API (contract §9). A user whose prefill has expired is `none`, which is never answered.
 */
export const userStatuses = ['prefilled', 'registering', 'active', 'cancelled', 'erased'] as const
/** The states of an enrolment (contract §9). */
export const enrolmentStates = [
  'selected',
  'actionrequired',
  'scheduled',
  'enrolled',
  'endscheduled',
  'ended',
  'withdrawn',
  'declined',
  'rejected',
  'void',
] as const
/** A state of an enrolment. */
export type EnrolmentState = (typeof enrolmentStates)[number]
/** The conditions that may accompany a user's state (contract §9). */
export const conditions = [
  'offerchangepending',
  'swappending',
  'cancelpending',
  'actionrequired',
  'offerineligible',
] as const
/** A condition of a user. */
export type Condition = (typeof conditions)[number]

/** The offer in force (interface §2.5); `offer` is "" before there is one and after a cancel took effect. */
export const CurrentOfferDetails = shape('CurrentOfferDetails', {
  offer: Type.String(),
  updatedat: Timestamp,
  serviceid: Type.String(),
})

/** A future offer: a pending change or, without one, a first offer that is still to start. */
export const PendingOffer = shape('PendingOffer', { offer: Type.String(), effectiveattimestamp: Timestamp })

/** One benefit that a user holds or held. */
export const HeldBenefit = shape('HeldBenefit', {
  name: string('The code of the benefit'),
  displayname: Type.String(),
  state: described(Type.Enum([...enrolmentStates]), 'The state of the enrolment'),
  startsattimestamp: OptionalTimestamp,
  endsattimestamp: OptionalTimestamp,
  tier: Type.Optional(
    Type.String({ description: 'Of a benefit that may cover dependants: which of its prices holds' }),
  ),
  dependants: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Of such a benefit: the ids of those who are covered; of what is over, on its last day',
    }),
  ),
  pendingcover: Type.Optional(
    shape(
      'PendingCover',
      {
        tier: Type.String({ description: 'Which price will hold' }),
        dependants: Type.Array(Type.String(), { description: 'The ids of those who will be covered' }),
        effectiveattimestamp: Timestamp,
      },
      { description: 'Only while such a change is pending' },
    ),
  ),
  insurer: Type.Optional(
    shape(
      'BenefitInsurer',
      {
        status: Type.Enum(['unsent', 'sent', 'accepted', 'refused'], {
          description: 'What the insurer was told and made of it; after a refusal cover stays',
        }),
        memberid: Type.String({ description: 'The insurer’s number of the member; "" while there is none' }),
      },
      { description: 'Only with `include: ["insurer"]`' },
    ),
  ),
})

/** One line of a user's timeline, past or future. */
export const TimelineEntry = shape('TimelineEntry', {
  attimestamp: Timestamp,
  what: string('What changed: the user, the offer, a swap, or a benefit by its code'),
  from: string('The state or offer before'),
  to: string('The state or offer after'),
  who: string(
    'Who changed it: the partner, the person (`user`), the schedule, an operator, or `operatorlink`, somebody on the page by a link that an operator made',
  ),
  why: string('The operation or rule that changed it'),
})
/** The shape of {@link TimelineEntry}. */
export type TimelineEntry = Static<typeof TimelineEntry>

/** A user (contract §7). */
export const User = shape('User', {
  userid: Type.String(),
  serviceid: Type.String(),
  status: described(Type.Enum(['prefilled', 'registering', 'active', 'cancelled']), 'The state of the user'),
  conditions: described(
    Type.Array(Type.Enum([...conditions])),
    'What is true beside the state: a pending change, an action that is needed',
  ),
  currentofferdetails: CurrentOfferDetails,
  pendingoffer: orNull(PendingOffer),
  benefits: described(Type.Array(HeldBenefit), 'The benefits that the user holds, has held or will hold'),
  requiredactions: described(
    Type.Array(
      shape('RequiredAction', {
        code: string('What is needed, such as a consent or a beneficiary'),
        name: string('The benefit that waits for it'),
        dueattimestamp: described(
          OptionalTimestamp,
          'When the benefit is withdrawn if it is still missing, or null',
        ),
      }),
    ),
    'What the person or you must still do, and until when',
  ),
  consents: described(
    Type.Array(
      shape('Consent', {
        name: string('What was agreed to: the code of a benefit, or `electronic-records`'),
        version: string('The version of the text that the person agreed to'),
        agreedattimestamp: Timestamp,
        locale: string('The language in which the text was shown'),
      }),
    ),
    'The consents that the person has given',
  ),
  createdat: Timestamp,
  updatedat: Timestamp,
  moredetails: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: "The partner's own facts of the user, by name",
  }),
  timeline: Type.Optional(
    Type.Array(TimelineEntry, {
      description: 'Oldest first: the lines of the newest 500 changes, then what is still to come',
    }),
  ),
})
/** The shape of {@link User}. */
export type User = Static<typeof User>
/** The shape of {@link HeldBenefit}. */
export type HeldBenefit = Static<typeof HeldBenefit>

/** The remains of an erased user. */
export const ErasedUser = shape('ErasedUser', {
  userid: Type.String(),
  serviceid: Type.String(),
  status: described(Type.Literal('erased'), 'Always `erased`'),
  erasedat: Timestamp,
})
/** The shape of {@link ErasedUser}. */
export type ErasedUser = Static<typeof ErasedUser>

/** A realistic user for examples. */
export const exampleUser = {
  userid: 'u-1001',
  serviceid: '019abc12-3456-7def-8123-456789abcdef',
  status: 'active',
  conditions: [],
  currentofferdetails: {
    offer: 'starter',
    updatedat: '2026-11-20T15:04:05.123Z',
    serviceid: '019abc12-3456-7def-8123-456789abcdef',
  },
  pendingoffer: null,
  benefits: [
    {
      name: 'accident',
      displayname: 'Accident coverage',
      state: 'enrolled',
      startsattimestamp: '2026-11-20T15:04:05.123Z',
      endsattimestamp: null,
    },
  ],
  requiredactions: [],
  consents: [],
  createdat: '2026-11-20T15:04:05.123Z',
  updatedat: '2026-11-20T15:04:05.123Z',
  moredetails: { employeenumber: '40217' },
} as const
