import { type Html, html, type Slot } from '../../http/html.ts'
import type { Retained } from '../../membership/records/retained-rows.ts'
import type { ConsolePage, OperatorVisit } from '../screen/screen.ts'
import type { ErasedUser } from '../user-data/living-user.ts'
import type { SeenRow } from '../user-data/store.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import { listPart, listTable } from '../views/list.ts'
import { STATUSES } from '../views/moves.ts'
import { day, facts, section, tag, writeDay } from '../views/parts.ts'
import { refusedTable } from '../views/refused.ts'
import { actsView } from './acts-view.ts'
import { newestCause } from './cause.ts'
import { insurersPart } from './insurer-view.ts'
import { benefitList, consentList, linkList, overList } from './lists.ts'
import { missingNotice, waitingNotice } from './notices.ts'
import { paysView } from './pays-view.ts'
import { personPart } from './person-view.ts'
import { retainedTable } from './retained-view.ts'
import { seenPart } from './seen-view.ts'
import { describeUser } from './sentence.ts'
import type { Shown } from './shown.ts'
import { timeline } from './timeline-view.ts'
import { standings, unknownOf } from './why-not.ts'
import { isOpen, whyNot } from './why-not-view.ts'

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
    showsReason: visit.isSupport,
    cancelledBy: cancelledBy === 'schedule' ? undefined : cancelledBy,
    unknown,
    cause,
    openOffers: all.filter(one => one.kind === 'offer' && isOpen(one)).length,
  })
  return {
    // The end of the id: its beginning is a time, and tabs of people who came together would look the same.
    title: `User ${details.serviceId.slice(-12)}`,
    heading: visit.isSupport ? `User ${user.userid}` : 'User',
    body: html`<div class="columns"><div><p class="lead" id="sentence">${sentence}</p>
${waitingNotice(shown)}
${visit.isSupport && actsView(details, cause)}
${factsOfUser(visit, details)}</div><div>${personPart(visit, shown)}</div></div>
<div class="columns"><div>
${benefitsPart(details)}
${section('Why not', whyNot(all, isPersonShown), html`<span class="hint">What is not open, and why</span>`)}
${refusedPart(shown)}
${insurersPart(visit, details, shown.insurerLines)}
${listPart('Consents', consentList(details, shown.consents, isPersonShown))}
${listPart('Links and page sessions', linkList(details, shown.links))}
</div><div>
${section('Timeline', timeline(visit, details), html`<span class="hint">Newest first, days of ${zone}</span>`)}
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
    visit.isAdmin && html`<a href="/users/${serviceId}/retained">Read them</a>`,
  )
}
${
  visit.isSupport &&
  html`<p><a href="/users/${serviceId}/certificate">Certificate of erasure</a>
<span class="hint">for who asked for it or confirmed it</span></p>`
}
${seenPart(visit, { partner, serviceId, seen, since: createdAt })}`,
  }
}

function factsOfUser(visit: OperatorVisit, { partner, user, now, serviceId }: UserDetails): Html {
  const isMoved = partner.clockOffsetMs > 0
  return html`<section class="card across">${facts([
    ['Partner', html`${partner.name}${partner.disabledAt !== undefined && html` ${tag('disabled', 'bad')}`}`],
    ['Userid', visit.isSupport ? html`<code>${user.userid}</code>` : MASKED],
    ['Service ID', html`<code>${serviceId}</code>`],
    [
      'Status',
      html`${tag(STATUSES[user.status] ?? user.status, user.status === 'active' ? 'good' : 'plain')}`,
    ],
    ['Known since', day(user.createdAt, partner.timezone)],
    isMoved && ['Sandbox date', day(now, partner.timezone)],
    ['Months', linesLink(serviceId)],
  ])}</section>`
}

function linesLink(serviceId: string): Html {
  return html`<a href="/users/${serviceId}/statements">Lines in statements</a>`
}

const MASKED = html`<span class="hint">••••••, shown to support</span>`

function benefitsPart(details: UserDetails): Html {
  const over = overList(details)
  return listPart(
    'Benefits',
    benefitList(details),
    html`${paysView(details)}${missingNotice(details)}
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
