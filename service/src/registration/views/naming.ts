import { html, type Slot } from '../../http/html.ts'
import type { NamedBeneficiary } from '../../membership/rules/beneficiaries.ts'
import { dayText } from './format.ts'
import type { NamingLine } from './parts.ts'
import { sayIn } from './say.ts'
import type { Localized, Page } from './surroundings.ts'
import { relationshipNames } from './texts.ts'

/** The beneficiaries that a newcomer, or a member who adds a benefit, has named so far, with a link to change them. */
export function namingSection(page: Page, lines: readonly NamingLine[] = []): Slot {
  if (lines.length === 0) return null
  const say = sayIn(page)

  const named = ({ standing, isrequired, people = [] }: NamingLine): Slot => {
    if (standing === 'here') return peopleList(page, people)
    if (standing === 'nobody' && isrequired)
      return html`<p>${say`You have not named anyone yet.`} ${say`This benefit does not start before you have named someone.`}</p>`
    if (standing === 'nobody')
      return html`<p>${say`You have not named anyone yet.`} ${say`You can also do this later.`}</p>`
    return html`<p>${standing === 'before' ? say`The people you named before stay in place.` : say`You have named your beneficiaries.`}</p>`
  }
  return html`<section class="naming"><h2>${say`Your beneficiaries`}</h2>${lines.map(
    line => html`<div class="heading"><h3>${line.displayname}</h3><a href="${page.root}/beneficiaries/${line.name}${
      line.next !== undefined && `?${new URLSearchParams({ next: line.next })}`
    }">${
      line.standing === 'nobody' ? say`Name someone` : say`Change`
    }<span class="unseen"> – ${line.displayname}</span></a></div>
${named(line)}`,
  )}</section>`
}

/** A list of beneficiaries, each with relationship and share; contingent ones follow under a heading of their own. */
export function peopleList(page: Localized, people: readonly NamedBeneficiary[]): Slot {
  const say = sayIn(page)

  const second = people.filter(({ kind }) => kind === 'contingent')
  const items = (of: readonly NamedBeneficiary[]) =>
    html`<ul class="plain">${of.map(one => html`<li>${personText(page, one)}</li>`)}</ul>`
  return [
    items(people.filter(({ kind }) => kind === 'primary')),
    second.length > 0 && [
      html`<p class="hint">${say`Backups, if nobody above can receive it`}:</p>`,
      items(second),
    ],
  ]
}

/** One person in a line, such as `Grace King, Spouse, 100%`. */
export function personText(page: Localized, one: NamedBeneficiary): string {
  const say = sayIn(page)
  const { name, relationship, share, dob, contact } = one
  const facts = [
    name,
    say(relationshipNames[relationship]),
    say`${share}%`,
    dob && dayText(page, dob),
    contact,
  ]
  return facts.filter(fact => fact).join(', ')
}
