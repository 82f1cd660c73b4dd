/** What operators say about feeds: the content of a published file (docs/feeds.md). */
import type { ValueOf } from '../catalogue/schema-parts.ts'
import type { FEED_SCHEMA, feed } from './schema.ts'

/** The values that a column of a feed can hold, besides `moredetails.NAME`. */
export const LINE_VALUES = [
  ...['action', 'reason', 'line', 'run', 'serviceid', 'userid', 'memberid'],
  ...['firstname', 'lastname', 'dob', 'gender', 'email', 'phone'],
  ...['addline1', 'addline2', 'addline3', 'city', 'state', 'zipcode'],
  ...['benefit', 'policy', 'plancode', 'offer', 'amountcents', 'costcents', 'premiumcents'],
  ...['startson', 'endson', 'effectiveon', 'partnerid', 'partnername'],
  ...['who', 'dependantid', 'tier'],
] as const

/** The name of a value, such as `lastname` or `moredetails.costcenter`. */
export type ValueName = string

/** The values of one line as they are, before any form or code; a missing one is `''`. */
export type LineValues = Readonly<Record<ValueName, string>>

/** One version of all feeds, as it is stored forever. */
export type FeedDocument = ValueOf<typeof FEED_SCHEMA>

/** One feed: which benefits an insurer is told about, when, and in which form. */
export type Feed = ValueOf<typeof feed>

/** One column: a value or a fixed text. `codes` replaces values by the insurer's own, `form` writes a date. */
export type Column = NonNullable<Feed['columns']>[number]

/** When a feed runs: on days of the week, or on a day of the month, at a time of day in a zone. */
export type Every = NonNullable<Feed['every']>

/** The parties of an X12 834 file, the insurance line of each benefit, and the coverage level of each tier. */
export type X12Form = NonNullable<Feed['x12834']>

/** How a CSV file looks; what is absent is as `CSV_DEFAULTS` says. */
export type CsvForm = Required<NonNullable<Feed['csv']>>

/** How a CSV file looks unless its feed says otherwise. */
export const CSV_DEFAULTS: CsvForm = {
  header: true,
  delimiter: ',',
  quote: 'needed',
  dates: 'YYYY-MM-DD',
  encoding: 'utf-8',
  trailer: false,
}

/** Whether a form of dates has year, month and day, so that a date can be read from it. */
export function isWholeDate(form: string): boolean {
  return ['YY', 'MM', 'DD'].every(part => form.includes(part))
}

/** The character between two cells of a feed's files. */
export function delimiterOf({ csv }: Feed): string {
  const { delimiter } = { ...CSV_DEFAULTS, ...csv }
  return delimiter === 'tab' ? '\t' : delimiter
}

/** The values that an 834 file is written from. */
const X12_VALUES: readonly ValueName[] = [
  ...[
    'memberid',
    'firstname',
    'lastname',
    'dob',
    'gender',
    'email',
    'phone',
    'addline1',
    'addline2',
    'city',
    'state',
  ],
  ...['zipcode', 'policy', 'plancode'],
]

/** The values that every line keeps, whatever its file shows of them. */
const KEPT_VALUES: readonly ValueName[] = [
  ...['action', 'reason', 'line', 'run', 'serviceid', 'benefit', 'startson', 'endson', 'effectiveon'],
]

/** What an 834 file says besides of benefits with tiers. */
const X12_FAMILY_VALUES: readonly ValueName[] = ['who', 'dependantid', 'tier']

/** The values that the lines of a feed hold. */
export function valuesOf({ format, columns = [], x12834 }: Feed): ValueName[] {
  const shown =
    format === 'x12834'
      ? [...X12_VALUES, ...(x12834?.tiers ? X12_FAMILY_VALUES : [])]
      : columns.flatMap(({ value }) => (value === undefined ? [] : [value]))
  return [...new Set([...KEPT_VALUES, ...shown])]
}

/** The values that differ by who is covered: the member's line alone tells when they become others. */
export const TIER_VALUES: readonly ValueName[] = ['tier', 'amountcents', 'costcents', 'premiumcents']

/** The values whose change is told by a line `change`: all but what the line itself, its dates or the insurer gave. */
export function isDetail(value: ValueName): boolean {
  return !KEPT_VALUES.includes(value) && value !== 'memberid' && value !== 'dependantid'
}
