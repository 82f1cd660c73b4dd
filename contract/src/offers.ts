import { CodeName, optionalText, Timestamp, Userid } from './fields.ts'
import { keyedErrors, operation, partnerErrors } from './operation.ts'
import { FieldProblem } from './problem.ts'
import { described, orNull, parameters, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'
import { CurrentOfferDetails, exampleUser, PendingOffer } from './user.ts'

const changeFields = {
  userid: Userid,
  offername: CodeName,
  action: Type.Optional(
    Type.Enum(['upgrade', 'downgrade', 'auto', ''], { 'x-rule': 'must be upgrade, downgrade or auto' }),
  ),
  effective: Type.Optional(
    Type.Enum(['auto', 'immediate', 'nextperiod', ''], { 'x-rule': 'must be auto, immediate or nextperiod' }),
  ),
}

/** The request of Upgrade/Downgrade User (contract §8). */
export const ChangeOffer = shape('ChangeOffer', {
  ...changeFields,
  previewid: optionalText(64, { 'x-rule': 'must be the previewid of a preview' }),
})
/** The shape of {@link ChangeOffer}. */
export type ChangeOffer = Static<typeof ChangeOffer>

const Names = Type.Array(Type.String())
const changeAnswer = {
  userid: Type.String(),
  serviceid: Type.String(),
  direction: Type.Enum(['upgrade', 'downgrade', 'none'], {
    description: '`none`: a pending change was undone',
  }),
  currentofferdetails: CurrentOfferDetails,
  pendingoffer: orNull(PendingOffer),
  gained: Names,
  lost: Names,
  kept: Names,
}

/** The answer of an offer change (contract §8). */
export const OfferChanged = shape('OfferChanged', changeAnswer)
/** The shape of {@link OfferChanged}. */
export type OfferChanged = Static<typeof OfferChanged>

const exampleChange = {
  userid: 'u-1001',
  serviceid: exampleUser.serviceid,
  direction: 'upgrade',
  currentofferdetails: { ...exampleUser.currentofferdetails, offer: 'plus' },
  pendingoffer: null,
  gained: ['hospital'],
  lost: [],
  kept: ['accident', 'telehealth'],
} as const

const offerErrors = [
  ...partnerErrors,
  'offername_unknown',
  'user_not_found',
  'user_cancelled',
  'cancel_pending',
  'ineligible',
  'direction_mismatch',
  'already_on_offer',
  'offer_not_available',
  'change_locked',
] as const

const shared = {
  caller: 'partner',
  scope: 'offers:write',
  idempotency: 'keyed',
  tag: 'Offers',
  section: 'contract §8',
} as const

/** Upgrades or downgrades a user (interface §1, contract §8). */
export const changeOffer = operation({
  ...shared,
  id: 'changeOffer',
  method: 'POST',
  path: '/user/offers',
  summary: 'Move a user to another offer, now or at the next period',
  description:
    'The direction follows the ranks of the offers. `auto`: an upgrade now, a downgrade at the next period. An ' +
    'immediate downgrade needs a previewid. Asking for the current offer undoes what is pending.',
  body: ChangeOffer,
  reply: OfferChanged,
  errors: [...offerErrors, ...keyedErrors, 'preview_stale'],
  example: {
    body: { userid: 'u-1001', offername: 'plus', action: 'upgrade', effective: 'auto' },
    reply: exampleChange,
  },
})

/** Undoes a pending offer change (contract §8); without one: 200, nothing changes. */
export const undoOfferChange = operation({
  ...shared,
  id: 'undoOfferChange',
  method: 'DELETE',
  path: '/user/offers/pending/{userid}',
  summary: 'Undo a pending offer change',
  params: parameters({ userid: Userid }),
  reply: OfferChanged,
  errors: [...partnerErrors, ...keyedErrors, 'user_not_found', 'user_cancelled', 'change_locked'],
  example: { reply: { ...exampleChange, direction: 'none', gained: [], kept: ['accident'] } },
})

/** Lists the offers a user could move to (contract §8). */
export const listAvailableOffers = operation({
  ...shared,
  id: 'listAvailableOffers',
  method: 'POST',
  path: '/user/offers/available',
  idempotency: 'ignored',
  summary: 'List the offers a user could move to, with the reasons against',
  body: shape('UseridRequest', { userid: Userid }),
  reply: Type.Array(
    shape('AvailableOffer', {
      offer: string('The name of the offer'),
      displayname: Type.String(),
      direction: described(
        Type.Enum(['upgrade', 'downgrade']),
        'Whether the change would be up or down, by rank',
      ),
      effectiveattimestamp: Timestamp,
      reasons: described(Type.Array(FieldProblem), 'Why the user cannot change to it; empty: it is open'),
    }),
    { title: 'Offers' },
  ),
  errors: [...partnerErrors, 'user_not_found', 'user_cancelled'],
  example: {
    body: { userid: 'u-1001' },
    reply: [
      {
        offer: 'plus',
        displayname: 'Plus',
        direction: 'upgrade',
        effectiveattimestamp: '2026-11-20T15:04:05.123Z',
        reasons: [],
      },
    ],
  },
})

/** Shows what an offer change would do (contract §8). */
export const previewOfferChange = operation({
  ...shared,
  id: 'previewOfferChange',
  method: 'POST',
  path: '/user/offers/preview',
  idempotency: 'ignored',
  summary: 'Show what an offer change would do; the preview is valid for 15 minutes',
  description: 'The 15 minutes are real time, even in a sandbox whose clock was moved.',
  body: shape('PreviewOfferChange', changeFields),
  reply: shape('OfferPreview', {
    ...changeAnswer,
    previewid: string('Send it with an immediate downgrade within 15 minutes'),
    expiresat: Timestamp,
  }),
  errors: offerErrors,
  example: {
    body: { userid: 'u-1001', offername: 'plus' },
    reply: {
      ...exampleChange,
      previewid: '019abc12-3456-7def-8123-456789abcdee',
      expiresat: '2026-11-20T15:19:05.123Z',
    },
  },
})
