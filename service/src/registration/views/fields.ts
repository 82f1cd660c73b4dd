import { type Html, html, type Slot } from '../../http/html.ts'
import { errorText, type FieldError, type InputName } from './faults.ts'
import { icon } from './icons.ts'
import type { Content, View, ViewName } from './layout.ts'
import type { EnteredAnswers } from './parts.ts'
import { sayIn } from './say.ts'
import type { Page } from './surroundings.ts'

/** What a view needs to draw inputs; at first nothing is wrong, and nothing was typed. */
export type Answers = {
  readonly page: Page
  readonly errors?: readonly FieldError[] | undefined
  readonly kept?: EnteredAnswers | undefined
}

/** A view that asks something: the errors of the answers so far, the heading, and the view's own parts. */
export function question(view: ViewName, answers: Answers, asked: Content): View {
  const content = {
    asks: true,
    ...asked,
    faulty: (answers.errors ?? []).length > 0,
    body: html`${errorSummary(answers, asked.back)}
<h1 tabindex="-1">${asked.title}</h1>
${asked.body}`,
  }
  return { view, page: answers.page, content }
}

/** Radio buttons as a group, with the error of the choice. */
export function oneOf(
  answers: Answers,
  input: InputName,
  {
    legend,
    choices,
    chosen,
  }: {
    readonly legend: Html
    readonly choices: readonly Choice[]
    readonly chosen: string | undefined
  },
): Html {
  const error = errorOf(answers, input)
  return html`<fieldset class="field${error && ' wrong'}"${error && html` aria-describedby="${input}-error"`}>
${legend}
${fault(answers, input, error)}
${choices.map((choice, at) => {
  const button = radio(input, choice, { at, chosen })
  return choice.card
    ? html`<div class="card plan">${button}
<div id="${choiceId(input, choice, at)}-holds">${choice.card}</div></div>`
    : [button, choice.more]
})}
</fieldset>`
}

/** A text input: its name, words and how a browser may help. */
export type TextField = {
  readonly input: InputName
  readonly label: string
  /** `off` when absent. */
  readonly autocomplete?: string
  readonly inputmode?: 'email' | 'tel' | 'numeric'
  readonly type?: 'email'
  readonly hint?: string
  readonly optional?: boolean
  /** The label to use when the chosen state is Puerto Rico; the script switches it when the state changes. */
  readonly labelinpr?: string
  readonly size?: 'short' | 'middle'
}

/** The view's form: it posts to a path below the page's root and carries the draft's version. */
export function form(answers: Answers, path: string, body: Slot): Html {
  const { page } = answers
  return html`<form id="answers" method="post" action="${page.root}/${path}" novalidate>
${draftField(page)}
${body}
</form>`
}

/** Says what a form was made from, so that the service notices a form of another person or of older answers. */
export function draftField(page: Page): Slot {
  return page.draft !== undefined && html`<input type="hidden" name="draft" value="${page.draft}">`
}

/**
 * The list of errors at the top of a view, each a link to its input, or to the view `back` where the error is of the
 * form as a whole; empty when there are none.
 */
function errorSummary(answers: Answers, back: string | undefined): Slot {
  const { errors = [], page } = answers
  if (errors.length === 0) return null
  const say = sayIn(page)
  const address = (input: InputName) =>
    input === 'form' && back !== undefined ? `${page.root}/${back}` : `#${inputId(input)}`
  return html`<section class="notice alert" id="problem" role="alert" tabindex="-1"
aria-labelledby="problem-title">${icon('alert')}<div>
<h2 id="problem-title">${say`There is a problem`}</h2>
<ul>${errors.map(error => html`<li><a href="${address(error.input)}">${errorText(say, error)}</a></li>`)}</ul>
</div></section>`
}

/** A text input with its label, hint and error. */
export function textField(answers: Answers, field: TextField): Html {
  const say = sayIn(answers.page)
  const { input, size } = field
  const id = inputId(input)
  const error = errorOf(answers, input)
  return html`<div class="field${error && ' wrong'}">
<label for="${id}"${
    field.labelinpr && html` data-pr="${field.labelinpr}" data-other="${field.label}"`
  }>${labelOf(answers, field)}${
    field.optional && html` <span class="optional">${say`(optional)`}</span>`
  }</label>
${field.hint && html`<p class="hint" id="${id}-hint">${field.hint}</p>`}
${fault(answers, id, error)}
<input id="${id}" name="${input}" type="${field.type ?? 'text'}" class="${size ?? 'full'}" value="${
    answers.kept?.[input] ?? ''
  }" autocomplete="${field.autocomplete ?? 'off'}"${
    field.inputmode && html` inputmode="${field.inputmode}"`
  }${input === 'email' && html` autocapitalize="none" spellcheck="false"`}${described(
    id,
    field.hint !== undefined,
    error !== undefined,
  )}>
</div>`
}

/** A select with its label, and with an empty first choice if one is given. */
export function selectField(
  answers: Answers,
  field: TextField,
  choices: { readonly empty?: string; readonly list: readonly (readonly [value: string, label: string])[] },
): Html {
  const id = inputId(field.input)
  const error = errorOf(answers, field.input)
  const now = answers.kept?.[field.input] ?? ''
  return html`<div class="field${error && ' wrong'}">
<label for="${id}">${field.label}</label>
${fault(answers, id, error)}
<select id="${id}" name="${field.input}" class="${field.size ?? 'full'}" autocomplete="${
    field.autocomplete ?? 'off'
  }"${described(id, false, error !== undefined)}>
${choices.empty !== undefined && html`<option value="">${choices.empty}</option>`}
${choices.list.map(([value, label]) => option(value, label, now))}
</select>
</div>`
}

/** One of several answers, of which only one can be chosen. */
export type Choice = {
  readonly value: string
  readonly label: Slot
  /** Shown in a box with the button, which it describes. */
  readonly card?: Slot
  /** Shown below the button. */
  readonly more?: Slot
}

/** The radio button of an answer. */
export function radio(
  input: InputName,
  choice: Choice,
  { at, chosen }: { readonly at: number; readonly chosen: string | undefined },
): Html {
  const { value, label, card } = choice
  const id = choiceId(input, choice, at)
  return html`<label class="choice"><input type="radio" id="${id}" name="${input}" value="${value}"${
    value === chosen && html` checked`
  }${card && html` aria-describedby="${id}-holds"`}><span>${label}</span></label>`
}

/** The id of a radio button: of the first one the input's name, to which the link of an error leads. */
function choiceId(input: InputName, { value }: Choice, at: number): string {
  return inputId(at === 0 ? input : `${input}-${value}`)
}

/** The button that leads on. */
export function primary(label: string, sign: Slot = null): Html {
  return html`<p class="actions"><button class="primary">${label}${sign}</button></p>`
}

function labelOf(answers: Answers, field: TextField): string {
  return answers.kept?.['state'] === 'PR' && field.labelinpr ? field.labelinpr : field.label
}

/** The error of an input, if it has one. */
export function errorOf(answers: Answers, input: InputName): FieldError | undefined {
  return answers.errors?.find(error => error.input === input)
}

/** The words of an error beside its input, if it has one. */
export function fault({ page }: Answers, id: string, error: FieldError | undefined): Slot {
  if (!error) return null
  const say = sayIn(page)
  const prefix = html`<span class="unseen">${say`Error: `}</span>`
  return html`<p class="fault" id="${id}-error">${icon('alert')}<span>${prefix}${errorText(say, error)}</span></p>`
}

/** The id of an input: its name, with characters replaced that an address cannot hold. */
export function inputId(input: string): string {
  return input.replace(/[^A-Za-z0-9_-]/g, '-')
}

/** The attribute of an input that is wrong. */
export const invalid = html` aria-invalid="true"`

/** The `aria-describedby` of an input: its hint, its error, or both. */
export function described(id: string, hint: boolean, error: boolean): Slot {
  const ids = [hint && `${id}-hint`, error && `${id}-error`].filter(part => part)
  return [ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`, error && invalid]
}

/** An option of a select, chosen if its value is `now`. */
export function option(value: string, label: string, now: string): Html {
  return html`<option value="${value}"${value === now && html` selected`}>${label}</option>`
}
