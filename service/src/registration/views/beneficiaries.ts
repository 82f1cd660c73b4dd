import { MOST_BENEFICIARIES, relationships } from '@benefit-enrolment/contract'
import { type Html, html, type Slot } from '../../http/html.ts'
import type { NamedBeneficiary } from '../../membership/rules/beneficiaries.ts'
import { type BeneficiaryField, type BeneficiaryRow, beneficiaryInput } from './beneficiary-form.ts'
import {
  type Answers,
  dateInputs,
  errorOf,
  fault,
  form,
  inputId,
  primary,
  question,
  selectField,
  textField,
} from './fields.ts'
import { dayText } from './format.ts'
import { icon } from './icons.ts'
import type { Content } from './layout.ts'
import type { BeneficiariesEditView, BeneficiariesView } from './model.ts'
import type { NamingLine } from './parts.ts'
import type { Localized, Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** A member's beneficiaries for each benefit. */
export function beneficiaries(view: BeneficiariesView): Content {
  const { page, benefits } = view
  const words = textsOf(page).beneficiaries
  return {
    title: words.title,
    back: 'overview',
    body: html`<h1 tabindex="-1">${words.title}</h1>
<p class="lead">${words.lead}</p>
${benefits.length === 0 && html`<p>${words.none}</p>`}
${benefits.map(one => namingPart(page, one))}`,
  }
}

function namingPart(page: Page, one: BeneficiariesView['benefits'][number]): Html {
  const texts = textsOf(page)
  const words = texts.beneficiaries
  const { name, displayname, people, since, isheld, ismissing, dueon } = one
  const path = `${page.root}/beneficiaries/${name}`
  return html`<section class="naming"><div class="heading"><h2>${displayname}</h2><a href="${path}">${
    people.length > 0 ? texts.shell.change : words.add
  }<span class="unseen"> – ${displayname}</span></a></div>
${people.length > 0 ? peopleList(page, people) : html`<p>${words.nobody}</p>`}
${
  isheld
    ? since && html`<p class="hint">${words.since(dayText(page, since))}</p>`
    : html`<p class="withsign">${icon('info')}${people.length > 0 ? words.notheldnamed : words.notheld}</p>`
}
${
  ismissing &&
  html`<p class="withsign warn">${icon('alert')}${dueon ? words.neededby(dayText(page, dueon)) : words.needed}</p>`
}</section>`
}

/** A list of beneficiaries, each with relationship and share; contingent ones follow under a heading of their own. */
function peopleList(page: Localized, people: readonly NamedBeneficiary[]): Slot {
  const words = textsOf(page).beneficiaries
  const second = people.filter(({ kind }) => kind === 'contingent')
  const items = (of: readonly NamedBeneficiary[]) =>
    html`<ul class="plain">${of.map(one => html`<li>${personText(page, one)}</li>`)}</ul>`
  return [
    items(people.filter(({ kind }) => kind === 'primary')),
    second.length > 0 && [html`<p class="hint">${words.contingentlist}:</p>`, items(second)],
  ]
}

/** One person in a line, such as `Grace King, Spouse, 100%`. */
export function personText(page: Localized, one: NamedBeneficiary): string {
  const words = textsOf(page).beneficiaries
  const { name, relationship, share, dob, contact } = one
  const facts = [
    name,
    words.relationship[relationship],
    words.share(share),
    dob && dayText(page, dob),
    contact,
  ]
  return facts.filter(fact => fact).join(', ')
}

/** The beneficiaries that a newcomer, or a member who adds a benefit, has named so far, with a link to change them. */
export function namingSection(page: Page, lines: readonly NamingLine[] = []): Slot {
  if (lines.length === 0) return null
  const texts = textsOf(page)
  const words = texts.beneficiaries
  const named = ({ standing, people = [] }: NamingLine): Slot => {
    if (standing === 'here') return peopleList(page, people)
    return html`<p>${standing === 'before' ? words.earlier : standing === 'named' ? words.named : words.nobody}</p>`
  }
  return html`<section class="naming"><h2>${words.title}</h2>${lines.map(
    line => html`<div class="heading"><h3>${line.displayname}</h3><a href="${page.root}/beneficiaries/${line.name}${
      line.next !== undefined && `?${new URLSearchParams({ next: line.next })}`
    }">${
      line.standing === 'nobody' ? words.add : texts.shell.change
    }<span class="unseen"> – ${line.displayname}</span></a></div>
${named(line)}
${line.standing === 'nobody' && html`<p class="hint">${line.isrequired ? words.needed : words.optional}</p>`}`,
  )}</section>`
}

/** The beneficiaries for one benefit, each as a group of inputs; buttons add and remove groups without script. */
export function beneficiariesEdit(view: BeneficiariesEditView): Content {
  const { page, name, displayname, rows, goeson, maylater, next, version } = view
  const texts = textsOf(page)
  const words = texts.beneficiaries
  const title = words.question(displayname)
  return question(view, {
    title,
    back: view.back,
    body: html`<p class="lead">${words.lead}</p>
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
    html`<p class="actions"><button class="secondary" name="add" value="primary">${icon('plus')}${words.more}</button><button class="secondary" name="add" value="contingent">${icon('plus')}${words.morebackup}</button></p>`,
  primary(goeson ? texts.shell.continue : words.save),
  maylater &&
    html`<p class="hint">${words.neededlater}</p><p><button class="quiet" name="later" value="1">${words.later}</button></p>`,
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
  const words = texts.beneficiaries
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
    list: relationships.map(code => [code, words.relationship[code]]),
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
