import type { Cost, Day } from './parts.ts'
import type { Locale, Page } from './surroundings.ts'
import type { Texts } from './texts.ts'

/** A day in words, such as `December 1, 2026` or `1 de diciembre de 2026`. */
export function dayText(locale: Locale, day: Day): string {
  return dateFormat(locale, 'UTC', false).format(new Date(`${day}T00:00:00Z`))
}

/** An instant in words, in the partner's time zone, which is named. */
export function instantText(page: Page, at: number): string {
  return dateFormat(page.locale, page.zone, true).format(new Date(at))
}

/** An amount of money; whole amounts without cents. */
export function moneyText(
  locale: Locale,
  worth: { readonly amount: number; readonly currency: string },
): string {
  const digits = Number.isInteger(worth.amount) ? 0 : 2
  const key = `${locale} ${worth.currency} ${digits}`
  return remember(
    moneyFormats,
    key,
    () =>
      new Intl.NumberFormat(tags[locale], {
        style: 'currency',
        currency: worth.currency,
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      }),
  ).format(worth.amount)
}

/** What a benefit costs, in words. */
export function costText(texts: Texts, locale: Locale, cost: Cost): string {
  if (cost.kind === 'nothing') return texts.benefits.costnothing
  const amount = moneyText(locale, cost)
  return cost.per === 'month' ? texts.benefits.costmonth(amount) : texts.benefits.costonce(amount)
}

/** The twelve months' names in order. */
export function monthNames(locale: Locale): readonly string[] {
  return remember(months, locale, () => {
    const format = new Intl.DateTimeFormat(tags[locale], { month: 'long', timeZone: 'UTC' })
    return Array.from({ length: 12 }, (_, month) => format.format(new Date(Date.UTC(2000, month, 1))))
  })
}

/** A phone number the way it is read in the United States when it has ten digits, else as it is. */
export function phoneText(digits: string): string {
  const parts = /^1?(\d{3})(\d{3})(\d{4})$/.exec(digits)
  return parts ? `(${parts[1]}) ${parts[2]}-${parts[3]}` : digits
}

/** A ZIP code with its hyphen. */
export function zipText(digits: string): string {
  return digits.length === 9 ? `${digits.slice(0, 5)}-${digits.slice(5)}` : digits
}

const tags: Readonly<Record<Locale, string>> = { en: 'en-US', es: 'es-US' }

/** Making a formatter costs a hundred times what using it does, and zones and currencies are few. */
const dateFormats = new Map<string, Intl.DateTimeFormat>()
const moneyFormats = new Map<string, Intl.NumberFormat>()
const months = new Map<string, readonly string[]>()

function dateFormat(locale: Locale, timeZone: string, withTime: boolean): Intl.DateTimeFormat {
  return remember(dateFormats, `${locale} ${timeZone} ${withTime}`, () => {
    const day = { year: 'numeric', month: 'long', day: 'numeric', timeZone } as const
    const time = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' } as const
    return new Intl.DateTimeFormat(tags[locale], withTime ? { ...day, ...time } : day)
  })
}

function remember<Made>(made: Map<string, Made>, key: string, make: () => Made): Made {
  const known = made.get(key)
  if (known !== undefined) return known
  const fresh = make()
  made.set(key, fresh)
  return fresh
}
