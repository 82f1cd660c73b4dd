import type { NamedBeneficiary } from '../../membership/rules/beneficiaries.ts'
import type { Coverage } from './coverage-parts.ts'

/** A day, `YYYY-MM-DD`. */
export type Day = string

/** A person's details as confirmed or prefilled; absent or `''` is not known. */
export type Details = {
  readonly firstname?: string
  readonly lastname?: string
  readonly dob?: Day
  readonly email?: string
  readonly phone?: string
  readonly gender?: string
  readonly address?: Address
}

/** An address as the interface has it. */
export type Address = {
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

/** What a benefit costs its user: nothing, or an amount each week, each month or once; who takes it, and how. */
export type Cost =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'amount'
      readonly amount: number
      readonly currency: string
      readonly per: 'week' | 'month' | 'once'
      readonly taken?: { readonly by: string; readonly how: string }
    }

/** What a `dollar` benefit pays; without `per` in all. */
export type Worth = {
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
  /** Held already, and chosen to do what it waits for: to agree to its terms, or to name somebody. */
  | { readonly kind: 'waiting'; readonly dueon?: Day }
  | { readonly kind: 'unavailable'; readonly reasons: readonly string[] }
  /** It could be had, but every place is taken; `swapto` is the path that swaps another one for it. */
  | { readonly kind: 'full'; readonly swapto?: string }
  /** It comes with these plans, not with the person's own. */
  | { readonly kind: 'otherplan'; readonly plans: readonly string[] }
  | { readonly kind: 'unknown'; readonly text: string }

/** One benefit in plain words of the page's language. */
export type BenefitCard = {
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
  /** What must be shown besides: insurer, waiting period, documents. */
  readonly coverage?: Coverage
  /** The first day of cover if chosen now. */
  readonly startson?: Day
  readonly status: BenefitStatus
  readonly selected: boolean
}

/** A copy of what was agreed, to be kept. */
export type CopyLink = {
  readonly reference: string
  readonly on: Day
  readonly address: string
}

/** A consent that is wanted, as it is kept: its version and its whole text. */
export type ConsentText = {
  readonly name: string
  readonly version: string
  readonly title: string
  readonly paragraphs: readonly string[]
  /** The words at the box, where they are not those of all agreements. */
  readonly agree?: string
  readonly checked: boolean
}

/** A benefit that a change of a member's details took away. */
export type LostCover = { readonly name: string; readonly displayname: string } & (
  | { readonly how: 'neverstarts' }
  /** The last day of cover, to come or past. */
  | { readonly how: 'ends' | 'ended'; readonly on: Day }
)

/** A benefit in a short list: what and, where it matters, from when. */
export type BenefitLine = {
  readonly name: string
  readonly displayname: string
  readonly iconurl: string
  readonly startson?: Day
  /** Instead of `startson` where somebody must be named first: before which day, and where it lies ahead, the first day. */
  readonly waits?: { readonly by: Day; readonly from?: Day }
  /** Instead of `startson` where cover began before. */
  readonly since?: Day
  readonly endson?: Day
  /** Instead of `endson` where cover is over. */
  readonly endedon?: Day
  readonly cost?: Cost
  /** By a swap or a plan change that is planned: what goes with it is no part of the total of what comes. */
  readonly planned?: 'goes' | 'comes'
  readonly coverage?: Coverage
  /** Something still to do before it starts. */
  readonly actionrequired?: boolean
  /** The day before which that must be done: the benefit is withdrawn on it. */
  readonly dueon?: Day
}

/** A benefit that goes out paired with the one that comes in; without `out` a free slot is filled. */
export type SwapPair = {
  readonly out?: BenefitLine
  readonly in: BenefitLine
}

/** Whom a person names for a benefit they are about to have; the names only where they were typed just now. */
export type NamingLine = {
  readonly name: string
  readonly displayname: string
  readonly isrequired: boolean
  readonly standing: 'here' | 'before' | 'named' | 'nobody'
  readonly people?: readonly NamedBeneficiary[]
  /** The path to come back to after naming somebody, where it is not the one of the answers. */
  readonly next?: string
}

/**
 * What a member still has to do: benefits that wait for beneficiaries or for an agreement, and those for which the partner
 * proposes beneficiaries.
 */
export type StillToDo = {
  readonly missing: readonly WaitingName[]
  readonly agree: readonly WaitingName[]
  readonly proposed: readonly string[]
}

/** A benefit that waits for its person, with the day before which it must be done. */
export type WaitingName = { readonly displayname: string; readonly dueon?: Day }

/** What a member can do now, each by a short path of its own. */
export type MemberPaths = {
  /** A free place, or something that still waits for the person's agreement. */
  readonly canadd: boolean
  readonly canswap: boolean
  readonly canchangeoffer: boolean
  readonly cancancel: boolean
  /** A cancel is planned already: what is left is to end everything at once. */
  readonly isleaving?: boolean
  /** Something they have takes beneficiaries. */
  readonly canname?: boolean
}

/** An offer the person could be on. */
export type OfferChoice = {
  readonly offer: string
  readonly displayname: string
  readonly direction: 'upgrade' | 'downgrade' | 'current'
  readonly effectiveon?: Day
  readonly reasons: readonly string[]
}

/** A plan that a newcomer may take, in plain words. */
export type PlanChoice = {
  readonly offer: string
  readonly displayname: string
  readonly description: string
  /** The benefits that come with it. */
  readonly included: readonly PlanPart[]
  /** Those to choose among. */
  readonly selectable: readonly Pick<PlanPart, 'displayname' | 'cost'>[]
  /** How many of them can be chosen. */
  readonly slots: number
}

/** A benefit that comes with a plan. */
export type PlanPart = {
  readonly displayname: string
  readonly iconurl: string
  readonly description: string
  readonly cost: Cost
}
