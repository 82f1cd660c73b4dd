/** The languages of the page. */
export type Locale = 'en' | 'es'

/** A day, `YYYY-MM-DD`. */
export type Day = string

/** Milliseconds since the epoch. */
type Instant = number

/** Who asks: the partner as its users know it. `logourl` is an address of ours. */
export interface PartnerFace {
  readonly displayname: string
  readonly logourl?: string
}

/** Where a person finds help; what is absent is not shown. */
export interface Help {
  readonly phone?: string
  readonly email?: string
  readonly url?: string
}

/** What every view needs besides its own content. */
export interface Page {
  /** `frame`: shown by the embed, where no cookie exists and the script carries the session's handle. */
  readonly shell: 'hosted' | 'frame'
  readonly locale: Locale
  readonly partner: PartnerFace
  readonly help: Help
  /** The partner's time zone (IANA), in which instants are told. */
  readonly zone: string
  /** Style sheets in order: the page's own, then the partner's theme if it has one. */
  readonly stylesheets: readonly string[]
  readonly script: string
  /** The page's root, such as `/register`: its forms and links lie below it. */
  readonly root: string
  /** Seconds until the session ends without a sign of life; absent where there is no session. */
  readonly idleseconds?: number
  /** Which step of how many; absent outside the journey. */
  readonly step?: { readonly at: number; readonly of: number }
  /** The draft's version that this page was made from; sent back, so that two tabs notice each other. */
  readonly draft?: string
  /** True when this page answers a form made from an older draft: the view says so. */
  readonly conflict?: boolean
}

/** The inputs that can be wrong, by the name they are posted under. */
export type InputName =
  | 'firstname'
  | 'lastname'
  | 'dobmonth'
  | 'dobday'
  | 'dobyear'
  | 'email'
  | 'phone'
  | 'addline1'
  | 'addline2'
  | 'addline3'
  | 'city'
  | 'state'
  | 'zipcode'
  | 'gender'
  | 'benefit'
  | 'offername'
  | 'effective'
  | `replace.${string}`
  | `consent.${string}`
  | 'form'

/** What is wrong with an input; its words are in the texts under `errors`, so that they follow a change of language. */
export interface FieldError {
  readonly input: InputName
  readonly code: ErrorCode
  /** The number that the words mention: a limit, or tries left. */
  readonly count?: number
}

/** Every fault the page can name. */
export type ErrorCode =
  | 'firstname_missing'
  | 'lastname_missing'
  | 'name_long'
  | 'dob_invalid'
  | 'dob_mismatch'
  | 'email_invalid'
  | 'phone_invalid'
  | 'zipcode_invalid'
  | 'state_missing'
  | 'line_long'
  | 'gender_unknown'
  | 'benefits_missing'
  | 'benefits_many'
  | 'benefit_unavailable'
  | 'swap_missing'
  | 'swap_twice'
  | 'offer_missing'
  | 'when_missing'
  | 'consent_missing'

/** A person's details as confirmed or prefilled; absent or `''` is not known. */
export interface Details {
  readonly firstname?: string
  readonly lastname?: string
  readonly dob?: Day
  readonly email?: string
  readonly phone?: string
  readonly gender?: string
  readonly address?: Address
}

/** An address as the interface has it. */
export interface Address {
  readonly addline1: string
  readonly addline2: string
  readonly addline3: string
  readonly city: string
  readonly state: string
  readonly zipcode: string
}

/** The groups in which details are asked. */
export type DetailsGroup = 'name' | 'dob' | 'contact' | 'address' | 'gender'

/** What was typed, by input name: shown again as it was. */
export type Kept = Readonly<Record<string, string>>

/** What a benefit costs its user: nothing, or an amount each month or once. */
export type Cost =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'amount'
      readonly amount: number
      readonly currency: string
      readonly per: 'month' | 'once'
    }

/** What a `dollar` benefit pays; without `per` in all. */
export interface Worth {
  readonly amount: number
  readonly currency: string
  readonly per?: 'day' | 'week' | 'month'
}

/** Where a benefit stands for this person. `unknown` is shown as the plain text given and cannot be chosen. */
export type BenefitStatus =
  | { readonly kind: 'available' }
  | { readonly kind: 'enrolled'; readonly since: Day }
  | { readonly kind: 'included' }
  | { readonly kind: 'scheduled'; readonly from: Day }
  | { readonly kind: 'ending'; readonly on: Day }
  | { readonly kind: 'swapin'; readonly from: Day }
  | { readonly kind: 'swapout'; readonly on: Day }
  | { readonly kind: 'actionrequired'; readonly dueon?: Day }
  | { readonly kind: 'unavailable'; readonly reasons: readonly string[] }
  | { readonly kind: 'unknown'; readonly text: string }

/** One benefit in plain words of the page's language. */
export interface BenefitCard {
  readonly name: string
  readonly displayname: string
  readonly iconurl: string
  readonly description: string
  /** What it pays or gives, a sentence each. */
  readonly pays: readonly string[]
  /** When it does not, a sentence each. */
  readonly notcovered: readonly string[]
  /** The amount of a `dollar` benefit, shown as money. */
  readonly worth?: Worth
  readonly cost: Cost
  /** The first day of cover if chosen now. */
  readonly startson?: Day
  readonly status: BenefitStatus
  readonly selected: boolean
}

/** A consent that is wanted, as it is kept: its version and its whole text. */
export interface ConsentText {
  readonly name: string
  readonly version: string
  readonly title: string
  readonly paragraphs: readonly string[]
  readonly checked: boolean
}

/** A benefit in a short list: what and, where it matters, from when. */
export interface BenefitLine {
  readonly name: string
  readonly displayname: string
  readonly iconurl: string
  readonly startson?: Day
  /** Instead of `startson` where cover began before. */
  readonly since?: Day
  readonly endson?: Day
  readonly cost?: Cost
  /** Something still to do before it starts. */
  readonly actionrequired?: boolean
}

/** A benefit that goes out paired with the one that comes in; without `out` a free slot is filled. */
export interface SwapPair {
  readonly out?: BenefitLine
  readonly in: BenefitLine
}

/** An offer the person could be on. */
export interface OfferChoice {
  readonly offer: string
  readonly displayname: string
  readonly direction: 'upgrade' | 'downgrade' | 'current'
  readonly effectiveon?: Day
  readonly reasons: readonly string[]
}

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
  | SwapConfirmView
  | OfferChangeView
  | OfferConfirmView
  | CancelView
  | CheckAnswersView
  | DoneView
  | AlreadyEnrolledView
  | NoBenefitsView
  | LinkEndedView
  | ProblemView
  | FrameView

interface ViewOf<Name extends string> {
  readonly view: Name
  readonly page: Page
}

interface Asking {
  readonly errors?: readonly FieldError[]
}

/** The page behind a link: one button, whose POST to `action` spends the token. */
export interface OpenView extends ViewOf<'OPEN'> {
  readonly action: string
}

/** Asks the birth date before anything of the person but the first name is shown. */
export interface ChallengeView extends ViewOf<'CHALLENGE'>, Asking {
  readonly action: string
  readonly firstname?: string
  readonly kept?: Kept
  readonly triesleft: number
}

/** The first view: who asks, and what was shared. */
export interface StartView extends ViewOf<'START'> {
  readonly firstname?: string
  /** The groups of details that the partner shared. */
  readonly shared: readonly DetailsGroup[]
  /** True when a draft is taken up again. */
  readonly resumed: boolean
}

/** What we know, each with a link to change it; what is missing or wrong comes first. */
export interface DetailsReviewView extends ViewOf<'DETAILS_REVIEW'>, Asking {
  readonly details: Details
  /** Groups that must be answered before going on. */
  readonly missing: readonly DetailsGroup[]
  /** Groups in which the partner sent newer data than the person confirmed. */
  readonly suggested: readonly DetailsGroup[]
}

/** The inputs of one group. `kept`, when given, is shown instead of `details`. */
export interface DetailsEditView extends ViewOf<'DETAILS_EDIT'>, Asking {
  readonly group: DetailsGroup
  readonly details: Details
  readonly kept?: Kept
  /** What the partner sent since, offered beside what is confirmed. */
  readonly suggestion?: Details
}

/** The benefits to read about and choose. */
export interface BenefitsView extends ViewOf<'BENEFITS'>, Asking {
  readonly offername: string
  readonly slots: number
  readonly cards: readonly BenefitCard[]
  /** Benefit to open first, from a deep link. */
  readonly focus?: string
  /** The path of the view before this one; `details` when absent. */
  readonly back?: string
}

/** A plan that a newcomer may take, in plain words. */
export interface PlanChoice {
  readonly offer: string
  readonly displayname: string
  /** The names of the benefits that come with it. */
  readonly included: readonly string[]
  /** How many more can be chosen. */
  readonly slots: number
}

/** The plans of which a newcomer takes one, where there is more than one. */
export interface PlanView extends ViewOf<'PLAN'>, Asking {
  readonly plans: readonly PlanChoice[]
  readonly chosen?: string
}

/** What may be exchanged for what. */
export interface SwapView extends ViewOf<'SWAP'>, Asking {
  readonly held: readonly BenefitCard[]
  readonly available: readonly BenefitCard[]
  readonly freeslots: number
  /** Chosen so far: held benefit's name (or `free1` …) to the name of what comes in. */
  readonly chosen: Kept
  /** The first day of the new benefits. */
  readonly effectiveon: Day
  /** Until when a swap can be made and undone. */
  readonly lockedat: Instant
  /** The swap already pending, which a new one replaces; it can be undone unless `locked`. */
  readonly pending: readonly SwapPair[]
  readonly locked: boolean
}

/** The chosen swap side by side, before it is made. */
export interface SwapConfirmView extends ViewOf<'SWAP_CONFIRM'>, Asking {
  readonly pairs: readonly SwapPair[]
  readonly effectiveon: Day
  readonly lockedat: Instant
  readonly consents: readonly ConsentText[]
}

/** The offers to choose from. */
export interface OfferChangeView extends ViewOf<'OFFER_CHANGE'>, Asking {
  readonly offers: readonly OfferChoice[]
  readonly chosen?: string
  readonly pending?: { readonly displayname: string; readonly effectiveon: Day }
  readonly locked: boolean
  readonly lockedat: Instant
}

/** What an offer change gives and takes, before it is made. */
export interface OfferConfirmView extends ViewOf<'OFFER_CONFIRM'>, Asking {
  readonly from: string
  readonly to: OfferChoice
  readonly previewid: string
  readonly gained: readonly BenefitLine[]
  readonly lost: readonly BenefitLine[]
  readonly kept: readonly BenefitLine[]
  readonly undountil?: Instant
  readonly consents: readonly ConsentText[]
}

/** What ends with a cancel, and when. */
export interface CancelView extends ViewOf<'CANCEL'>, Asking {
  readonly benefits: readonly BenefitLine[]
  /** The last day of cover at the period's end. */
  readonly lastday: Day
  /** Days in which a cancel can be taken back. */
  readonly reinstatedays: number
  readonly effective?: 'endofperiod' | 'immediate'
  readonly pending?: { readonly on: Day }
}

/** Everything once more, the consents, and the button that enrols. */
export interface CheckAnswersView extends ViewOf<'CHECK_ANSWERS'>, Asking {
  readonly details: Details
  readonly offername: string
  readonly benefits: readonly BenefitLine[]
  /** True when there was something to choose, so that the choice can be changed. */
  readonly choosable: boolean
  readonly consents: readonly ConsentText[]
}

/** What was done, with its reference. */
export interface DoneView extends ViewOf<'DONE'> {
  readonly outcome: 'enrolled' | 'swapped' | 'changed' | 'cancelled' | 'undone'
  readonly reference: string
  readonly completedat: Instant
  readonly firstname?: string
  readonly benefits: readonly BenefitLine[]
  /** When it takes effect, where that is one day for all. */
  readonly effectiveon?: Day
  /** Until when it can be undone. */
  readonly undountil?: Instant
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
  /** A free place, or something that still waits for the person's agreement. */
  readonly canadd: boolean
  readonly canswap: boolean
  readonly canchangeoffer: boolean
  readonly cancancel: boolean
  readonly redirecturl?: string
}

/** No benefit fits this person, and why. */
export interface NoBenefitsView extends ViewOf<'NO_BENEFITS'> {
  readonly reasons: readonly string[]
  readonly redirecturl?: string
}

/** The link or the session has ended; the same words for used, expired and unknown. */
export interface LinkEndedView extends ViewOf<'LINK_ENDED'> {
  readonly kind: 'link' | 'session'
  readonly redirecturl?: string
}

/** Something failed on our side; the request id can be read out. */
export interface ProblemView extends ViewOf<'PROBLEM'> {
  readonly kind: 'internal' | 'notfound' | 'busy'
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
