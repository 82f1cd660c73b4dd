import type { FieldProblem } from './error.ts'
import type { CurrentOfferDetails, PendingOffer } from './user.ts'

/** The request to preview an offer change (contract §8). */
export type PreviewOfferChange = {
  userid: string
  /** The offer to move to. */
  offername: string
  /** Default `auto`; a stated direction must fit the ranks of the two offers. */
  action?: 'upgrade' | 'downgrade' | 'auto' | ''
  /** Default `auto`: an upgrade now, a downgrade at the next period. */
  effective?: 'auto' | 'immediate' | 'nextperiod' | ''
}

/** The request of Upgrade/Downgrade User (contract §8). */
export type ChangeOffer = PreviewOfferChange & {
  /** From a preview that is less than 15 minutes old; an immediate downgrade needs it. */
  previewid?: string
}

/** What an offer change answers (contract §8); `gained`, `lost` and `kept` are names of benefits. */
export type OfferChanged = {
  userid: string
  serviceid: string
  /** `none`: a pending change was undone. */
  direction: 'upgrade' | 'downgrade' | 'none'
  currentofferdetails: CurrentOfferDetails
  pendingoffer: PendingOffer | null
  gained: string[]
  lost: string[]
  kept: string[]
}

/** What an offer change would do (contract §8). */
export type OfferPreview = OfferChanged & {
  previewid: string
  /** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  expiresat: string
}

/** An offer that a user could move to (contract §8). */
export type AvailableOffer = {
  offer: string
  displayname: string
  direction: 'upgrade' | 'downgrade'
  /** When it would take effect, `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  effectiveattimestamp: string
  /** Why the user cannot have it; empty when nothing stands against it. */
  reasons: FieldProblem[]
}
