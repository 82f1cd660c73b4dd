import { MOST_BENEFICIARIES, relationships } from '@benefit-enrolment/contract'
import { type Html, html } from '../../../http/html.ts'
import type { NamedBeneficiary } from '../../../membership/rules/beneficiaries.ts'
import { dateInputs } from '../../views/birth-date.ts'
import type { Asking } from '../../views/faults.ts'
import {
  type Answers,
  errorOf,
  fault,
  form,
  inputId,
  question,
  selectField,
  textField,
} from '../../views/fields.ts'
import { dayText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import type { Content } from '../../views/layout.ts'
import type { IsoDate } from '../../views/parts.ts'
import { type Say, sayIn } from '../../views/say.ts'
import type { Page, ViewOf } from '../../views/surroundings.ts'
import { relationshipNames } from '../../views/texts.ts'
import { type BeneficiaryField, type BeneficiaryRow, beneficiaryInput } from './rows.ts'

/** The inputs for the beneficiaries of one benefit. */
export type BeneficiariesEditView = ViewOf<'BENEFICIARIES_EDIT'> &
  Asking & {
    readonly name: string
    readonly displayname: string
    readonly rows: readonly BeneficiaryRow[]
    /** The place in line for which a person was just added; that person's heading gets the focus. */
    readonly added?: NamedBeneficiary['kind'] | undefined
    /** Whether the person comes from an agreement, and goes on to its confirmation. */
    readonly isonway: boolean
    /** What was agreed to, for the host of the frame. */
    readonly outcome?: string | undefined
    /** The benefit waits until somebody is named, and is withdrawn on this day. */
    readonly waits?: { readonly dueon: IsoDate | undefined } | undefined
    /** The version of a member's beneficiaries that the form was made from. */
    readonly version: string
  }

/** The beneficiaries for one benefit, each as a group of inputs; buttons add and remove groups without script. */
export function drawBeneficiariesEdit(view: BeneficiariesEditView): Content {
  const { page, name, displayname, rows, isonway, waits, version } = view
  const say = sayIn(page)
  return question(view, {
    title: say`Who receives what ${displayname} pays?`,
    ...(isonway ? {} : { back: 'beneficiaries' }),
    signals: view.outcome === undefined ? {} : { outcome: view.outcome },
    body: html`<p class="lead">${say`A beneficiary receives what a benefit pays after your death. You can change your choice at any time.`}</p>
${waits && html`<p class="withsign warn">${icon('alert')}${waitsText(say, page, waits.dueon)}</p>`}
<p>${say`Name one person or more. Their shares add up to 100%.`}</p>
${form(view, `beneficiaries/${name}`, [
  html`<input type="hidden" name="rows" value="${String(rows.length)}">`,
  html`<input type="hidden" name="version" value="${version}">`,
  isonway && html`<input type="hidden" name="then" value="done">`,
  rows.map((row, at) => [
    isFirstBackup(rows, at) &&
      html`<h2>${say`Backups`}</h2><p>${say`They receive it only if nobody above can. Their shares add up to 100%, too.`}</p>`,
    personFields(view, row, { at: at + 1, ismany: rows.length > 1, isnew: isAdded(view, row, at) }),
  ]),
  rows.length < MOST_BENEFICIARIES &&
    html`<p class="more"><button class="secondary"
name="add" value="primary">${icon('plus')}${say`Add another person`}</button><button class="secondary"
name="add" value="contingent">${icon('plus')}${say`Add a backup`}</button></p>`,
  html`<p class="actions"><button class="primary">${isonway ? say`Continue` : say`Save`}</button>${
    isonway && html`<a class="secondary" href="${page.root}/done?told">${say`Do this later`}</a>`
  }</p>`,
])}`,
  })
}

/** What it means to leave it for later. */
function waitsText(say: Say, page: Page, dueon: IsoDate | undefined): string {
  return dueon
    ? say`Name someone before ${dayText(page, dueon)}, or you will not get this benefit.`
    : say`This benefit does not start before you have named someone.`
}

function isFirstBackup(rows: readonly BeneficiaryRow[], at: number): boolean {
  return rows[at]?.kind === 'contingent' && rows[at - 1]?.kind !== 'contingent'
}

/** Whether this row was just asked for: the last of its kind. */
function isAdded({ added, rows }: BeneficiariesEditView, row: BeneficiaryRow, at: number): boolean {
  return row.kind === added && rows[at + 1]?.kind !== added
}

function personFields(
  whole: Answers,
  row: BeneficiaryRow,
  { at, ismany, isnew }: { readonly at: number; readonly ismany: boolean; readonly isnew: boolean },
): Html {
  const say = sayIn(whole.page)

  const named = (field: BeneficiaryField) => beneficiaryInput(at, field)
  const kept = Object.fromEntries(
    Object.entries(row).map(([field, value]) => [`person${at}.${field}`, value]),
  )
  const answers = { ...whole, kept }
  return html`<fieldset class="person"><legend class="label"${
    isnew && html` tabindex="-1" data-focus`
  }>${say`Person ${at}`}</legend>
<input type="hidden" name="${named('kind')}" value="${row.kind}">
${textField(answers, { input: named('name'), label: say`Full name`, hint: say`You can also name a trust.` })}
${selectField(
  answers,
  { input: named('relationship'), label: say`Relationship to you`, size: 'middle' },
  {
    empty: say`Choose`,
    list: relationships.map(code => [code, say(relationshipNames[code])]),
  },
)}
${textField(answers, { input: named('share'), label: say`Share in percent`, inputmode: 'numeric', size: 'short' })}
${birthDateOf(answers, at)}
${textField(answers, { input: named('contact'), label: say`Phone number or address`, optional: true })}
${ismany && html`<p><button class="quiet" name="remove" value="${String(at)}">${say`Remove person ${at}`}</button></p>`}
</fieldset>`
}

function birthDateOf(answers: Answers, at: number): Html {
  const say = sayIn(answers.page)

  const id = inputId(beneficiaryInput(at, 'dobmonth'))
  const error = errorOf(answers, beneficiaryInput(at, 'dobmonth'))
  return html`<fieldset class="field date${error && ' wrong'}"${error && html` aria-describedby="${id}-error"`}>
<legend class="label">${say`Date of birth`} <span class="optional">${say`(optional)`}</span></legend>
${fault(answers, id, error)}
${dateInputs(
  answers,
  part => beneficiaryInput(at, `dob${part}`),
  () => error !== undefined,
)}
</fieldset>`
}
