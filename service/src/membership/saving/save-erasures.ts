import type { Instant } from '../../calendar/calendar.ts'
import { type Columns, column, listOf, namesOf, within } from '../../db/columns.ts'
import { fragment, type Query, sql, timestamp } from '../../db/sql.ts'
import { refusedHash } from '../records/refused-creates.ts'
import { userKey } from '../records/sealed.ts'
import { turnsOf } from '../rules/covers.ts'
import { coveredAt } from '../rules/family.ts'
import type { Enrolment, User } from '../rules/state.ts'
import { checkToldLines } from './farewells.ts'
import { erasedTables } from './tables.ts'
import type { ErasedUserRow } from './writes.ts'

const names: Columns<ErasedUserRow> = {
  ...within(userKey, ({ user }: ErasedUserRow) => user),
  name: column.text(({ name }) => name),
}

/**
 * Destroys the data key and everything that it sealed; deletes all links, enrolments and consents; and reduces userid,
 * reasons and history to what tells nothing about the person. The idempotency keys of the user's requests lapse in
 * time, and until then report the erasure.
 */
export function eraseUsers(erased: readonly ErasedUserRow[], at: Instant): Query[] {
  const users = erased.map(({ user }) => user)
  const gone = listOf(userKey, users)
  const renamed = listOf(names, erased)
  return [
    sql`
    insert into erasures (partner_id, service_id, erased_at)
    select partner_id, service_id, ${timestamp(at)}
    from ${gone}
    on conflict (partner_id, service_id) do nothing`,
    // An earlier erased user of the same name gives the name up, because a name may find only one user.
    sql`
    update users u set is_current = false
    from ${renamed}
    where u.partner_id = row.partner_id and u.userid = row.name and u.is_current and u.service_id <> row.service_id`,
    sql`
    update users u set userid = row.name, offer = null, offer_since = null, offer_version = null, offer_in_force = false,
      offer_admits = true, cancel_at = null, cancel_requested_at = null, cancel_reason = null
    from ${renamed}
    where u.partner_id = row.partner_id and u.service_id = row.service_id`,
    // As text: a cluster accepts no function here whose result could depend on the session, which JSON functions may.
    sql`
    update history h set reference = null, lines = ('[' || coalesce((
      select string_agg('{"what":"user","from":' || (line -> 'from')::text || ',"to":' || (line -> 'to')::text
        || ',"why":' || regexp_replace((line -> 'why')::text, ':.*"$', '"') || '}', ',' order by ordinal)
      from jsonb_array_elements(h.lines) with ordinality as told (line, ordinal)
      where line ->> 'what' = 'user'), '') || ']')::jsonb
    from ${gone}
    where h.partner_id = row.partner_id and h.service_id = row.service_id`,
    sql`
    update operator_requests r set sealed = '', outcome = coalesce(r.outcome, 'lapsed'),
      decided_at = coalesce(r.decided_at, ${timestamp(at)}::timestamptz)
    from ${gone}
    where r.partner_id = row.partner_id and r.service_id = row.service_id`,
    // A month is charged for what was held in it, by whomever; at the price of those who were covered, which comes first.
    ...familyPeriods(users),
    sql`
    insert into held_periods (partner_id, service_id, name, starts_at, ends_at, catalogue_version, is_offer)
    select e.partner_id, e.service_id, e.benefit, e.starts_at, e.ends_at, e.catalogue_version, false
    from enrolments e
    join ${gone} on e.partner_id = row.partner_id and e.service_id = row.service_id
    where e.state = 'ended' and e.ends_at > e.starts_at
    on conflict (partner_id, service_id, name, starts_at) do nothing`,
    ...lockKeys(erased),
    ...erased.map(checkToldLines),
    ...deletedWithTheUser.map(
      deletion => sql`
    ${deletion} t using ${gone}
    where t.partner_id = row.partner_id and t.service_id = row.service_id`,
    ),
    // One statement for each user: on a table that was never analyzed, a join would read the links of all partners.
    ...users.map(
      user => sql`
    delete from page_sessions where partner_id = ${user.partnerId} and userid = ${user.userid}`,
    ),
    ...users.map(
      user => sql`
    delete from page_languages where partner_id = ${user.partnerId} and userid = ${user.userid}`,
    ),
    ...erased.map(
      ({ user, partner }) => sql`
    delete from refused_creates
    where partner_id = ${user.partnerId} and userid_hash = ${refusedHash(partner, user.userid)}`,
    ),
    sql`
    update idempotency_keys k set sealed_answer = null
    from ${gone}
    where k.partner_id = row.partner_id and k.service_id = row.service_id and k.sealed_answer is not null`,
  ]
}

type FamilyPeriod = {
  readonly user: User
  readonly name: string
  readonly startsAt: Instant
  readonly endsAt: Instant
  readonly version: number
  readonly who: string
}

const familyColumns: Columns<FamilyPeriod> = {
  ...within(userKey, ({ user }: FamilyPeriod) => user),
  name: column.text(({ name }) => name),
  starts_at: column.instant(({ startsAt }) => startsAt),
  ends_at: column.instant(({ endsAt }) => endsAt),
  catalogue_version: column.integer(({ version }) => version),
  is_offer: column.boolean(() => false),
  who: column.text(({ who }) => who),
}

/** The times in which the same people were covered, of enrolments that covered others or changed their prices. */
function familyPeriods(users: readonly User[]): Query[] {
  const periods = users.flatMap(user => user.enrolments.flatMap(enrolment => periodsOf(user, enrolment)))
  return periods.length === 0
    ? []
    : [
        sql`
    insert into held_periods (${namesOf(familyColumns)}) select * from ${listOf(familyColumns, periods)}
    on conflict (partner_id, service_id, name, starts_at) do nothing`,
      ]
}

function periodsOf(user: User, enrolment: Enrolment): FamilyPeriod[] {
  const { state, covered = [], tiersFrom, endsAt } = enrolment
  if (state !== 'ended' || endsAt === undefined || (covered.length === 0 && !tiersFrom)) return []
  return turnsOf(enrolment).map((at, index, turns) => ({
    ...{ user, name: enrolment.benefit, startsAt: at, endsAt: turns[index + 1] ?? endsAt },
    version: tiersFrom && tiersFrom.at <= at ? tiersFrom.version : enrolment.version,
    who: coveredAt(enrolment, at)
      .map(({ relationship }) => relationship)
      .sort()
      .join(),
  }))
}

/** Waits for a run of a feed that is about to tell an insurer of one of these users: it holds their keys until it is stored. */
function lockKeys(erased: readonly ErasedUserRow[]): Query[] {
  return erased.map(
    ({ user }) => sql`
    select from data_keys where partner_id = ${user.partnerId} and service_id = ${user.serviceId} for update`,
  )
}

/** The rows that an erasure deletes. With the data key goes everything that it sealed elsewhere, such as stored answers. */
const deletedWithTheUser = [
  fragment`delete from covered_dependants`,
  fragment`delete from enrolments`,
  ...erasedTables.map(({ deleting }) => deleting),
  fragment`delete from feed_seen`,
  fragment`delete from data_keys`,
]
