import type { Query } from '../../db/sql.ts'
import type { LoadedUser } from '../reading/loaded-user.ts'
import { insertConfirmations } from '../records/confirmations.ts'
import { saveConsents } from '../records/consents.ts'
import { type DesignationWrite, insertDesignations } from '../records/designations.ts'
import { insertFarewells } from '../records/farewells.ts'
import { insertLines } from '../records/insurer-lines.ts'
import { insertRetained } from '../records/retained-rows.ts'
import type { User } from '../rules/state.ts'
import type { BatchWrites, ChangedUser, DocumentChange, ReservedKey } from './batch-writes.ts'
import { deleteDocuments, insertDocuments, writeDocuments } from './save-documents.ts'
import { type ChangedEnrolment, inTurn, saveEnrolments } from './save-enrolments.ts'
import { eraseUsers } from './save-erasures.ts'
import { saveEvents } from './save-events.ts'
import {
  type HeldPeriod,
  insertChargedFrom,
  noteCorrectedPasts,
  saveOfferPeriods,
} from './save-held-periods.ts'
import { insertHistory } from './save-history.ts'
import { deleteKeys, insertKeys } from './save-keys.ts'
import {
  expectUsers,
  giveUpNames,
  insertDataKeys,
  insertUsers,
  revokeLinks,
  updateUsers,
} from './save-users.ts'
import { versionName } from './writes.ts'

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
  // Almost all users of most batches have no enrolments and have named nobody: these are not gone through one by one.
  const holders = users.filter(({ user }) => user.enrolments.length > 0)
  const designating = users.filter(({ user }) => user.designations.length > 0 && user.status !== 'erased')
  const documents = [...writes.documents.values()].filter(({ user }) => user.status !== 'erased')
  const written = documents.filter(change => change.sealed !== undefined)
  const newcomers = new Set(fresh.map(({ user }) => user.serviceId))
  const isFirst = ({ user }: DocumentChange) => newcomers.has(user.serviceId)
  const deleted = documents.filter(change => change.sealed === undefined)
  return [
    ...some(known, updateUsers),
    ...some(writes.renamed, giveUpNames),
    ...some(fresh, insertUsers),
    ...some(writes.staleKeys, deleteKeys),
    ...some(sortedBy(writes.keys, keyOrder), insertKeys),
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
    ...some(sortedBy([...writes.offerPeriods.values()], periodOrder), saveOfferPeriods),
    ...some(
      sortedBy([...writes.correctedPasts.values()], user => `${user.partnerId} ${user.serviceId}`),
      corrected => noteCorrectedPasts(corrected, writes.recordedAt),
    ),
    ...some([...writes.consents.values()], saveConsents),
    ...some(writes.confirmations, insertConfirmations),
    ...some(
      designating.flatMap(mine => freshDesignations(mine, writes.named)),
      insertDesignations,
    ),
    ...some(written.filter(isFirst), insertDocuments),
    ...some(
      written.filter(change => !isFirst(change)),
      writeDocuments,
    ),
    ...some(deleted, deleteDocuments),
    ...some(writes.history, insertHistory),
    ...some(writes.told, insertLines),
    ...some(writes.chargedFrom, insertChargedFrom),
    ...some(writes.retained, insertRetained),
    ...some(writes.farewells, insertFarewells),
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

function freshDesignations({ user, stored }: LoadedUser, named: BatchWrites['named']): DesignationWrite[] {
  return user.designations
    .filter(designation => !stored?.designations.includes(designation))
    .map(designation => {
      const sealed = named.get(versionName(user, designation.benefit, designation.version))
      if (!sealed) throw new Error('a designation that names nobody')
      return { user, designation, sealed }
    })
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

function periodOrder({ user, period }: HeldPeriod): string {
  return `${user.partnerId} ${user.serviceId} ${period.name} ${period.startsAt}`
}

function keyOrder({ partnerId, operation, keyHash }: ReservedKey): string {
  return `${partnerId} ${operation} ${keyHash.toString('latin1')}`
}
