import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import { type Columns, column, listOf, namesOf, within } from '../../db/columns.ts'
import type { Executor } from '../../db/database.ts'
import { type Query, sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { openDataKey, openJson } from './documents.ts'
import { type UserIds, userKey } from './user-ids.ts'

/** What a session of the page did, and what the person agreed to by it; `content` is JSON that is sealed and never changed. */
export type Confirmation = {
  readonly reference: string
  readonly sessionId: string
  /** The session's outcome, such as `swapped`. */
  readonly outcome: string
  /** Whether `content` has a copy of what the person agreed to. */
  readonly hasCopy: boolean
  readonly content: unknown
}

/** A confirmation in the form in which it is stored. */
export type ConfirmationRow = Omit<Confirmation, 'content'> & {
  readonly user: UserIds
  readonly id: string
  readonly sealed: Buffer
  readonly createdAt: Instant
}

const columns: Columns<ConfirmationRow> = {
  ...within(userKey, ({ user }: ConfirmationRow) => user),
  confirmation_id: column.uuid(row => row.id),
  reference: column.text(row => row.reference),
  session_id: column.uuid(row => row.sessionId),
  outcome: column.text(row => row.outcome),
  has_copy: column.boolean(row => row.hasCopy),
  sealed: column.bytes(row => row.sealed),
  created_at: column.instant(row => row.createdAt),
}

/** Stores confirmations in the transaction of the change that they confirm. */
export function insertConfirmations(rows: readonly ConfirmationRow[]): Query {
  return sql`
    insert into confirmations (${namesOf(columns)})
    select * from ${listOf(columns, rows)}`
}

/** A confirmation in the form of exports and of the records that are kept after an erasure. */
export type ConfirmationRecord = {
  readonly reference: string
  readonly at: string
  readonly content: unknown
}

/** Opens a stored confirmation. Throws for another key or another user. */
export function openConfirmation(
  dataKey: Buffer,
  {
    user,
    reference,
    sealed,
    createdAt,
  }: Pick<ConfirmationRow, 'user' | 'reference' | 'sealed' | 'createdAt'>,
): ConfirmationRecord {
  const content = openJson(dataKey, sealed, 'confirmations', user)
  return { reference, at: formatTimestamp(createdAt), content }
}

/** All of a user's confirmations, opened, oldest first. */
export async function readConfirmations(
  db: Executor,
  { partner, user }: { readonly partner: Partner; readonly user: UserIds },
): Promise<readonly ConfirmationRecord[]> {
  const rows = await db.query<{
    reference: string
    sealed: Buffer
    created_at: Instant
    wrapped_key: Buffer
  }>(sql`
    select c.reference, c.sealed, c.created_at, k.wrapped_key
    from confirmations c join data_keys k using (partner_id, service_id)
    where c.partner_id = ${user.partnerId} and c.service_id = ${user.serviceId} order by c.created_at, c.confirmation_id`)
  return rows.map(({ reference, sealed, created_at: createdAt, wrapped_key }) =>
    openConfirmation(openDataKey(partner, user.serviceId, wrapped_key), {
      user,
      reference,
      sealed,
      createdAt,
    }),
  )
}

/** A user's confirmations with a copy, newest first; only references and instants. */
export async function listCopies(
  db: Executor,
  user: UserIds,
): Promise<readonly (Pick<Confirmation, 'reference' | 'outcome'> & { readonly createdAt: Instant })[]> {
  const rows = await db.query<Pick<Confirmation, 'reference' | 'outcome'> & { created_at: Instant }>(sql`
    select reference, outcome, created_at from confirmations
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId} and has_copy
    order by created_at desc, confirmation_id desc limit 100`)
  return rows.map(({ reference, outcome, created_at }) => ({ reference, outcome, createdAt: created_at }))
}

/** The reference of a session's newest confirmation of this outcome; `undefined` when it has none. */
export async function newestReference(
  db: Executor,
  user: UserIds,
  of: Pick<Confirmation, 'sessionId' | 'outcome'>,
): Promise<string | undefined> {
  const [row] = await db.query<{ reference: string }>(sql`
    select reference from confirmations
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId}
      and session_id = ${of.sessionId} and outcome = ${of.outcome}
    order by created_at desc, confirmation_id desc limit 1`)
  return row?.reference
}

/** The opened confirmation with this reference; `undefined` when the user has none. */
export async function readConfirmation(
  db: Executor,
  of: {
    readonly partner: Partner
    readonly user: UserIds
    readonly reference: string
  },
): Promise<unknown> {
  const { partner, user, reference } = of
  const [row] = await db.query<{ sealed: Buffer; wrapped_key: Buffer }>(sql`
    select c.sealed, k.wrapped_key from confirmations c join data_keys k using (partner_id, service_id)
    where c.partner_id = ${user.partnerId} and c.service_id = ${user.serviceId} and c.reference = ${reference}
    order by c.created_at desc, c.confirmation_id desc limit 1`)
  if (!row) return undefined
  return openJson(openDataKey(partner, user.serviceId, row.wrapped_key), row.sealed, 'confirmations', user)
}
