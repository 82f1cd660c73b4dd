import type { Instant } from '../calendar/calendar.ts'
import { type Month, type MonthName, monthAt } from '../calendar/month.ts'
import type { Relationship } from '../catalogue/model.ts'
import type { Executor } from '../db/database.ts'
import { type Fragment, fragment, readTimestamp, sql, timestamp } from '../db/sql.ts'
import type { Partner } from '../partners/partner.ts'
import type { Period } from './lines.ts'

/** A user, and what they held. */
export type Holder = {
  readonly serviceId: string
  /** `undefined` for an erased user. */
  readonly userid: string | undefined
  readonly held: Held
}

/** What somebody held, for counting months. Users who held the same share one object, by which equal lines are found. */
export type Held = {
  readonly benefits: readonly Period[]
  readonly offers: readonly Period[]
  /** The offer that a pending change brings. */
  readonly pending: Pick<Period, 'name' | 'startsAt' | 'endsAt'> | undefined
  /** This is not all: a change is due and not written yet, or planned for the start of a benefit, which only the whole user shows. */
  readonly isPartial: boolean
  /** The past was changed since it may have become final. */
  readonly isCorrected: boolean
  /** The first month in which an imported member is charged; `undefined`: from the beginning. */
  readonly chargedFrom: MonthName | undefined
  /** When such a member, who had left, became one anew, who is charged from then on as anybody else. */
  readonly anewAt: Instant | undefined
}

type Row = { service_id: string; userid: string | null; held: string | null }

/** Which users: those from a service id on, and of their benefits those of a month, or all. */
export type HeldQuery = {
  readonly partnerId: string
  readonly from: string
  readonly limit: number
  readonly month: Month | undefined
  readonly now: Instant
}

/**
 * Users who ever had an offer, in order of their service ids, with what they held. Each table is read once, by ranges, and what
 * a user held is one text: with times outside the month moved to its edges, most users of a month have the same one, which is
 * read once. As JSON, with a row's columns gathered one by one, a user took three times as long.
 */
export async function loadHeld(
  db: Executor,
  { partnerId, from, limit, month, now }: HeldQuery,
): Promise<Holder[]> {
  const [startsAt, endsAt] = [timestamp(month?.startsAt), timestamp(month?.endsAt)]
  const ofPage = fragment`partner_id = ${partnerId} and service_id >= ${from} and service_id <= (select service_id from last)`
  const [before, after] = [timestamp(month && month.startsAt - 1), timestamp(month && month.endsAt + 1)]
  const timesUntil = (end: Fragment) => fragment`catalogue_version || '|' ||
    case when ${end} < ${startsAt} then starts_at else greatest(starts_at, ${before}) end || '|' ||
    coalesce(case when starts_at > ${endsAt} then ${end} else least(${end}, ${after}) end::text, '')`
  // What has not begun ends at its own end, which gives it a dated one only when it begins.
  const dated = fragment`coalesce(ends_at, own_end_at)`
  const rows = await db.query<Row>(sql`
    with page as materialized (
      select service_id, case when status <> 'erased' then userid end as userid, due_at <= ${timestamp(now)} as is_due,
        case when status = 'active' then pending_offer end as pending_offer, pending_offer_at, cancel_at
      from users
      where partner_id = ${partnerId} and service_id >= ${from} and (offer is not null or status = 'erased')
      order by service_id limit ${limit}
    ), last as (select service_id from page order by service_id desc limit 1)
    select service_id, max(userid) as userid, string_agg(held, ',') as held
    from (
      select service_id, true as is_user, userid, case when is_due then 'partial' end as held from page
      union all
      select service_id, false, null, 'pending|' || pending_offer || '|0|' || pending_offer_at || '|' || coalesce(cancel_at::text, '')
      from page where pending_offer is not null
      union all
      select service_id, false, null, 'corrected' from corrected_pasts where ${ofPage}
      union all
      select service_id, false, null, 'from|' || month || coalesce('|' || case when anew_at < ${before} then ${before} else anew_at end, '')
      from charged_from
      where ${ofPage} and (${month?.name ?? null}::text is null or month > ${month?.name ?? null}::text)
      union all
      select service_id, false, null, case when state = 'scheduled' and pending_cover_at is not null then 'partial,' else '' end
        || 'benefit|' || benefit || '|' || ${timesUntil(dated)} || coalesce('|' || tiers_version || '|' || tiers_at, '')
      from enrolments
      where ${ofPage} and state in ('scheduled', 'enrolled', 'endscheduled', 'ended')
        and (${endsAt}::timestamptz is null or starts_at <= ${endsAt})
        and (${startsAt}::timestamptz is null or ends_at is null or ends_at >= ${startsAt})
      union all
      select service_id, false, null, 'cover|' || benefit || '|' || relationship || '|' ||
        greatest(starts_at, ${before}) || '|' || coalesce(least(ends_at, ${after})::text, '')
      from covered_dependants
      where ${ofPage} and counts and (${endsAt}::timestamptz is null or starts_at <= ${endsAt})
        and (${startsAt}::timestamptz is null or ends_at is null or ends_at >= ${startsAt})
      union all
      select service_id, false, null, case when is_offer then 'offer|' else 'benefit|' end || name || '|'
        || ${timesUntil(fragment`ends_at`)}
        || coalesce('|||' || replace(who, ',', ' '), '')
      from held_periods where ${ofPage}
    ) as known
    group by service_id having bool_or(is_user) order by service_id`)
  const known = new Map<string, Held>()
  return rows.map(({ service_id: serviceId, userid, held: text }) => {
    const held = known.get(text ?? '') ?? heldOf(text ?? '')
    known.set(text ?? '', held)
    return { serviceId, userid: userid ?? undefined, held }
  })
}

function heldOf(text: string): Held {
  const parts = text.split(',').map(one => one.split('|'))
  const periodsOf = (kind: string) =>
    parts.flatMap(([what, name = '', version, startsAt = '', endsAt = '', ...tiers]) =>
      what === kind
        ? [
            {
              name,
              version: Number(version),
              startsAt: readTimestamp(startsAt),
              endsAt: endsAt === '' ? undefined : readTimestamp(endsAt),
              ...familyOf(name, readTimestamp(startsAt), tiers),
            },
          ]
        : [],
    )
  const covers = parts.filter(([what]) => what === 'cover')
  const familyOf = (benefit: string, start: Instant, [version = '', at = '', who]: string[]) => {
    const of = covers.filter(([, name]) => name === benefit)
    const times = of.map(([, , relationship, startsAt = '', endsAt = '']) => ({
      relationship: relationship as Relationship,
      startsAt: readTimestamp(startsAt),
      endsAt: endsAt === '' ? undefined : readTimestamp(endsAt),
    }))
    const gone = (who?.split(' ') ?? []).filter(Boolean).map(relationship => ({
      relationship: relationship as Relationship,
      startsAt: start,
      endsAt: undefined,
    }))
    return {
      ...(times.length + gone.length > 0 && { covered: [...times, ...gone] }),
      ...(version !== '' && { tiersFrom: { version: Number(version), at: readTimestamp(at) } }),
    }
  }
  const [, chargedFrom, anewAt = ''] = parts.find(([what]) => what === 'from') ?? []
  const isMarked = (mark: string) => parts.some(([what]) => what === mark)
  return {
    benefits: periodsOf('benefit'),
    offers: periodsOf('offer'),
    pending: periodsOf('pending')[0],
    isPartial: isMarked('partial'),
    isCorrected: isMarked('corrected'),
    chargedFrom,
    anewAt: anewAt === '' ? undefined : readTimestamp(anewAt),
  }
}

/**
 * The first month in which any user of a partner is charged, while no month of the partner is final; `undefined`: nobody ever
 * held anything. A benefit begins with an offer or later, unless somebody dated it into the past, which is noted until a month
 * is final; so not all enrolments are read. Of imported members the month is kept from which they are charged.
 */
export async function firstCharged(
  db: Executor,
  { partnerId, timezone }: Pick<Partner, 'partnerId' | 'timezone'>,
): Promise<MonthName | undefined> {
  const [row] = await db.query<{ at: Instant | null; month: MonthName | null }>(sql`
    select least(
      (select h.starts_at from held_periods h
        where h.partner_id = ${partnerId} and (h.ends_at is null or h.ends_at > h.starts_at) and not exists (
          select 1 from charged_from i where i.partner_id = ${partnerId} and i.service_id = h.service_id)
        order by h.starts_at limit 1),
      (select min(e.starts_at) from corrected_pasts c
        join enrolments e on e.partner_id = c.partner_id and e.service_id = c.service_id
        where c.partner_id = ${partnerId} and e.partner_id = ${partnerId} and not exists (
            select 1 from charged_from i where i.partner_id = ${partnerId} and i.service_id = c.service_id)
          and e.state in ('scheduled', 'enrolled', 'endscheduled', 'ended') and (e.ends_at is null or e.ends_at > e.starts_at))
    ) as at,
    (select min(greatest(case when held.starts_at < i.anew_at is not false then i.month end,
        to_char(held.starts_at at time zone ${timezone}, 'YYYY-MM'))) from charged_from i
      cross join lateral (
        select h.starts_at, h.ends_at from held_periods h where h.partner_id = ${partnerId} and h.service_id = i.service_id
        union all
        select e.starts_at, e.ends_at from enrolments e
        where e.partner_id = ${partnerId} and e.service_id = i.service_id
          and e.state in ('scheduled', 'enrolled', 'endscheduled', 'ended')) held
      where i.partner_id = ${partnerId} and (held.ends_at is null or held.ends_at > held.starts_at)) as month`)
  const months = [row?.at == null ? undefined : monthAt(row.at, timezone), row?.month ?? undefined]
  return months.filter(month => month !== undefined).sort()[0]
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
