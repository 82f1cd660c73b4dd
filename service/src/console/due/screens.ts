import { addDays, dateAt, startOfDate } from '../../calendar/calendar.ts'
import { csvLine } from '../../csv.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import { hasRole } from '../operators/operator.ts'
import { record } from '../page/record.ts'
import { type Answer, notHere, type Screen, type Visit } from '../page/screen.ts'
import { ownPartner, ownPartners } from '../partners.ts'
import { part, table, tag, when, writeDay, writeInstant } from '../views/parts.ts'
import { DUE_KINDS, type DueLine, findDue, MOST_DUE_USERS } from './store.ts'

/** What will happen by itself in the next days, to which users, and what is overdue. */
export const dueScreens: readonly Screen[] = [
  { method: 'GET', path: '/due', role: 'viewer', section: 'due', answer: list },
  { method: 'GET', path: '/due.csv', role: 'support', section: 'due', answer: exportDue },
]

type Wish = {
  readonly partner: Partner
  readonly days: 7 | 30
  readonly kind: string
  readonly now: number
  readonly lines: readonly DueLine[]
  readonly isAll: boolean
  readonly query: string
}

async function wishOf(visit: Visit, most: number): Promise<Wish> {
  const { query, context } = visit
  const [first] = await ownPartners(visit)
  const wanted = query.get('partner') ?? first?.partnerId
  if (wanted === undefined) throw notHere('partner')
  const partner = await ownPartner(visit, wanted)
  const now = context.clock.now(partner)
  const days = query.get('days') === '30' ? 30 : 7
  const until = startOfDate(addDays(dateAt(now, partner.timezone), days + 1), partner.timezone)
  const { lines, isAll } = await findDue(context.database, { partnerId: partner.partnerId, until, most })
  const kind = DUE_KINDS.find(one => one === query.get('kind')) ?? 'all'
  const address = new URLSearchParams({ partner: partner.partnerId, days: String(days), kind })
  return {
    partner,
    days,
    kind,
    now,
    isAll,
    query: address.toString(),
    lines: lines.filter(line => kind === 'all' || line.kind === kind),
  }
}

const LINES_A_PAGE = 100
/** The schedule applies due changes within seconds; an older one shows that the schedule has stopped. */
const LATE_MS = 120_000

async function list(visit: Visit): Promise<Answer> {
  const wish = await wishOf(visit, MOST_DUE_USERS.screen)
  const { partner, days, kind, now, lines, isAll, query } = wish
  const partners = await ownPartners(visit)
  await record(visit, { action: 'look at what is due', result: 'shown', partner })
  const sees = hasRole(visit.operator, 'support')
  const page = Math.max(1, Number.parseInt(visit.query.get('page') ?? '1', 10) || 1)
  const late = lines.filter(line => line.at < now - LATE_MS)
  const ahead = lines.filter(line => line.at >= now - LATE_MS)
  const shown = ahead.slice((page - 1) * LINES_A_PAGE, page * LINES_A_PAGE)
  return {
    title: 'What is due',
    body: html`<form method="get" action="/due" class="row">
<p class="field"><label for="partner">Partner</label><select id="partner" name="partner">${partners.map(one => html`<option value="${one.partnerId}"${one.partnerId === partner.partnerId ? html` selected` : ''}>${one.name}</option>`)}</select></p>
<p class="field"><label for="days">Next</label><select id="days" name="days">${[7, 30].map(one => html`<option value="${one}"${one === days ? html` selected` : ''}>${one} days</option>`)}</select></p>
<p class="field"><label for="kind">What</label><select id="kind" name="kind">${['all', ...DUE_KINDS].map(one => html`<option value="${one}"${one === kind ? html` selected` : ''}>${one}</option>`)}</select></p>
<button class="secondary">Show</button></form>
${!isAll && html`<p class="notice">More than ${MOST_DUE_USERS.screen} users have something due: these are the soonest of them. The CSV has the soonest ${MOST_DUE_USERS.file}; <code>enrolment users ending</code>, <code>starting</code> and <code>changing</code> have all.</p>`}
${
  late.length > 0
    ? html`<section class="notice bad"><h2>${late.length} were due and have not happened</h2><p>The schedule stands still, or works through a backlog. Readers see these changes as done already.</p></section>`
    : html`<p class="hint">Nothing is late.</p>`
}
<div class="columns"><div>${part(
      'Who',
      html`${linesTable(wish, shown, sees)}
${ahead.length > page * LINES_A_PAGE && html`<p><a href="/due?${query}&amp;page=${page + 1}">Next ${LINES_A_PAGE}</a></p>`}`,
      sees && html`<a href="/due.csv?${query}">CSV</a>`,
    )}</div><div>${part('By day', daysTable(wish, ahead))}</div></div>`,
  }
}

function linesTable({ partner }: Wish, lines: readonly DueLine[], sees: boolean): Slot {
  return table({
    caption: 'What is due, soonest first',
    columns: ['When', 'What', 'Who'],
    rows: lines.map(line => [
      when(line.at, partner.timezone),
      html`${tag(line.kind, line.kind.endsWith('ends') ? 'bad' : 'plain')} ${line.what}`,
      html`<a href="/users/${line.service_id}">${sees ? line.userid : line.service_id}</a>`,
    ]),
    empty: 'Nothing in this time.',
  })
}

function daysTable({ partner }: Wish, lines: readonly DueLine[]): Slot {
  const counts = new Map<string, Map<string, number>>()
  for (const line of lines) {
    const day = writeDay(line.at, partner.timezone)
    const kinds = counts.get(day) ?? new Map<string, number>()
    counts.set(day, kinds.set(line.kind, (kinds.get(line.kind) ?? 0) + 1))
  }
  return table({
    caption: 'How much is due by day and kind',
    columns: ['Day', 'How much'],
    rows: [...counts].map(([day, kinds]) => [
      day,
      html`<ul class="rules">${[...kinds].map(([kind, count]) => html`<li>${count} × ${kind}</li>`)}</ul>`,
    ]),
    empty: 'Nothing in this time.',
  })
}

async function exportDue(visit: Visit): Promise<Answer> {
  const { partner, days, lines } = await wishOf(visit, MOST_DUE_USERS.file)
  await record(visit, { action: 'export what is due', partner })
  const head = ['at', 'kind', 'what', 'userid', 'serviceid']
  const rows = lines.map(line => [
    writeInstant(line.at, partner.timezone),
    line.kind,
    line.what,
    line.userid,
    line.service_id,
  ])
  return {
    file: `due-${days}-days.csv`,
    type: 'text/csv; charset=utf-8',
    content: [head, ...rows].map(line => `${csvLine(line)}\r\n`).join(''),
  }
}
