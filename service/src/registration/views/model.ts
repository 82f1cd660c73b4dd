import type { Instant } from '../../calendar/calendar.ts'
import type { NamedBeneficiary } from '../../membership/rules/beneficiaries.ts'
import type { BeneficiaryRow } from './beneficiary-form.ts'
import type { HeldBenefit } from './coverage-parts.ts'
import type { DoneChange } from './done-words.ts'
import type { FieldError } from './faults.ts'
import type {
  BenefitCard,
  BenefitLine,
  ConsentText,
  CopyLink,
  Day,
  Details,
  DetailsGroup,
  EnteredAnswers,
  LostCover,
  MemberPaths,
  NamingLine,
  OfferChoice,
  PlanChoice,
  PlannedChanges,
  StillToDo,
  SwapPair,
} from './parts.ts'
import type { Page } from './surroundings.ts'

/** Every view of the page; `view` is also the name that the embed's `VIEW` event carries. */
export type View =
  | OpenView
  | ChallengeView
  | DetailsReviewView
  | DetailsEditView
  | BenefitsView
  | PlanView
  | SwapView
  | SwapChooseView
  | SwapConfirmView
  | OfferChangeView
  | OfferConfirmView
  | CancelView
  | CheckAnswersView
  | BeneficiariesView
  | BeneficiariesEditView
  | DoneView
  | AlreadyEnrolledView
  | NoBenefitsView
  | LinkEndedView
  | ProblemView
  | FrameView

type ViewOf<Name extends string> = {
  readonly view: Name
  readonly page: Page
}

type Asking = {
  readonly errors?: readonly FieldError[] | undefined
}

/** The page behind a link: one button, whose POST to `action` uses up the token. */
export type OpenView = ViewOf<'OPEN'> & {
  readonly action: string
  /** The purpose of the link, which decides the words. */
  readonly purpose: 'registration' | 'benefits' | 'swap' | 'offerchange'
}

/** Asks the birth date before it shows anything of the person but the first name. */
export type ChallengeView = ViewOf<'CHALLENGE'> &
  Asking & {
    readonly action: string
    readonly firstname?: string | undefined
    readonly kept?: EnteredAnswers | undefined
    /** Shown after a wrong date, unless the error itself says it. */
    readonly attemptsleft?: number | undefined
    /** The birth date is asked again, before the person's beneficiaries are shown. */
    readonly again?: boolean | undefined
    /** The path to continue with. */
    readonly next?: string | undefined
  }

/** What a person who canceled can restore at once. */
export type Comeback = {
  readonly offername: string
  readonly benefits: readonly BenefitLine[]
  /** True when an agreement given before the cancel is valid again. */
  readonly agreed?: boolean | undefined
  /** True when beneficiaries named before the cancel count again. */
  readonly named?: boolean | undefined
}

/** The known details, each with a link to change it. For a newcomer this is the first view. */
export type DetailsReviewView = ViewOf<'DETAILS_REVIEW'> &
  Asking & {
    readonly details: Details
    /** Where the details come from, which the first sentence says; of a member, they are the person's own. */
    readonly from: 'partner' | 'before' | 'answers' | 'nowhere' | 'member'
    /** The name to greet a newcomer with. */
    readonly firstname?: string | undefined
    readonly comeback?: Comeback | undefined
    /** Groups that the person must answer before going on; asked one after the other. */
    readonly missing: readonly DetailsGroup[]
    /** Groups in which the partner sent newer data than the person confirmed. */
    readonly suggested: readonly DetailsGroup[]
    /** What a former member had until lately, with how it is used for what happened before. */
    readonly held?: readonly HeldBenefit[] | undefined
    /** What a change of these details has just cost a member. */
    readonly lost?: readonly LostCover[]
  }

/** The inputs of one group. They show `kept` instead of `details` when it is given. */
export type DetailsEditView = ViewOf<'DETAILS_EDIT'> &
  Asking & {
    readonly group: DetailsGroup
    readonly details: Details
    readonly kept?: EnteredAnswers | undefined
    /** What the partner has sent since, offered beside the confirmed data. */
    readonly suggestion?: Details | undefined
    /** True for a member for whom other details may end a benefit. */
    readonly mayend?: boolean | undefined
  }

/** The benefits to read about and choose. */
export type BenefitsView = ViewOf<'BENEFITS'> &
  Asking & {
    readonly offername: string
    readonly slots: number
    /** How many of these are not optional: a member already has them, and they wait for the person. */
    readonly waitingslots?: number
    readonly cards: readonly BenefitCard[]
    /** The benefit that a deep link is about: shown first, and opened. */
    readonly focus?: string | undefined
    /** What a member can do with these benefits; absent for a newcomer. */
    readonly paths?: MemberPaths
    /** The last day of all benefits, if they are about to end. */
    readonly leaving?: Day | undefined
    /** The path of the view before this one; `details` when absent. */
    readonly back?: string | undefined
  }

/** The plans from which a newcomer chooses one, if there are several. */
export type PlanView = ViewOf<'PLAN'> &
  Asking & {
    readonly plans: readonly PlanChoice[]
    readonly chosen?: string | undefined
  }

/** The first choice of a swap: which benefit to give up, or a free slot to fill. */
export type SwapView = ViewOf<'SWAP'> &
  Asking & {
    readonly held: readonly BenefitCard[]
    readonly hasfreeslot: boolean
    /** Whether there is a benefit to have instead. */
    readonly choosable: boolean
    /** The benefit to give up, or `free`. */
    readonly chosen?: string | undefined
    /** The benefit that the person came for. */
    readonly wanted?: BenefitCard | undefined
    /** The first day of the new benefits. */
    readonly effectiveon: Day
    /** Until when a swap can be made and undone. */
    readonly lockedat: Instant
    /** The swap that is pending already; a new exchange is added to it, and it can be undone unless `locked`. */
    readonly pending: readonly SwapPair[]
    readonly locked: boolean
    /** The last day of all benefits, if they are about to end: no swap is possible then. */
    readonly leaving?: Day | undefined
  }

/** The second choice of a swap: the new benefit, beside the one to give up. */
export type SwapChooseView = ViewOf<'SWAP_CHOOSE'> &
  Asking & {
    /** The benefit to give up; absent when a free slot is filled. */
    readonly out?: BenefitCard | undefined
    readonly available: readonly BenefitCard[]
    readonly chosen?: string | undefined
    readonly effectiveon: Day
  }

/** The chosen swap side by side, before it is made. */
export type SwapConfirmView = ViewOf<'SWAP_CONFIRM'> &
  Asking & {
    readonly pairs: readonly SwapPair[]
    readonly effectiveon: Day
    readonly lockedat: Instant
    readonly naming?: readonly NamingLine[]
    readonly consents: readonly ConsentText[]
  }

/** The offers to choose from. */
export type OfferChangeView = ViewOf<'OFFER_CHANGE'> &
  Asking & {
    readonly offers: readonly OfferChoice[]
    readonly chosen?: string | undefined
    readonly pending?:
      | {
          readonly displayname: string
          readonly effectiveon: Day
          /** It will not happen as things are. */
          readonly iscalledoff?: boolean
          /** What the change gives, and what it takes. */
          readonly gained: readonly BenefitLine[]
          readonly lost: readonly BenefitLine[]
          /** What undoing it would do; absent when it can no longer be undone. */
          readonly undo?:
            | {
                readonly undountil?: Instant
                /** What stays after all. */
                readonly restored: readonly BenefitLine[]
                /** Everything that the person then has, of which the total is made. */
                readonly benefits: readonly BenefitLine[]
                /** True when undoing also cancels a planned swap. */
                readonly dropsswap?: boolean
              }
            | undefined
        }
      | undefined
    readonly locked: boolean
    /** The first day on which another change can be planned, after this month's changes are closed. */
    readonly opensagainon: Day
    /** The last day of all benefits, if they are about to end: the plan cannot be changed then. */
    readonly leaving?: Day | undefined
  }

/** What a plan change gives and takes, before it is made. */
export type OfferConfirmView = ViewOf<'OFFER_CONFIRM'> &
  Asking & {
    readonly from: string
    readonly to: OfferChoice
    readonly previewid: string
    readonly gained: readonly BenefitLine[]
    readonly lost: readonly BenefitLine[]
    readonly kept: readonly BenefitLine[]
    /** What a planned swap will still bring after the change. */
    readonly swapped?: readonly BenefitLine[]
    /** True when the change cancels a planned swap. */
    readonly dropsswap?: boolean | undefined
    readonly undountil?: Instant | undefined
    readonly naming?: readonly NamingLine[]
    readonly consents: readonly ConsentText[]
  }

/** What a cancel ends, and when. */
export type CancelView = ViewOf<'CANCEL'> &
  Asking & {
    readonly benefits: readonly BenefitLine[]
    /** The names of benefits that have not started, beside others that have: they never will. */
    readonly notbegun?: readonly string[]
    /** The last day of cover at the period's end. */
    readonly lastday: Day
    /** The number of days in which a cancel can be undone; without it, the benefits cannot come back. */
    readonly reinstatedays?: number | undefined
    readonly effective?: 'endofperiod' | 'immediate' | undefined
    readonly pending?: { readonly on: Day } | undefined
    /** True when a swap or a plan change is planned, which a cancel drops for good. */
    readonly hasplanned?: boolean
    /** False while the membership is still to start: such a cancel has no end of a period to wait for. */
    readonly hasbegun: boolean
  }

/** All answers once more, the consents, and the button that enrols. */
export type CheckAnswersView = ViewOf<'CHECK_ANSWERS'> &
  Asking & {
    readonly details: Details
    readonly offername: string
    readonly benefits: readonly BenefitLine[]
    /** True when there was a choice, so that it can be changed. */
    readonly choosable: boolean
    /** True for a member, whose other benefits are not among these. */
    readonly isAddition?: boolean
    readonly consents: readonly ConsentText[]
    readonly naming?: readonly NamingLine[]
  }

/** A member's beneficiaries for each benefit that takes them. */
export type BeneficiariesView = ViewOf<'BENEFICIARIES'> & {
  readonly benefits: readonly {
    readonly name: string
    readonly displayname: string
    readonly people: readonly NamedBeneficiary[]
    readonly since?: Day | undefined
    /** False for a benefit that is over, or for which the person named somebody but which never began. */
    readonly isheld: boolean
    /** The benefit waits until a beneficiary is named. */
    readonly ismissing: boolean
    /** The day before which one must be named. */
    readonly dueon?: Day | undefined
  }[]
}

/** The inputs for the beneficiaries of one benefit. */
export type BeneficiariesEditView = ViewOf<'BENEFICIARIES_EDIT'> &
  Asking & {
    readonly name: string
    readonly displayname: string
    readonly rows: readonly BeneficiaryRow[]
    /** The place in line for which a person was just added; that person's heading gets the focus. */
    readonly added?: NamedBeneficiary['kind'] | undefined
    /** The path of the view before this one. */
    readonly back: string
    /** Whether more steps follow, as in a registration. */
    readonly goeson: boolean
    /** The path to continue with after saving, if it is not the usual one. */
    readonly next?: string | undefined
    /** The version of a member's beneficiaries that the form was made from. */
    readonly version?: string | undefined
    /** Naming may be put off, and the benefit waits until it is done. */
    readonly maylater: boolean
  }

/** What was done, with its reference. */
export type DoneView = ViewOf<'DONE'> & {
  readonly outcome: 'enrolled' | 'swapped' | 'changed' | 'cancelled' | 'undone'
  readonly reference: string
  readonly completedat: Instant
  /** What was done, and since when it holds; the view's words follow from it. */
  readonly change: DoneChange
  readonly benefits: readonly BenefitLine[]
  /** The benefits in force, and those that ended lately, each with how it is used. */
  readonly held?: readonly HeldBenefit[] | undefined
  /** Until when it can be undone. */
  readonly undountil?: Instant | undefined
  /** The address of the copy of the agreement, if there is one. */
  readonly copyurl?: string | undefined
  readonly todo?: StillToDo | undefined
  /** The view where it can be undone, as long as it can. */
  readonly undo?: 'swap' | 'offer' | 'cancel' | undefined
  /** False when the session is over, so that this is the last view of it. */
  readonly goeson: boolean
  /** The address of the link back; only ever a checked one. */
  readonly redirecturl?: string | undefined
  /** Whether it was shown before, so that the host of the frame has been told of it. */
  readonly istold?: boolean | undefined
}

/** The person is already enrolled: the benefits in force, and what can be done with them. */
export type AlreadyEnrolledView = ViewOf<'ALREADY_ENROLLED'> & {
  readonly offername: string
  readonly benefits: readonly BenefitLine[]
  /** Each of them that is in force, and those that ended lately, with how it is used. */
  readonly held?: readonly HeldBenefit[] | undefined
  /** Groups in which the partner sent newer data than the person confirmed. */
  readonly suggested: readonly DetailsGroup[]
  readonly paths: MemberPaths
  /** The last day of all benefits, if they are about to end. */
  readonly leaving?: Day | undefined
  readonly planned?: PlannedChanges
  /** Why the person's details no longer fit the rules of their plan, if so. */
  readonly ineligible?: { readonly reasons: readonly string[] } | undefined
  /** What the person agreed to, newest first. */
  readonly copies?: readonly CopyLink[]
  readonly todo?: StillToDo | undefined
  readonly redirecturl?: string | undefined
}

/** No benefit fits this person, with the reasons; without a reason, no plan is open to anybody. */
export type NoBenefitsView = ViewOf<'NO_BENEFITS'> & {
  readonly reasons: readonly string[]
  readonly redirecturl?: string | undefined
}

/** How a link or a session may have ended. */
export const endedKinds = ['link', 'session', 'closed', 'challenge', 'challengelimit', 'signedout'] as const

/**
 * The link or the session has ended; the words are the same for a used, expired or unknown link. `session`: inactive
 * for too long; `closed`: revoked, or never open in this browser; `challenge`: too many wrong birth dates for this
 * link; `challengelimit`: too many for all links of the person, so that a new one does not help; `signedout`: the
 * person asked for it.
 */
export type LinkEndedView = ViewOf<'LINK_ENDED'> & {
  readonly kind: (typeof endedKinds)[number]
  readonly redirecturl?: string | undefined
}

/**
 * Something failed, in the service (`internal`, `busy`) or elsewhere: `foreign` was sent by another website,
 * `unreadable` is not one of our forms. The person can read out the request id.
 */
export type ProblemView = ViewOf<'PROBLEM'> & {
  readonly kind: 'internal' | 'notfound' | 'busy' | 'foreign' | 'unreadable'
  readonly requestid: string
  /** The address at which to try again; absent when nothing can be repeated. */
  readonly retry?: string
}

/** The empty frame that waits for the host's port. */
export type FrameView = ViewOf<'FRAME'> & {
  /** The origins that may embed the frame. */
  readonly origins: readonly string[]
  /** The address at which the frame exchanges a link token for a session. */
  readonly sessionurl: string
}
