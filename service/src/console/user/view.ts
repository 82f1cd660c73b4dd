import { openReason } from '../../audit/reason.ts'
import { dateAt, type Instant } from '../../calendar/calendar.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import type { ConsentRecord } from '../../membership/records/consents.ts'
import type { OpenLine } from '../../membership/records/insurer-lines.ts'
import type { RefusedCreate } from '../../membership/records/refused-creates.ts'
import type { Retained } from '../../membership/records/retained-rows.ts'
import { coversOfDependant } from '../../membership/rules/cover.ts'
import { waitsUntil } from '../../membership/rules/enrolments.ts'
import type { Person } from '../../membership/rules/person.ts'
import { hasPendingCancel, isKnown, type User } from '../../membership/rules/state.ts'
import { missingOf } from '../../membership/rules/view.ts'
import type { Partner } from '../../partners/partner.ts'
import { acts, titleOfRequest } from '../acts/all.ts'
import type { WaitingRequest } from '../requests/store.ts'
import type { ConsolePage, OperatorVisit } from '../screen/screen.ts'
import type { ErasedUser } from '../user-data/living-user.ts'
import type { LinkRow, SeenRow } from '../user-data/store.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import { listPart, listTable } from '../views/list.ts'
import {
  actionForm,
  day,
  deedWords,
  facts,
  resultTag,
  section,
  table,
  tag,
  when,
  writeDay,
} from '../views/parts.ts'
import { refusedTable } from '../views/refused.ts'
import { benefitName, STATUSES } from '../views/told.ts'
import { benefitList, consentList, insurersPart, linkList, overList, paysView } from './lists.ts'
import { retainedTable } from './retained.ts'
import { type Cause, describeUser, newestCause } from './sentence.ts'
import { timeline } from './timeline-view.ts'
import { isOpen, standings, unknownOf, whyNot } from './why-not.ts'

/** One user on one screen. */
export function userPage(visit: OperatorVisit, shown: Shown): ConsolePage {
  const { details, isPersonShown } = shown
  const { partner, user, terms, now } = details
  const zone = partner.timezone
  // Older changes may be of an earlier cancel, which somebody else made.
  const newest = details.hasNewer ? [] : details.changes
  const cancelledBy = newest
    .flatMap(({ lines }) => lines)
    .find(
      line =>
        (line.what === 'pending cancel' && line.to !== undefined) ||
        (line.what === 'user' && line.to === 'cancelled'),
    )?.who
  const isEnrolled = user.status === 'active' || user.status === 'cancelled'
  const cause = isEnrolled
    ? undefined
    : newestCause({
        links: shown.links,
        refused: shown.refused,
        catalogue: terms.today.catalogue,
        zone,
        real: now - partner.clockOffsetMs,
      })
  const unknown = unknownOf(details.people.get('profile') ?? details.people.get('prefill'))
  const all = standings({ user, terms, now, unknown })
  const sentence = describeUser(user, {
    terms,
    showsReason: visit.may('support'),
    cancelledBy: cancelledBy === 'schedule' ? undefined : cancelledBy,
    unknown,
    cause,
    openOffers: all.filter(one => one.kind === 'offer' && isOpen(one)).length,
  })
  return {
    // The end of the id: its beginning is a time, and tabs of people who came together would look the same.
    title: `User ${details.serviceId.slice(-12)}`,
    heading: visit.may('support') ? `User ${user.userid}` : 'User',
    body: html`<div class="columns"><div><p class="lead" id="sentence">${sentence}</p>
${sandboxNote(details)}
${waitingNotice(shown)}
${visit.may('support') && actsView(details, cause)}
${benefitsPart(shown)}
${section('Why not', whyNot(all, isPersonShown), html`<span class="hint">What is not open, and why</span>`)}
${refusedPart(shown)}
${insurersPart(visit, details, shown.insurerLines)}
${listPart('Consents', consentList(details, shown.consents, isPersonShown))}
${listPart('Links and page sessions', linkList(details, shown.links))}
</div><div>
${personPart(visit, shown)}
${section('Timeline', timeline(visit, isPersonShown ? { ...details, names: familyNames(details) } : details), html`<span class="hint">Newest first, days of ${zone}</span>`)}
${factsOfUser(visit, details)}
${seenPart(visit, { partner, serviceId: details.serviceId, seen: shown.seen, since: user.createdAt })}
</div></div>`,
  }
}

/** All that is left of an erased user. */
export function erasedPage(
  visit: OperatorVisit,
  details: ErasedUser,
  { seen, kept }: { seen: readonly SeenRow[]; kept: readonly Omit<Retained, 'records'>[] },
): ConsolePage {
  const { partner, serviceId, erasedAt, createdAt } = details
  const erasedOn = writeDay(erasedAt, partner.timezone)
  return {
    title: 'Erased user',
    body: html`<p class="lead" id="sentence">Erased on ${erasedOn}. Nothing of the person is left here${
      kept.length > 0 && ' but the records that the law makes the partner keep'
    }.</p>
${facts([
  ['Partner', partner.name],
  ['Service ID', html`<code>${serviceId}</code>`],
  ['Known since', day(createdAt, partner.timezone)],
  ['Erased', day(erasedAt, partner.timezone)],
  ['Months', linesLink(serviceId)],
])}
${
  kept.length > 0 &&
  section(
    'Records kept by law',
    retainedTable(kept, partner.timezone),
    visit.may('administer') && html`<a href="/users/${serviceId}/retained">Read them</a>`,
  )
}
${
  visit.may('support') &&
  html`<p><a href="/users/${serviceId}/certificate">Certificate of erasure</a>
<span class="hint">for who asked for it or confirmed it</span></p>`
}
${seenPart(visit, { partner, serviceId, seen, since: createdAt })}`,
  }
}

function factsOfUser(visit: OperatorVisit, { partner, user, serviceId }: UserDetails): Html {
  return html`<section class="card">${facts([
    ['Partner', html`${partner.name}${partner.disabledAt !== undefined && html` ${tag('disabled', 'bad')}`}`],
    ['Userid', visit.may('support') ? html`<code>${user.userid}</code>` : MASKED],
    ['Service ID', html`<code>${serviceId}</code>`],
    [
      'Status',
      html`${tag(STATUSES[user.status] ?? user.status, user.status === 'active' ? 'good' : 'plain')}`,
    ],
    ['Known since', day(user.createdAt, partner.timezone)],
    ['Months', linesLink(serviceId)],
  ])}</section>`
}

/** In a sandbox whose clock was moved, which dates are of its day, and which of the real one. */
function sandboxNote({ partner, now }: UserDetails): Slot {
  if (partner.clockOffsetMs === 0) return ''
  const zone = partner.timezone
  return html`<p class="hint">In this sandbox it is ${day(now, zone)}: benefits and changes have its days. Links,
webhooks, looks and what insurers were told have the real ones; today is ${day(now - partner.clockOffsetMs, zone)}.</p>`
}

function linesLink(serviceId: string): Html {
  return html`<a href="/users/${serviceId}/statements">Lines in statements</a>`
}

const MASKED = html`<span class="hint">••••••, shown to support</span>`

function benefitsPart({ details, month }: Shown): Html {
  const over = overList(details)
  return listPart(
    'Benefits',
    benefitList(details),
    html`${paysView(details, month)}${missingNotice(details)}
${over.rows.length > 0 && html`<details><summary>${over.rows.length} over</summary>${listTable(over)}</details>`}`,
  )
}

function refusedPart({ refused, details }: Shown): Slot {
  if (refused.length === 0) return ''
  const { catalogue } = details.terms.today
  return section(
    'Refused',
    refusedTable(refused, { catalogue, zone: details.partner.timezone }),
    html`<span class="hint">Attempts to enroll in the last 90 days</span>`,
  )
}

/** What the person still has to do before benefits can begin, and by when; empty where nothing is missing. */
export function missingNotice(details: UserDetails): Slot {
  const { user, terms, partner } = details
  const waiting = user.enrolments.filter(({ state }) => state === 'actionrequired')
  if (waiting.length === 0) return ''
  const items = waiting.map(one => {
    const name = benefitName(details, one.benefit)
    const what = missingOf(user, one, terms).map(code => MISSING[code] ?? code)
    const until = waitsUntil(one)
    const by = until !== undefined && html`, by ${day(until, partner.timezone)}`
    return html`<li>
${name}: the person has to ${what.join(' and to ')}${by}.</li>`
  })
  return html`<div class="notice"><h3>Missing</h3><ul>${items}</ul></div>`
}

const MISSING: Readonly<Record<string, string>> = {
  consent_required: 'agree to its terms',
  beneficiary: 'name a beneficiary on the page',
}

/** What operators asked a second person to confirm about the user; empty where nothing waits. */
export function waitingNotice({ waiting, details }: Shown): Slot {
  const { operators, partner } = details
  return (
    waiting.length > 0 &&
    html`<section class="notice"><h2>Waits for a second person</h2><ul>${waiting.map(one => {
      const by = operators.get(one.asked_by) ?? 'an operator'
      const on = day(one.asked_at, partner.timezone)
      return html`<li><a
href="/requests/${one.request_id}">${titleOfRequest(one.action)}</a>, asked for by ${by} on ${on}</li>`
    })}</ul></section>`
  )
}

/**
 * The person's data, or the form that asks for a reason to show them. Once they are shown, the focus is on their heading, because
 * that is what the operator waits for.
 */
export function personPart(visit: OperatorVisit, { details, isPersonShown }: Shown): Slot {
  if (!visit.may('support'))
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
          return html`<h3>${heading}</h3>${facts([...personFacts(person), ...familyFacts(details, person)])}`
        })
  }</section>`
}

/** The person's dependants by name, each with the benefits that cover them now or from their start on. */
function familyFacts({ user, terms }: UserDetails, { dependants = [] }: Person): (readonly [string, Slot])[] {
  return dependants.map(one => {
    const { dependantid, relationship, firstname, lastname, dob } = one
    const covers = coversOfDependant(user, one, terms).map(({ benefit }) =>
      benefitName({ user, terms }, benefit),
    )
    const facts = [`${firstname} ${lastname}`, `born ${dob}`, `id …${dependantid.slice(-4)}`]
    return [KINDS[relationship], `${facts.join(', ')}: ${covers.join(', ') || 'not covered'}`]
  })
}

const KINDS = { spouse: 'Spouse', domesticpartner: 'Domestic partner', child: 'Child' } as const

function familyNames({ people }: UserDetails): ReadonlyMap<string, string> {
  const dependants = people.get('profile')?.dependants ?? []
  return new Map(dependants.map(one => [one.dependantid, `${one.firstname} ${one.lastname}`]))
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

/**
 * The actions that are possible on this user now, each leading to a page that first shows its effect: the one thing to do and
 * the two most wanted in the user's state, then the others behind *More*, and apart what cannot be undone.
 */
export function actsView(of: UserDetails, cause: Cause | undefined): Slot {
  const { user, serviceId } = of
  if (!isKnown(user)) return ''
  const path = `/users/${serviceId}`
  const fitting = acts.filter(act => act.fits(of))
  const possible = [
    ...fitting
      .filter(({ name }) => !isFinal(name))
      .map(({ name, title }) => ({ name, title, to: `${path}/act/${name}` })),
    { name: 'link', title: LINK[cause?.wantsLink ? 'again' : 'first'], to: `${path}/link` },
    { name: 'export', title: 'Export all we hold', to: `${path}/export` },
  ]
  const final = fitting
    .filter(({ name }) => isFinal(name))
    .map(({ name, title }) => ({ title, to: `${path}/act/${name}` }))
  const wanted = wantedOf(user)
  const main = wanted.flatMap(name => possible.find(one => one.name === name) ?? []).slice(0, 2)
  const isFirst = user.status === 'prefilled' || user.status === 'registering'
  const button = ({ title, to }: { title: string; to: string }, look = '') =>
    html`<li><a class="button${look}" href="${to}">${title}</a></li>`
  return html`<ul class="row links">${main.map((one, place) =>
    button(one, isFirst && place === 0 ? ' primary' : ''),
  )}</ul>
<details class="more"><summary>More</summary>
<ul class="row links">${possible.filter(one => !main.includes(one)).map(one => button(one))}</ul>
<p class="hint">Cannot be undone:</p><ul class="row links">${final.map(one => button(one, ' danger'))}</ul></details>`
}

/** What cannot be undone. */
function isFinal(act: string): boolean {
  return act === 'void' || act === 'erase'
}

const LINK = { first: 'Make a link', again: 'Make a new link' } as const

/** The names of the acts that callers in this state ask for most, the first two of which are shown. */
function wantedOf(user: User): readonly string[] {
  if (user.status === 'prefilled' || user.status === 'registering') return ['link']
  if (hasPendingCancel(user) || user.status === 'cancelled') return ['reinstate', 'link']
  const isWaiting = user.enrolments.some(({ state }) => state === 'actionrequired')
  return isWaiting ? ['consent', 'link', 'cancel'] : ['link', 'cancel']
}

/** A user, and the newest entries of the audit log about the user. */
type Seen = {
  readonly partner: Partner
  readonly serviceId: string
  readonly seen: readonly SeenRow[]
  /** When the user became known. */
  readonly since: Instant
}

/** Who looked at a user and worked on it; reasons are shown to support only. */
export function seenPart(visit: OperatorVisit, { partner, serviceId, seen, since }: Seen): Html {
  const sees = visit.may('support')
  const rows = table({
    caption: 'Who looked at this user, and who worked on it: the newest entries',
    columns: ['When', 'Who', 'What', ...(sees ? ['Because'] : [])],
    rows: inRuns(seen).map(({ row, times, since: first }) => [
      when(row.at, partner.timezone),
      html`${row.operator ?? html`<code>${row.actor}</code>`}<br><span class="hint">${row.actor_kind}</span>`,
      html`${deedWords(row.action)}${resultTag(row.result)}${
        times > 1 && html`<br><span class="hint">${times} times since ${when(first, partner.timezone)}</span>`
      }`,
      ...(sees ? [openReason(partner, serviceId, row.sealed_reason)] : []),
    ]),
    empty: 'Nobody in the last year.',
  })
  // The audit log keeps real time, which a sandbox's clock is ahead of.
  const from = dateAt(since - partner.clockOffsetMs, partner.timezone)
  const filters = { partner: partner.partnerId, user: serviceId, who: 'all', from }
  const all = html`<a href="/audit?${new URLSearchParams(filters).toString()}">All entries</a>`
  return section('Who looked and worked here', rows, all)
}

/** The same entry several times in a row, by its newest. */
type Run = { readonly row: SeenRow; times: number; since: Instant }

const RUNS_SHOWN = 20

/** Entries that repeat the one after them are counted with it, so that the looks of a day do not hide who changed something. */
function inRuns(rows: readonly SeenRow[]): readonly Run[] {
  const runs: Run[] = []
  for (const row of rows) {
    const last = runs.at(-1)
    if (last && isRepeat(row, last.row)) {
      last.times += 1
      last.since = row.at
    } else runs.push({ row, times: 1, since: row.at })
  }
  return runs.slice(0, RUNS_SHOWN)
}

function isRepeat(one: SeenRow, other: SeenRow): boolean {
  const alike = (['actor_kind', 'actor', 'action', 'result'] as const).every(
    name => one[name] === other[name],
  )
  return alike && one.sealed_reason === null && other.sealed_reason === null
}

/** The content of a user's page. */
export type Shown = {
  readonly details: UserDetails
  readonly links: readonly LinkRow[]
  readonly consents: readonly ConsentRecord[]
  readonly seen: readonly SeenRow[]
  /** What insurers were told, newest first. */
  readonly insurerLines: readonly OpenLine[]
  /** What waits for a second person; empty for who may not see requests. */
  readonly waiting: readonly WaitingRequest[]
  /** The attempts to enroll the person that were refused, oldest first. */
  readonly refused: readonly RefusedCreate[]
  /** Whether the operator has given a reason to see the person's data. */
  readonly isPersonShown: boolean
  /** What the person pays in the running month; absent: nothing is in force. */
  readonly month: { readonly name: string; readonly cents: number } | undefined
}
