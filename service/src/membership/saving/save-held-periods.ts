import type { Instant } from '../../calendar/calendar.ts'
import { type Columns, column, listOf, namesOf, within } from '../../db/columns.ts'
import { type Query, sql, timestamp } from '../../db/sql.ts'
import { type UserIds, userKey } from '../records/user-ids.ts'
import type { OfferPeriod } from '../rules/offer-periods.ts'

/** A period to write, and whose it is. */
export type HeldPeriod = { readonly user: UserIds; readonly period: OfferPeriod }

const periods: Columns<HeldPeriod> = {
  ...within(userKey, ({ user }: HeldPeriod) => user),
  name: column.text(({ period }) => period.name),
  starts_at: column.instant(({ period }) => period.startsAt),
  ends_at: column.instant(({ period }) => period.endsAt),
  catalogue_version: column.integer(({ period }) => period.version),
}

/** Writes periods of offers, new ones and those that end at another time. */
export function saveOfferPeriods(rows: readonly HeldPeriod[]): Query {
  return sql`
    insert into held_periods (${namesOf(periods)}, is_offer)
    select ${namesOf(periods)}, true from ${listOf(periods, rows)}
    on conflict (partner_id, service_id, name, starts_at) do update
      set ends_at = excluded.ends_at, catalogue_version = excluded.catalogue_version`
}

/** Notes users of whom something was changed that lay in the past: their adjustments are looked for. */
export function noteCorrectedPasts(users: readonly UserIds[], recordedAt: Instant): Query {
  return sql`
    insert into corrected_pasts (partner_id, service_id, recorded_at)
    select partner_id, service_id, ${timestamp(recordedAt)}::timestamptz from ${listOf(userKey, users)}
    on conflict (partner_id, service_id) do update set recorded_at = excluded.recorded_at`
}

/** An imported member, and the month from which they are charged. */
export type ChargedFrom = { readonly user: UserIds; readonly month: string }

const charges: Columns<ChargedFrom> = {
  ...within(userKey, ({ user }: ChargedFrom) => user),
  month: column.text(({ month }) => month),
}

/** Notes from when imported members are charged: what was before was charged elsewhere. */
export function insertChargedFrom(rows: readonly ChargedFrom[]): Query {
  return sql`
    insert into charged_from (${namesOf(charges)})
    select ${namesOf(charges)} from ${listOf(charges, rows)}
    on conflict (partner_id, service_id) do nothing`
}
