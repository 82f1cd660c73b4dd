import type { Faults, FieldError, InputName } from './faults.ts'
import type { Day, Details, DetailsGroup, EnteredAnswers } from './parts.ts'
import { isState } from './states.ts'

/** The result of reading a posted form: validated values, or what is wrong with it. */
export type Parsed<Values> = Values | Faults

/** Validated details in the fields of the prefill; `''` clears an optional one. */
export type CleanDetails = Details & { readonly zipcode?: string }

/** Reads one group of details. `today` is the day in the partner's zone; a birth date after it is refused. */
export function parseDetails(group: DetailsGroup, form: URLSearchParams, today: Day): Parsed<CleanDetails> {
  return parsers[group](form, today)
}

/**
 * Reads month, day and year of a birth date: digits only, a real day from 1900 to `today`. A real day before or after these
 * is refused as such; a year of two digits is no real day.
 */
export function parseBirthDate(form: URLSearchParams, today: Day): Parsed<{ readonly dob: Day }> {
  const [month, day, year] = ['dobmonth', 'dobday', 'dobyear'].map(name => digitsOnly(typed(form, name)))
  const inputs = faultyDateInputs(Number(month), Number(day), Number(year), [month, day, year])
  const dob = `${year?.padStart(4, '0')}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}`
  const [input] = inputs
  if (input) return { errors: [{ input, code: 'dob_invalid' }] }
  if (dob > today) return { errors: [{ input: 'dobyear', code: 'dob_future' }] }
  if (dob >= '1900-01-01') return { dob }
  return { errors: [{ input: 'dobyear', code: year?.length === 4 ? 'dob_early' : 'dob_invalid' }] }
}

/** Details as the inputs show them before anything is typed. */
export function keptDetails(details: Details): EnteredAnswers {
  const { address } = details
  return {
    firstname: details.firstname ?? '',
    lastname: details.lastname ?? '',
    email: details.email ?? '',
    phone: details.phone ?? '',
    gender: details.gender ?? '',
    ...dateFields(details.dob),
    addline1: address?.addline1 ?? '',
    addline2: address?.addline2 ?? '',
    addline3: address?.addline3 ?? '',
    city: address?.city ?? '',
    state: address?.state ?? '',
    zipcode: address?.zipcode ?? '',
  }
}

/** Month, day and year of a date as the inputs show them; empty without a date. */
export function dateFields(date = ''): { dobmonth: string; dobday: string; dobyear: string } {
  const [year = '', month, day] = date.split('-')
  return { dobmonth: String(Number(month) || ''), dobday: String(Number(day) || ''), dobyear: year }
}

const parsers: Readonly<Record<DetailsGroup, (form: URLSearchParams, today: Day) => Parsed<CleanDetails>>> = {
  name: parseName,
  dob: parseBirthDate,
  contact: parseContact,
  address: parseAddress,
  gender: parseGender,
}

function parseName(form: URLSearchParams): Parsed<CleanDetails> {
  const firstname = typed(form, 'firstname')
  const lastname = typed(form, 'lastname')
  const errors = [...nameFaults('firstname', firstname), ...nameFaults('lastname', lastname)]
  return result({ firstname, lastname }, errors)
}

function nameFaults(input: 'firstname' | 'lastname', name: string): readonly FieldError[] {
  if (name === '') return [{ input, code: `${input}_missing` }]
  return name.length > 100 ? [{ input, code: 'name_long' }] : []
}

function parseContact(form: URLSearchParams): Parsed<CleanDetails> {
  const email = typed(form, 'email')
  const written = typed(form, 'phone')
  const phone = phoneDigits(written)
  const errors: FieldError[] = []
  if (!isEmail(email)) errors.push({ input: 'email', code: 'email_invalid' })
  if (phone === undefined) errors.push({ input: 'phone', code: 'phone_invalid' })
  return result({ email, phone: phone ?? '' }, errors)
}

function parseAddress(form: URLSearchParams): Parsed<CleanDetails> {
  const addline1 = typed(form, 'addline1')
  const addline2 = typed(form, 'addline2')
  const addline3 = typed(form, 'addline3')
  const city = typed(form, 'city')
  const state = typed(form, 'state').toUpperCase()
  const zipcode = zipDigits(typed(form, 'zipcode'))
  const errors: FieldError[] = [
    ...lineFaults('addline1', addline1, 100),
    ...lineFaults('addline2', addline2, 100),
    ...lineFaults('addline3', addline3, 100),
    ...lineFaults('city', city, 60),
  ]
  if (!isState(state)) errors.push({ input: 'state', code: 'state_missing' })
  if (zipcode === undefined) errors.push({ input: 'zipcode', code: 'zipcode_invalid' })
  const zip = zipcode ?? ''
  return result(
    { zipcode: zip, address: { addline1, addline2, addline3, city, state, zipcode: zip } },
    errors,
  )
}

function lineFaults(input: InputName, line: string, limit: number): readonly FieldError[] {
  return line.length > limit ? [{ input, code: 'line_long', count: limit }] : []
}

function parseGender(form: URLSearchParams): Parsed<CleanDetails> {
  const gender = typed(form, 'gender')
  const known = gender === '' || ['M', 'F', 'X', 'U', 'N', 'O'].includes(gender)
  return result({ gender }, known ? [] : [{ input: 'gender', code: 'gender_unknown' }])
}

function result(values: CleanDetails, errors: readonly FieldError[]): Parsed<CleanDetails> {
  return errors.length === 0 ? values : { errors }
}

/** The inputs of a date that cannot be right; only the year if the parts are possible but the date is not. */
function faultyDateInputs(
  month: number,
  day: number,
  year: number,
  parts: readonly (string | undefined)[],
): readonly ('dobmonth' | 'dobday' | 'dobyear')[] {
  const names = ['dobmonth', 'dobday', 'dobyear'] as const
  const unread = names.filter((_, at) => parts[at] === undefined)
  if (unread.length > 0) return unread
  if (month < 1 || month > 12) return ['dobmonth']
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate()
  return day < 1 || day > days ? ['dobday'] : []
}

function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/u.test(text)
}

/**
 * The digits of a phone number typed with any punctuation, without the country code 1; `undefined` when it is no phone
 * number.
 */
function phoneDigits(text: string): string | undefined {
  if (/\p{L}/u.test(text)) return undefined
  const digits = text.normalize('NFKC').replace(/\D/g, '')
  const national = digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits
  return text === '' || /^\d{10,15}$/.test(national) ? national : undefined
}

function zipDigits(text: string): string | undefined {
  const plain = text.normalize('NFKC')
  return /^\d{5}(?:[ -]?\d{4})?$/.test(plain) ? plain.replace(/\D/g, '') : undefined
}

function digitsOnly(text: string): string | undefined {
  const plain = text.normalize('NFKC')
  return /^\d{1,4}$/.test(plain) ? plain : undefined
}

/** What was typed in one input, in one Unicode form, without control characters and superfluous spaces. */
export function typed(form: URLSearchParams, input: string): string {
  return (form.get(input) ?? '')
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim()
}
