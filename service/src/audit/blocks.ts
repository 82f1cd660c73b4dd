/**
 * Signed blocks over `history` and `audit_log`, so that a later look at the tables shows which rows were removed,
 * changed or added behind the service's back. Blocks of one partner and table form a chain.
 */
import { createHmac } from 'node:crypto'
import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { isUnavailable } from '../db/failure.ts'
import { sql, timestamp } from '../db/sql.ts'
import { sameHash } from '../vault/hash.ts'

/** The two tables whose rows are signed in blocks. */
export type AuditedTable = 'history' | 'audit_log'
/** Both tables. */
export const auditedTables: readonly AuditedTable[] = ['history', 'audit_log']

/**
 * The key that signs a partner's blocks, and the id by which it is found again; `undefined` when the key no longer
 * exists.
 */
export type BlockKeys = {
  current(partnerId: string): Promise<{ id: string; key: Buffer } | undefined>
  byId(partnerId: string, keyId: string): Promise<Buffer | undefined>
}

/** A row to sign: its name, and its content as PostgreSQL prints it. */
export type Row = {
  partner_id: string
  name: string
  service_id: string | null
  recorded_at: Instant
  content: string
}

/** A signed block; its leaves are the hashes of its rows. */
export type Block = {
  partner_id: string
  number: number
  from_at: Instant
  until_at: Instant
  key_id: string
  leaves: Buffer
  previous: Buffer | null
  hash: Buffer
}

const TAG_BYTES = 8
const LEAF_BYTES = 24

/** One difference between a partner's rows and its blocks. */
export type Finding = {
  readonly partnerId: string
  readonly source: AuditedTable
  /** The name of a row, or `block N`. */
  readonly name: string
  readonly fault: 'removed' | 'altered' | 'added' | 'block altered' | 'block missing' | 'key gone'
}

/**
 * Compares a partner's rows with its blocks and returns every difference. Of an erased user's `history` only the names of
 * rows are compared, because an erasure removes their content; it removes nothing of `audit_log`.
 */
export async function verifyPartner(
  db: Executor,
  keys: BlockKeys,
  partnerId: string,
): Promise<{ rows: number; findings: Finding[] }> {
  const findings: Finding[] = []
  const erasures = await db.query<{ service_id: string }>(sql`
    select service_id from erasures where partner_id = ${partnerId}`)
  const erased = new Set(erasures.map(row => row.service_id))
  let count = 0
  for (const source of auditedTables) {
    const found = (name: string, fault: Finding['fault']) => findings.push({ partnerId, source, name, fault })
    const blocks = await blocksOf(db, source, partnerId)
    let before: Block | undefined
    for (const block of blocks) {
      const key = await keys.byId(partnerId, block.key_id).catch(goneUnlessUnavailable)
      if (!key) {
        found(`block ${block.number}`, 'key gone')
        before = block
        continue
      }
      if (before && block.number !== before.number + 1) found(`block ${before.number + 1}`, 'block missing')
      // Blocks of `history` are never deleted, so its first block is there; old blocks of `audit_log` are.
      if (!before && source === 'history' && block.number !== 1) found('block 1', 'block missing')
      const isNext = before === undefined || block.previous?.equals(before.hash)
      if (!isNext || !sameHash(hashOf(key, source, block), block.hash))
        found(`block ${block.number}`, 'block altered')
      const own = await rowsOf(db, source, { from: block.from_at, until: block.until_at, partnerId })
      count += own.length
      compareRows({ source, key, block, own, erased, found })
      before = block
    }
    for (const row of await rowsOutside(db, source, partnerId)) found(row.name, 'added')
  }
  return { rows: count, findings }
}

/**
 * The result when opening a key failed: the key counts as gone. Throws when the database did not answer, because then the
 * key may be there.
 */
function goneUnlessUnavailable(error: unknown): undefined {
  if (isUnavailable(error)) throw error
}

function compareRows(context: {
  source: AuditedTable
  key: Buffer
  block: Block
  own: readonly Row[]
  erased: ReadonlySet<string>
  found: (name: string, fault: Finding['fault']) => void
}): void {
  const { source, key, block, own, erased, found } = context
  const isCleared = (row: Row) => source === 'history' && erased.has(row.service_id ?? '')
  const left = new Map<string, string>()
  for (let start = 0; start < block.leaves.length; start += LEAF_BYTES) {
    const leaf = block.leaves.subarray(start, start + LEAF_BYTES)
    left.set(leaf.subarray(0, TAG_BYTES).toString('hex'), leaf.subarray(TAG_BYTES).toString('hex'))
  }
  for (const row of own) {
    const leaf = leafOf(key, source, row)
    const tag = leaf.subarray(0, TAG_BYTES).toString('hex')
    const content = left.get(tag)
    left.delete(tag)
    if (content === undefined) found(row.name, 'added')
    else if (content !== leaf.subarray(TAG_BYTES).toString('hex') && !isCleared(row))
      found(row.name, 'altered')
  }
  for (const tag of left.keys()) found(`a row of block ${block.number} (${tag})`, 'removed')
}

/** What a block stores of a row: a short hash of its name, by which the row is found again, and one of its content. */
export function leafOf(key: Buffer, source: AuditedTable, row: Row): Buffer {
  const tag = createHmac('sha256', key).update(`row ${source} ${row.name}`).digest().subarray(0, TAG_BYTES)
  const content = createHmac('sha256', key).update(`content ${source} ${row.name} ${row.content}`).digest()
  return Buffer.concat([tag, content.subarray(0, LEAF_BYTES - TAG_BYTES)])
}

/** The signature of a block, which covers that of the block before it. */
export function hashOf(
  key: Buffer,
  source: AuditedTable,
  block: Pick<Block, 'partner_id' | 'number' | 'from_at' | 'until_at' | 'leaves' | 'previous'>,
): Buffer {
  const { partner_id, number, from_at, until_at, leaves, previous } = block
  return createHmac('sha256', key)
    .update(
      `block ${source} ${partner_id} ${number} ${from_at} ${until_at} ${previous?.toString('hex') ?? ''} `,
    )
    .update(leaves)
    .digest()
}

/** All blocks of a partner, in order of their numbers. */
export function blocksOf(db: Executor, source: AuditedTable, partnerId: string): Promise<Block[]> {
  return db.query<Block>(sql`
    select partner_id, number, from_at, until_at, key_id, leaves, previous, hash from audit_blocks
    where partner_id = ${partnerId} and source = ${source} order by number`)
}

/**
 * The rows of a period, of one partner or of all. Their columns are named one by one, because a column that a later version
 * adds would otherwise change what older blocks have signed.
 */
export function rowsOf(
  db: Executor,
  source: AuditedTable,
  { from, until, partnerId = null }: { from: Instant; until: Instant; partnerId?: string | null },
): Promise<Row[]> {
  return db.query<Row>(
    source === 'history'
      ? sql`
    select partner_id, service_id || ' ' || h.version as name,
      service_id, recorded_at,
      jsonb_build_array(at, recorded_at, who, lines, event_ids, actor, request_id, reference)::text as content
    from history h
    where recorded_at >= ${timestamp(from)} and recorded_at < ${timestamp(until)}
      and (${partnerId}::uuid is null or partner_id = ${partnerId})`
      : sql`
    select partner_id, entry_id::text as name, service_id, at as recorded_at,
      jsonb_build_array(at, actor_kind, actor, encode(source, 'hex'), action, service_id, result,
        encode(sealed_reason, 'hex'), request_id, times)::text as content
    from audit_log
    where at >= ${timestamp(from)} and at < ${timestamp(until)}
      and (${partnerId}::uuid is null or partner_id = ${partnerId})`,
  )
}

/**
 * Up to 100 rows that are older than the end of the newest block but in no block of their partner: the service
 * itself never writes such rows.
 */
function rowsOutside(db: Executor, source: AuditedTable, partnerId: string): Promise<{ name: string }[]> {
  return db.query<{ name: string }>(
    source === 'history'
      ? sql`
    select service_id || ' ' || h.version as name
    from history h
    where h.partner_id = ${partnerId}
      and h.recorded_at < (select max(until_at) from audit_blocks where source = 'history')
      and not exists (
        select from audit_blocks b where b.partner_id = h.partner_id and b.source = 'history'
          and h.recorded_at >= b.from_at and h.recorded_at < b.until_at)
    limit 100`
      : sql`
    select entry_id::text as name from audit_log a
    where a.partner_id = ${partnerId}
      and a.at < (select max(until_at) from audit_blocks where source = 'audit_log')
      and not exists (
        select from audit_blocks b where b.partner_id = a.partner_id and b.source = 'audit_log'
          and a.at >= b.from_at and a.at < b.until_at)
    limit 100`,
  )
}

/** Deletes audit entries and their blocks from before `instant`; `history` and its blocks stay. */
export async function deleteBefore(db: Executor, instant: Instant): Promise<void> {
  await db.query(sql`delete from audit_log where at < ${timestamp(instant)}`)
  await db.query(sql`
    delete from audit_blocks where source = 'audit_log' and until_at <= ${timestamp(instant)}`)
}
