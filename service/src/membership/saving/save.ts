import type { Query } from '../../db/sql.ts'
import type { LoadedUser } from '../reading/loaded-user.ts'
import type { User } from '../rules/state.ts'
import { type ChangedEnrolment, inTurn, saveEnrolments } from './save-enrolments.ts'
import { eraseUsers } from './save-erasures.ts'
import { saveEvents } from './save-events.ts'
import {
  expectUsers,
  giveUpNames,
  insertDataKeys,
  insertUsers,
  revokeLinks,
  updateUsers,
} from './save-users.ts'
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
    ...inTurn(holders.flatMap(changedEnrolments)).map(entries => saveEnrolments(entries)),
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
