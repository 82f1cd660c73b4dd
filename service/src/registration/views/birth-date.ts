import { type Html, html } from '../../http/html.ts'
import { type Answers, fault, inputId, invalid, option } from './fields.ts'
import { monthNames } from './format.ts'
import { sayIn } from './say.ts'

/** Month, day and year in one group, so that nobody has to guess the order of digits in a date. */
export function birthDate(answers: Answers, options: { readonly asHeading: boolean }): Html {
  const { errors = [], page } = answers
  const say = sayIn(page)

  const error = errors.find(({ input }) => input.startsWith('dob'))
  return html`<fieldset class="field date${error && ' wrong'}" aria-describedby="dob-hint${error && ' dob-error'}">
<legend class="${options.asHeading ? 'unseen' : 'label'}">${say`Date of birth`}</legend>
<p class="hint" id="dob-hint">${say`For example, March 27, 1990`}</p>
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
  const say = sayIn(page)
  const month = nameOf('month')
  const help = (part: string) => (month === 'dobmonth' ? `bday-${part}` : 'off')
  const number = (part: 'day' | 'year') => {
    const input = nameOf(part)
    return html`<div><label for="${inputId(input)}">${part === 'day' ? say`Day` : say`Year`}</label><input id="${inputId(input)}" name="${input}"
type="text" inputmode="numeric" autocomplete="${help(part)}" value="${kept[input] ?? ''}"${
      isWrong(input) && invalid
    }></div>`
  }
  return html`<div class="parts"><div class="month"><label for="${inputId(month)}">${say`Month`}</label><select
id="${inputId(month)}" name="${month}" autocomplete="${help('month')}"${isWrong(month) && invalid}>
<option value="">${say`Choose`}</option>
${monthNames(page).map((name, at) => option(String(at + 1), name, kept[month] ?? ''))}
</select></div>${number('day')}${number('year')}</div>`
}

/** Month, day and year of a date as the inputs show them; empty without a date. */
export function dateFields(date = ''): { dobmonth: string; dobday: string; dobyear: string } {
  const [year = '', month, day] = date.split('-')
  return { dobmonth: String(Number(month) || ''), dobday: String(Number(day) || ''), dobyear: year }
}
