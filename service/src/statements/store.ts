import { dayOf, type Instant, type PlainDate } from '../calendar/calendar.ts'
import { type Columns, column, namesOf, rowsOf } from '../db/columns.ts'
import type { Executor } from '../db/database.ts'
import { fragment, sql, timestamp } from '../db/sql.ts'
import { NIL_UUID } from '../vault/uuid.ts'
import type { Line } from './lines.ts'

/** A row of `statements`. */
export type StatementRow = {
  readonly month: string
  readonly timezone: string
  readonly begun_at: Instant
  readonly last_service_id: string
  readonly users: number
  readonly person_cents: number
  readonly partner_cents: number
  readonly finalized_at: Instant | null
}

/** A partner's months that are final or becoming so, oldest first. */
export function loadStatements(db: Executor, partnerId: string): Promise<StatementRow[]> {
  return db.query<StatementRow>(sql`
    select month, timezone, begun_at, last_service_id, users, person_cents, partner_cents, finalized_at
    from statements where partner_id = ${partnerId} order by month`)
}

/** Begins to make a month final, unless that was begun before; returns its row. */
export async function beginStatement(
  db: Executor,
  { partnerId, month, timezone, at }: { partnerId: string; month: string; timezone: string; at: Instant },
): Promise<StatementRow | undefined> {
  await db.query(sql`
    insert into statements (partner_id, month, timezone, begun_at, last_service_id)
    values (${partnerId}, ${month}, ${timezone}, ${timestamp(at)}, ${NIL_UUID}) on conflict (partner_id, month) do nothing`)
  return (await loadStatements(db, partnerId)).find(row => row.month === month)
}

/** What a slice adds to its statement, and how far the statement has come with it. */
export type Slice = {
  readonly partnerId: string
  readonly month: string
  /** The last user of the slice before: where another process has gone on from there, the slice is not stored. */
  readonly after: string
  readonly upTo: string
  readonly users: number
  readonly personcents: number
  readonly partnercents: number
  /** Set with the last slice, with which the month is final. */
  readonly finalizedAt: Instant | undefined
}

/** Advances a statement by a slice; returns false when another process has done so first. */
export async function advanceStatement(tx: Executor, slice: Slice): Promise<boolean> {
  const rows = await tx.query(sql`
    update statements set last_service_id = ${slice.upTo}, users = users + ${slice.users}::integer,
      person_cents = person_cents + ${slice.personcents}::bigint,
      partner_cents = partner_cents + ${slice.partnercents}::bigint,
      finalized_at = ${timestamp(slice.finalizedAt)}
    where partner_id = ${slice.partnerId} and month = ${slice.month} and last_service_id = ${slice.after}
      and finalized_at is null
    returning 1`)
  return rows.length > 0
}

/** A stored line of a user. */
export type UserLine = { readonly serviceId: string; readonly place: number; readonly line: Line }

type StoredLine = UserLine & Pick<Slice, 'partnerId' | 'month'>

/** Dates and amounts, which may exceed 32 bits, travel as text. */
const lineFields: Columns<StoredLine> = {
  partner_id: column.uuid(one => one.partnerId),
  month: column.text(one => one.month),
  service_id: column.uuid(one => one.serviceId),
  place: column.integer(one => one.place),
  kind: column.text(({ line }) => line.kind),
  name: column.text(({ line }) => line.name),
  offer: column.text(({ line }) => line.offer),
  from_date: column.text(({ line }) => line.fromdate),
  to_date: column.text(({ line }) => line.todate),
  person_cents: column.text(({ line }) => String(line.personcents)),
  taken_by: column.text(({ line }) => line.takenby),
  partner_cents: column.text(({ line }) => String(line.partnercents)),
  insurer_cents: column.text(({ line }) => String(line.insurercents)),
  insurer: column.text(({ line }) => line.insurer),
  about: column.text(({ line }) => line.about),
  days: column.integer(({ line }) => line.days),
  tier: column.text(({ line }) => line.tier),
}

/** Stores the lines of a slice. */
export async function insertLines(tx: Executor, lines: readonly StoredLine[]): Promise<void> {
  await tx.query(sql`
    insert into statement_lines (${namesOf(lineFields)})
    select partner_id, month, service_id, place, kind, name, offer, from_date::date, to_date::date, person_cents::bigint,
      taken_by, partner_cents::bigint, insurer_cents::bigint, insurer, about, days, tier
    from ${rowsOf(lineFields, lines)}`)
}

/** Forgets corrections that a final month has taken up: those written before its counting began. */
export async function forgetCorrections(
  tx: Executor,
  { partnerId, before }: { partnerId: string; before: Instant },
): Promise<void> {
  await tx.query(sql`
    delete from corrected_pasts where partner_id = ${partnerId} and recorded_at < ${timestamp(before)}`)
}

type LineRow = {
  service_id: string
  place: number
  month: string
  kind: Line['kind']
  name: string
  offer: string
  from_date: PlainDate
  to_date: PlainDate
  person_cents: number
  taken_by: Line['takenby']
  partner_cents: number
  insurer_cents: number
  insurer: string
  about: string
  days: number | null
  tier: string | null
}

const lineColumns = fragment`l.service_id, l.place, l.month, l.kind, l.name, l.offer, l.from_date::text, l.to_date::text,
  l.person_cents, l.taken_by, l.partner_cents, l.insurer_cents, l.insurer, l.about, l.days, l.tier`

/** The stored lines of a month from a user and a place on. */
export async function loadLines(
  db: Executor,
  query: {
    partnerId: string
    month: string
    from: string
    place: number
    limit: number
    isForOperator: boolean
  },
): Promise<(UserLine & { readonly userid: string | undefined })[]> {
  const rows = await db.query<LineRow & { userid: string | null }>(sql`
    select ${lineColumns},
      case when u.status <> 'erased' then u.userid end as userid
    from statement_lines l
    left join users u on u.partner_id = l.partner_id and u.service_id = l.service_id
    where l.partner_id = ${query.partnerId} and l.month = ${query.month}
      and (l.service_id, l.place) >= (${query.from}::uuid, ${query.place}::integer)
      and (${query.isForOperator}::boolean or l.kind <> 'adjustment' or l.person_cents <> 0 or l.partner_cents <> 0)
    order by l.service_id, l.place limit ${query.limit}`)
  return rows.map(row => ({ ...userLineOf(row), userid: row.userid ?? undefined }))
}

/** A stored line, and the month whose statement has it. */
export type FinalLine = { readonly month: string; readonly line: Line }

/** The stored lines of one user in these months. */
export async function loadFinalLines(
  db: Executor,
  query: { partnerId: string; serviceId: string; months: readonly string[] },
): Promise<FinalLine[]> {
  const rows = await db.query<LineRow>(sql`
    select ${lineColumns}
    from statement_lines l
    where l.partner_id = ${query.partnerId} and l.month = any (${query.months}::text[])
      and l.service_id = ${query.serviceId}
    order by l.month, l.place`)
  return rows.map(row => ({ month: row.month, line: userLineOf(row).line }))
}

function userLineOf(row: LineRow): UserLine {
  return {
    serviceId: row.service_id,
    place: row.place,
    line: {
      kind: row.kind,
      name: row.name,
      offer: row.offer,
      fromdate: row.from_date,
      todate: row.to_date,
      personcents: row.person_cents,
      takenby: row.taken_by,
      partnercents: row.partner_cents,
      insurercents: row.insurer_cents,
      insurer: row.insurer,
      about: row.about,
      ...(row.tier !== null && { tier: row.tier }),
      // Lines that were made final before this was kept have none.
      days: row.days ?? dayOf(row.to_date) - dayOf(row.from_date) + 1,
    },
  }
}
