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
  primary,
  question,
  selectField,
  textField,
} from '../../views/fields.ts'
import { icon } from '../../views/icons.ts'
import type { Content } from '../../views/layout.ts'
import { inBoth, type ViewOf } from '../../views/surroundings.ts'
import { textsOf } from '../../views/texts.ts'
import { type BeneficiaryField, type BeneficiaryRow, beneficiaryInput } from './rows.ts'

/** The inputs for the beneficiaries of one benefit. */
export type BeneficiariesEditView = ViewOf<'BENEFICIARIES_EDIT'> &
  Asking & {
    readonly name: string
    readonly displayname: string
    readonly rows: readonly BeneficiaryRow[]
    /** The place in line for which a person was just added; that person's heading gets the focus. */
    readonly added?: NamedBeneficiary['kind'] | undefined
    /** The path of the view before this one. */
    readonly back: string
    /** Whether more steps follow, as in a registration. */
    readonly goeson: boolean
    /** The path to continue with after saving, if it is not the usual one. */
    readonly next?: string | undefined
    /** The version of a member's beneficiaries that the form was made from. */
    readonly version?: string | undefined
    /** Naming may be put off, and the benefit waits until it is done. */
    readonly maylater: boolean
  }

/** The words of the form for beneficiaries. */
export const formWords = inBoth({
  en: {
    question: (benefit: string) => `Who receives what ${benefit} pays?`,
    ask: 'Name one person or more. Their shares add up to 100%.',
    backups: 'Backups',
    backupstext: 'They receive it only if nobody above can. Their shares add up to 100%, too.',
    person: (at: number) => `Person ${at}`,
    name: 'Full name',
    namehint: 'You can also name a trust.',
    relation: 'Relationship to you',
    sharelabel: 'Share in percent',
    contact: 'Phone number or address',
    more: 'Add another person',
    morebackup: 'Add a backup',
    remove: (at: number) => `Remove person ${at}`,
    save: 'Save',
    neededlater:
      'You can also name someone later: before you agree, you will read until when. This benefit does not start before you have, and if you do not, you will not get it.',
    later: 'Do this later',
  },
  es: {
    question: benefit => `¿Quién recibe lo que paga “${benefit}”?`,
    ask: 'Nombre a una o más personas. Sus partes suman 100%.',
    backups: 'Suplentes',
    backupstext: 'Lo reciben solo si nadie de arriba puede. Sus partes también suman 100%.',
    person: at => `Persona ${at}`,
    name: 'Nombre completo',
    namehint: 'También puede nombrar un fideicomiso.',
    relation: 'Relación con usted',
    sharelabel: 'Parte en porcentaje',
    contact: 'Teléfono o dirección',
    more: 'Agregar otra persona',
    morebackup: 'Agregar un suplente',
    remove: at => `Quitar a la persona ${at}`,
    save: 'Guardar',
    neededlater:
      'También puede nombrar a alguien más adelante: antes de aceptar leerá hasta cuándo. Este beneficio no empieza hasta que lo haga y, si no lo hace, no lo recibirá.',
    later: 'Hacerlo más adelante',
  },
})

/** The beneficiaries for one benefit, each as a group of inputs; buttons add and remove groups without script. */
export function drawBeneficiariesEdit(view: BeneficiariesEditView): Content {
  const { page, name, displayname, rows, goeson, maylater, next, version } = view
  const texts = textsOf(page)
  const words = formWords[page.locale]
  const title = words.question(displayname)
  return question(view, {
    title,
    back: view.back,
    body: html`<p class="lead">${texts.beneficiaries.lead}</p>
<p>${words.ask}</p>
${form(view, `beneficiaries/${name}`, [
  html`<input type="hidden" name="rows" value="${String(rows.length)}">`,
  version !== undefined && html`<input type="hidden" name="version" value="${version}">`,
  next !== undefined && html`<input type="hidden" name="next" value="${next}">`,
  rows.map((row, at) => [
    isFirstBackup(rows, at) && html`<h2>${words.backups}</h2><p>${words.backupstext}</p>`,
    personFields(view, row, { at: at + 1, ismany: rows.length > 1, isnew: isAdded(view, row, at) }),
  ]),
  rows.length < MOST_BENEFICIARIES &&
    html`<p class="actions"><button class="secondary"
name="add" value="primary">${icon('plus')}${words.more}</button><button class="secondary"
name="add" value="contingent">${icon('plus')}${words.morebackup}</button></p>`,
  primary(goeson ? texts.shell.continue : words.save),
  maylater &&
    html`<p class="hint">${words.neededlater}</p><p><button class="quiet"
name="later" value="1">${words.later}</button></p>`,
])}`,
  })
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
  const texts = textsOf(whole.page)
  const words = formWords[whole.page.locale]
  const named = (field: BeneficiaryField) => beneficiaryInput(at, field)
  const kept = Object.fromEntries(
    Object.entries(row).map(([field, value]) => [`person${at}.${field}`, value]),
  )
  const answers = { ...whole, kept }
  return html`<fieldset class="person"><legend class="label"${
    isnew && html` tabindex="-1" data-focus`
  }>${words.person(at)}</legend>
<input type="hidden" name="${named('kind')}" value="${row.kind}">
${textField(answers, { input: named('name'), label: words.name, hint: words.namehint })}
${selectField(
  answers,
  { input: named('relationship'), label: words.relation, size: 'middle' },
  {
    empty: texts.details.choosemonth,
    list: relationships.map(code => [code, texts.beneficiaries.relationship[code]]),
  },
)}
${textField(answers, { input: named('share'), label: words.sharelabel, inputmode: 'numeric', size: 'short' })}
${birthDateOf(answers, at)}
${textField(answers, { input: named('contact'), label: words.contact, optional: true })}
${ismany && html`<p><button class="quiet" name="remove" value="${String(at)}">${words.remove(at)}</button></p>`}
</fieldset>`
}

function birthDateOf(answers: Answers, at: number): Html {
  const texts = textsOf(answers.page)
  const id = inputId(beneficiaryInput(at, 'dobmonth'))
  const error = errorOf(answers, beneficiaryInput(at, 'dobmonth'))
  return html`<fieldset class="field date${error && ' wrong'}"${error && html` aria-describedby="${id}-error"`}>
<legend class="label">${texts.group.dob} <span class="optional">${texts.shell.optional}</span></legend>
${fault(answers, id, error)}
${dateInputs(
  answers,
  part => beneficiaryInput(at, `dob${part}`),
  () => error !== undefined,
)}
</fieldset>`
}
