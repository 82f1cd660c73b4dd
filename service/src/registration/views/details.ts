import { type Html, html, type Slot } from '../../http/html.ts'
import { dayText, phoneText, zipText } from './format.ts'
import type { Details, DetailsGroup } from './parts.ts'
import { sayIn } from './say.ts'
import { stateName } from './states.ts'
import type { Page } from './surroundings.ts'
import { genderNames, groupNames } from './texts.ts'

/** The groups of details in the order they are shown. */
export const detailsGroups: readonly DetailsGroup[] = ['name', 'dob', 'contact', 'address', 'gender']

/** The groups to show: a gender only where one is known, because no rule asks for it. */
export function shownGroups({ gender }: Details): readonly DetailsGroup[] {
  return gender ? detailsGroups : detailsGroups.filter(group => group !== 'gender')
}

/** The details in as many lines as they need, to be read once more. */
export function detailsShort(page: Page, details: Details): Html {
  const say = sayIn(page)
  const groups = shownGroups(details).filter(group => hasValue(page, details, group))
  return html`<dl class="shortly">${groups.map(
    group =>
      html`<div><dt class="unseen">${say(groupNames[group])}</dt><dd>${groupLines(page, details, group)
        .filter(line => line !== '')
        .join(', ')}</dd></div>`,
  )}</dl>`
}

/** Whether anything is known of a group. */
export function hasValue(page: Page, details: Details, group: DetailsGroup): boolean {
  return groupLines(page, details, group).some(line => line !== '')
}

/** A group's values in words; says so when nothing is known. */
export function groupText(page: Page, details: Details, group: DetailsGroup): Slot {
  const say = sayIn(page)
  const lines = groupLines(page, details, group).filter(line => line !== '')
  return lines.length > 0
    ? lines.map((line, at) => [at > 0 && html`<br>`, line])
    : html`<span class="hint">${say`Not given`}</span>`
}

function groupLines(page: Page, details: Details, group: DetailsGroup): readonly string[] {
  const { address } = details
  if (group === 'name') return [[details.firstname, details.lastname].filter(part => part).join(' ')]
  if (group === 'dob') return [details.dob ? dayText(page, details.dob) : '']
  if (group === 'contact') return [details.email ?? '', details.phone ? phoneText(details.phone) : '']
  if (group === 'gender') return [sayIn(page)(genderNames[details.gender ?? ''] ?? '')]
  if (!address) return []
  const locality = [address.city, address.state && stateName(page, address.state)].filter(part => part)
  return [
    address.addline1,
    address.addline2,
    address.addline3,
    `${locality.join(', ')} ${zipText(address.zipcode)}`.trim(),
  ]
}
