import type { Visit } from '../session/visit.ts'
import type { Faults, FieldError, Parsed, WayOut } from '../views/faults.ts'
import type { View } from '../views/layout.ts'
import type { ConsentText, IsoDate } from '../views/parts.ts'

/** The input of a view besides the visit: what was typed or asked for, and what is wrong with it. */
export type Typed = {
  /** The posted form, or the query of a `GET`. */
  readonly form: URLSearchParams
  /** The form, if it was posted: the view then shows what was typed instead of what is stored. */
  readonly posted?: URLSearchParams
  readonly errors?: Faults['errors']
  /** The form that was not taken, because something had changed since its view was made. */
  readonly conflict?: URLSearchParams
}

/** Sends the browser to another path below the page's root. */
export type Redirect = { readonly to: string }

/** The result of a posted form: a redirect, or its own view is shown again with the errors. */
export type Posted =
  | Redirect
  | Faults
  /** The answers were changed elsewhere: the newest are shown. */
  | 'conflict'
  /** The same view again with what was typed, because a button of the form only adds or removes rows. */
  | 'again'
  /** The user no longer exists. */
  | 'gone'

/** The result of asking for a path. */
type Shown = View | Redirect | 'gone'

/** One path of the page. */
export type Step = {
  /** The view of this path, or the path to go to when this person has nothing to do here; `gone`: the session has ended. */
  readonly show: (visit: Visit, typed: Typed) => Shown | Promise<Shown>
  readonly post?: (visit: Visit, form: URLSearchParams) => Posted | Promise<Posted>
}

/** Whether a step sends the browser elsewhere. */
export function isRedirect(shown: Shown): shown is Redirect {
  return typeof shown === 'object' && !('view' in shown)
}

/** Whether a form was made from a view with another tag than this one (`shownTag`); a form without a tag passes. */
export function showedOther(form: URLSearchParams, tag: string): boolean {
  const shown = /^[^-]*-([0-9a-f]+)$/.exec(form.get('draft') ?? '')?.[1]
  return shown !== undefined && shown !== tag
}

/** What was typed in one input, in one Unicode form, without control characters and superfluous spaces. */
export function typed(form: URLSearchParams, input: string): string {
  return (form.get(input) ?? '')
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim()
}

/** Reads the choice among radio buttons; refuses none, and one that is not among `open`, with this error. */
export function parseOneOf<Value extends string>(
  form: URLSearchParams,
  error: FieldError & { readonly input: 'offername' | 'effective' | 'out' | 'in' },
  open: readonly Value[],
): Parsed<Value> {
  const posted = form.get(error.input)
  return open.find(value => value === posted) ?? { errors: [error] }
}

/**
 * Refuses each consent that was not given to the version now shown, by its title if there are several; `undefined` when
 * all were. `act`: what the button of the form does, which the refusal names; `wayOut`: what the person can do instead of
 * giving a consent, if anything.
 */
export function checkConsents(
  form: URLSearchParams,
  wanted: readonly Pick<ConsentText, 'name' | 'version' | 'title'>[],
  act: 'enroll' | 'confirm',
  wayOut: (consent: string) => WayOut | undefined = () => undefined,
): Faults | undefined {
  const missing = wanted.filter(({ name, version }) => form.get(`consent.${name}`) !== version)
  const code = act === 'enroll' ? 'consent_missing' : 'consent_unconfirmed'
  const errors = missing.map(({ name, title }): FieldError => {
    const wayout = wayOut(name)
    const error: FieldError = { input: `consent.${name}`, code, ...(wayout && { wayout }) }
    return wanted.length > 1 ? { ...error, about: title } : error
  })
  return errors.length > 0 ? { errors } : undefined
}

/**
 * Reads month, day and year of a birth date: digits only, a real day from 1900 to `today`. A real day before or after these
 * is refused as such; a year of two digits is no real day.
 */
export function parseBirthDate(form: URLSearchParams, today: IsoDate): Parsed<{ readonly dob: IsoDate }> {
  const [month, day, year] = ['dobmonth', 'dobday', 'dobyear'].map(name => digitsOnly(typed(form, name)))
  const inputs = faultyDateInputs(Number(month), Number(day), Number(year), [month, day, year])
  const dob = `${year?.padStart(4, '0')}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}`
  const [input] = inputs
  if (input) return { errors: [{ input, code: 'dob_invalid' }] }
  if (dob > today) return { errors: [{ input: 'dobyear', code: 'dob_future' }] }
  if (dob >= '1900-01-01') return { dob }
  return { errors: [{ input: 'dobyear', code: year?.length === 4 ? 'dob_early' : 'dob_invalid' }] }
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

function digitsOnly(text: string): string | undefined {
  const plain = text.normalize('NFKC')
  return /^\d{1,4}$/.test(plain) ? plain : undefined
}
