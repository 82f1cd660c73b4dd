import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

/** A passkey of an operator. */
export type Passkey = {
  /** In base64url, as browsers write it. */
  readonly id: string
  readonly operatorId: string
  readonly publicKey: Buffer
  readonly counter: number
  readonly transports: readonly string[]
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | undefined
}

type PasskeyRow = {
  credential_id: Buffer
  operator_id: string
  public_key: Buffer
  counter: number
  transports: string[]
  created_at: Instant
  last_used_at: Instant | null
}

/** Nobody needs more than this. */
export const MOST_PASSKEYS = 10

/** The passkeys of an operator, the oldest first. */
export async function listPasskeys(db: Executor, operatorId: string): Promise<Passkey[]> {
  const rows = await db.query<PasskeyRow>(sql`
    select credential_id, operator_id, public_key, counter, transports, created_at, last_used_at
    from operator_passkeys where operator_id = ${operatorId} order by created_at, credential_id`)
  return rows.map(passkeyOf)
}

/**
 * The passkey of an id with the name of its operator, unless the operator is disabled or belongs to an identity
 * provider.
 */
export async function findPasskey(
  db: Executor,
  id: string,
): Promise<(Passkey & { readonly name: string }) | undefined> {
  const [row] = await db.query<PasskeyRow & { name: string }>(sql`
    select p.credential_id, p.operator_id, p.public_key, p.counter, p.transports, p.created_at, p.last_used_at, o.name
    from operator_passkeys p join operators o using (operator_id)
    where p.credential_id = ${Buffer.from(id, 'base64url')} and o.disabled_at is null and o.issuer is null`)
  return row && { ...passkeyOf(row), name: row.name }
}

/** Stores a passkey; false when it is stored already, or its operator already has the maximum. */
export async function insertPasskey(db: Executor, passkey: Passkey): Promise<boolean> {
  const { operatorId } = passkey
  const rows = await db.query(sql`
    insert into operator_passkeys (credential_id, operator_id, public_key, counter, transports, created_at)
    select ${Buffer.from(passkey.id, 'base64url')}::bytea, ${operatorId}::uuid, ${passkey.publicKey}::bytea,
      ${passkey.counter}::bigint, ${[...passkey.transports]}::text[], ${timestamp(passkey.createdAt)}::timestamptz
    where (select count(*) from operator_passkeys where operator_id = ${operatorId}) < ${MOST_PASSKEYS}
    on conflict do nothing returning 1`)
  return rows.length > 0
}

/**
 * Records that a passkey answered a challenge, in one statement, so that of two requests with the same answer only one
 * succeeds. False when it has answered this challenge or a later one, and when its counter has not grown, which means
 * that a copy of it exists.
 */
export async function usePasskey(
  db: Executor,
  use: { id: string; counter: number; challengedAt: Instant; at: Instant },
): Promise<boolean> {
  const challengedAt = timestamp(use.challengedAt)
  const rows = await db.query(sql`
    update operator_passkeys
    set counter = ${use.counter}, last_used_at = greatest(${timestamp(use.at)}::timestamptz, ${challengedAt}::timestamptz)
    where credential_id = ${Buffer.from(use.id, 'base64url')}
      and (last_used_at is null or last_used_at < ${challengedAt}::timestamptz)
      and (counter < ${use.counter} or (counter = 0 and ${use.counter} = 0))
    returning 1`)
  return rows.length > 0
}

/** Removes one passkey of an operator; false when it has none of this id. */
export async function removePasskey(db: Executor, operatorId: string, id: string): Promise<boolean> {
  const rows = await db.query(sql`
    delete from operator_passkeys
    where operator_id = ${operatorId} and credential_id = ${Buffer.from(id, 'base64url')} returning 1`)
  return rows.length > 0
}

/** Removes all passkeys of an operator; returns how many there were. */
export async function removePasskeys(db: Executor, operatorId: string): Promise<number> {
  const rows = await db.query(
    sql`delete from operator_passkeys where operator_id = ${operatorId} returning 1`,
  )
  return rows.length
}

function passkeyOf(row: PasskeyRow): Passkey {
  return {
    id: row.credential_id.toString('base64url'),
    operatorId: row.operator_id,
    publicKey: row.public_key,
    counter: Number(row.counter),
    transports: row.transports,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
  }
}
