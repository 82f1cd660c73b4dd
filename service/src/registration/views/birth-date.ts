import { type Html, html } from '../../http/html.ts'
import type { Parsed } from './faults.ts'
import { type Answers, fault, inputId, invalid, option, typed } from './fields.ts'
import { monthNames } from './format.ts'
import type { IsoDate } from './parts.ts'
import { textsOf } from './texts.ts'

/** Month, day and year in one group, so that nobody has to guess the order of digits in a date. */
export function birthDate(answers: Answers, options: { readonly asHeading: boolean }): Html {
  const { errors = [], page } = answers
  const texts = textsOf(page)
  const error = errors.find(({ input }) => input.startsWith('dob'))
  return html`<fieldset class="field date${error && ' wrong'}" aria-describedby="dob-hint${error && ' dob-error'}">
<legend class="${options.asHeading ? 'unseen' : 'label'}">${texts.group.dob}</legend>
<p class="hint" id="dob-hint">${texts.details.dobhint}</p>
${fault(answers, 'dob', error)}
${dateInputs(
  answers,
  part => `dob${part}`,
  input => errors.some(found => found.input === input),
)}
</fieldset>`
}

/** Month, day and year beside each other, each under its own name. A browser fills them in only for the person. */
export function dateInputs(
  { page, kept = {} }: Answers,
  nameOf: (part: 'month' | 'day' | 'year') => string,
  isWrong: (input: string) => boolean,
): Html {
  const words = textsOf(page).details
  const month = nameOf('month')
  const help = (part: string) => (month === 'dobmonth' ? `bday-${part}` : 'off')
  const number = (part: 'day' | 'year') => {
    const input = nameOf(part)
    return html`<div><label for="${inputId(input)}">${words[part]}</label><input id="${inputId(input)}" name="${input}"
type="text" inputmode="numeric" autocomplete="${help(part)}" value="${kept[input] ?? ''}"${
      isWrong(input) && invalid
    }></div>`
  }
  return html`<div class="parts"><div class="month"><label for="${inputId(month)}">${words.month}</label><select
id="${inputId(month)}" name="${month}" autocomplete="${help('month')}"${isWrong(month) && invalid}>
<option value="">${words.choosemonth}</option>
${monthNames(page).map((name, at) => option(String(at + 1), name, kept[month] ?? ''))}
</select></div>${number('day')}${number('year')}</div>`
}

/** Month, day and year of a date as the inputs show them; empty without a date. */
export function dateFields(date = ''): { dobmonth: string; dobday: string; dobyear: string } {
  const [year = '', month, day] = date.split('-')
  return { dobmonth: String(Number(month) || ''), dobday: String(Number(day) || ''), dobyear: year }
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
