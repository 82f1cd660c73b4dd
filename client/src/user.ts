/** The offer in force (interface §2.5). */
export type CurrentOfferDetails = {
  /** The offer's name; `""` before there is one and after a cancel took effect. */
  offer: string
  /** Since when that is so, `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  updatedat: string
  /** The service's stable identifier of the user. */
  serviceid: string
}

/** An offer that comes into force later. */
export type PendingOffer = {
  offer: string
  /** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  effectiveattimestamp: string
}

/** The states of an enrolment (contract §9); cover is in force in `enrolled` and `endscheduled`. */
export type EnrolmentState =
  | 'selected'
  | 'actionrequired'
  | 'scheduled'
  | 'enrolled'
  | 'endscheduled'
  | 'ended'
  | 'withdrawn'
  | 'declined'
  | 'rejected'
  | 'void'

/** What may overlap with a user's status (contract §9). */
export type Condition = 'offerchangepending' | 'swappending' | 'cancelpending' | 'actionrequired'

/** One benefit that a user holds or held (contract §7). Timestamps are `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export type HeldBenefit = {
  name: string
  displayname: string
  state: EnrolmentState
  /** `null` while no start is known. */
  startsattimestamp: string | null
  /** `null` while no end is dated. */
  endsattimestamp: string | null
}

/** One line of a user's timeline, past or future (contract §7). */
export type TimelineEntry = {
  /** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  attimestamp: string
  what: string
  from: string
  to: string
  who: string
  why: string
}

/** A user (contract §7). Timestamps are `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export type User = {
  /** Your identifier. */
  userid: string
  /** The service's stable identifier, kept until erasure. */
  serviceid: string
  status: 'prefilled' | 'registering' | 'active' | 'cancelled'
  conditions: Condition[]
  currentofferdetails: CurrentOfferDetails
  /** `null` when no change is pending. */
  pendingoffer: PendingOffer | null
  benefits: HeldBenefit[]
  /** What the user still has to do; `dueattimestamp` is `null` where there is no due date. */
  requiredactions: { code: string; name: string; dueattimestamp: string | null }[]
  consents: { name: string; version: string; agreedattimestamp: string; locale: string }[]
  createdat: string
  updatedat: string
  /** Only when asked for by `include: ['timeline']`. */
  timeline?: TimelineEntry[]
}

/** What is left of an erased user (contract §7). */
export type ErasedUser = {
  userid: string
  serviceid: string
  status: 'erased'
  /** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  erasedat: string
}

/** The request of Get User (contract §7). */
export type GetUser = { userid: string; include?: 'timeline'[] }

/** The request of Cancel User (contract §7). */
export type CancelUser = {
  userid: string
  /** Default `endofperiod`. */
  effective?: 'endofperiod' | 'immediate' | ''
  /** Default `voluntary`. */
  reason?: 'voluntary' | 'employmentended' | 'nonpayment' | 'deceased' | 'duplicate' | 'mistake' | ''
  /** With `'true'` the answer is that of the cancel, and nothing is done. */
  previewonly?: 'true' | 'false' | ''
}

/** What a cancel answers (contract §7). Timestamps are `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export type Cancelled = {
  userid: string
  serviceid: string
  /** `active` until the cancel takes effect. */
  status: 'active' | 'cancelled'
  effectiveattimestamp: string
  benefits: { name: string; endsattimestamp: string | null }[]
  reinstatableuntil: string
}

/** What a reinstate answers (contract §7): the user, and the benefits that could not return, with the reason. */
export type ReinstatedUser = User & { notrestored: { name: string; code: string; message: string }[] }
