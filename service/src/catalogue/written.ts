import type { Benefit, Insurer, Offer, OfferRule, Rule } from './model.ts'

/**
 * A catalogue in the form of its file: a rule has its condition under the name of its kind, and values with defaults
 * may be missing.
 */
export type WrittenCatalogue = {
  readonly benefits: readonly WrittenBenefit[]
  readonly offers: readonly WrittenOffer[]
  readonly insurers?: readonly Insurer[]
}
type WrittenBenefit = Omit<Benefit, 'rules' | 'insurer'> & {
  readonly rules?: readonly WrittenRule[]
  /** The code of an insurer, or the insurer written out. */
  readonly insurer?: string | Insurer
}
type WrittenOffer = Omit<Offer, 'rules' | keyof typeof OFFER_DEFAULTS> &
  Partial<Pick<Offer, keyof typeof OFFER_DEFAULTS>> & { readonly rules?: readonly WrittenRule<OfferRule>[] }

/** A rule in the form of its file: with one of the kinds. */
export type WrittenRule<R extends Rule = Rule> = Pick<Rule, 'code' | 'text'> & {
  readonly [Kind in R['kind']]?: Omit<Extract<R, { kind: Kind }>, 'kind' | 'code' | 'text'>
}

/** A value in which members may be missing at any depth. */
export type DeepPartial<T> = T extends object
  ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
  : T | undefined

const OFFER_DEFAULTS = { period: 'calendarmonth', cutoffhours: 24 } as const

/** The benefit of a file's entry, with its insurer of the file's list. */
export function benefitOf(
  { rules = [], documents, insurer: named, ...benefit }: WrittenBenefit,
  insurers: readonly Insurer[],
): Benefit {
  const insurer = typeof named === 'string' ? insurers.find(one => one.insurer === named) : named
  return {
    ...benefit,
    rules: rules.map(ruleOf),
    ...(insurer && { insurer }),
    ...(documents && {
      documents: documents.map(({ states, ...one }) => ({
        ...one,
        ...(states && { states: sorted(states) }),
      })),
    }),
  }
}

/** The offer of a file's entry. */
export function offerOf({ rules = [], ...offer }: WrittenOffer): Offer {
  return { ...OFFER_DEFAULTS, ...offer, rules: rules.map(ruleOf<OfferRule>) }
}

function ruleOf<R extends Rule>({ code, text, ...condition }: WrittenRule<R>): R {
  const [[kind, lists] = []] = Object.entries<object | undefined>(condition)
  return { kind, code, text, ...sorted(lists ?? {}) } as unknown as R
}

/** Sorts lists that are sets alphabetically, so that equal sets give equal documents. */
function sorted<T extends object>(lists: T): T {
  const entries = Object.entries(lists)
  return Object.fromEntries(
    entries.map(([name, list]) => [name, Array.isArray(list) ? list.toSorted() : list]),
  ) as T
}
