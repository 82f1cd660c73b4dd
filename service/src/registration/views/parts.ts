import type { BenefitDocument, Language, Relationship } from '../../catalogue/model.ts'
import type { Html } from '../../http/html.ts'
import type { CoverRule } from '../../membership/rules/family.ts'

/** A text for reading; marked where its language is not that of the page. */
export type Passage = string | Html

/** A document to read, as a link to a file that the service serves. */
export type DocumentLink = {
  readonly title: string
  readonly address: string
  /** The language it is written in. */
  readonly language: BenefitDocument['language']
}

/** What a person must be shown about a benefit besides what it pays; absent parts are not shown. */
export type Coverage = {
  readonly insurer?:
    | { readonly name: string; readonly licence: Passage; readonly isdiscount?: boolean }
    | undefined
  readonly waiting?: { readonly days: number; readonly text?: Passage | undefined } | undefined
  readonly documents: readonly DocumentLink[]
}

/** What a holder does to use a benefit, and whom they reach. */
export type HowToUseWords = {
  readonly text: Passage
  readonly phone?: string | undefined
  readonly url?: string | undefined
  readonly email?: string | undefined
}

/** A benefit that a member has, or had until lately, with all that is to be read about it. */
export type HeldBenefit = {
  readonly name: string
  readonly displayname: string
  readonly pays: readonly Passage[]
  readonly coverage?: Coverage | undefined
  /** The member number that the insurer gave for it; absent until it gave one. */
  readonly memberid?: string | undefined
  readonly howtouse?: HowToUseWords | undefined
  /** For cover that has ended: its last day, and the last day on which it can still be used for what happened before. */
  readonly ended?: { readonly on: string; readonly until: string } | undefined
  readonly isOpen: boolean
}

/** A day, `YYYY-MM-DD`. */
export type IsoDate = string

/** A person's confirmed or prefilled details; absent or `''` means unknown. */
export type Details = {
  readonly firstname?: string
  readonly lastname?: string
  readonly dob?: IsoDate
  readonly email?: string
  readonly phone?: string
  readonly gender?: string
  readonly address?: Address
}

/** An address with the fields of the API. */
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

/** What was typed, by input name: the form shows it again unchanged. */
export type EnteredAnswers = Readonly<Record<string, string>>

/** What a benefit costs its user: nothing, or an amount each week, each month or once; who collects it, and how. */
export type Cost =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'amount'
      readonly amount: number
      readonly currency: string
      readonly per: 'week' | 'month' | 'once'
      readonly taken?: { readonly by: string; readonly how: string } | undefined
    }

/** What a `dollar` benefit pays; without `per`, once. */
export type Worth = {
  readonly amount: number
  readonly currency: string
  readonly per?: 'day' | 'week' | 'month' | undefined
}

/** The status of a benefit for this person. */
export type BenefitStatus =
  | { readonly kind: 'available' }
  /** `until`: the last day of an end that is still far away. */
  | { readonly kind: 'enrolled'; readonly since: IsoDate; readonly until?: IsoDate }
  | { readonly kind: 'included' }
  | { readonly kind: 'scheduled'; readonly from: IsoDate; readonly until?: IsoDate | undefined }
  | { readonly kind: 'ending'; readonly on: IsoDate }
  | { readonly kind: 'swapin'; readonly from: IsoDate; readonly until?: IsoDate | undefined }
  | { readonly kind: 'swapout'; readonly on: IsoDate }
  | { readonly kind: 'actionrequired'; readonly dueon?: IsoDate | undefined }
  /** Held already, and chosen in order to do what it waits for: to agree to its terms, or to name a beneficiary. */
  | { readonly kind: 'waiting'; readonly dueon?: IsoDate | undefined }
  | { readonly kind: 'unavailable'; readonly reasons: readonly Passage[] }
  /** It would be possible, but every slot is taken; `swapto` is the path that swaps another benefit for it. */
  | { readonly kind: 'full'; readonly swapto?: string }
  /** It comes with these plans, but not with the person's own. */
  | { readonly kind: 'otherplan'; readonly plans: readonly string[] }

/** One benefit in plain words of the page's language. */
export type BenefitCard = {
  readonly name: string
  readonly displayname: string
  readonly iconurl: string
  readonly description: Passage
  /** What it pays or gives, one sentence per element. */
  readonly pays: readonly Passage[]
  /** What it does not cover, one sentence per element. */
  readonly notcovered: readonly Passage[]
  /** The amount of a `dollar` benefit, shown as money. */
  readonly worth?: Worth | undefined
  readonly cost: Cost
  /** What must also be shown: insurer, waiting period, documents. */
  readonly coverage?: Coverage | undefined
  /** The first day of cover if chosen now. */
  readonly startson?: IsoDate | undefined
  readonly status: BenefitStatus
  readonly selected: boolean
  /** Whom it may cover, asked with it. */
  readonly cover?: CoverChoice | undefined
  /** Whom it covers, of one that is held. */
  readonly held?: HeldCover | undefined
}

/** The question whom a benefit is to cover beside the person. */
export type CoverChoice = {
  readonly benefit: string
  readonly displayname: string
  /** What each choice costs, by the bits of `CoverPerson.bit`; `undefined` where the benefit covers nobody like that. */
  readonly prices: readonly (Cost | undefined)[]
  /** Which of the two it covers. */
  readonly spouses: readonly Relationship[]
  /** The age at which a child is covered no more. */
  readonly maxage?: number | undefined
  readonly people: readonly CoverPerson[]
  /** What it costs with the people chosen. */
  readonly cost: Cost
  /** Whether one more person can be named. */
  readonly ismore: boolean
  /** Whether the person has just named somebody here. */
  readonly isfocus?: boolean
  /** Whether the benefit comes with the plan, so that its price always counts. */
  readonly isincluded?: boolean
}

/** Somebody whom the person has named. */
export type CoverPerson = {
  readonly id: string
  readonly name: string
  readonly relationship: Relationship
  /** 1 for a spouse or partner, 2 for a child. */
  readonly bit: number
  /** Why this benefit cannot cover them. */
  readonly rule?: CoverRule | undefined
  readonly ischosen: boolean
}

/** Whom a benefit covers, until when where that is known, and whom it will cover. */
export type CoverFacts = {
  readonly cost?: Cost | undefined
  readonly covered?: readonly CoveredName[]
  readonly coverlater?: CoverFacts & { readonly on: IsoDate }
}

/** Whom a benefit that is held covers, and whether the person can change it. */
export type HeldCover = CoverFacts & { readonly ischangeable: boolean }

/** Somebody who is covered, and the last day of it. */
export type CoveredName = { readonly name: string; readonly until?: IsoDate | undefined }

/** A copy of an agreement, to be kept. */
export type CopyLink = {
  readonly about: 'enrolled' | 'swapped' | 'changed' | 'altered' | 'cancelled' | 'undone'
  readonly reference: string
  readonly on: IsoDate
  readonly address: string
}

/** A consent to ask for, with its version and its whole text. */
export type ConsentText = {
  readonly name: string
  readonly version: string
  readonly title: string
  readonly paragraphs: readonly Passage[]
  /** The language of the paragraphs. */
  readonly language: Language
  /** The words at the box, if they differ from the usual ones. */
  readonly agree?: string
  readonly checked: boolean
}

/** A benefit in a short list, with its start if that matters. */
export type BenefitLine = CoverFacts & {
  readonly name: string
  readonly displayname: string
  readonly iconurl: string
  readonly startson?: IsoDate | undefined
  /**
   * Instead of `startson` if a beneficiary must be named first: the day before which, and the first day if it is still
   * to come.
   */
  readonly waits?: { readonly by: IsoDate; readonly from?: IsoDate | undefined } | undefined
  /** Instead of `startson` if cover has begun. */
  readonly since?: IsoDate
  readonly endson?: IsoDate | undefined
  /** The age that the person then reaches, if that is why it ends. */
  readonly endsatage?: number | undefined
  /** Instead of `endson` if cover is over. */
  readonly endedon?: IsoDate
  /** Part of a pending swap or plan change: the cost of a benefit that goes is not part of the total afterwards. */
  readonly pending?: 'goes' | 'comes'
  readonly coverage?: Coverage | undefined
  /** The person must still do something before it starts. */
  readonly actionrequired?: boolean
  /** The day before which they must do it; the benefit is withdrawn on that day. */
  readonly dueon?: IsoDate | undefined
  /** A pending change was to bring it, and the person cannot get it now. */
  readonly isunavailable?: boolean
}

/**
 * A benefit to give up paired with the new one; without `out` the new one fills a free slot. Only a swap that the partner
 * has planned can give up a benefit for nothing.
 */
export type SwapPair = {
  readonly out?: BenefitLine | undefined
  readonly in?: BenefitLine
  /** It will not happen as things are. */
  readonly iscalledoff?: boolean
}

/** What a member still has to do: benefits that wait for beneficiaries or for an agreement. */
export type StillToDo = {
  readonly missing: readonly WaitingName[]
  /** Benefits for which the person may name somebody and has named nobody. */
  readonly unnamed: readonly string[]
  /** How many more benefits fit into the plan. */
  readonly openplaces: number
  readonly agree: readonly WaitingName[]
}

/** A benefit that waits for the person, with the day before which they must act. */
export type WaitingName = { readonly displayname: string; readonly dueon?: IsoDate | undefined }

/** What a member can do now, each by a short path of its own. */
export type MemberPaths = {
  /** There is a free slot, or a benefit that waits for the person's agreement. */
  readonly canadd: boolean
  readonly canswap: boolean
  readonly canchangeoffer: boolean
  readonly cancancel: boolean
  /** A cancel is already planned: it can still be made to take effect at once. */
  readonly isleaving?: boolean
  /** The member has a benefit that takes beneficiaries. */
  readonly canname?: boolean
  /** The benefits whose people can be changed. */
  readonly covers?: readonly Pick<BenefitLine, 'name' | 'displayname'>[]
}

/** Validated details in the fields of the prefill; `''` clears an optional one. */
export type CleanDetails = Details & { readonly zipcode?: string }
