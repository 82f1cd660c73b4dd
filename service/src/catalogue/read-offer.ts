import { isRealDate, type PlainDate } from '../calendar/calendar.ts'
import type { Cursor } from './cursor.ts'
import { MAX_BENEFITS } from './limits.ts'
import type { Offer } from './model.ts'
import { readOfferRules } from './read-rules.ts'
import { type Mention, readBilingual, readName, readNames } from './read-values.ts'

const DEFAULT_CUTOFF_HOURS = 24
const MAX_CUTOFF_HOURS = 14 * 24

/** A benefit that an offer names, and in which of its lists. */
export type Ingredient = Mention & { readonly offer: string; readonly list: 'fixed' | 'selectable' }

/** The offer described here; the benefits that it names are added to `ingredients`. */
export function readOffer(at: Cursor, ingredients: Ingredient[]): Offer {
  const fields = at.fields(REQUIRED, ['period', 'cutoffhours', 'availability', 'rules'])
  const offer = readName(fields.offer)
  const fixed = readNames(fields.fixed, MAX_BENEFITS)
  const selectable = readNames(fields.selectable, MAX_BENEFITS)
  refuseOverlap(fixed, selectable)
  if (fields.fixed.isEmpty && fields.selectable.isEmpty)
    at.refuse('has no benefits; name some in fixed or selectable')
  ingredients.push(...fixed.map(mention => ({ ...mention, offer, list: 'fixed' as const })))
  ingredients.push(...selectable.map(mention => ({ ...mention, offer, list: 'selectable' as const })))
  return {
    offer,
    displayname: readBilingual(fields.displayname, 80),
    description: readBilingual(fields.description, 500),
    rank: fields.rank.integer(1, 1000) ?? 0,
    fixed: fixed.map(mention => mention.name),
    selectable: selectable.map(mention => mention.name),
    slots: readSlots(fields.slots, selectable.length),
    period: fields.period?.oneOf(['calendarmonth']) ?? 'calendarmonth',
    cutoffhours: fields.cutoffhours?.integer(0, MAX_CUTOFF_HOURS) ?? DEFAULT_CUTOFF_HOURS,
    ...(fields.availability && { availability: readAvailability(fields.availability) }),
    rules: readOfferRules(fields.rules),
  }
}

const REQUIRED = {
  offer: 'a short code such as starter',
  displayname: 'the name people see, in en and es',
  description: 'one or two sentences, in en and es',
  rank: 'a whole number; an upgrade goes to a higher one',
  fixed: 'the benefits that come with the offer, or []',
  selectable: 'the benefits to choose among, or []',
  slots: 'how many of the selectable benefits a person may choose',
}

function refuseOverlap(fixed: readonly Mention[], selectable: readonly Mention[]): void {
  const names = new Set(fixed.map(mention => mention.name))
  for (const { at, name } of selectable)
    if (names.has(name))
      at.refuse(`"${name}" is fixed in this offer too; take it out of one of the two lists`)
}

function readSlots(at: Cursor, selectable: number): number {
  const slots = at.integer(0, MAX_BENEFITS) ?? 0
  if (slots > selectable)
    at.refuse(
      `${slots} slots for ${selectable} selectable benefits; write ${selectable} or less, or add benefits`,
    )
  return slots
}

function readAvailability(at: Cursor): NonNullable<Offer['availability']> {
  const fields = at.fields({}, ['from', 'until'])
  if (!fields.from && !fields.until) at.refuse('says nothing; add from, until or both')
  const from = fields.from && readDate(fields.from)
  const until = fields.until && readDate(fields.until)
  if (from && until && from > until) at.refuse(`from ${from} is after until ${until}; exchange the two`)
  return { ...(from && { from }), ...(until && { until }) }
}

function readDate(at: Cursor): PlainDate | undefined {
  const text = at.textThat(
    isRealDate,
    'is not a date; write one that exists as YYYY-MM-DD, such as 2026-01-31',
  )
  return isRealDate(text) ? text : undefined
}
