import type { NamedBeneficiary } from '../../membership/rules/beneficiaries.ts'
import type { BeneficiaryRow } from './beneficiary-form.ts'
import type { FieldError } from './faults.ts'
import type {
  BenefitCard,
  BenefitLine,
  ConsentText,
  CopyLink,
  Day,
  Details,
  DetailsGroup,
  Kept,
  LostCover,
  MemberPaths,
  NamingLine,
  OfferChoice,
  PlanChoice,
  StillToDo,
  SwapPair,
} from './parts.ts'
import type { Page } from './surroundings.ts'
import type { Told } from './told.ts'

/** Milliseconds since the epoch. */
type Instant = number

/** Every view of the page; `view` is also the name that the embed's `VIEW` event carries. */
export type View =
  | OpenView
  | ChallengeView
  | StartView
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
  readonly errors?: readonly FieldError[]
}

/** The page behind a link: one button, whose POST to `action` spends the token. */
export interface OpenView extends ViewOf<'OPEN'> {
  readonly action: string
  /** What the link is for, by which the words go. */
  readonly purpose: 'registration' | 'benefits' | 'swap' | 'offerchange'
}

/** Asks the birth date before anything of the person but the first name is shown. */
export interface ChallengeView extends ViewOf<'CHALLENGE'>, Asking {
  readonly action: string
  readonly firstname?: string
  readonly kept?: Kept
  readonly triesleft: number
  /** Asked once more, before people are shown whom the person named. */
  readonly again?: true
  /** The path that leads on from there. */
  readonly next?: string
}

/** The first view: who asks, and what was shared. */
export interface StartView extends ViewOf<'START'> {
  readonly firstname?: string
  /** The groups of details that the partner shared. */
  readonly shared: readonly DetailsGroup[]
  /** The groups known from an earlier membership, where the partner shared none. */
  readonly known?: readonly DetailsGroup[]
  /** True when a draft is taken up again. */
  readonly resumed: boolean
  /** True where any detail is known, by whomever. */
  readonly hassaved?: boolean
  /** False where all benefits come with the plan. */
  readonly choosesbenefits?: boolean
  /** What a person who canceled can have back at once. */
  readonly comeback?: {
    readonly offername: string
    readonly benefits: readonly BenefitLine[]
    /** Present where an agreement given before the cancel holds again. */
    readonly agreed?: true
  }
  /** Whether a plan is to be chosen, which is a step of its own; `perhaps` where the details decide it. */
  readonly choosesplan: boolean | 'perhaps'
}

/** What we know, each with a link to change it; what is missing or wrong comes first. */
export interface DetailsReviewView extends ViewOf<'DETAILS_REVIEW'>, Asking {
  readonly details: Details
  /** Groups that must be answered before going on. */
  readonly missing: readonly DetailsGroup[]
  /** Groups in which the partner sent newer data than the person confirmed. */
  readonly suggested: readonly DetailsGroup[]
  /** What a member has just lost by a change of these. */
  readonly lost?: readonly LostCover[]
}

/** The inputs of one group. `kept`, when given, is shown instead of `details`. */
export interface DetailsEditView extends ViewOf<'DETAILS_EDIT'>, Asking {
  readonly group: DetailsGroup
  readonly details: Details
  readonly kept?: Kept
  /** What the partner sent since, offered beside what is confirmed. */
  readonly suggestion?: Details
  /** True for a member where other details may end a benefit. */
  readonly mayend?: true
}

/** The benefits to read about and choose. */
export interface BenefitsView extends ViewOf<'BENEFITS'>, Asking {
  readonly offername: string
  readonly slots: number
  /** How many of these are no choice: a member has them already, and they wait for the person. */
  readonly waitingslots?: number
  readonly cards: readonly BenefitCard[]
  /** The benefit that a deep link is about: shown first, and open. */
  readonly focus?: string
  /** What a member can do with it all; absent for a newcomer. */
  readonly paths?: MemberPaths
  /** The path of the view before this one; `details` when absent. */
  readonly back?: string
}

/** The plans of which a newcomer takes one, where there is more than one. */
export interface PlanView extends ViewOf<'PLAN'>, Asking {
  readonly plans: readonly PlanChoice[]
  readonly chosen?: string
}

/** The first choice of a swap: which benefit goes, or that a free place is filled. */
export interface SwapView extends ViewOf<'SWAP'>, Asking {
  readonly held: readonly BenefitCard[]
  readonly hasfreeplace: boolean
  /** Whether there is anything to have instead. */
  readonly choosable: boolean
  /** The benefit that goes, or `free`. */
  readonly chosen?: string
  /** The benefit that the person came for. */
  readonly wanted?: BenefitCard
  /** The first day of the new benefits. */
  readonly effectiveon: Day
  /** Until when a swap can be made and undone. */
  readonly lockedat: Instant
  /** The swap already pending, to which a new one is added; it can be undone unless `locked`. */
  readonly pending: readonly SwapPair[]
  readonly locked: boolean
  /** The last day of all benefits, where they are about to end: nothing can be swapped then. */
  readonly leaving?: Day
}

/** The second choice of a swap: what comes, beside what goes. */
export interface SwapChooseView extends ViewOf<'SWAP_CHOOSE'>, Asking {
  /** What goes; absent where a free place is filled. */
  readonly out?: BenefitCard
  readonly available: readonly BenefitCard[]
  readonly chosen?: string
  readonly effectiveon: Day
}

/** The chosen swap side by side, before it is made. */
export interface SwapConfirmView extends ViewOf<'SWAP_CONFIRM'>, Asking {
  readonly pairs: readonly SwapPair[]
  readonly effectiveon: Day
  readonly lockedat: Instant
  readonly naming?: readonly NamingLine[]
  readonly consents: readonly ConsentText[]
}

/** The offers to choose from. */
export interface OfferChangeView extends ViewOf<'OFFER_CHANGE'>, Asking {
  readonly offers: readonly OfferChoice[]
  readonly chosen?: string
  readonly pending?: { readonly displayname: string; readonly effectiveon: Day }
  readonly locked: boolean
  /** The day from which another change can be planned, once this month's are closed. */
  readonly opensagainon: Day
  /** The last day of all benefits, where they are about to end: the plan cannot be changed then. */
  readonly leaving?: Day
}

/** What an offer change gives and takes, before it is made. */
export interface OfferConfirmView extends ViewOf<'OFFER_CONFIRM'>, Asking {
  readonly from: string
  readonly to: OfferChoice
  readonly previewid: string
  readonly gained: readonly BenefitLine[]
  readonly lost: readonly BenefitLine[]
  readonly kept: readonly BenefitLine[]
  /** True where the change calls off a swap that was planned. */
  readonly dropsswap?: boolean
  readonly undountil?: Instant
  readonly naming?: readonly NamingLine[]
  readonly consents: readonly ConsentText[]
}

/** What ends with a cancel, and when. */
export interface CancelView extends ViewOf<'CANCEL'>, Asking {
  readonly benefits: readonly BenefitLine[]
  /** The names of what has not started, beside others that have: it never will. */
  readonly notbegun?: readonly string[]
  /** The last day of cover at the period's end. */
  readonly lastday: Day
  /** Days in which a cancel can be taken back. */
  readonly reinstatedays: number
  readonly effective?: 'endofperiod' | 'immediate'
  readonly pending?: { readonly on: Day }
  /** True where a swap or a plan change is planned, which a cancel calls off for good. */
  readonly hasplanned?: boolean
  /** False while the membership is still to start: then a cancel has no end of a period to wait for. */
  readonly hasbegun: boolean
}

/** Everything once more, the consents, and the button that enrols. */
export interface CheckAnswersView extends ViewOf<'CHECK_ANSWERS'>, Asking {
  readonly details: Details
  readonly offername: string
  readonly benefits: readonly BenefitLine[]
  /** True when there was something to choose, so that the choice can be changed. */
  readonly choosable: boolean
  /** True for a member, whose other benefits are not among these. */
  readonly isAddition?: boolean
  readonly consents: readonly ConsentText[]
  readonly naming?: readonly NamingLine[]
}

/** Whom a member names for each benefit that takes beneficiaries, and what the partner proposes. */
export interface BeneficiariesView extends ViewOf<'BENEFICIARIES'> {
  readonly benefits: readonly {
    readonly name: string
    readonly displayname: string
    readonly people: readonly NamedBeneficiary[]
    readonly since?: Day
    /** The benefit waits until somebody is named. */
    readonly ismissing: boolean
    /** The day before which that must be done. */
    readonly dueon?: Day
    readonly proposal?: { readonly version: number; readonly people: readonly NamedBeneficiary[] }
  }[]
}

/** The inputs for the people whom somebody names for one benefit. */
export interface BeneficiariesEditView extends ViewOf<'BENEFICIARIES_EDIT'>, Asking {
  readonly name: string
  readonly displayname: string
  readonly rows: readonly BeneficiaryRow[]
  /** The path of the view before this one. */
  readonly back: string
  /** Whether more steps follow, as in a registration. */
  readonly goeson: boolean
  /** The path that saving leads to, where it is not the usual one. */
  readonly next?: string
  /** Naming somebody may be left for later, and the benefit waits until next. */
  readonly maylater: boolean
}

/** What was done, with its reference. */
export interface DoneView extends ViewOf<'DONE'> {
  readonly outcome: 'enrolled' | 'swapped' | 'changed' | 'cancelled' | 'undone'
  readonly reference: string
  readonly completedat: Instant
  /** What was done and since when it holds, from which the words follow. */
  readonly told: Told
  readonly benefits: readonly BenefitLine[]
  /** Until when it can be undone. */
  readonly undountil?: Instant
  /** Where the copy of what was agreed is, where there is one. */
  readonly copyurl?: string
  readonly todo?: StillToDo
  /** In the frame: what the partner's server may exchange for this outcome. */
  readonly resulttoken?: string
  /** Where back leads; only ever a checked address. */
  readonly redirecturl?: string
}

/** The person is enrolled already: what is in force and what can be done with it. */
export interface AlreadyEnrolledView extends ViewOf<'ALREADY_ENROLLED'> {
  readonly offername: string
  readonly benefits: readonly BenefitLine[]
  /** Groups in which the partner sent newer data than the person confirmed. */
  readonly suggested: readonly DetailsGroup[]
  readonly paths: MemberPaths
  /** The last day of all benefits, where they are about to end. */
  readonly leaving?: Day
  /** Where the person's details no longer fit the rules of their plan: why. */
  readonly ineligible?: { readonly reasons: readonly string[] }
  /** What the person agreed to, newest first. */
  readonly copies?: readonly CopyLink[]
  readonly todo?: StillToDo
  readonly redirecturl?: string
}

/** No benefit fits this person, and why; without a reason, no plan is open to anybody. */
export interface NoBenefitsView extends ViewOf<'NO_BENEFITS'> {
  readonly reasons: readonly string[]
  readonly redirecturl?: string
}

/** How a link or a session may have ended. */
export const endedKinds = ['link', 'session', 'closed', 'challenge', 'challengelimit', 'signedout'] as const

/**
 * The link or the session has ended; a link with the same words for used, expired and unknown. `session`: nobody was there
 * for too long; `closed`: revoked, or never open in this browser; `challenge`: the birth date was wrong too often by this
 * link; `challengelimit`: by all links of the person, so that a new one does not help; `signedout`: the person asked for it.
 */
export interface LinkEndedView extends ViewOf<'LINK_ENDED'> {
  readonly kind: (typeof endedKinds)[number]
  readonly redirecturl?: string
}

/**
 * Something failed, on our side (`internal`, `busy`) or not: `foreign` was sent by another website, `unreadable` is no
 * form of ours. The request id can be read out.
 */
export interface ProblemView extends ViewOf<'PROBLEM'> {
  readonly kind: 'internal' | 'notfound' | 'busy' | 'foreign' | 'unreadable'
  readonly requestid: string
  /** Where to try again; absent when nothing can be repeated. */
  readonly retry?: string
}

/** The empty frame that waits for the host's port. */
export interface FrameView extends ViewOf<'FRAME'> {
  /** The origins that may hold the frame. */
  readonly origins: readonly string[]
  /** Where the frame exchanges a link token for a session. */
  readonly sessionurl: string
}
