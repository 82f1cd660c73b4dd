import { dateAt, type Instant, type Zone } from '../../calendar/calendar.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import type { ConsentRecord } from '../../membership/records/consents.ts'
import type { OpenLine } from '../../membership/records/insurer-lines.ts'
import { enrolmentWorth } from '../../membership/rules/family.ts'
import { howToUseToday, usableUntil } from '../../membership/rules/how-to-use.ts'
import {
  type ConsentChannel,
  type Enrolment,
  isHeld,
  isInForce,
  isLive,
} from '../../membership/rules/state.ts'
import { knownBenefit } from '../../membership/rules/terms.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import type { LinkRow } from '../user-data/store.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import { type Column, dated, type List } from '../views/list.ts'
import { counted, day, section, type Tone, table, tag, when, writeDay } from '../views/parts.ts'
import { benefitName, endReasonWords, offerName, stateWords } from '../views/told.ts'

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

/**
 * How a benefit is used, to read out to its holder: while it is in force and, for what happened before its end, as long as
 * the catalogue says; empty otherwise.
 */
export function howToUsePart({ terms, user, now, partner }: UserDetails, enrolment: Enrolment): Slot {
  const benefit =
    terms.version(enrolment.version).benefits.get(enrolment.benefit) ??
    knownBenefit(terms, user, enrolment.benefit)
  const use = benefit && howToUseToday(terms, benefit)
  const until = benefit && usableUntil(terms, enrolment, benefit)
  const isUsable = isInForce(enrolment) || (until !== undefined && now < until)
  if (!use || !isUsable) return ''
  const { text, phone, url, email } = use
  return html`<details><summary>How to use it</summary>
${until !== undefined && html`<p>For what happened before its end, until ${writeDay(until - 1, partner.timezone)}.</p>`}
<p>${text.en}</p>
<ul class="rules">${[phone, url, email].map(way => way !== undefined && html`<li>${way}</li>`)}</ul></details>`
}

/** One thing that happened to a link: a tag, words, an instant, and the reference of a confirmation, in this order. */
type LinkNote = {
  readonly tag?: readonly [word: string, tone: Tone]
  readonly words?: string
  readonly at?: Instant
  readonly reference?: string
}

/** What became of a link: opened, abandoned at which view, completed, expired, opened again when it was dead. */
export function describeLink(link: LinkRow, real: Instant): LinkNote[] {
  const notes: LinkNote[] = []
  if (link.spent_at === null) {
    if (link.revoked_at !== null) notes.push({ tag: ['revoked', 'plain'], at: link.revoked_at })
    else if (link.token_expires_at <= real) notes.push({ tag: ['expired unopened', 'bad'] })
    else notes.push({ tag: ['not opened yet', 'wait'], words: 'until', at: link.token_expires_at })
  } else {
    notes.push({ words: 'opened', at: link.spent_at })
    if (link.outcome !== null) {
      const tone = link.outcome === 'challengefailed' ? 'bad' : 'good'
      const reference = link.reference === null ? {} : { reference: link.reference }
      notes.push({ tag: [OUTCOMES[link.outcome] ?? link.outcome, tone], ...reference })
    } else if (link.signed_out_at !== null) notes.push({ words: 'signed out', at: link.signed_out_at })
    else if (link.last_seen_at !== null)
      notes.push({ words: `last seen${lastViewWords(link)}`, at: link.last_seen_at })
    if (link.birthdate_tries > 0 && link.birthdate_passed_at === null)
      notes.push({ words: counted(link.birthdate_tries, 'wrong birth date') })
  }
  return notes
}

/** A note for the page. */
export function shownNote({ tag: tagged, words, at, reference }: LinkNote, zone: Zone): Slot {
  const parts = [
    tagged && tag(...tagged),
    words,
    at !== undefined && when(at, zone),
    reference !== undefined && html`<code>${reference}</code>`,
  ]
  return parts.filter(Boolean).map((part, index) => [index > 0 && ' ', part])
}

/** The outcomes of a page session whose names are not plain words. */
const OUTCOMES: Readonly<Record<string, string>> = {
  challengefailed: 'closed after too many wrong birth dates',
  undone: 'a planned change called off',
}

function lastViewWords({ last_view }: LinkRow): string {
  return last_view === null ? '' : ` at ${viewWords(last_view)},`
}

/** A step of the page in words, by the headings that the person reads. */
export function viewWords(view: string | null): string {
  if (view === null) return 'the beginning'
  return VIEWS[view] ?? `“${view.toLowerCase().replaceAll('_', ' ')}”`
}

const VIEWS: Readonly<Record<string, string>> = {
  CHALLENGE: 'the birth date',
  DETAILS_REVIEW: '“Check your details”',
  DETAILS_EDIT: '“Check your details”',
  BENEFITS: 'the choice of benefits',
  FAMILY_EDIT: 'naming somebody to cover',
  CHECK_ANSWERS: 'the last step, “Check your answers”',
}

/** What insurers were told about a user, when, and what they said; empty while nothing was told. */
export function insurersPart(visit: OperatorVisit, details: UserDetails, lines: readonly OpenLine[]): Slot {
  if (lines.length === 0) return ''
  const zone = details.partner.timezone
  return section(
    'What insurers were told',
    table({
      caption: 'What insurers were told, newest first',
      columns: ['When', 'What', 'Cover', 'What the insurer said'],
      rows: lines.map(line => [
        html`${when(line.toldAt, zone)}<br><span class="hint">${originOf(line)}</span>`,
        html`${line.action} ${benefitName(details, line.benefit)}${line.person !== '' && ', of a dependant'}`,
        html`from ${line.startsOn}${line.endsOn !== undefined && html`<br>to ${line.endsOn}`}`,
        saidBy(line, visit, zone),
      ]),
      empty: '',
    }),
    html`<span class="hint">Newest first</span>`,
  )
}

function originOf({ feed, run, line }: OpenLine): Slot {
  if (run === 0) return 'by a former system'
  return html`<a href="/feeds/${feed}">${feed}</a> run ${run}, line ${line}`
}

const tones: Readonly<Record<OpenLine['status'], Tone>> = {
  sent: 'wait',
  accepted: 'good',
  refused: 'bad',
  settled: 'plain',
  doubted: 'wait',
}
const words: Readonly<Record<OpenLine['status'], string>> = {
  sent: 'no answer yet',
  accepted: 'accepted',
  refused: 'refused',
  settled: 'dealt with',
  doubted: 'has it otherwise',
}

function saidBy({ status, answer, answeredAt }: OpenLine, { may }: OperatorVisit, zone: string): Html {
  const said =
    answer && may('support') ? [answer.code, answer.text].filter(text => text !== '').join(': ') : ''
  const memberId = may('support') ? answer?.memberId : undefined
  return html`${tag(words[status], tones[status])}${
    answeredAt !== undefined && html` <span class="hint">${dateAt(answeredAt, zone)}</span>`
  }${said !== '' && html`<br>${said}`}${memberId && html`<br>member number <code>${memberId}</code>`}`
}

/** What the person pays for the benefits in force today: the sum for each time span, what this month comes to, then each price; empty if none is in force. */
export function paysView(
  details: UserDetails,
  month: { readonly name: string; readonly cents: number } | undefined,
): Slot {
  const { user, terms } = details
  const inForce = user.enrolments.filter(isInForce)
  if (inForce.length === 0) return ''
  const prices = inForce.flatMap(one => {
    const cost = enrolmentWorth(terms, one)?.cost
    return cost && cost.cents > 0 ? [{ cost, name: benefitName(details, one.benefit) }] : []
  })
  const total = month && month.cents > 0 && ` In all ${money(month.cents)} in ${month.name}.`
  if (prices.length === 0) return html`<p>Pays nothing for these.${total}</p>`
  const sums = new Map<string, number>()
  for (const { cost } of prices) sums.set(cost.per, (sums.get(cost.per) ?? 0) + cost.cents)
  return html`<p>Pays ${[...sums].map(([per, cents]) => `${money(cents)} a ${per}`).join(' and ')}:${total}</p>
<ul class="rules">${prices.map(
    ({ name, cost }) => html`<li>${name}:
${money(cost.cents)} a ${cost.per}${cost.taken && `, ${cost.taken.how.en}`}</li>`,
  )}</ul>`
}

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

function money(cents: number): string {
  return dollars.format(cents / 100)
}
