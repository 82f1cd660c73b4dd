import { html, type Slot } from '../../http/html.ts'
import type { Person } from '../../membership/rules/person.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import { actionForm, facts, section } from '../views/parts.ts'
import type { Shown } from './shown.ts'

/**
 * The person's data, or the form that asks for a reason to show them. Once they are shown, the focus is on their heading, because
 * that is what the operator waits for.
 */
export function personPart(visit: OperatorVisit, { details, isPersonShown }: Shown): Slot {
  if (!visit.isSupport)
    return section('Person', html`<p class="hint">Personal data is shown to support, for a reason.</p>`)
  if (!isPersonShown)
    return section(
      'Person',
      actionForm(visit, {
        action: `/users/${details.serviceId}/person`,
        button: 'Show',
        why: 'why-person',
        because: 'Show name, birth date and address, because',
      }),
    )
  const documents = [...details.people].filter(([kind]) => kind !== 'draft')
  return html`<section class="card"><h2 tabindex="-1" autofocus>Person</h2>${
    documents.length === 0
      ? html`<p class="hint">Nothing is known of the person.</p>`
      : documents.map(([kind, person]) => {
          const heading = kind === 'profile' ? 'Account' : `Sent by ${details.partner.name}`
          return html`<h3>${heading}</h3>${facts(personFacts(person))}`
        })
  }</section>`
}

function personFacts(person: Person): (readonly [string, Slot])[] {
  const { address = {}, ...fields } = person
  const lines = [
    address.addline1,
    address.addline2,
    address.addline3,
    address.city,
    address.state,
    address.zipcode,
  ]
  const own = Object.entries(LABELS).flatMap(([name, label]) => {
    const value = (fields as Readonly<Record<string, unknown>>)[name]
    return typeof value === 'string' && value !== '' ? [[label, value] as const] : []
  })
  const written = lines.filter(line => line)
  return written.length > 0 ? [...own, ['Address', written.join(', ')]] : own
}

const LABELS: Readonly<Record<string, string>> = {
  firstname: 'First name',
  lastname: 'Last name',
  dob: 'Birth date',
  gender: 'Gender',
  email: 'Email',
  phone: 'Phone',
  state: 'State',
  zipcode: 'ZIP code',
}
