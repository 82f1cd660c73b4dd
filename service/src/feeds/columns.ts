import { type Column, CSV_DEFAULTS, type Feed, type LineValues } from './feed.ts'

const dateValues = new Set(['dob', 'startson', 'endson', 'effectiveon'])

/** What the columns of a feed hold in one line: dates in their form, values by their codes. */
export function cellsOf({ columns = [], csv }: Feed, values: LineValues): string[] {
  return columns.map(column => cellOf(column, values, csv?.dates ?? CSV_DEFAULTS.dates))
}

function cellOf({ value, text = '', form, codes }: Column, values: LineValues, dates: string): string {
  if (value === undefined) return text
  const raw = values[value] ?? ''
  const code = codes && Object.hasOwn(codes, raw) ? codes[raw] : undefined
  if (code !== undefined) return code
  return dateValues.has(value) ? dateIn(raw, form ?? dates) : raw
}

/** A date, written `YYYY-MM-DD`, in another form; a missing one stays empty. */
export function dateIn(date: string, form: string): string {
  if (date === '') return ''
  const [year = '', month = '', day = ''] = date.split('-')
  return form.replace(/YYYY|YY|MM|DD/g, part =>
    part === 'YYYY' ? year : part === 'YY' ? year.slice(2) : part === 'MM' ? month : day,
  )
}
