import { DateTime } from 'luxon'
import { lifeCatalogue } from './catalogue.ts'

// What the life catalogue says of a person, and the dates of a zone; told without the service's own code.

/** What the rules of the life catalogue ask for. */
export type Person = { readonly zone: string; readonly state: string; readonly dob: string }

const benefits = new Map(lifeCatalogue.benefits.map(benefit => [benefit.name, benefit]))
const offers = new Map(lifeCatalogue.offers.map(offer => [offer.offer, offer]))

/** An offer of the life catalogue. Throws for any other name. */
export const offerOf = (name: string) => {
  const offer = offers.get(name)
  if (!offer) throw new Error(`no offer ${name}`)
  return offer
}

/** Whether the offer takes the person. */
export const takes = (offer: string, person: Person): boolean => !offerOf(offer).notin?.includes(person.state)

/** Whether the benefit may be picked in the offer, whoever the person is. */
export const goesWith = (b: string, offer: string): boolean =>
  offerOf(offer).selectable.includes(b) && isFor(b, offer)

/** Whether the benefit waits for a consent. */
export const asksConsent = (b: string): boolean => benefits.get(b)?.consent !== undefined

/** Whether the person is admitted to the benefit under the offer from `t` on. */
export const admits = (offer: string, b: string, person: Person, t: number): boolean => {
  const { notin, maxAge } = benefits.get(b) ?? {}
  if (!takes(offer, person) || !isFor(b, offer) || notin?.includes(person.state)) return false
  return maxAge === undefined || ageAt(person, t) <= maxAge
}

/** The end that a benefit held from `t` on has because of the person's age, if any. */
export const ageEnd = (b: string, person: Person, t: number): number => {
  const years = benefits.get(b)?.endsatage
  if (years === undefined) return Number.POSITIVE_INFINITY
  return monthAfter(Math.max(t, born(person).plus({ years }).toMillis()), person.zone)
}

const ageAt = (person: Person, t: number): number =>
  Math.floor(local(person.zone, t).startOf('day').diff(born(person), 'years').years)

// Asked again and again for one instant, as the clock of a life stands still during a step.
const monthsAfter = new Map<string, number>()

/** The first instant of the month after the one of `t`. */
export const monthAfter = (t: number, zone: string): number => {
  const key = `${zone} ${t}`
  const known = monthsAfter.get(key)
  if (known !== undefined) return known
  const next = local(zone, t).startOf('month').plus({ months: 1 }).toMillis()
  monthsAfter.set(key, next)
  return next
}

/** The first instant of the date `days` after the one of `t`. */
export const dayAhead = (t: number, days: number, zone: string): number =>
  local(zone, t).startOf('day').plus({ days }).toMillis()

/** Until when a cancel that took effect at `t` can be undone: as far into the 30th day after as it was into its own. */
export const reinstatableUntil = (t: number, zone: string): number => {
  const [last, after] = [dayAhead(t, 30, zone), dayAhead(t, 31, zone)]
  return Math.min(last + t - dayAhead(t, 0, zone), after)
}

const isFor = (b: string, offer: string): boolean => benefits.get(b)?.offers?.includes(offer) ?? true
const local = (zone: string, t: number) => DateTime.fromMillis(t, { zone })
const born = ({ dob, zone }: Person) => DateTime.fromISO(dob, { zone })
