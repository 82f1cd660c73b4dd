/** A day, `YYYY-MM-DD`. */
export type Day = string

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
  /** It could be had, but every place is taken. */
  | { readonly kind: 'full' }
  /** It comes with these plans, not with the person's own. */
  | { readonly kind: 'otherplan'; readonly plans: readonly string[] }
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

/** What a member can do now, each by a short path of its own. */
export interface MemberPaths {
  /** A free place, or something that still waits for the person's agreement. */
  readonly canadd: boolean
  readonly canswap: boolean
  readonly canchangeoffer: boolean
  readonly cancancel: boolean
}

/** An offer the person could be on. */
export interface OfferChoice {
  readonly offer: string
  readonly displayname: string
  readonly direction: 'upgrade' | 'downgrade' | 'current'
  readonly effectiveon?: Day
  readonly reasons: readonly string[]
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
