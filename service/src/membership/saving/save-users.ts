import type { Instant } from '../../calendar/calendar.ts'
import { type Columns, column, listOf, namesOf, rowsOf, settingsOf, within } from '../../db/columns.ts'
import { type Query, sql, timestamp } from '../../db/sql.ts'
import { type UserIds, userKey } from '../records/sealed.ts'
import { users } from '../records/tables.ts'
import { dueAt } from '../rules/apply-due.ts'
import type { User } from '../rules/state.ts'
import type { ChangedUser } from './writes.ts'

/** Releases the names of erased users for the new users of these names. */
export function giveUpNames(erased: readonly UserIds[]): Query {
  return sql`
    update users u set is_current = false from ${listOf(userKey, erased)}
    where u.partner_id = row.partner_id and u.service_id = row.service_id`
}

const stored = within(users.columns, ({ user }: ChangedUser) => user)
// What never changes of a user is not written again.
const { partner_id: _, service_id: __, userid: ___, created_at: ____, ...changing } = stored
const key = within(userKey, ({ user }: ChangedUser) => user)
const changes: Columns<ChangedUser> = {
  version: column.integer(entry => entry.version),
  ...changing,
  due_at: column.instant(({ user }) => dueAt(user)),
}
const newcomers: Columns<ChangedUser> = { ...stored, ...changes }

/**
 * Inserts new users, but none who exists already: `insertDataKeys`, or `expectUsers` for those without a key, then fails the
 * transaction. So the index's own error does not write the userid to PostgreSQL's log. It names one index, because each
 * further one costs 4 µs a user.
 */
export function insertUsers(entries: readonly ChangedUser[]): Query {
  return sql`
    insert into users (${namesOf(newcomers)})
    select * from ${rowsOf(newcomers, entries)}
    on conflict (partner_id, userid) where is_current do nothing`
}

/** Fails the transaction unless each of these new users was inserted. */
export function expectUsers(entries: readonly ChangedUser[]): Query {
  return sql`
    select 1 / (count(*) = ${entries.length})::integer as are_all
    from ${rowsOf(key, entries)} join users u on u.partner_id = row.partner_id and u.service_id = row.service_id`
}

const dataKeys: Columns<ChangedUser> = { ...key, wrapped_key: column.bytes(entry => entry.wrappedKey) }

/** Adds the wrapped data keys of new users; a user who was not inserted fails the transaction. */
export function insertDataKeys(entries: readonly ChangedUser[]): Query {
  return sql`
    insert into data_keys (${namesOf(dataKeys)})
    select row.* from ${rowsOf(dataKeys, entries)}
    left join users u on u.partner_id = row.partner_id and u.service_id = row.service_id
    where 1 / (u.service_id is not null)::integer = 1`
}

const keyedChanges: Columns<ChangedUser> = {
  ...key,
  read_version: column.integer(entry => entry.readVersion),
  ...changes,
}

/** Writes users at the versions that were read; a user with another version fails the transaction. */
export function updateUsers(entries: readonly ChangedUser[]): Query {
  return sql`
    with written as (
      update users u set ${settingsOf(changes)}
      from ${listOf(keyedChanges, entries)}
      where u.partner_id = row.partner_id and u.service_id = row.service_id and u.version = row.read_version
      returning 1
    )
    select 1 / (count(*) = ${entries.length})::integer as are_all from written`
}

/** Ends the links and sessions of users whose membership is over; one statement for each, as in an erasure. */
export function revokeLinks(ended: readonly User[], at: Instant): Query[] {
  return ended.map(
    user => sql`
    update page_sessions set revoked_at = ${timestamp(at)}
    where partner_id = ${user.partnerId} and userid = ${user.userid} and revoked_at is null`,
  )
}
