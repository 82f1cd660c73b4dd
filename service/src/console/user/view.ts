import { type Html, html, type Slot } from '../../http/html.ts'
import type { ConsentRecord } from '../../membership/records/consents.ts'
import type { Retained } from '../../membership/records/retained-rows.ts'
import type { Person } from '../../membership/rules/person.ts'
import { isHeld, isInForce, isKnown, isLive } from '../../membership/rules/state.ts'
import { knownBenefit } from '../../membership/rules/terms.ts'
import { acts } from '../acts/all.ts'
import { inSlices } from '../background/give-way.ts'
import { hasRole } from '../operators/operator.ts'
import type { Page, Visit } from '../page/screen.ts'
import type { LinkRow, SeenRow } from '../user-data/store.ts'
import type { ErasedUserDetails, UserDetails } from '../user-data/user-details.ts'
import { actionForm, facts, part, reasonField, table, tag, when, writeDay } from '../views/parts.ts'
import { consentsTable } from './consents-view.ts'
import { retainedTable } from './retained-view.ts'
import { seenPart } from './seen-view.ts'
import { describeUser } from './sentence.ts'
import { timeline } from './timeline-view.ts'
import { type Objection, type Standing, standings } from './why-not.ts'
import { zoneOfState } from './zones.ts'

/** The content of a user's page. */
export type Shown = {
  readonly details: UserDetails
  readonly links: readonly LinkRow[]
  readonly consents: readonly ConsentRecord[]
  readonly seen: readonly SeenRow[]
  /** Whether the operator has given a reason to see the person's data. */
  readonly isPersonShown: boolean
}

/** One user on one screen. */
export async function userPage(visit: Visit, shown: Shown): Promise<Page> {
  const { details, isPersonShown } = shown
  const { partner, user, terms, now } = details
  const sees = hasRole(visit.operator, 'support')
  const zone = partner.timezone
  const cancelledBy = details.changes
    .flatMap(({ lines }) => lines)
    .find(
      ({ what, to }) => (what === 'pending cancel' && to !== '') || (what === 'user' && to === 'cancelled'),
    )?.who
  const sentence = describeUser(user, {
    zone,
    now,
    showsReason: sees,
    cancelledBy: cancelledBy === 'schedule' ? undefined : cancelledBy,
    offerName: name => terms.today.catalogue.offers.get(name)?.displayname.en ?? name,
  })
  const left = [
    () => part('Benefits', heldTable(shown)),
    () =>
      part(
        'Why not',
        whyNot(standings({ user, terms, now }), isPersonShown),
        html`<span class="hint">What is not open, and the rule that says no</span>`,
      ),
    () => part('Consents', consentsTable(details, shown.consents, isPersonShown)),
    () => part('Links and page sessions', linksTable(shown)),
    () => personPart(visit, shown),
    () => seenPart(visit, { partner, serviceId: details.serviceId, seen: shown.seen, since: user.createdAt }),
  ]
  return {
    title: sees ? `User ${user.userid}` : 'User',
    body: html`<p class="lead" id="sentence">${sentence}</p>
${factsOfUser(visit, details)}
${sees && actions(details)}
<div class="columns"><div>
${await inSlices(left, make => make())}
</div><div>
${part('Timeline', await timeline(visit, details), html`<span class="hint">Newest first, times of ${zone}</span>`)}
</div></div>`,
  }
}

/** All that is left of an erased user. */
export function erasedPage(
  visit: Visit,
  details: ErasedUserDetails,
  { seen, kept }: { seen: readonly SeenRow[]; kept: readonly Omit<Retained, 'records'>[] },
): Page {
  const { partner, serviceId, erasedAt, createdAt } = details
  return {
    title: 'Erased user',
    body: html`<p class="lead" id="sentence">Erased on ${writeDay(erasedAt, partner.timezone)}. ${kept.length === 0 ? 'Nothing of the person is left here.' : 'Nothing of the person is left here but the records that the law makes the partner keep.'}</p>
${facts([
  ['Partner', partner.name],
  ['Service ID', html`<code>${serviceId}</code>`],
  ['Known since', when(createdAt, partner.timezone)],
  ['Erased', when(erasedAt, partner.timezone)],
])}
${kept.length > 0 && part('Records kept by law', retainedTable(kept, partner.timezone), hasRole(visit.operator, 'admin') && html`<a href="/users/${serviceId}/retained">Read them</a>`)}
${hasRole(visit.operator, 'support') && html`<p><a href="/users/${serviceId}/certificate">Certificate of erasure</a> <span class="hint">for who asked for it or confirmed it</span></p>`}
${seenPart(visit, { partner, serviceId, seen, since: createdAt })}`,
  }
}

function factsOfUser(visit: Visit, { partner, user, now, serviceId }: UserDetails): Html {
  const isMoved = partner.clockOffsetMs > 0
  return html`<section class="card across">${facts([
    ['Partner', html`${partner.name}${partner.disabledAt !== undefined && html` ${tag('disabled', 'bad')}`}`],
    ['Userid', hasRole(visit.operator, 'support') ? html`<code>${user.userid}</code>` : MASKED],
    ['Service ID', html`<code>${serviceId}</code>`],
    ['State', html`${tag(user.status, user.status === 'active' ? 'good' : 'plain')}`],
    ['Known since', when(user.createdAt, partner.timezone)],
    isMoved && ['Sandbox date', when(now, partner.timezone)],
  ])}</section>`
}

/** The possible actions on this user; each leads to a page that first shows its effect. */
function actions({ user, serviceId }: UserDetails): Slot {
  const fitting = acts.filter(act => act.fits(user))
  if (!isKnown(user)) return ''
  return html`<ul class="row links">${fitting.map(act => html`<li><a class="button" href="/users/${serviceId}/act/${act.name}">${act.title}</a></li>`)}<li><a class="button" href="/users/${serviceId}/link">Make a link</a></li><li><a class="button" href="/users/${serviceId}/export">Export all we hold</a></li><li><a class="button" href="/users/${serviceId}/erase">Erase for good</a></li></ul>`
}

const MASKED = html`<span class="hint">••••••, shown to support</span>`

function heldTable({ details, isPersonShown }: Shown): Slot {
  const { user, terms, partner, people } = details
  const zone = partner.timezone
  const person = people.get('profile') ?? people.get('prefill')
  const own = isPersonShown ? zoneOfState(person?.state ?? person?.address?.state) : undefined
  const other = own === undefined || own === zone ? undefined : own
  const at = (instant: number | undefined) =>
    instant === undefined
      ? '–'
      : html`${when(instant, zone)}${other !== undefined && html`<br><span class="hint">${when(instant, other)}, the user's</span>`}`
  const missing = user.enrolments.filter(({ state }) => state === 'actionrequired')
  const rows = user.enrolments
    .filter(isLive)
    .map(one => [
      html`${knownBenefit(terms, user, one.benefit)?.displayname.en ?? one.benefit}<br><span class="hint">${one.isFixed ? 'comes with' : 'picked under'} ${one.offer}</span>`,
      html`${tag(WORDS[one.state] ?? one.state, isInForce(one) ? 'good' : 'wait')}${!isHeld(one) && html`<br><span class="hint">by a pending ${one.plannedBy === 'swap' ? 'swap' : 'offer change'}</span>`}`,
      at(one.state === 'actionrequired' ? undefined : one.startsAt),
      at(one.endsAt),
    ])
  const over = user.enrolments.filter(one => !isLive(one))
  return html`${table({ caption: 'Benefits held, coming and going', columns: ['Benefit', 'State', 'Starts', 'Ends'], rows, empty: 'No benefit is held or coming.' })}
${
  missing.length > 0 &&
  html`<div class="notice"><h3>Missing</h3><ul>${missing.map(one => html`<li>${knownBenefit(terms, user, one.benefit)?.displayname.en ?? one.benefit}: the person has to agree to its terms${one.actionDueAt !== undefined && html`, by ${when(one.actionDueAt, zone)}`}.</li>`)}</ul></div>`
}
${
  over.length > 0 &&
  html`<details><summary>${over.length} over</summary>${table({
    caption: 'Benefits that are over',
    columns: ['Benefit', 'State', 'From', 'To'],
    rows: over.map(one => [
      knownBenefit(terms, user, one.benefit)?.displayname.en ?? one.benefit,
      html`${one.state}${one.closeReason !== undefined && html`<br><span class="hint">${one.closeReason}</span>`}`,
      one.state === 'ended' ? at(one.startsAt) : '–',
      at(one.endsAt),
    ]),
    empty: '',
  })}</details>`
}`
}

const WORDS: Readonly<Record<string, string>> = {
  enrolled: 'in force',
  endscheduled: 'in force, ends',
  scheduled: 'starts later',
  actionrequired: 'something missing',
  selected: 'picked',
}

function whyNot(all: readonly Standing[], isPersonShown: boolean): Slot {
  const shut = all.filter(one => one.against.length > 0)
  const open = all.filter(one => !one.isHeld && one.against.length === 0)
  return html`${table({
    caption: 'Benefits and offers that are not open',
    columns: ['What', 'Why not'],
    rows: shut.map(one => [
      html`${one.displayname}<br><span class="hint">${one.kind}</span>`,
      html`<ul class="rules">${one.against.map(objection => html`<li>${words(objection, isPersonShown)}</li>`)}</ul>`,
    ]),
    empty: 'Nothing is closed to this user.',
  })}
${open.length > 0 && html`<p class="hint">Open to this user: ${open.map(({ displayname }) => displayname).join(', ')}.</p>`}`
}

function words({ code, why, looked }: Objection, isPersonShown: boolean): Slot {
  return html`${why}${isPersonShown && looked !== undefined && html` – looked at ${looked}`} <code>${code}</code>`
}

function linksTable({ details, links }: Shown): Slot {
  const zone = details.partner.timezone
  return table({
    caption: 'Links made for this user, and what became of them: the newest 20',
    columns: ['Made', 'For', 'What became of it'],
    rows: links.map(link => [
      when(link.created_at, zone),
      html`${link.purpose}<br><span class="hint">${link.delivery}</span>`,
      fateOf(link, { zone, real: details.now - details.partner.clockOffsetMs }),
    ]),
    empty: 'No link in the last 30 days.',
  })
}

function fateOf(link: LinkRow, { zone, real }: { zone: string; real: number }): Slot {
  const told: Slot[] = []
  if (link.spent_at === null) {
    if (link.revoked_at !== null) told.push(html`${tag('revoked', 'plain')} ${when(link.revoked_at, zone)}`)
    else if (link.token_expires_at <= real) told.push(html`${tag('expired unopened', 'bad')}`)
    else told.push(html`${tag('not opened yet', 'wait')} until ${when(link.token_expires_at, zone)}`)
  } else {
    told.push(html`opened ${when(link.spent_at, zone)}`)
    if (link.outcome !== null)
      told.push(
        html`${tag(link.outcome, link.outcome === 'challengefailed' ? 'bad' : 'good')}${link.reference !== null && html` <code>${link.reference}</code>`}`,
      )
    else if (link.signed_out_at !== null) told.push(html`signed out ${when(link.signed_out_at, zone)}`)
    else if (link.last_view !== null)
      told.push(
        html`last seen at ${link.last_view}${link.last_seen_at !== null && html`, ${when(link.last_seen_at, zone)}`}`,
      )
    else if (link.last_seen_at !== null) told.push(html`last seen ${when(link.last_seen_at, zone)}`)
    if (link.birthdate_tries > 0 && link.birthdate_passed_at === null)
      told.push(`${link.birthdate_tries} wrong birth dates`)
  }
  if (link.dead_link_at !== null)
    told.push(html`pressed again when it no longer worked, ${when(link.dead_link_at, zone)}`)
  return html`<ul class="rules">${told.map(one => html`<li>${one}</li>`)}</ul>`
}

function personPart(visit: Visit, { details, isPersonShown }: Shown): Slot {
  if (!hasRole(visit.operator, 'support'))
    return part('Person', html`<p class="hint">Personal data is shown to support, for a reason.</p>`)
  if (!isPersonShown)
    return part(
      'Person',
      actionForm(visit, {
        action: `/users/${details.serviceId}/person`,
        button: 'Show',
        fields: reasonField('why-person', 'Show name, birth date and address, because'),
      }),
    )
  const documents = [...details.people].filter(([kind]) => kind !== 'draft')
  return part(
    'Person',
    documents.length === 0
      ? html`<p class="hint">Nothing is known of the person.</p>`
      : documents.map(
          ([kind, person]) =>
            html`<h3>${kind === 'profile' ? 'Account' : 'Prefill of the partner'}</h3>${facts(personFacts(person))}`,
        ),
  )
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
