import { dateAt, type Instant, type Zone } from '../../calendar/calendar.ts'
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
import { describeLink, noteText, shownNote } from './link-fate.ts'

// The tables of a user's page. All are short, so they are sorted in memory; each has column names of its own, because the page's
// address names one column.

/** The benefits that are held, coming and going, with the first and the last day of cover in the partner's zone. */
export function benefitList(details: UserDetails): List<Enrolment> {
  const { user, partner } = details
  const zone = partner.timezone
  return {
    ...atUser(details, 'benefits'),
    caption: 'Benefits held, coming and going',
    empty: 'No benefit is held or coming.',
    rows: user.enrolments.filter(isLive),
    columns: [
      {
        name: 'benefit',
        label: 'Benefit',
        value: one => benefitName(details, one.benefit),
        cell: one =>
          html`${benefitName(details, one.benefit)}<br>
<span class="hint">${one.isFixed ? 'comes with' : 'picked under'} ${offerName(details.terms, one.offer)}</span>
${howToUsePart(details, one)}`,
      },
      {
        name: 'state',
        label: 'State',
        value: one => stateWords(one.state),
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
    ...atUser(details, 'benefits'),
    caption: 'Benefits that are over',
    empty: '',
    rows: details.user.enrolments.filter(one => !isLive(one)),
    columns: [
      {
        name: 'over',
        label: 'Benefit',
        value: one => benefitName(details, one.benefit),
        cell: one => html`${benefitName(details, one.benefit)}${howToUsePart(details, one)}`,
      },
      {
        name: 'overas',
        label: 'State',
        value: one => stateWords(one.state),
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

/** All benefits, also those that are over, as a file. */
export function benefitFile(details: UserDetails): List<Enrolment> {
  const list = benefitList(details)
  return {
    ...list,
    rows: details.user.enrolments,
    columns: [
      ...list.columns,
      fileColumn('name', one => one.benefit),
      fileColumn('offer', one => one.offer),
      fileColumn('closed', one => one.closeReason ?? ''),
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
    ...atUser(details, 'links'),
    caption: 'Links made for this user, and what became of them',
    empty: 'No link in the last 30 days.',
    rows: links,
    columns: [
      dated('made', 'Made', link => link.created_at, zone),
      {
        name: 'for',
        label: 'For',
        value: link => `${PURPOSES[link.purpose] ?? link.purpose}, ${link.delivery}${madeBy(link)}`,
        cell: link =>
          html`${PURPOSES[link.purpose] ?? link.purpose}<br><span class="hint">${link.delivery}${madeBy(link)}</span>`,
      },
      {
        name: 'became',
        label: 'What became of it',
        value: link =>
          fate(link)
            .map(note => noteText(note, zone))
            .join('; '),
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
    ...atUser(details, 'consents'),
    caption: 'Consents',
    empty: 'No consent is on record.',
    rows: consents,
    columns: [
      { name: 'consent', label: 'To', value: one => benefitName(details, one.name) },
      {
        name: 'version',
        label: 'Version',
        value: one => `${one.version} ${one.locale}`,
        cell: one => html`<code>${one.version}</code> ${one.locale}`,
      },
      dated('agreed', 'When', one => one.agreedAt, partner.timezone),
      {
        name: 'how',
        label: 'How',
        value: one => [CHANNELS[one.channel], recorder(one)].filter(Boolean).join(', '),
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

function atUser({ serviceId }: UserDetails, file: string) {
  const path = `/users/${serviceId}`
  return { path, filePath: `${path}/${file}.csv`, filters: {} }
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

/** A column of days of cover, on the page in words and in a file as `2026-12-31`. */
function dayColumn(
  name: string,
  label: string,
  at: (one: Enrolment) => Instant | undefined,
  zone: Zone,
): Column<Enrolment> {
  const cellOrNone = (instant: Instant | undefined) => (instant === undefined ? '–' : day(instant, zone))
  const written = (instant: Instant | undefined) => (instant === undefined ? '' : dateAt(instant, zone))
  return { name, label, value: one => written(at(one)), cell: one => cellOrNone(at(one)) }
}

function fileColumn(name: string, value: (one: Enrolment) => string): Column<Enrolment> {
  return { name, label: name, value }
}
