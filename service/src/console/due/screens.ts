import { addDays, dateAt, type Instant, startOfDate } from '../../calendar/calendar.ts'
import type { Catalogue } from '../../catalogue/model.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import { countDays, type DueCount, MOST_USERS_COUNTED } from '../background/due-counts.ts'
import {
  countLate,
  DUE_KINDS,
  type DueChange,
  type DueUser,
  MOST_LATE,
  nextDue,
  positionOfUser,
} from '../background/due-store.ts'
import { ownPartner } from '../partners.ts'
import { type Position, positionOf, positionText } from '../position.ts'
import { record } from '../screen/record.ts'
import { type Answer, notHere, onGet, type Screen, type Visit } from '../screen/screen.ts'
import { sortField } from '../views/list.ts'
import {
  isDownIn,
  type LongList,
  longFile,
  longHeading,
  longPages,
  queryOf,
  ROWS_AT_ONCE,
  type Slice,
  sliceOf,
} from '../views/long-list.ts'
import { part, selectField, table, tag, when, writeDay, writeInstant } from '../views/parts.ts'

/** What will happen by itself in the next days, to which users, and what is overdue. */
export const dueScreens: readonly Screen[] = [
  onGet('/due', 'viewer', list),
  onGet('/due.csv', 'support', exportDue),
]

type Filter = {
  readonly partner: Partner
  readonly days: 7 | 30
  /** `undefined`: every kind. */
  readonly kind: DueChange['kind'] | undefined
  readonly now: Instant
  /** The end of the last day. */
  readonly until: Instant
  readonly list: LongList
}

async function filterOf(visit: Visit): Promise<Filter> {
  const { query, context } = visit
  const [first] = visit.partnerNames.keys()
  const wanted = query.get('partner') ?? first
  if (wanted === undefined) throw notHere('partner')
  const partner = await ownPartner(visit, wanted)
  const now = context.clock.now(partner)
  const days = query.get('days') === '30' ? 30 : 7
  const kind = DUE_KINDS.find(one => one === query.get('kind'))
  return {
    partner,
    days,
    kind,
    now,
    until: startOfDate(addDays(dateAt(now, partner.timezone), days + 1), partner.timezone),
    list: {
      path: '/due',
      filters: { partner: partner.partnerId, days: String(days), kind: kind ?? 'all' },
      column: 'at',
      isDown: isDownIn(query, 'at', false),
    },
  }
}

/** With a kind, this many users are looked through for one page. */
const MOST_SEARCHED = 1000
/** The schedule applies due changes within seconds; an older one shows that the schedule has stopped. */
const LATE_MS = 120_000

/** The next users; with a kind perhaps fewer than a page has, or none, although there are more to look through. */
async function usersAfter(
  { context }: Visit,
  { partner, until, list, kind }: Filter,
  after: Position | undefined,
): Promise<Slice<DueUser, Position>> {
  const { users, last } = await nextDue(context.database, {
    partnerId: partner.partnerId,
    until,
    isLatestFirst: list.isDown,
    kind,
    after,
    limit: ROWS_AT_ONCE + 1,
    ...(kind === undefined ? {} : { most: MOST_SEARCHED }),
  })
  const { rows, next = last } = sliceOf(users, positionOfUser)
  return { rows, next }
}

async function list(visit: Visit): Promise<Answer> {
  const filter = await filterOf(visit)
  const { partner, days, kind, now, until } = filter
  const { context } = visit
  const { database, dueCounts } = context
  const after = positionOf(visit.query.get('after'))
  const [page, late] = await Promise.all([
    usersAfter(visit, filter, after),
    countLate(database, { partnerId: partner.partnerId, before: now - LATE_MS }),
  ])
  // All that is due is on this page, so the count is of this moment. Otherwise it is of the last minute.
  const isAll = after === undefined && page.next === undefined
  const count: DueCount = isAll
    ? { users: page.rows.length, days: countDays(page.rows, partner), state: 'whole' }
    : dueCounts.of(partner, until)
  await record(visit, { action: 'look at what is due', result: 'shown', partner })
  return {
    title: 'What is due',
    body: html`<form method="get" action="/due" class="row">
${selectField('partner', 'Partner', [...visit.partnerNames], partner.partnerId)}
${selectField('days', 'Next', Object.entries({ 7: '7 days', 30: '30 days' }), String(days))}
${selectField('kind', 'What', ['all', ...DUE_KINDS], kind ?? 'all')}
${sortField(visit.query)}<button class="secondary">Show</button></form>
${
  late > 0
    ? html`<section class="notice bad"><h2>${written(late)}${late === MOST_LATE && ' or more'} ${late === 1 ? 'person was' : 'people were'} due and nothing has happened</h2><p>The schedule stands still, or works through a backlog. Readers see these changes as done already.</p></section>`
    : html`<p class="hint">Nothing is late.</p>`
}
<div class="columns"><div>${part(
      'Who',
      html`${usersTable(visit, filter, page.rows)}
${longPages(filter.list, {
  isFirst: after === undefined,
  next: page.next && positionText(page.next),
  label:
    page.rows.length < ROWS_AT_ONCE
      ? `Search on: ${written(MOST_SEARCHED)} people were looked through`
      : `Next ${ROWS_AT_ONCE}`,
})}`,
      visit.isSupport && html`<a href="/due.csv?${queryOf(filter.list)}">CSV</a>`,
    )}</div><div>${part('By day', html`${countedPart(count)}${daysTable(filter, count)}`, html`<span class="hint">Days of ${partner.timezone}</span>`)}</div></div>`,
  }
}

function usersTable(
  { context, isSupport }: Visit,
  { partner, now, list }: Filter,
  users: readonly DueUser[],
): Slot {
  const { catalogue } = context.terms(partner, () => undefined).today
  return table({
    caption: 'To whom something is due',
    columns: ['Who', longHeading(list, 'When and what')],
    rows: users.map(user => [
      html`<a href="/users/${user.serviceId}">${isSupport ? user.userid : user.serviceId}</a>`,
      html`<ul class="rules">${user.changes.map(({ at, kind, what }) => html`<li>${when(at, partner.timezone)} ${at < now - LATE_MS && html`${tag('late', 'bad')} `}${tag(kind, kind.endsWith('ends') ? 'bad' : 'plain')} ${namedWhat({ kind, what }, catalogue)}${kind.endsWith('ends') && html` <span class="hint">last day ${writeDay(at - 1, partner.timezone)}</span>`}</li>`)}</ul>`,
    ]),
    empty: 'Nothing in this time.',
  })
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

function countedPart({ state, users }: DueCount): Slot {
  if (state === 'whole')
    return users > 0 && html`<p class="hint">Of ${written(users)} ${users === 1 ? 'person' : 'people'}.</p>`
  return state === 'limit'
    ? html`<p class="notice">Of the soonest ${written(MOST_USERS_COUNTED)} people; there are more. The CSV has all.</p>`
    : html`<p class="notice" role="status">Still counting: ${written(users)} people so far. Load this page again for the rest.</p>`
}

function daysTable({ partner, kind }: Filter, { days }: DueCount): Slot {
  const rows = [...days]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([day, kinds]) => ({
      day: writeDay(startOfDate(day, partner.timezone), partner.timezone),
      kinds: [...kinds].filter(([name]) => kind === undefined || name === kind),
    }))
  return table({
    caption: 'How much is due by day and kind',
    columns: ['Day', 'How much'],
    rows: rows
      .filter(({ kinds }) => kinds.length > 0)
      .map(({ day, kinds }) => [
        day,
        html`<ul class="rules">${kinds.map(([name, count]) => html`<li>${written(count)} × ${name}</li>`)}</ul>`,
      ]),
    empty: 'Nothing in this time.',
  })
}

function written(count: number): string {
  return count.toLocaleString('en-US')
}

async function exportDue(visit: Visit): Promise<Answer> {
  const filter = await filterOf(visit)
  const { partner, days } = filter
  const deed = { file: `due-${days}-days.csv`, action: 'export what is due', partner }
  return longFile<Position>(visit, deed, {
    head: ['at', 'kind', 'what', 'userid', 'serviceid'],
    read: async after => {
      const { rows, next } = await usersAfter(visit, filter, after)
      const lines = rows.flatMap(({ userid, serviceId, changes }) =>
        changes.map(({ at, kind, what }) => [
          writeInstant(at, partner.timezone),
          kind,
          what,
          userid,
          serviceId,
        ]),
      )
      return { rows: lines, next }
    },
  })
}
