import { DateTime } from 'luxon'
import { lifeCatalogue } from './catalogue.ts'

// What the life catalogue's rules say about a person, and the dates of a zone, computed without the service's own code.

/** The data of a person that the life catalogue's rules use. */
export type Person = { readonly zone: string; readonly state: string; readonly dob: string }

const benefits = new Map(lifeCatalogue.benefits.map(benefit => [benefit.name, benefit]))
const offers = new Map(lifeCatalogue.offers.map(offer => [offer.offer, offer]))

/** An offer of the life catalogue. Throws for any other name. */
export function offerOf(name: string) {
  const offer = offers.get(name)
  if (!offer) throw new Error(`no offer ${name}`)
  return offer
}

/** Whether the catalogue knows the benefit. */
export function isKnown(b: string): boolean {
  return benefits.has(b)
}

/** Whether the offer admits the person. */
export function takes(offer: string, person: Person): boolean {
  return !offerOf(offer).notin?.includes(person.state)
}

/** Whether the benefit may be picked in the offer, regardless of the person. */
export function goesWith(b: string, offer: string): boolean {
  return offerOf(offer).selectable.includes(b) && isFor(b, offer)
}

/** Whether the benefit waits for a consent. */
export function asksConsent(b: string): boolean {
  return benefits.get(b)?.consent !== undefined
}

/** Whether the benefit's own rules admit the person under the offer from `t` on. */
export function admits(offer: string, b: string, person: Person, t: number): boolean {
  const { notin, maxAge } = benefits.get(b) ?? {}
  if (!isFor(b, offer) || notin?.includes(person.state)) return false
  return maxAge === undefined || ageAt(person, t) <= maxAge
}

/** The end that a benefit held from `t` on has because of the person's age, if any. */
export function ageEnd(b: string, person: Person, t: number): number {
  const years = benefits.get(b)?.endsatage
  if (years === undefined) return Number.POSITIVE_INFINITY
  return monthAfter(Math.max(t, born(person).plus({ years }).toMillis()), person.zone)
}

function ageAt(person: Person, t: number): number {
  return Math.floor(local(person.zone, t).startOf('day').diff(born(person), 'years').years)
}

// Cached, because the same instant is asked for repeatedly: the clock of a life stands still during a step.
const monthsAfter = new Map<string, number>()

/** The first instant of the month after the one of `t`. */
export function monthAfter(t: number, zone: string): number {
  const key = `${zone} ${t}`
  const known = monthsAfter.get(key)
  if (known !== undefined) return known
  const next = local(zone, t).startOf('month').plus({ months: 1 }).toMillis()
  monthsAfter.set(key, next)
  return next
}

/** The first instant of the date `days` after the one of `t`. */
export function dayAhead(t: number, days: number, zone: string): number {
  return local(zone, t).startOf('day').plus({ days }).toMillis()
}

/**
 * Until when a cancel that took effect at `t` can be undone: as late on the 30th day after as it was on its own day.
 */
export function reinstatableUntil(t: number, zone: string): number {
  const [last, after] = [dayAhead(t, 30, zone), dayAhead(t, 31, zone)]
  return Math.min(last + t - dayAhead(t, 0, zone), after)
}

function isFor(b: string, offer: string): boolean {
  return benefits.get(b)?.offers?.includes(offer) ?? true
}
function local(zone: string, t: number) {
  return DateTime.fromMillis(t, { zone })
}
function born({ dob, zone }: Person) {
  return DateTime.fromISO(dob, { zone })
}
