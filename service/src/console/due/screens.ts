import {
  addDays,
  dateAt,
  type Instant,
  type PlainDate,
  startOfDate,
  type Zone,
} from '../../calendar/calendar.ts'
import type { Catalogue } from '../../catalogue/model.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import { ownPartner } from '../partners.ts'
import { notHere, type OperatorVisit, type Screen } from '../screen/screen.ts'
import {
  type Column,
  listScreens,
  type OpenList,
  pageOf,
  positionOf,
  positionText,
  ROWS_AT_ONCE,
} from '../views/list.ts'
import { day, section, shortId, table, tag, writeDay } from '../views/parts.ts'
import {
  countDue,
  countLate,
  DUE_KINDS,
  type DueChange,
  type DueUser,
  instantWithinDay,
  isLastDay,
  MOST_LATE,
  MOST_USERS_COUNTED,
  nextDue,
  positionOfUser,
} from './store.ts'

/** What will happen by itself in the next days, to which users, and what is overdue. */
export const dueScreens: readonly Screen[] = listScreens({
  path: '/due',
  right: 'look',
  exported: 'export what is due',
  open,
})

/** With a kind, this many users are looked through for one page. */
const MOST_SEARCHED = 1000
/** The schedule applies due changes within seconds; an older one shows that the schedule has stopped. */
const LATE_MS = 120_000

async function open(visit: OperatorVisit): Promise<OpenList<DueUser>> {
  const { query, context } = visit
  const [first] = visit.partnerNames.keys()
  const wanted = query.get('partner') ?? first
  if (wanted === undefined) throw notHere('partner')
  const partner = await ownPartner(visit, wanted)
  const { partnerId, timezone } = partner
  const now = context.clock.now(partner)
  const days = query.get('days') === '30' ? '30' : '7'
  const kind = DUE_KINDS.find(one => one === query.get('kind'))
  const until = startOfDate(addDays(dateAt(now, timezone), Number(days) + 1), timezone)
  return {
    title: 'What is due',
    heading: 'Who',
    caption: 'To whom something is due',
    empty: 'Nothing in this time.',
    file: `due-${days}-days.csv`,
    looked: 'look at what is due',
    partner,
    filters: [
      { name: 'partner', label: 'Partner', value: partnerId, options: [...visit.partnerNames] },
      { name: 'days', label: 'Next', value: days, options: Object.entries({ 7: '7 days', 30: '30 days' }) },
      { name: 'kind', label: 'What', value: kind ?? 'all', options: ['all', ...DUE_KINDS] },
    ],
    columns: columnsFor(visit, partner, now),
    rows: {
      sortedBy: 'at',
      isDownFirst: false,
      nextLabel: rows =>
        rows.length < ROWS_AT_ONCE
          ? `Search on: ${written(MOST_SEARCHED)} people were looked through`
          : `Next ${ROWS_AT_ONCE}`,
      // With a kind perhaps fewer than a page has, or none, although there are more to look through.
      async read(after, isDown) {
        const { users, last } = await nextDue(context.database, {
          ...{ partnerId, until, kind },
          isLatestFirst: isDown,
          after: positionOf(after),
          limit: ROWS_AT_ONCE + 1,
          ...(kind === undefined ? {} : { most: MOST_SEARCHED }),
        })
        const { rows, next = last && positionText(last) } = pageOf(users, one =>
          positionText(positionOfUser(one)),
        )
        return { rows, next }
      },
    },
    around: async () => {
      const { database } = context
      const [late, { users, days: byDay }] = await Promise.all([
        countLate(database, { partnerId, before: now - LATE_MS }),
        countDue(database, { partnerId, until, zone: timezone }),
      ])
      const zone = html`<span class="hint">Days of ${timezone}</span>`
      return {
        above: lateNotice(late),
        beside: section('By day', html`${countedPart(users)}${daysTable(timezone, kind, byDay)}`, zone),
      }
    },
  }
}

function lateNotice(late: number): Slot {
  if (late === 0) return html`<p class="hint">Nothing is late.</p>`
  return html`<section class="notice bad"><h2>${written(late)}${late === MOST_LATE && ' or more'}
${late === 1 ? 'person was' : 'people were'} due and nothing has happened</h2>
<p>The schedule stands still, or works through a backlog. Readers see these changes as done already.</p></section>`
}

function columnsFor(
  { context, may }: OperatorVisit,
  partner: Partner,
  now: Instant,
): readonly Column<DueUser>[] {
  const { timezone } = partner
  const { catalogue } = context.terms(partner, () => undefined).today
  const line = (change: DueChange) => {
    const isLast = isLastDay(change)
    const late = change.at < now - LATE_MS && html`${tag('late', 'bad')} `
    const what = html`${tag(change.kind, isLast ? 'bad' : 'plain')} ${namedWhat(change, catalogue)}`
    return html`<li>${isLast && 'last day '}${day(instantWithinDay(change), timezone)} ${late}${what}</li>`
  }
  return [
    {
      name: 'who',
      label: 'Who',
      cell: one =>
        html`<a href="/users/${one.serviceId}">${may('support') ? one.userid : shortId(one.serviceId)}</a>`,
    },
    {
      name: 'at',
      label: 'When and what',
      cell: one => html`<ul class="rules">${one.changes.map(line)}</ul>`,
      value: one => one.changes.map(change => writeDay(instantWithinDay(change), timezone)),
    },
    { name: 'kind', label: 'Kind', value: one => one.changes.map(({ kind }) => kind), isOfFile: true },
    { name: 'what', label: 'What', value: one => one.changes.map(({ what }) => what), isOfFile: true },
    { name: 'userid', label: 'Userid', value: one => one.userid, isOfFile: true },
    { name: 'serviceid', label: 'User', value: one => one.serviceId, isOfFile: true },
  ]
}

/** What a change is about, with the names that the catalogue shows; the file has those of the API. */
function namedWhat(
  { kind, what }: Pick<DueChange, 'kind' | 'what'>,
  { benefits, offers }: Catalogue,
): string {
  if (kind.startsWith('benefit')) return benefits.get(what)?.displayname.en ?? what
  return what
    .split(' to ')
    .map(name => offers.get(name)?.displayname.en ?? name)
    .join(' to ')
}

function countedPart(users: number): Slot {
  if (users < MOST_USERS_COUNTED)
    return users > 0 && html`<p class="hint">Of ${written(users)} ${users === 1 ? 'person' : 'people'}.</p>`
  return html`<p class="notice">Of the soonest ${written(MOST_USERS_COUNTED)} people; there are more. The CSV has all.</p>`
}

function daysTable(zone: Zone, wanted: string | undefined, counts: ReadonlyMap<string, number>): Slot {
  const days = new Map<string, Slot[]>()
  for (const [name, count] of [...counts].sort()) {
    const [day, kind] = [name.slice(0, 10), name.slice(11)]
    if (wanted === undefined || wanted === kind)
      days.set(day, [...(days.get(day) ?? []), html`<li>${written(count)} × ${kind}</li>`])
  }
  return table({
    caption: 'How much is due by day and kind',
    columns: ['Day', 'How much'],
    rows: [...days].map(([day, lines]) => [
      writeDay(startOfDate(day as PlainDate, zone), zone),
      html`<ul class="rules">${lines}</ul>`,
    ]),
    empty: 'Nothing in this time.',
  })
}

function written(count: number): string {
  return count.toLocaleString('en-US')
}
