import type { Bilingual } from './languages.ts'
import type { benefit, conditions, howToUse as howToUsePart, insurer, offer, tier } from './schema.ts'
import type { ValueOf } from './schema-parts.ts'

export { type Bilingual, LANGUAGES, type Language, languageOfText, textIn } from './languages.ts'

/** The kinds of rules. */
type Kind = keyof typeof conditions

/** A rule of a kind: its code for programs, the text for a person who is refused, and what it asks. */
export type RuleOf<K extends Kind> = {
  readonly code: string
  readonly text: Bilingual
  readonly kind: K
} & ValueOf<(typeof conditions)[K]>

/** A condition of a benefit. */
export type Rule = { [K in Kind]: RuleOf<K> }[Kind]

/** A condition of an offer, which cannot depend on offers. */
export type OfferRule = Exclude<Rule, RuleOf<'offers'>>

/** How a holder uses a benefit, such as how to claim: the text, and at least one way to reach somebody. */
export type HowToUse = ValueOf<typeof howToUsePart>

/** An insurer, with the line that its license requires. Only one without a code is written out in a benefit. */
export type Insurer = Omit<ValueOf<typeof insurer>, 'insurer'> & { readonly insurer?: string }

/** Who of a family a benefit may cover beside its holder. */
export const RELATIONSHIPS = ['spouse', 'domesticpartner', 'child'] as const
export type Relationship = (typeof RELATIONSHIPS)[number]

/** The prices for those who are covered: of the first tier whose `who` has every relationship. */
export type Tier = ValueOf<typeof tier>

/** What a tier names; a domestic partner counts as `spouse`. */
export type TierMember = Tier['who'][number]

/** What a benefit costs, and pays, for its holder alone or with others. */
export type Worth = Pick<Tier, 'cost' | 'premium' | 'amount'>

/** What a benefit costs its holder; `taken` says who collects it and how, such as "from your weekly payout". */
export type Price = Worth['cost']

/**
 * One product that a user can hold. It has a cost, or `covers` and `tiers`, which have their own; `worthOf` reads both. An
 * amount is present exactly when `benefittype` is `dollar`. `icon` is the name of an SVG that ships with us, or the address of
 * a file below `/files/`.
 */
export type Benefit = Omit<ValueOf<typeof benefit>, 'rules' | 'insurer'> & {
  readonly rules: readonly Rule[]
  readonly insurer?: Insurer
}

/** Whom a benefit covers beside its holder: a child below `maxage`, at most so many. */
export type Covers = NonNullable<Benefit['covers']>

/**
 * A document of a benefit. `file` is the address below `/files/` (`HASH/NAME`) once the file is stored, before that the
 * path in the catalogue file. With `states`, only people in these states see the document.
 */
export type BenefitDocument = NonNullable<Benefit['documents']>[number]

/** Whether a person must or may name beneficiaries for a benefit. */
export type Naming = NonNullable<Benefit['beneficiaries']>

/** How this benefit is used: its own words come before those of its insurer. */
export function howToUse({ howtouse, insurer }: Benefit): HowToUse | undefined {
  return howtouse ?? insurer?.howtouse
}

/** Compares benefits by the order in which they are listed. */
export function bySortOrder(a: Benefit, b: Benefit): number {
  return a.sortorder - b.sortorder || (a.name < b.name ? -1 : 1)
}

type WrittenOffer = ValueOf<typeof offer>
/** What an offer has although its file may leave it out. */
type Defaulted = 'period' | 'cutoffhours'

/** A package of benefits: those that come with it and those to choose among. */
export type Offer = Omit<WrittenOffer, 'rules' | Defaulted> &
  Required<Pick<WrittenOffer, Defaulted>> & { readonly rules: readonly OfferRule[] }

/** How somebody's first or last month is charged: whole, by its days, or not at all. */
export type MonthMode = NonNullable<Offer['firstmonth']>

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
