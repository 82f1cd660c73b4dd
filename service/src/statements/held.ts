import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import type { Period } from './lines.ts'
import type { Month } from './month.ts'

/** What a user held, for counting months. */
export type Held = {
  readonly serviceId: string
  /** `undefined` for an erased user. */
  readonly userid: string | undefined
  readonly benefits: readonly Period[]
  readonly offers: readonly Period[]
  /** The offer that a pending change brings. */
  readonly pending: Pick<Period, 'name' | 'startsAt' | 'endsAt'> | undefined
  /** A change of the user is due that is not written yet. */
  readonly isDue: boolean
  /** The past was changed since it may have become final. */
  readonly isCorrected: boolean
}

type PeriodRow = [name: string, version: number, startsAt: Instant, endsAt: Instant | null, isOffer: boolean]
type Row = {
  service_id: string
  userid: string
  is_erased: boolean
  is_due: boolean
  is_corrected: boolean
  pending_offer: string | null
  pending_offer_at: Instant | null
  cancel_at: Instant | null
  periods: PeriodRow[] | null
}

/** Which users: those from a service id on, and of their benefits those of a month, or all. */
export type HeldQuery = {
  readonly partnerId: string
  readonly from: string
  readonly limit: number
  readonly month: Month | undefined
  readonly now: Instant
}

/**
 * Users who ever had an offer, in order of their service ids, with what they held. One pass over each table, gathered by
 * grouping: our sessions join by nested loops only, which would search all that was found anew for each user.
 */
export async function loadHeld(db: Executor, query: HeldQuery): Promise<Held[]> {
  const { partnerId, from, limit, month, now } = query
  const [startsAt, endsAt] = [timestamp(month?.startsAt), timestamp(month?.endsAt)]
  const rows = await db.query<Row>(sql`
    with page as materialized (
      select u.service_id, u.userid, u.status = 'erased' as is_erased, coalesce(u.due_at <= ${timestamp(now)}, false) as is_due,
        case when u.status = 'active' then u.pending_offer end as pending_offer, u.pending_offer_at, u.cancel_at
      from users u
      where u.partner_id = ${partnerId} and u.service_id >= ${from} and (u.offer is not null or u.status = 'erased')
      order by u.service_id limit ${limit}
    ), last as (select service_id from page order by service_id desc limit 1),
    known as (
      select service_id, true as is_user, userid, is_erased, is_due, false as is_corrected, pending_offer, pending_offer_at,
        cancel_at, null::json as period
      from page
      union all
      select c.service_id, false, null, false, false, true, null, null, null, null
      from corrected_pasts c
      where c.partner_id = ${partnerId} and c.service_id >= ${from} and c.service_id <= (select service_id from last)
      union all
      select e.service_id, false, null, false, false, false, null, null, null, json_build_array(e.benefit, e.catalogue_version,
        (extract(epoch from e.starts_at) * 1000)::bigint, (extract(epoch from e.ends_at) * 1000)::bigint, false)
      from enrolments e
      where e.partner_id = ${partnerId} and e.service_id >= ${from} and e.service_id <= (select service_id from last)
        and e.state in ('scheduled', 'enrolled', 'endscheduled', 'ended')
        and (${endsAt}::timestamptz is null or e.starts_at <= ${endsAt})
        and (${startsAt}::timestamptz is null or e.ends_at is null or e.ends_at >= ${startsAt})
      union all
      select h.service_id, false, null, false, false, false, null, null, null, json_build_array(h.name, h.catalogue_version,
        (extract(epoch from h.starts_at) * 1000)::bigint, (extract(epoch from h.ends_at) * 1000)::bigint, h.is_offer)
      from held_periods h
      where h.partner_id = ${partnerId} and h.service_id >= ${from} and h.service_id <= (select service_id from last)
    )
    select service_id, max(userid) as userid, bool_or(is_erased) as is_erased, bool_or(is_due) as is_due,
      bool_or(is_corrected) as is_corrected, max(pending_offer) as pending_offer, max(pending_offer_at) as pending_offer_at,
      max(cancel_at) as cancel_at, json_agg(period) filter (where period is not null) as periods
    from known group by service_id having bool_or(is_user) order by service_id`)
  return rows.map(heldOf)
}

function heldOf(row: Row): Held {
  const benefits: Period[] = []
  const offers: Period[] = []
  for (const [name, began, startsAt, endsAt, isOffer] of row.periods ?? [])
    (isOffer ? offers : benefits).push({ name, version: began, startsAt, endsAt: endsAt ?? undefined })
  return {
    serviceId: row.service_id,
    userid: row.is_erased ? undefined : row.userid,
    benefits,
    offers,
    pending:
      row.pending_offer !== null && row.pending_offer_at !== null
        ? { name: row.pending_offer, startsAt: row.pending_offer_at, endsAt: row.cancel_at ?? undefined }
        : undefined,
    isDue: row.is_due,
    isCorrected: row.is_corrected,
  }
}

/** The earliest instant at which any user of a partner held something; `undefined`: nobody ever did. */
export async function firstHeld(db: Executor, partnerId: string): Promise<Instant | undefined> {
  const [row] = await db.query<{ at: Instant | null }>(sql`
    select least(
      (select min(starts_at) from held_periods where partner_id = ${partnerId} and (ends_at is null or ends_at > starts_at)),
      (select min(starts_at) from enrolments where partner_id = ${partnerId}
        and state in ('scheduled', 'enrolled', 'endscheduled', 'ended') and (ends_at is null or ends_at > starts_at))) as at`)
  return row?.at ?? undefined
}

/** Whether something may have changed about a partner's users since an instant of its business time. */
export async function hasChangedSince(
  db: Executor,
  { partnerId, since, now }: { partnerId: string; since: Instant; now: Instant },
): Promise<boolean> {
  const [row] = await db.query<{ changed: boolean }>(sql`
    select exists (select 1 from users where partner_id = ${partnerId} and updated_at >= ${timestamp(since)})
      or exists (select 1 from users where partner_id = ${partnerId} and due_at <= ${timestamp(now)}) as changed`)
  return row?.changed ?? true
}
