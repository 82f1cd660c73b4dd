import { type Html, html, type Slot } from '../../http/html.ts'
import { coverageSection, totalSection } from './coverage.ts'
import {
  type Answers,
  birthDate,
  draftField,
  errorOf,
  fault,
  form,
  primary,
  question,
  radio,
  selectField,
  textField,
} from './fields.ts'
import { keptDetails } from './form.ts'
import { dayText, phoneText, zipText } from './format.ts'
import { heldBenefits } from './held-benefit.ts'
import { icon } from './icons.ts'
import type { Content } from './layout.ts'
import { benefitList } from './lists.ts'
import type { Comeback, DetailsEditView, DetailsReviewView } from './model.ts'
import type { Details, DetailsGroup } from './parts.ts'
import { lostFields, lostNotice } from './standing.ts'
import { stateName, stateNames } from './states.ts'
import type { Page } from './surroundings.ts'
import { type Texts, textsOf } from './texts.ts'

/** The groups of details in the order they are shown. */
export const detailsGroups: readonly DetailsGroup[] = ['name', 'dob', 'contact', 'address', 'gender']

/** The groups to show: a gender only where one is known, because no rule asks for it. */
export function shownGroups({ gender }: Details): readonly DetailsGroup[] {
  return gender ? detailsGroups : detailsGroups.filter(group => group !== 'gender')
}

/** The known details of the person. What is missing is asked one group after the other, before they are confirmed. */
export function detailsReview(view: DetailsReviewView): Content {
  const { page, details, missing, suggested, lost = [], firstname, comeback, held } = view
  const texts = textsOf(page)
  const words = texts.details
  const known = shownGroups(details).filter(group => !missing.includes(group))
  const [first] = missing
  return question(view, {
    title: words.title,
    asks: first === undefined,
    body: html`${lostNotice(page, lost)}
${comeback && comebackPanel(page, comeback)}
<p class="lead">${firstname && `${words.hello(firstname)} `}${words.lead[view.from](page.partner.displayname)}</p>
${known.some(group => hasValue(page, details, group)) && detailsList(page, details, known, suggested)}
${
  first === undefined
    ? form(view, 'details', [
        lostFields(lost),
        primary(view.from === 'member' ? texts.shell.continue : words.confirm),
      ])
    : html`<section class="panel"><h2>${words.missing}</h2><ul class="plain">${missing.map(group => html`<li>${texts.group[group]}</li>`)}</ul></section>
<p class="actions"><a class="primary" href="${page.root}/details/${first}">${texts.shell.continue}</a></p>`
}
${heldBenefits(page, held)}`,
  })
}

/** What a person who canceled can have back with one press, above the way to enroll anew. */
function comebackPanel(page: Page, comeback: Comeback): Html {
  const texts = textsOf(page)
  const words = texts.comeback
  return html`<section class="panel"><h2>${words.title}</h2><p>${words.text(comeback.offername)}</p>
${benefitList(page, comeback.benefits)}
${coverageSection(page, comeback.benefits)}
${totalSection(page, comeback.benefits)}
${comeback.agreed && html`<p>${texts.standing.agreedbefore}</p>`}
${comeback.named && html`<p>${texts.standing.namedbefore}</p>`}
<form method="post" action="${page.root}/comeback">${draftField(page)}<p><button class="primary">${words.button}</button></p></form></section>
<h2>${words.else}</h2>`
}

/** The details as a list, each with a link to change it. */
export function detailsList(
  page: Page,
  details: Details,
  groups: readonly DetailsGroup[],
  suggested: readonly DetailsGroup[] = [],
): Html {
  const texts = textsOf(page)
  const words = texts.details
  return html`<dl class="answers">${groups.map(
    group =>
      html`<div><dt>${texts.group[group]}</dt><dd>${groupText(page, details, group)}${
        suggested.includes(group) &&
        html`<p class="hint withsign">${icon('info')}${words.suggested(page.partner.displayname)}. ${words.suggestedtext}</p>`
      }</dd><dd class="act"><a href="${page.root}/details/${group}">${texts.shell.change}<span class="unseen"> – ${texts.group[group]}</span></a></dd></div>`,
  )}</dl>`
}

/** The details in as many lines as they need, to be read once more. */
export function detailsShort(page: Page, details: Details): Html {
  const { group: names } = textsOf(page)
  const groups = shownGroups(details).filter(group => hasValue(page, details, group))
  return html`<dl class="shortly">${groups.map(
    group =>
      html`<div><dt class="unseen">${names[group]}</dt><dd>${groupLines(page, details, group)
        .filter(line => line !== '')
        .join(', ')}</dd></div>`,
  )}</dl>`
}

/** One group of inputs, filled with what was typed or what is known. */
export function detailsEdit(view: DetailsEditView): Content {
  const { page, group, suggestion } = view
  const texts = textsOf(page)
  const words = texts.details
  const title = words.question[group]
  const kept = view.kept ?? keptDetails(view.details)
  const answers = { ...view, kept }
  return question(answers, {
    title,
    back: 'details',
    body: html`${suggestion && html`<p class="notice info">${icon('info')}<span>${words.suggestion(page.partner.displayname)} <strong>${groupText(page, suggestion, group)}</strong></span></p>`}
${view.mayend && html`<p class="hint">${texts.standing.lost.mayend}</p>`}
${form(answers, `details/${group}`, [inputs[group](answers), primary(texts.shell.save)])}`,
  })
}

function hasValue(page: Page, details: Details, group: DetailsGroup): boolean {
  return groupLines(page, details, group).some(line => line !== '')
}

/** A group's values in words; says so when nothing is known. */
function groupText(page: Page, details: Details, group: DetailsGroup): Slot {
  const lines = groupLines(page, details, group).filter(line => line !== '')
  return lines.length > 0
    ? lines.map((line, at) => [at > 0 && html`<br>`, line])
    : html`<span class="hint">${textsOf(page).shell.notgiven}</span>`
}

function groupLines(page: Page, details: Details, group: DetailsGroup): readonly string[] {
  const { address } = details
  if (group === 'name') return [[details.firstname, details.lastname].filter(part => part).join(' ')]
  if (group === 'dob') return [details.dob ? dayText(page, details.dob) : '']
  if (group === 'contact') return [details.email ?? '', details.phone ? phoneText(details.phone) : '']
  if (group === 'gender') return [genderText(textsOf(page), details.gender ?? '')]
  if (!address) return []
  const locality = [address.city, address.state && stateName(page, address.state)].filter(part => part)
  return [
    address.addline1,
    address.addline2,
    address.addline3,
    `${locality.join(', ')} ${zipText(address.zipcode)}`.trim(),
  ]
}

function genderText(texts: Texts, gender: string): string {
  const { gender: names } = texts.details
  return Object.entries(names).find(([code]) => code === gender)?.[1] ?? ''
}

const inputs: Readonly<Record<DetailsGroup, (answers: Answers) => Slot>> = {
  name: nameInputs,
  dob: answers => birthDate(answers, { asHeading: true }),
  contact: contactInputs,
  address: addressInputs,
  gender: genderInputs,
}

function nameInputs(answers: Answers): Slot {
  const words = textsOf(answers.page).details
  return [
    html`<p class="hint">${words.namehint}</p>`,
    textField(answers, { input: 'firstname', label: words.firstname, autocomplete: 'given-name' }),
    textField(answers, { input: 'lastname', label: words.lastname, autocomplete: 'family-name' }),
  ]
}

function contactInputs(answers: Answers): Slot {
  const words = textsOf(answers.page).details
  return [
    textField(answers, {
      input: 'email',
      label: words.email,
      hint: words.emailhint,
      autocomplete: 'email',
      inputmode: 'email',
      type: 'email',
    }),
    textField(answers, {
      input: 'phone',
      label: words.phone,
      optional: true,
      size: 'middle',
      autocomplete: 'tel-national',
      inputmode: 'tel',
      type: 'tel',
    }),
  ]
}

function addressInputs(answers: Answers): Slot {
  const words = textsOf(answers.page).details
  const line = (input: 'addline1' | 'addline2', label: string, at: number) =>
    textField(answers, { input, label, optional: true, autocomplete: `address-line${at}` })
  return [
    html`<p class="hint">${words.addresshint}</p>`,
    line('addline1', words.addline1, 1),
    line('addline2', words.addline2, 2),
    textField(answers, {
      input: 'addline3',
      label: words.addline3,
      labelinpr: words.urbanization,
      optional: true,
      autocomplete: 'address-line3',
    }),
    textField(answers, { input: 'city', label: words.city, optional: true, autocomplete: 'address-level2' }),
    selectField(
      answers,
      { input: 'state', label: words.state, autocomplete: 'address-level1', size: 'middle' },
      { empty: words.choosestate, list: stateNames(answers.page) },
    ),
    textField(answers, {
      input: 'zipcode',
      label: words.zipcode,
      autocomplete: 'postal-code',
      inputmode: 'numeric',
      size: 'short',
    }),
  ]
}

function genderInputs(answers: Answers): Slot {
  const texts = textsOf(answers.page)
  const words = texts.details
  const error = errorOf(answers, 'gender')
  const chosen = answers.kept?.['gender']
  // Words of other people's files, which say no more than the others: shown only to whom they were sent for.
  const choices = Object.entries(words.gender).filter(
    ([code]) => !['N', 'O'].includes(code) || code === chosen,
  )
  return html`<fieldset class="field${error && ' wrong'}" aria-describedby="gender-hint${error && ' gender-error'}">
<legend class="unseen">${texts.group.gender}</legend>
<p class="hint" id="gender-hint">${words.genderhint}</p>
${fault(answers, 'gender', error)}
${choices.map(([value, label], at) => radio('gender', { value, label }, { at, chosen }))}
</fieldset>`
}
