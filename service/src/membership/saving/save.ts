import type { Instant } from '../../calendar/calendar.ts'
import {
  type Columns,
  column,
  insertedFrom,
  listOf,
  namesOf,
  rowsOf,
  settingsOf,
  within,
} from '../../db/columns.ts'
import { type Query, sql, timestamp } from '../../db/sql.ts'
import type { LoadedUser } from '../reading/load.ts'
import { type UserIds, userKey } from '../records/sealed.ts'
import { enrolments, users } from '../records/tables.ts'
import { dueAt } from '../rules/apply-due.ts'
import { daysOf } from '../rules/family.ts'
import { type Covered, type Enrolment, isLive, type User } from '../rules/state.ts'
import { eraseUsers } from './save-erasures.ts'
import { saveEvents } from './save-events.ts'
import { writtenTables } from './tables.ts'
import type { BatchWrites, ChangedUser } from './writes.ts'

/**
 * The statements that write a batch in one transaction, one for each table. The statements for event logs come last,
 * because they lock out other writers of the same partner until the commit. All other statements lock only the rows
 * that they write. Each write of users divides by `(count = expected)::integer`: if another process changed a user first,
 * that is a division by zero, which `failure.ts` reads as a lost race; a key that another process has stored fails by its
 * unique index. Rows are sent in the same order everywhere, so that two batches cannot wait for each other in a circle.
 */
export function statementsOf(writes: BatchWrites): Query[] {
  const some = <T>(rows: readonly T[], statement: (rows: readonly T[]) => Query) =>
    rows.length > 0 ? [statement(rows)] : []
  const users = [...writes.changed.values()]
  const known = sortedByUser(
    users.filter(({ readVersion }) => readVersion > 0),
    user => user.serviceId,
  )
  const fresh = sortedByUser(
    users.filter(({ readVersion }) => readVersion === 0),
    user => user.userid,
  )
  // Almost all users of most batches have no enrolments: these are not gone through one by one.
  const holders = users.filter(({ user }) => user.enrolments.length > 0)
  const changed = holders.flatMap(changedEnrolments)
  return [
    ...some(known, updateUsers),
    ...some(writes.renamed, giveUpNames),
    ...some(fresh, insertUsers),
    ...some(
      fresh.filter(({ wrappedKey }) => wrappedKey !== undefined),
      insertDataKeys,
    ),
    // A user who is erased in the batch that made them has no key.
    ...some(
      fresh.filter(({ wrappedKey }) => wrappedKey === undefined),
      expectUsers,
    ),
    ...inTurn(changed).map(entries => saveEnrolments(entries)),
    ...saveCovered(changed),
    ...writtenTables.flatMap(table => {
      const rows = writes.rows.get(table)
      if (!rows) return []
      return [...some(sorted(rows.deleted), table.remove), ...table.write(sorted(rows.added))]
    }),
    // These come before an erasure, which closes the open requests about its user: the request that caused the erasure
    // is decided by then.
    ...writes.alongside,
    ...(writes.erased.length > 0 ? eraseUsers(writes.erased, writes.recordedAt) : []),
    ...revokeLinks(writes.ended, writes.recordedAt),
    ...saveEvents(writes.events, writes.recordedAt),
  ]
}

function changedEnrolments({ user, stored }: LoadedUser): ChangedEnrolment[] {
  return user.enrolments
    .filter(enrolment => !stored?.enrolments.includes(enrolment))
    .map(enrolment => ({ user, enrolment }))
}

/** The rows in the order of their keys. */
function sorted(rows: ReadonlyMap<string, unknown>): never[] {
  return [...rows].sort(([a], [b]) => inOrder(a, b)).map(([, row]) => row as never)
}

/** Compared part by part: a text made of both for each user would cost more than the sorting. */
function sortedByUser(users: readonly ChangedUser[], idOf: (user: User) => string): ChangedUser[] {
  return [...users].sort(({ user: a }, { user: b }) =>
    a.partnerId === b.partnerId ? inOrder(idOf(a), idOf(b)) : inOrder(a.partnerId, b.partnerId),
  )
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : 1
}

/** Releases the names of erased users for the new users of these names. */
export function giveUpNames(erased: readonly UserIds[]): Query {
  return sql`
    update users u set is_current = false from ${listOf(userKey, erased)}
    where u.partner_id = row.partner_id and u.service_id = row.service_id`
}

const stored = within(users.columns, ({ user }: ChangedUser) => user)
// What never changes of a user is not written again.
const changing = without(stored, 'partner_id', 'service_id', 'userid', 'created_at')
const key = within(userKey, ({ user }: ChangedUser) => user)
const changes: Columns<ChangedUser> = {
  version: column.integer(entry => entry.version),
  ...changing,
  due_at: column.instant(({ user }) => dueAt(user)),
}
const insertedUsers: Columns<ChangedUser> = { ...stored, ...changes }

/**
 * Inserts new users, but none who exists already: `insertDataKeys`, or `expectUsers` for those without a key, then fails the
 * transaction. So the index's own error does not write the userid to PostgreSQL's log. It names one index, because each
 * further one costs 4 µs a user.
 */
export function insertUsers(entries: readonly ChangedUser[]): Query {
  return sql`
    insert into users (${namesOf(insertedUsers)})
    ${insertedFrom(insertedUsers, entries)}
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

/** An enrolment to write, and whose it is. */
export type ChangedEnrolment = {
  readonly user: UserIds & Pick<User, 'dependantsVersion'>
  readonly enrolment: Enrolment
}

/**
 * Splits enrolments into those that are voided, those that are closed, and those that are open, to be written in this
 * order, because the enrolments of one benefit must not overlap at any moment.
 */
export function inTurn(entries: readonly ChangedEnrolment[]): ChangedEnrolment[][] {
  return [0, 1, 2]
    .map(turn => entries.filter(({ enrolment }) => turnOf(enrolment) === turn))
    .filter(part => part.length > 0)
}

function turnOf({ state, closeReason }: Enrolment): number {
  return state === 'void' ? 0 : closeReason === undefined ? 2 : 1
}

const columns: Columns<ChangedEnrolment> = {
  ...within(userKey, ({ user }: ChangedEnrolment) => user),
  ...within(enrolments.columns, ({ enrolment }: ChangedEnrolment) => enrolment),
}
// The rest of an enrolment never changes.
const changingOfEnrolment = without(
  enrolments.columns,
  ...['enrolment_id', 'benefit', 'catalogue_version', 'picked_at', 'corrects'],
)

/** Writes new and changed enrolments. */
export function saveEnrolments(entries: readonly ChangedEnrolment[]): Query {
  return sql`
    insert into enrolments (${namesOf(columns)})
    select * from ${listOf(columns, entries)}
    on conflict (partner_id, service_id, enrolment_id) do update set ${settingsOf(changingOfEnrolment, 'excluded')}`
}

type CoveredRow = ChangedEnrolment & { readonly place: number; readonly one: Covered }

const enrolmentKey: Columns<ChangedEnrolment> = {
  ...within(userKey, ({ user }: ChangedEnrolment) => user),
  enrolment_id: column.uuid(({ enrolment }) => enrolment.id),
}
const coveredColumns: Columns<CoveredRow> = {
  ...enrolmentKey,
  place: column.integer(({ place }) => place),
  benefit: column.text(({ enrolment }) => enrolment.benefit),
  dependant_id: column.uuid(({ one }) => one.dependantId),
  relationship: column.text(({ one }) => one.relationship),
  own_start_at: column.instant(({ one }) => one.startsAt),
  own_end_at: column.instant(({ one }) => one.end?.at),
  own_end_reason: column.text(({ one }) => one.end?.reason),
  is_over: column.boolean(({ one }) => one.isOver),
  starts_at: column.instant(({ enrolment, one }) => daysOf(enrolment, one).startsAt),
  ends_at: column.instant(({ enrolment, one }) => daysOf(enrolment, one).endsAt),
  counts: column.boolean(({ enrolment }) => isLive(enrolment) || enrolment.state === 'ended'),
}

/** Writes who else is covered by changed enrolments, in place of what was written of them. */
export function saveCovered(entries: readonly ChangedEnrolment[]): Query[] {
  const families = entries.filter(({ user }) => user.dependantsVersion !== undefined)
  if (families.length === 0) return []
  const rows = families.flatMap(entry =>
    (entry.enrolment.covered ?? []).map((one, place): CoveredRow => ({ ...entry, place, one })),
  )
  return [
    sql`
    delete from covered_dependants c using ${listOf(enrolmentKey, families)}
    where c.partner_id = row.partner_id and c.service_id = row.service_id and c.enrolment_id = row.enrolment_id`,
    ...(rows.length > 0
      ? [
          sql`
    insert into covered_dependants (${namesOf(coveredColumns)}) select * from ${listOf(coveredColumns, rows)}`,
        ]
      : []),
  ]
}

function without<Item>(columns: Columns<Item>, ...names: readonly string[]): Columns<Item> {
  return Object.fromEntries(Object.entries(columns).filter(([name]) => !names.includes(name)))
}
