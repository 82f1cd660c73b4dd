import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { type Query, sql, timestamp } from '../db/sql.ts'

/** The partner id of entries that concern no partner's data, or whose credential belongs to no partner. */
export const noPartner = '00000000-0000-0000-0000-000000000000'

/** One audit entry: who did what, to whom, and with what result; without personal data. */
export type AuditEntry = {
  readonly partnerId: string
  readonly entryId: string
  readonly at: Instant
  readonly actorKind: 'credential' | 'session' | 'operator' | 'command' | 'nobody'
  /** The id of the credential, page session or operator, or the system user behind a command. */
  readonly actor: string
  /** The caller's network, as a keyed hash. */
  readonly source?: Buffer | undefined
  readonly action: string
  readonly serviceId?: string | undefined
  readonly result: string
  readonly sealedReason?: Buffer | undefined
  readonly requestId?: string | undefined
  readonly times: number
}

/** Adds entries. An entry whose id is already stored adds its count to the stored one. */
export async function addEntries(db: Executor, entries: readonly AuditEntry[]): Promise<void> {
  await db.query(entriesStatement(entries))
}

/** Adds an entry unless one with its id is stored: the transaction of the recorded act may have added it already. */
export async function addUnlessThere(db: Executor, entry: AuditEntry): Promise<void> {
  const { partnerId, entryId } = entry
  const there = await db.query(sql`
    select from audit_log where partner_id = ${partnerId} and entry_id = ${entryId}`)
  if (there.length === 0) await addEntries(db, [entry])
}

/** The statement of `addEntries`, for a transaction that is sent whole. */
export function entriesStatement(entries: readonly AuditEntry[]): Query {
  return sql`
    insert into audit_log (partner_id, entry_id, at, actor_kind, actor, source, action, service_id, result,
      sealed_reason, request_id, times)
    select * from unnest(${entries.map(entry => entry.partnerId)}::uuid[],
      ${entries.map(entry => entry.entryId)}::uuid[], ${entries.map(entry => timestamp(entry.at))}::timestamptz[],
      ${entries.map(entry => entry.actorKind)}::text[], ${entries.map(entry => entry.actor)}::text[],
      ${entries.map(entry => entry.source ?? null)}::bytea[], ${entries.map(entry => entry.action)}::text[],
      ${entries.map(entry => entry.serviceId ?? null)}::uuid[], ${entries.map(entry => entry.result)}::text[],
      ${entries.map(entry => entry.sealedReason ?? null)}::bytea[],
      ${entries.map(entry => entry.requestId ?? null)}::uuid[], ${entries.map(entry => entry.times)}::integer[])
    on conflict (partner_id, entry_id) do update set times = audit_log.times + excluded.times`
}

/** A row of `audit_log`. */
export type AuditRow = {
  partner_id: string
  entry_id: string
  at: Instant
  actor_kind: AuditEntry['actorKind']
  actor: string
  source: Buffer | null
  action: string
  service_id: string | null
  result: string
  sealed_reason: Buffer | null
  request_id: string | null
  times: number
}

/** The entries of one partner from `from` on and before `until`, in order of their ids. */
export function listEntries(
  db: Executor,
  { partnerId, from, until }: { partnerId: string; from: Instant; until: Instant },
): Promise<AuditRow[]> {
  return db.query<AuditRow>(sql`
    select partner_id, entry_id, at, actor_kind, actor, source, action, service_id, result, sealed_reason, request_id,
      times
    from audit_log
    where partner_id = ${partnerId} and at >= ${timestamp(from)} and at < ${timestamp(until)}
    order by entry_id`)
}

/** The partners that entries are about, deleted ones included; `noPartner` where some are about none. */
export async function partnersOnRecord(db: Executor): Promise<string[]> {
  const rows = await db.query<{ partner_id: string }>(sql`
    select distinct partner_id from audit_log order by partner_id`)
  return rows.map(row => row.partner_id)
}
