import { html, type Slot } from '../../http/html.ts'
import type { NamedBeneficiary } from '../../membership/rules/beneficiaries.ts'
import { dayText } from './format.ts'
import { sayIn } from './say.ts'
import type { Localized } from './surroundings.ts'
import { relationshipNames } from './texts.ts'

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
function personText(page: Localized, one: NamedBeneficiary): string {
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
