import type { Zone } from '../../calendar/calendar.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import {
  listRetained,
  openRetained,
  type Retained,
  type RetainedKind,
} from '../../membership/records/retained-rows.ts'
import { reasonedScreens } from '../acts/reasoned.ts'
import { record } from '../screen/record.ts'
import { notHere, type OperatorVisit, type Screen } from '../screen/screen.ts'
import { type ErasedUser, isErased, openUser } from '../user-data/living-user.ts'
import { day, facts, section, table, when } from '../views/parts.ts'

type Keeping = ErasedUser & { readonly kept: readonly Omit<Retained, 'records'>[] }

/** The records that the law makes the operator keep of an erased user; an admin reads them, for a reason. */
export const retainedScreens: readonly Screen[] = reasonedScreens({
  path: '/users/:serviceid/retained',
  right: 'administer',
  kind: 'look',
  title: 'Records kept by law',
  find,
  whom,
  asked: (_visit, { kept, partner }) => ({
    heading: 'What is kept',
    hint: retainedTable(kept, partner.timezone),
    button: 'Show',
    isShut: kept.length === 0,
  }),
  async answer(visit, of, reason) {
    const { partner, serviceId } = of
    const kept = await openRetained(visit.context.database, partner, serviceId)
    await record(visit, { action: 'look at kept records', result: 'shown', partner, serviceId, reason })
    return {
      title: 'Records kept by law',
      body: html`${whom(of)}${kept.map(one => retainedPart(one, partner.timezone))}`,
    }
  },
})

async function find(visit: OperatorVisit): Promise<Keeping> {
  const user = await openUser(visit)
  if (!isErased(user)) throw notHere('erased user')
  return { ...user, kept: await listRetained(visit.context.database, user.partner.partnerId, user.serviceId) }
}

function whom({ partner, serviceId }: ErasedUser): Slot {
  return html`<p class="hint">Erased user <a
href="/users/${serviceId}"><code>${serviceId}</code></a> of ${partner.name}</p>`
}

/** The kinds of record that are kept, and until when; nothing of their content. */
export function retainedTable(kept: readonly Omit<Retained, 'records'>[], zone: Zone): Html {
  return table({
    caption: 'Records kept by law',
    columns: ['What', 'Kept until'],
    rows: kept.map(({ kind, keptuntil }) => [TITLES[kind], when(Date.parse(keptuntil), zone)]),
    empty: 'Nothing is kept: the partner was not set to keep records at the erasure, or their time is over.',
  })
}

/**
 * All records of one kind. They are shown member by member as they were stored, because a version of the service long ago may
 * have stored them.
 */
export function retainedPart({ kind, keptuntil, records }: Retained, zone: Zone): Html {
  return section(
    TITLES[kind],
    records.map(
      one => html`<h3>${headingOf(one)}</h3>
${shownValue(one, zone)}`,
    ),
    html`<span class="hint">kept until ${when(Date.parse(keptuntil), zone)}</span>`,
  )
}

const TITLES: Readonly<Record<RetainedKind, string>> = {
  consents: 'Consents',
  confirmations: 'Confirmations',
  coverage: 'Dates of cover',
  beneficiaries: 'Beneficiaries',
}

function headingOf(record: unknown): string {
  const { reference, benefit, name } = record as Readonly<Record<string, unknown>>
  return String(reference ?? benefit ?? name ?? 'Record')
}

function shownValue(value: unknown, zone: Zone): Slot {
  if (value === null || value === undefined || value === '') return '–'
  if (Array.isArray(value)) {
    return value.length === 0
      ? '–'
      : html`<ul class="rules">${value.map(one => html`<li>${shownValue(one, zone)}</li>`)}</ul>`
  }
  if (typeof value === 'object')
    return facts(
      Object.entries(value).map(([name, inner]) => [LABELS[name] ?? name, memberValue(name, inner, zone)]),
    )
  return isTimestamp(value) ? when(Date.parse(value), zone) : String(value)
}

/** What is kept under a name; of an end of cover its last day, which is the day before where the end is a midnight. */
function memberValue(name: string, value: unknown, zone: Zone): Slot {
  if (name === 'at' && typeof value === 'number') return when(value, zone)
  return name === 'endsat' && isTimestamp(value) ? day(Date.parse(value) - 1, zone) : shownValue(value, zone)
}

function isTimestamp(value: unknown): value is string {
  return typeof value === 'string' && TIMESTAMP.test(value)
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const LABELS: Readonly<Record<string, string>> = {
  userid: 'Userid',
  name: 'Name',
  version: 'Version',
  agreedat: 'Agreed',
  locale: 'Language',
  channel: 'How',
  evidence: 'Evidence',
  benefit: 'Benefit',
  offer: 'Offer',
  state: 'State',
  catalogueversion: 'Version of the catalogue',
  startsat: 'From',
  endsat: 'Last day',
  reason: 'Why it ended',
  reference: 'Reference',
  at: 'When',
  content: 'As the person saw it',
  status: 'State',
  who: 'By',
  writtenat: 'Written',
  beneficiaries: 'Beneficiaries',
  kind: 'Kind',
  relationship: 'Relationship',
  share: 'Share',
}
