import type { Layout } from '../../db/database.ts'
import type { Query } from '../../db/sql.ts'
import { insertConfirmations } from '../records/confirmations.ts'
import { saveConsents } from '../records/consents.ts'
import { decideDesignations, insertDesignations } from '../records/designations.ts'
import { insertRetained } from '../records/retained-rows.ts'
import type { User } from '../rules/state.ts'
import type { BatchWrites, ChangedUser, DocumentChange, ReservedKey } from './batch-writes.ts'
import { deleteDocuments, insertDocuments, writeDocuments } from './save-documents.ts'
import { inTurn, saveEnrolments } from './save-enrolments.ts'
import { eraseUsers } from './save-erasures.ts'
import { saveEvents } from './save-events.ts'
import { insertHistory } from './save-history.ts'
import { deleteKeys, insertKeys } from './save-keys.ts'
import { saveSearchHashes } from './save-search-hashes.ts'
import {
  giveUpNames,
  insertDataKeys,
  insertUsers,
  isPrefillOnly,
  revokeLinks,
  updateUsers,
} from './save-users.ts'

/**
 * The statements that write a batch in one transaction, one for each table. The statements for event logs come last,
 * because they lock out other writers of the same partner until the commit. All other statements lock only the rows
 * that they write. If a user has another version by now, a row is missing and its statement fails with a division by
 * zero; a new user or a key that another process has stored fails by its unique index. Rows are sent in the same order
 * everywhere, so that two batches cannot wait for each other in a circle.
 */
export function statementsOf(writes: BatchWrites, layout: Layout): Query[] {
  const some = <T>(rows: readonly T[], statement: (rows: readonly T[], layout: Layout) => Query) =>
    rows.length > 0 ? [statement(rows, layout)] : []
  const known = sortedByUser(
    writes.users.filter(({ readVersion }) => readVersion > 0),
    user => user.serviceId,
  )
  const fresh = sortedByUser(
    writes.users.filter(({ readVersion }) => readVersion === 0),
    user => user.userid,
  )
  const written = writes.documents.filter(change => change.sealed !== undefined)
  const newcomers = new Set(fresh.map(({ user }) => user.serviceId))
  const isFirst = ({ user }: DocumentChange) => newcomers.has(user.serviceId)
  const deleted = writes.documents.filter(change => change.sealed === undefined)
  return [
    ...some(known, updateUsers),
    ...some(writes.renamed, giveUpNames),
    ...some(fresh, insertUsers),
    // A new user is inserted with only a prefill; all further state is written by the update that follows.
    ...some(
      fresh
        .filter(({ user }) => !isPrefillOnly(user))
        .map(({ user, version, wrappedKey }) => ({ user, readVersion: version, version, wrappedKey })),
      updateUsers,
    ),
    ...some(writes.staleKeys, deleteKeys),
    ...some(sortedBy(writes.keys, keyOrder), keys => insertKeys(keys, writes.recordedAt, layout)),
    ...some(
      fresh.filter(({ wrappedKey }) => wrappedKey !== undefined),
      insertDataKeys,
    ),
    ...inTurn(writes.enrolments).map(saveEnrolments),
    ...some(writes.consents, saveConsents),
    ...some(writes.confirmations, insertConfirmations),
    ...some(writes.decidedDesignations, decideDesignations),
    ...some(writes.designations, insertDesignations),
    ...some(written.filter(isFirst), insertDocuments),
    ...some(
      written.filter(change => !isFirst(change)),
      writeDocuments,
    ),
    ...some(deleted, deleteDocuments),
    ...saveSearchHashes(
      written.flatMap(({ user, found = [] }) => found.map(({ kind, hash }) => ({ user, kind, hash }))),
      layout,
    ),
    ...some(writes.history, rows => insertHistory(rows, writes.recordedAt, layout)),
    ...some(writes.retained, insertRetained),
    // These come before an erasure, which closes the open requests about its user: the request that caused the erasure
    // is decided by then.
    ...writes.alongside,
    ...(writes.erased.length > 0 ? eraseUsers(writes.erased, writes.recordedAt, layout) : []),
    ...revokeLinks(writes.ended, writes.recordedAt),
    ...saveEvents(writes.events, writes.recordedAt, layout),
  ]
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

function sortedBy<T>(rows: readonly T[], orderOf: (row: T) => string): T[] {
  return rows
    .map(row => ({ row, order: orderOf(row) }))
    .sort((a, b) => inOrder(a.order, b.order))
    .map(({ row }) => row)
}

function keyOrder({ partnerId, operation, keyHash }: ReservedKey): string {
  return `${partnerId} ${operation} ${keyHash.toString('latin1')}`
}
