import type { Language } from '../../catalogue/model.ts'
import type { BenefitLine, Cost, IsoDate, Worth } from './parts.ts'
import { sayIn } from './say.ts'
import type { Localized, Page } from './surroundings.ts'

/** A day in words, such as `December 1, 2026` or `1 de diciembre de 2026`. */
export function dayText(page: Localized, day: IsoDate): string {
  const options = { year: 'numeric', month: 'long', day: 'numeric', timeZone: 'UTC' } as const
  return dateFormat(tagOf(page), options).format(new Date(`${day}T00:00:00Z`))
}

/** Names as a list in a sentence, such as `Dental care, Gym pass, and Legal help`. */
export function namesText({ locale }: Localized, names: readonly string[]): string {
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(names)
}

/** An instant in words, in the partner's time zone, such as `November 20, 2026 at 12:30 PM (Eastern time)`. */
export function instantText(page: Pick<Page, 'locale' | 'zone'>, at: number): string {
  return `${timeText(page, 'numeric', at)} (${zoneText(page, at)})`
}

/**
 * The end of the time in which something can be done, for use after `until`. A midnight becomes `the end of November 29
 * (Eastern time)`, because people take "12:00 AM" for the wrong end of its day; any other time becomes the day and the
 * time.
 */
export function deadlineText(page: Page, at: number): string {
  const say = sayIn(page)
  const zone = zoneText(page, at)
  const isMidnight = dayAndTime(page, at).endsWith(' 00:00:00')
  if (!isMidnight) return `${timeText(page, undefined, at)} (${zone})`
  const format = dateFormat(tagOf(page), { month: 'long', day: 'numeric', timeZone: page.zone })
  return say`the end of ${format.format(new Date(at - 1))} (${zone})`
}

/**
 * The name of a time zone as people say it, such as `Eastern time` or `hora del Este`. A zone without summer time has a
 * name of its own: in summer, Arizona is an hour behind what others call Mountain time.
 */
function zoneText(page: Pick<Page, 'locale' | 'zone'>, at: number): string {
  const { zone } = page
  const known = zoneNames[zone] ?? zoneNames[zoneName({ locale: 'en' }, zone, at)]
  const name = known?.[page.locale]
  if (name) return name
  if (zone === 'UTC' || zone === 'Etc/UTC') return 'UTC'
  return zoneName(page, zone, at).replace(/Time$/, 'time')
}

/** An amount of money; whole amounts without cents. */
function moneyText(page: Localized, worth: { readonly amount: number; readonly currency: string }): string {
  const digits = Number.isInteger(worth.amount) ? 0 : 2
  return moneyFormat(page, worth.currency, digits).format(worth.amount)
}

function moneyFormat(page: Localized, currency: string, digits: 0 | 2): Intl.NumberFormat {
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return remember(Intl.NumberFormat, tagOf(page), { style: 'currency', currency, ...fraction })
}

/** What a benefit costs, in words. */
export function costText(page: Localized, cost: Cost): string {
  const say = sayIn(page)
  return cost.kind === 'nothing' ? say`Nothing` : priceText(page, cost)
}

/** A price with its cents and span, such as `$19.00 a month`. */
export function priceText(page: Localized, cost: Extract<Cost, { kind: 'amount' }>): string {
  const amount = moneyFormat(page, cost.currency, 2).format(cost.amount)
  const say = sayIn(page)
  if (cost.per === 'once') return say`${amount} once`
  return cost.per === 'week' ? say`${amount} a week` : say`${amount} a month`
}

/** The twelve months' names in order. */
export function monthNames(page: Localized): readonly string[] {
  const format = dateFormat(tagOf(page), { month: 'long', timeZone: 'UTC' })
  return Array.from({ length: 12 }, (_, month) => format.format(new Date(Date.UTC(2000, month, 1))))
}

/** A phone number as people in the United States write it if it has ten digits, else unchanged. */
export function phoneText(digits: string): string {
  const parts = /^1?(\d{3})(\d{3})(\d{4})$/.exec(digits)
  return parts ? `(${parts[1]}) ${parts[2]}-${parts[3]}` : digits
}

/** A ZIP code with its hyphen. */
export function zipText(digits: string): string {
  return digits.length === 9 ? `${digits.slice(0, 5)}-${digits.slice(5)}` : digits
}

/** The name in Intl at that instant, because a zone may have had another name in the past. */
function zoneName(page: Localized, timeZone: string, at: number): string {
  const format = dateFormat(tagOf(page), { timeZone, timeZoneName: 'longGeneric' })
  return format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
}

/** By the zone, or the English name in Intl; people in the United States do not use its Spanish names, such as "hora oriental". */
const zoneNames: Readonly<Record<string, Partial<Record<Language, string>>>> = {
  'Eastern Time': { en: 'Eastern time', es: 'hora del Este' },
  'Central Time': { en: 'Central time', es: 'hora del Centro' },
  'Mountain Time': { en: 'Mountain time', es: 'hora de la Montaña' },
  'Pacific Time': { en: 'Pacific time', es: 'hora del Pacífico' },
  'Alaska Time': { en: 'Alaska time', es: 'hora de Alaska' },
  'America/Phoenix': { en: 'Arizona time', es: 'hora de Arizona' },
  'America/Puerto_Rico': { en: 'Puerto Rico time', es: 'hora de Puerto Rico' },
  'Hawaii-Aleutian Standard Time': { en: 'Hawaii time', es: 'hora de Hawái' },
  'Atlantic Time': { en: 'Atlantic time', es: 'hora del Atlántico' },
  'Chamorro Standard Time': { en: 'Guam time', es: 'hora de Guam' },
  'American Samoa Standard Time': { en: 'Samoa time', es: 'hora de Samoa' },
  'Samoa Standard Time': { en: 'Samoa time', es: 'hora de Samoa' },
}

/** For formats as people of this language write them in the United States. */
function tagOf({ locale }: Localized): string {
  return `${locale}-US`
}

function timeText(
  { locale, zone }: Pick<Page, 'locale' | 'zone'>,
  year: 'numeric' | undefined,
  at: number,
): string {
  const day = { year, month: 'long', day: 'numeric', timeZone: zone } as const
  const format = dateFormat(tagOf({ locale }), { ...day, hour: 'numeric', minute: '2-digit' })
  // Intl writes "a las" before every hour, but one o'clock is singular in Spanish.
  return format.format(new Date(at)).replace(/ a las (?=1:)/, ' a la ')
}

function dayAndTime({ zone }: Page, at: number): string {
  return dateFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(new Date(at))
}

function dateFormat(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return remember(Intl.DateTimeFormat, language, options)
}

/** Making a formatter costs a hundred times as much as using one, and there are few zones and currencies. */
const made = new Map<string, unknown>()

function remember<Format, Options>(
  kind: new (language: string, options: Options) => Format,
  language: string,
  options: Options,
): Format {
  const key = JSON.stringify([kind.name, language, options])
  const format = made.get(key) ?? new kind(language, options)
  made.set(key, format)
  return format as Format
}

/** What a benefit pays, in words. */
export function worthText(page: Localized, worth: Worth): string {
  const say = sayIn(page)
  const amount = moneyText(page, worth)
  if (worth.per === 'day') return say`Pays ${amount} a day`
  if (worth.per === 'week') return say`Pays ${amount} a week`
  return worth.per ? say`Pays ${amount} a month` : say`Pays up to ${amount}`
}

/** The order in which sums are listed by time span; the page's script uses the same order. */
const SPANS = ['month', 'week', 'once'] as const

/** A sum of prices with the same time span that are collected in the same way. */
type PriceGroup = Extract<Cost, { kind: 'amount' }>

/**
 * What these benefits cost together, in whole sentences: first the sum for each time span if it is collected in several
 * ways, then each way. One word when all are free.
 */
export function priceLines(page: Localized, costs: readonly Cost[]): readonly string[] {
  const say = sayIn(page)

  const groups = groupsOf(costs)
  if (groups.length === 0) return [say`Free`]
  const lines = groups.map(group => `${sentenceOf(page, group)}.`)
  return groups.length === 1 ? lines : [`${say`You pay ${totalText(page, costs)}`}.`, ...lines]
}

/**
 * The total for a person, in whole sentences. Benefits that a pending change takes away do not count, because nobody
 * pays for them and their replacements at the same time; if a change is planned, the last sentence says that the total
 * is the one after it.
 */
export function totalLines(page: Localized, lines: readonly BenefitLine[]): readonly string[] {
  const say = sayIn(page)
  const costs = lines.flatMap(({ pending, cost }) => (cost && pending !== 'goes' ? [cost] : []))
  const isPending = lines.some(({ pending }) => pending !== undefined)
  const pending = isPending
    ? [say`This is what you pay once the changes that you have planned have taken effect.`]
    : []
  return [...priceLines(page, costs), ...waitingPrice(page, lines), ...pending]
}

/** Says of a sum that it contains the price of what has not begun and waits for the person: nobody pays for that yet. */
export function waitingPrice(page: Localized, lines: readonly BenefitLine[]): readonly string[] {
  const say = sayIn(page)
  const isPriced = lines.some(
    ({ waits, actionrequired, cost, pending }) =>
      (waits || actionrequired) && cost?.kind === 'amount' && pending !== 'goes',
  )
  return isPriced
    ? [say`This includes benefits that still wait for something from you and have not started.`]
    : []
}

/** What these benefits cost together, such as `$19.00 a month`; one word when all are free. */
export function totalText(page: Localized, costs: readonly Cost[]): string {
  const say = sayIn(page)

  const sums = groupsOf(costs.map(cost => (cost.kind === 'amount' ? withoutTaken(cost) : cost)))
  const inOrder = SPANS.flatMap(span => sums.filter(({ per }) => per === span))
  return (
    inOrder.map(sum => priceText(page, sum)).reduce((all, one) => (all ? say`${all} and ${one}` : one), '') ||
    say`Free`
  )
}

function sentenceOf(page: Localized, group: PriceGroup): string {
  const say = sayIn(page)

  const price = priceText(page, group)
  return group.taken
    ? say`You pay ${price}, taken ${group.taken.how} by ${group.taken.by}`
    : say`You pay ${price}`
}

function groupsOf(costs: readonly Cost[]): readonly PriceGroup[] {
  const groups = new Map<string, PriceGroup>()
  for (const cost of costs) {
    if (cost.kind === 'nothing') continue
    const key = JSON.stringify([cost.per, cost.currency, cost.taken?.by, cost.taken?.how])
    const cents = Math.round((groups.get(key)?.amount ?? 0) * 100) + Math.round(cost.amount * 100)
    groups.set(key, { ...cost, amount: cents / 100 })
  }
  return [...groups.values()]
}

function withoutTaken({ taken: _, ...cost }: PriceGroup): PriceGroup {
  return cost
}
