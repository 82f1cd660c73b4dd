import { type Html, html, type Slot } from '../../../http/html.ts'
import { parseBirthDate, typed } from '../../steps/step.ts'
import { birthDate, dateFields } from '../../views/birth-date.ts'
import type { FieldError, Parsed } from '../../views/faults.ts'
import {
  type Answers,
  errorOf,
  fault,
  radio,
  selectField,
  type TextField,
  textField,
} from '../../views/fields.ts'
import type {
  Address,
  CleanDetails,
  Details,
  DetailsGroup,
  EnteredAnswers,
  IsoDate,
} from '../../views/parts.ts'
import { later, type Say, sayIn } from '../../views/say.ts'
import { isState, stateNames } from '../../views/states.ts'
import { genderNames } from '../../views/texts.ts'

/** What is wrong with what was typed. */
type Wrong = Pick<FieldError, 'code' | 'count'>

/** An input: how it looks, what a browser may fill in, and what becomes of what was typed: its value, or what is wrong. */
type Input = Pick<TextField, 'autocomplete' | 'inputmode' | 'type' | 'optional' | 'size'> & {
  readonly group: DetailsGroup
  readonly more?: (say: Say) => Pick<TextField, 'hint' | 'labelinpr'>
  readonly read: (text: string) => string | Wrong
}

/** The inputs in their order. The three of the birth date, which other screens ask too, are in `birth-date.ts`. */
const inputs = {
  firstname: { group: 'name', autocomplete: 'given-name', read: nameOr('firstname_missing') },
  lastname: { group: 'name', autocomplete: 'family-name', read: nameOr('lastname_missing') },
  email: {
    group: 'contact',
    autocomplete: 'email',
    inputmode: 'email',
    type: 'email',
    more: say => ({ hint: say`We keep it with your enrollment. We do not send email.` }),
    read: text => (isEmail(text) ? text : { code: 'email_invalid' }),
  },
  phone: {
    group: 'contact',
    autocomplete: 'tel-national',
    inputmode: 'tel',
    optional: true,
    size: 'middle',
    read: text => phoneDigits(text) ?? { code: 'phone_invalid' },
  },
  addline1: { group: 'address', autocomplete: 'address-line1', optional: true, read: upTo(100) },
  addline2: { group: 'address', autocomplete: 'address-line2', optional: true, read: upTo(100) },
  addline3: {
    group: 'address',
    autocomplete: 'address-line3',
    optional: true,
    more: say => ({ labelinpr: say`Urbanization` }),
    read: upTo(100),
  },
  city: { group: 'address', autocomplete: 'address-level2', optional: true, read: upTo(60) },
  state: {
    group: 'address',
    autocomplete: 'address-level1',
    size: 'middle',
    read: text => (isState(text.toUpperCase()) ? text.toUpperCase() : { code: 'state_missing' }),
  },
  zipcode: {
    group: 'address',
    autocomplete: 'postal-code',
    inputmode: 'numeric',
    size: 'short',
    read: text => zipDigits(text) ?? { code: 'zipcode_invalid' },
  },
  gender: {
    group: 'gender',
    read: text => (text === '' || genders.includes(text) ? text : { code: 'gender_unknown' }),
  },
} as const satisfies Readonly<Record<string, Input>>

type InputName = keyof typeof inputs
const genders = Object.keys(genderNames)
const listed = Object.entries<Input>(inputs) as readonly (readonly [InputName, Input])[]

/** Reads one group of details. `today` is the day in the partner's zone; a birth date after it is refused. */
export function parseDetails(
  group: DetailsGroup,
  form: URLSearchParams,
  today: IsoDate,
): Parsed<CleanDetails> {
  if (group === 'dob') return parseBirthDate(form, today)
  const errors: FieldError[] = []
  const values: [InputName, string][] = []
  for (const [input, { read }] of listed.filter(([, one]) => one.group === group)) {
    const value = read(typed(form, input))
    if (typeof value === 'string') values.push([input, value])
    else errors.push({ input, ...value })
  }
  if (errors.length > 0) return { errors }
  if (group !== 'address') return Object.fromEntries(values)
  const address = Object.fromEntries(values) as Address
  return { zipcode: address.zipcode, address }
}

/** Details as the inputs show them before anything is typed. */
export function keptDetails({ address, dob, ...others }: Details): EnteredAnswers {
  const known: Partial<Record<InputName, string>> = { ...address, ...others }
  return { ...Object.fromEntries(listed.map(([input]) => [input, known[input] ?? ''])), ...dateFields(dob) }
}

/** The inputs of one group, with the hint above them if they have one. */
export function drawInputs(group: DetailsGroup, answers: Answers): Slot {
  if (group === 'dob') return birthDate(answers, { asHeading: true })
  const say = sayIn(answers.page)

  const hint =
    group === 'name'
      ? say`As on your ID.`
      : group === 'address' && say`State and ZIP code help decide what you can have.`
  return [
    hint && html`<p class="hint">${hint}</p>`,
    listed.flatMap(([input, row]) => (row.group === group ? drawInput(answers, input, row) : [])),
  ]
}

function drawInput(answers: Answers, input: InputName, { more, ...row }: Input): Html {
  if (input === 'gender') return genderChoice(answers)
  const say = sayIn(answers.page)
  const field = { ...row, ...more?.(say), input, label: say(labels[input]) }
  if (input !== 'state') return textField(answers, field)
  return selectField(answers, field, { empty: say`Choose a state`, list: stateNames(answers.page) })
}

function genderChoice(answers: Answers): Html {
  const say = sayIn(answers.page)
  const error = errorOf(answers, 'gender')
  const chosen = answers.kept?.['gender']
  // Words of other people's files, which say no more than the others: shown only to whom they were sent for.
  const choices = Object.entries(genderNames).filter(
    ([code]) => !['N', 'O'].includes(code) || code === chosen,
  )
  return html`<fieldset class="field${error && ' wrong'}" aria-describedby="gender-hint${error && ' gender-error'}">
<legend class="unseen">${say`Gender`}</legend>
<p class="hint" id="gender-hint">${say`You do not have to answer. It does not change what you pay.`}</p>
${fault(answers, 'gender', error)}
${choices.map(([value, label], at) => radio('gender', { value, label: say(label) }, { at, chosen }))}
</fieldset>`
}

function nameOr(missing: FieldError['code']) {
  return (text: string): string | Wrong => {
    if (text === '') return { code: missing }
    return text.length > 100 ? { code: 'name_long' } : text
  }
}

function upTo(limit: number) {
  return (text: string): string | Wrong => (text.length > limit ? { code: 'line_long', count: limit } : text)
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

const labels: Readonly<Record<Exclude<InputName, 'gender'>, string>> = {
  firstname: later`First name`,
  lastname: later`Last name`,
  email: later`Email`,
  phone: later`Phone`,
  addline1: later`Street address`,
  addline2: later`Apartment, unit or floor`,
  addline3: later`Other address details`,
  city: later`City`,
  state: later`State`,
  zipcode: later`ZIP code`,
}
