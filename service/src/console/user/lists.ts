import type { Instant, Zone } from '../../calendar/calendar.ts'
import { html } from '../../http/html.ts'
import type { ConsentRecord } from '../../membership/records/consents.ts'
import type { ConsentChannel, Enrolment } from '../../membership/rules/state.ts'
import { isHeld, isInForce, isLive } from '../../membership/rules/state.ts'
import type { LinkRow } from '../user-data/store.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import { type Column, dated, type List } from '../views/list.ts'
import { benefitName, endReasonWords, offerName, stateWords } from '../views/moves.ts'
import { day, tag } from '../views/parts.ts'
import { howToUsePart } from './how-to-use.ts'
import { describeLink, shownNote } from './link-fate.ts'

/** The benefits that are held, coming and going, with the first and the last day of cover in the partner's zone. */
export function benefitList(details: UserDetails): List<Enrolment> {
  const { user, partner } = details
  const zone = partner.timezone
  return {
    caption: 'Benefits held, coming and going',
    empty: 'No benefit is held or coming.',
    rows: user.enrolments.filter(isLive),
    columns: [
      {
        name: 'benefit',
        label: 'Benefit',
        cell: one =>
          html`${benefitName(details, one.benefit)}<br>
<span class="hint">${one.isFixed ? 'comes with' : 'picked under'} ${offerName(details.terms, one.offer)}</span>
${howToUsePart(details, one)}`,
      },
      {
        name: 'state',
        label: 'State',
        cell: one =>
          html`${tag(stateWords(one.state), isInForce(one) ? 'good' : 'wait')}${
            !isHeld(one) &&
            html`<br><span class="hint">by a pending ${one.pendingBy === 'swap' ? 'swap' : 'offer change'}</span>`
          }`,
      },
      dayColumn('firstday', 'First day', startOf, zone),
      dayColumn('lastday', 'Last day', lastInstant, zone),
    ],
  }
}

/** The benefits that are over. */
export function overList(details: UserDetails): List<Enrolment> {
  const zone = details.partner.timezone
  return {
    caption: 'Benefits that are over',
    empty: '',
    rows: details.user.enrolments.filter(one => !isLive(one)),
    columns: [
      {
        name: 'over',
        label: 'Benefit',
        cell: one => html`${benefitName(details, one.benefit)}${howToUsePart(details, one)}`,
      },
      {
        name: 'overas',
        label: 'State',
        cell: one =>
          html`${stateWords(one.state)}${
            one.closeReason !== undefined &&
            html`<br><span class="hint">${endReasonWords(one.closeReason)}</span>`
          }`,
      },
      dayColumn('overfrom', 'First day', startOf, zone),
      dayColumn('overto', 'Last day', lastInstant, zone),
    ],
  }
}

/** The newest links, and what became of them. */
export function linkList(details: UserDetails, links: readonly LinkRow[]): List<LinkRow> {
  const zone = details.partner.timezone
  const fate = (link: LinkRow) => describeLink(link, details.now - details.partner.clockOffsetMs)
  const madeBy = ({ session_id }: LinkRow) => {
    const maker = details.linkMakers.get(session_id)
    return maker === undefined ? '' : `, made by ${maker}`
  }
  return {
    caption: 'Links made for this user, and what became of them',
    empty: 'No link in the last 30 days.',
    rows: links,
    columns: [
      dated('made', 'Made', link => link.created_at, zone),
      {
        name: 'for',
        label: 'For',
        cell: link =>
          html`${PURPOSES[link.purpose] ?? link.purpose}<br><span class="hint">${link.delivery}${madeBy(link)}</span>`,
      },
      {
        name: 'became',
        label: 'What became of it',
        cell: link =>
          html`<ul class="rules">${fate(link).map(note => html`<li>${shownNote(note, zone)}</li>`)}</ul>`,
      },
    ],
  }
}

/** The person's consents and how each was given; the evidence is shown only together with the person's data. */
export function consentList(
  details: UserDetails,
  consents: readonly ConsentRecord[],
  isPersonShown: boolean,
): List<ConsentRecord> {
  const { partner, operators } = details
  const recorder = ({ recordedBy }: ConsentRecord) =>
    recordedBy !== undefined && `put on record by ${operators.get(recordedBy) ?? recordedBy}`
  return {
    caption: 'Consents',
    empty: 'No consent is on record.',
    rows: consents,
    columns: [
      { name: 'consent', label: 'To', value: one => benefitName(details, one.name) },
      {
        name: 'version',
        label: 'Version',
        cell: one => html`<code>${one.version}</code> ${one.locale}`,
      },
      dated('agreed', 'When', one => one.agreedAt, partner.timezone),
      {
        name: 'how',
        label: 'How',
        cell: one =>
          html`${CHANNELS[one.channel]}${recorder(one) && html`<br><span class="hint">${recorder(one)}</span>`}`,
      },
      ...(isPersonShown
        ? [{ name: 'evidence', label: 'Evidence', value: (one: ConsentRecord) => one.evidence ?? '' }]
        : []),
    ],
  }
}

const PURPOSES: Readonly<Record<string, string>> = {
  offerchange: 'change of the offer',
  beneficiaries: 'naming who receives',
}

const CHANNELS: Readonly<Record<ConsentChannel, string>> = {
  page: 'on the page',
  partner: 'sent by the partner',
  phone: 'by phone',
  paper: 'on paper',
  email: 'by email',
  import: 'before, imported with evidence',
}

/** Its first instant; `undefined` while none is set: before it has begun by a consent, or if it never began. */
function startOf(one: Enrolment): Instant | undefined {
  if (isLive(one)) return one.state === 'actionrequired' ? undefined : one.startsAt
  return one.state === 'ended' ? one.startsAt : undefined
}

/** Within the last day of cover; `undefined` while no end is set. */
function lastInstant(one: Enrolment): Instant | undefined {
  return one.endsAt === undefined || startOf(one) === undefined ? undefined : one.endsAt - 1
}

/** A column of days of cover. */
function dayColumn(
  name: string,
  label: string,
  at: (one: Enrolment) => Instant | undefined,
  zone: Zone,
): Column<Enrolment> {
  const cellOrNone = (instant: Instant | undefined) => (instant === undefined ? '–' : day(instant, zone))
  return { name, label, cell: one => cellOrNone(at(one)) }
}
