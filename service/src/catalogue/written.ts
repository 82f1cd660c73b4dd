import type { Benefit, Insurer, Offer, OfferRule, Rule } from './model.ts'
import type { benefit, CATALOGUE_SCHEMA, offer } from './schema.ts'
import type { ValueOf } from './schema-parts.ts'

/**
 * A catalogue in the form of its file: a rule has its condition under the name of its kind, and values with defaults
 * may be missing.
 */
export type WrittenCatalogue = ValueOf<typeof CATALOGUE_SCHEMA>
type WrittenBenefit = ValueOf<typeof benefit>

/** A rule in the form of its file: with one of the kinds. */
export type WrittenRule = NonNullable<WrittenBenefit['rules']>[number]

/** A value in which members may be missing at any depth. */
export type DeepPartial<T> = T extends object
  ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
  : T | undefined

/** The benefit of a file's entry, with its insurer of the file's list. */
export function benefitOf(
  { rules = [], documents, insurer: named, ...benefit }: WrittenBenefit,
  insurers: readonly Insurer[],
): Benefit {
  const insurer = typeof named === 'string' ? insurers.find(one => one.insurer === named) : named
  return {
    ...benefit,
    rules: rules.map(rule => ruleOf(rule)),
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
export function offerOf({ rules = [], ...written }: ValueOf<typeof offer>): Offer {
  return {
    period: 'calendarmonth',
    cutoffhours: 24,
    ...written,
    rules: rules.map(rule => ruleOf<OfferRule>(rule)),
  }
}

function ruleOf<R extends Rule>({ code, text, ...condition }: WrittenRule): R {
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
