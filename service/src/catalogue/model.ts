import type { PlainDate } from '../calendar/calendar.ts'

/** The languages of the page. Each but English is a file of `service/assets/page`, which says whether it is a draft. */
export const LANGUAGES = ['en', 'es', 'fr'] as const
export type Language = (typeof LANGUAGES)[number]

/** The languages that each text has; the contract promises them. */
export const WHOLE_LANGUAGES = ['en', 'es'] as const
type WholeLanguage = (typeof WHOLE_LANGUAGES)[number]

/** A text in English and Spanish, and in further languages where they are given. */
export type Bilingual = Readonly<Record<WholeLanguage, string>> & {
  readonly [further in Exclude<Language, WholeLanguage>]?: string
}

/** The language in which a person of this one reads a text: their own where it is given, else English. */
export function languageOfText(text: Bilingual, language: Language): Language {
  return text[language] === undefined ? 'en' : language
}

/** A text for a person of this language: in their own where it is given, else in English. */
export function textIn(text: Bilingual, language: Language): string {
  return text[language] ?? text.en
}

/** Money in whole cents of the US dollar. */
type Cents = number

/** The kinds of benefit that the interface names in `benefittype`. */
export const BENEFIT_TYPES = ['dollar', 'service', 'discount', 'account'] as const
type BenefitType = (typeof BENEFIT_TYPES)[number]

/** The time spans of a paid amount; an amount without one is paid once. */
export const AMOUNT_SPANS = ['day', 'week', 'month'] as const
type AmountSpan = (typeof AMOUNT_SPANS)[number]

/** The parts of every rule: a code for programs, and the text for a person who is refused. */
type RuleHead = { readonly code: string; readonly text: Bilingual }

/** The highest age that rules consider. */
export const MAX_AGE = 120

/** Admits ages from `min` to `max`, both included; a missing bound is open. */
export type AgeRule = RuleHead & { readonly kind: 'age'; readonly min?: number; readonly max?: number }

/** Admits the states in `in`, or all but those in `notin`; just one of the two is given. */
export type StatesRule = RuleHead & {
  readonly kind: 'states'
  readonly in?: readonly string[]
  readonly notin?: readonly string[]
}

/**
 * Admits by the first five digits of a ZIP code: those in `in` and `prefixes`, or all when both are missing, except
 * those in `notin` and `notprefixes`.
 */
export type ZipsRule = RuleHead & {
  readonly kind: 'zips'
  readonly in?: readonly string[]
  readonly prefixes?: readonly string[]
  readonly notin?: readonly string[]
  readonly notprefixes?: readonly string[]
}

/** Admits those who hold, or are about to take, one of the offers in `in`. */
export type OffersRule = RuleHead & { readonly kind: 'offers'; readonly in: readonly string[] }

/** A condition of a benefit. */
export type Rule = AgeRule | StatesRule | ZipsRule | OffersRule

/** A condition of an offer, which cannot depend on offers. */
export type OfferRule = Exclude<Rule, OffersRule>

/** The text a person agrees to; the same version always means the same text. */
type Consent = { readonly version: string; readonly text: Bilingual }

/** The time spans of a price. */
export const PRICE_SPANS = ['week', 'month'] as const
type PriceSpan = (typeof PRICE_SPANS)[number]

/** Who collects a price from the person. */
export const PRICE_TAKERS = ['partner', 'insurer'] as const

/** Cents per month or week; a week counts for each Monday. */
export type Rate = { readonly cents: Cents; readonly per: PriceSpan }

/** How somebody's first or last month is charged: whole, by its days, or not at all. */
export const MONTH_MODES = ['full', 'daily', 'free'] as const
export type MonthMode = (typeof MONTH_MODES)[number]

/** What a benefit costs its holder; `taken` says who collects it and how, such as "from your weekly payout". */
export type Price = Rate & {
  readonly taken?: { readonly by: (typeof PRICE_TAKERS)[number]; readonly how: Bilingual }
}

/**
 * How a holder uses a benefit, such as how to claim: the text, and at least one way to reach somebody. After cover has
 * ended it still holds for `within` days, for what happened before.
 */
export type HowToUse = {
  readonly text: Bilingual
  readonly phone?: string
  readonly url?: string
  readonly email?: string
  readonly within?: { readonly days: number }
}

/** An insurer, with the line that its license requires. Only one without a code is written out in a benefit. */
export type Insurer = {
  /** The code under which benefits and feeds name it. */
  readonly insurer?: string
  readonly name: string
  readonly licence: Bilingual
  readonly howtouse?: HowToUse
}

/**
 * A document of a benefit. `file` is the address below `/files/` (`HASH/NAME`) once the file is stored, before that the
 * path in the catalogue file. With `states`, only people in these states see the document.
 */
export type BenefitDocument = {
  readonly title: Bilingual
  readonly language: WholeLanguage
  readonly file: string
  readonly states?: { readonly in?: readonly string[]; readonly notin?: readonly string[] }
}

/** How long after its start a benefit does not pay, and for what. */
type WaitingPeriod = { readonly days: number; readonly text?: Bilingual }

/** Whether a person must or may name beneficiaries for a benefit. */
export const NAMINGS = ['required', 'optional'] as const
export type Naming = (typeof NAMINGS)[number]

/** Who of a family a benefit may cover beside its holder. */
export const RELATIONSHIPS = ['spouse', 'domesticpartner', 'child'] as const
export type Relationship = (typeof RELATIONSHIPS)[number]

/** What a tier names; a domestic partner counts as `spouse`. */
export const TIER_MEMBERS = ['spouse', 'child'] as const
export type TierMember = (typeof TIER_MEMBERS)[number]

/** Whom a benefit covers beside its holder: a child below `maxage`, at most so many. */
export type Covers = {
  readonly spouse?: object
  readonly domesticpartner?: object
  readonly child?: { readonly maxage: number; readonly most?: number }
}

/** What a benefit costs, and pays, for its holder alone or with others. */
export type Worth = {
  readonly cost: Price
  /** What the insurer gets; neither partner nor person sees it. */
  readonly premium?: Rate
  readonly amount?: { readonly cents: Cents; readonly per?: AmountSpan }
}

/** The prices for those who are covered: of the first tier whose `who` has every relationship. */
export type Tier = Worth & { readonly tier: string; readonly who: readonly TierMember[] }

/**
 * One product that a user can hold. It has a cost, or `covers` and `tiers`, which have their own; `worthOf` reads both. An
 * amount is present exactly when `benefittype` is `dollar`.
 */
export type Benefit = Partial<Worth> & {
  readonly name: string
  readonly displayname: Bilingual
  readonly description: Bilingual
  /** The name of an SVG that ships with us, or the address of a file below `/files/`. */
  readonly icon: string
  readonly benefittype: BenefitType
  readonly sortorder: number
  readonly pays: Bilingual
  readonly notcovered: Bilingual
  readonly covers?: Covers
  readonly tiers?: readonly Tier[]
  readonly rules: readonly Rule[]
  readonly consent?: Consent
  readonly endsatage?: number
  readonly insurer?: Insurer
  readonly howtouse?: HowToUse
  /** The insurer's number of the group policy, and its code of this plan; feeds tell them. */
  readonly policy?: string
  readonly plancode?: string
  readonly documents?: readonly BenefitDocument[]
  readonly waitingperiod?: WaitingPeriod
  readonly beneficiaries?: Naming
}

/** How this benefit is used: its own words come before those of its insurer. */
export function howToUse({ howtouse, insurer }: Benefit): HowToUse | undefined {
  return howtouse ?? insurer?.howtouse
}

/** Compares benefits by the order in which they are listed. */
export function bySortOrder(a: Benefit, b: Benefit): number {
  return a.sortorder - b.sortorder || (a.name < b.name ? -1 : 1)
}

/** A package of benefits: those that come with it and those to choose among. */
export type Offer = {
  readonly offer: string
  readonly displayname: Bilingual
  readonly description: Bilingual
  readonly rank: number
  readonly fixed: readonly string[]
  readonly selectable: readonly string[]
  readonly slots: number
  readonly period: 'calendarmonth'
  readonly cutoffhours: number
  /** First and last date, both included, on which newcomers may take the offer. */
  readonly availability?: { readonly from?: PlainDate; readonly until?: PlainDate }
  readonly rules: readonly OfferRule[]
  /** What the partner pays the operator for a user on this offer. */
  readonly fee?: Rate
  /** Hold for the fee, and for cost and premium of the offer's benefits, each by its own first and last month. */
  readonly firstmonth?: MonthMode
  readonly lastmonth?: MonthMode
}

/** One version of all benefits and offers, by name; it never changes. */
export type Catalogue = {
  readonly benefits: ReadonlyMap<string, Benefit>
  readonly offers: ReadonlyMap<string, Offer>
  /** The insurers of the file's list, by code. */
  readonly insurers: ReadonlyMap<string, Insurer>
}

/** The catalogue before the first version. */
export const emptyCatalogue: Catalogue = { benefits: new Map(), offers: new Map(), insurers: new Map() }

/** Whether a benefit comes with an offer, fixed or to choose. */
export function offerHas({ fixed, selectable }: Offer, name: string): boolean {
  return fixed.includes(name) || selectable.includes(name)
}
