/** Signs what was recorded in `history` and `audit_log`, period by period; `blocks.ts` says what a block is. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { HOUR_MS, type Instant, MINUTE_MS } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { isUnavailable } from '../db/failure.ts'
import { sql, timestamp } from '../db/sql.ts'
import {
  type AuditedTable,
  auditedTables,
  type Block,
  type BlockKeys,
  hashOf,
  leafOf,
  rowsOf,
} from './blocks.ts'

/**
 * Only rows older than this are signed. Rows are written within seconds of their time, and after an outage of the database
 * within `LATE_MS` (`trail.ts`): so no row is late even if the clocks of two processes differ by a minute, or after an
 * outage by half a minute.
 */
const LAG_MS = 2 * MINUTE_MS
/**
 * The period that one block covers. Periods begin at whole half minutes, so that all processes sign the same ones: between
 * periods of their own, a row could be in no block.
 */
const PERIOD_MS = 30_000
/** About how many rows are read at once: a busy half minute has 150,000, which would take 200 MB. */
const ROWS_AT_ONCE = 20_000
/** How many rows are hashed before requests have their turn again: about 4 ms. */
const ROWS_AT_A_TURN = 500
/** How long rows of a partner whose key cannot be opened hold up the signing of later ones. */
const KEY_PATIENCE_MS = HOUR_MS

/**
 * Signs the rows recorded since the last block, up to two minutes ago, in one block for each partner and period. Several
 * processes may run this at once: of blocks with the same number the first is kept. Rows of a deleted partner get no block,
 * nor, after an hour, do those of a partner whose key cannot be opened. Returns how many blocks this process computed.
 * `searched` keeps, between calls, the time before which every row is signed, so that nothing before it is searched again: a
 * row that appears there later did not come from the service.
 */
export async function signBlocks(
  database: Database,
  keys: BlockKeys,
  now: Instant,
  searched: Searched = new Map(),
): Promise<number> {
  let count = 0
  for (const source of auditedTables) {
    const end = searched.get(source) ?? 0
    // An end that lies in the future was noted while the clock was wrong, and is ignored.
    let from = Math.max(await endOfNewest(database, source), end <= now - LAG_MS ? end : 0)
    for (;;) {
      const first = await firstRecorded(database, source, { from, before: now - LAG_MS })
      if (first === undefined) {
        searched.set(source, startOfPeriod(now - LAG_MS))
        break
      }
      const signed = await signNext(database, keys, { source, from, first, now })
      if (!signed) break
      count += signed.blocks
      from = signed.until
    }
  }
  return count
}

/** For each table, the time before which every row was signed. */
export type Searched = Map<AuditedTable, Instant>

/**
 * Signs the rows of the period of `first`, the first one recorded after `from`, in one block for each partner; `undefined` when
 * that period is not over.
 */
async function signNext(
  database: Database,
  keys: BlockKeys,
  { source, from, first, now }: { source: AuditedTable; from: Instant; first: Instant; now: Instant },
): Promise<{ blocks: number; until: Instant } | undefined> {
  const period = { from: Math.max(from, startOfPeriod(first)), until: startOfPeriod(first) + PERIOD_MS }
  if (period.until > now - LAG_MS) return undefined
  const signings = await readSignings(database, keys, { source, period, now })
  const blocks: (Block & { rows: number })[] = []
  for (const [partnerId, signing] of signings) {
    if (!signing) continue
    const { key, leaves } = signing
    const last = await lastBlock(database, source, partnerId)
    const block = {
      partner_id: partnerId,
      number: (last?.number ?? 0) + 1,
      from_at: period.from,
      until_at: period.until,
      key_id: key.id,
      leaves: Buffer.concat(leaves),
      rows: leaves.length,
      previous: last?.hash ?? null,
    }
    blocks.push({ ...block, hash: hashOf(key.key, source, block) })
  }
  await database.query(sql`
    insert into audit_blocks (partner_id, source, number, from_at, until_at, rows, key_id, leaves, previous, hash,
      sealed_at)
    select partner_id, ${source}, number, ${timestamp(period.from)}, ${timestamp(period.until)}, rows, key_id, leaves,
      previous, hash, ${timestamp(now)}
    from unnest(${blocks.map(block => block.partner_id)}::uuid[], ${blocks.map(block => block.number)}::integer[],
      ${blocks.map(block => block.rows)}::integer[], ${blocks.map(block => block.key_id)}::text[],
      ${blocks.map(block => block.leaves)}::bytea[], ${blocks.map(block => block.previous)}::bytea[],
      ${blocks.map(block => block.hash)}::bytea[])
      as block (partner_id, number, rows, key_id, leaves, previous, hash)
    on conflict do nothing`)
  return { blocks: blocks.length, until: period.until }
}

type Period = { readonly from: Instant; readonly until: Instant }
type SigningKey = { readonly id: string; readonly key: Buffer }
/** What a partner's block is made of: its key, and the hashes of its rows. */
type Signing = { readonly key: SigningKey; readonly leaves: Buffer[] }

/**
 * Hashes the rows of a period, for each partner; `undefined` for a partner whose rows get no block. Reads the period in parts
 * of equal time, as many as its rows need, and hashes them by turns with requests, so that a busy service goes on answering.
 */
async function readSignings(
  database: Database,
  keys: BlockKeys,
  { source, period, now }: { source: AuditedTable; period: Period; now: Instant },
): Promise<ReadonlyMap<string, Signing | undefined>> {
  const signings = new Map<string, Signing | undefined>()
  const parts = Math.ceil((await countRows(database, source, period)) / ROWS_AT_ONCE)
  const partMs = Math.ceil((period.until - period.from) / Math.max(1, parts))
  for (let from = period.from; from < period.until; from += partMs) {
    const rows = await rowsOf(database, source, { from, until: Math.min(from + partMs, period.until) })
    for (const [index, row] of rows.entries()) {
      if (index % ROWS_AT_A_TURN === ROWS_AT_A_TURN - 1) await nextTurn()
      if (!signings.has(row.partner_id)) {
        const key = await currentKey(keys, row.partner_id, period.until < now - KEY_PATIENCE_MS)
        signings.set(row.partner_id, key && { key, leaves: [] })
      }
      const signing = signings.get(row.partner_id)
      signing?.leaves.push(leafOf(signing.key.key, source, row))
    }
  }
  return signings
}

async function countRows(db: Executor, source: AuditedTable, { from, until }: Period): Promise<number> {
  const [low, high] = [timestamp(from), timestamp(until)]
  const [row] = await db.query<{ count: number }>(
    source === 'history'
      ? sql`select count(*)::integer as count from history where recorded_at >= ${low} and recorded_at < ${high}`
      : sql`select count(*)::integer as count from audit_log where at >= ${low} and at < ${high}`,
  )
  return row?.count ?? 0
}

function startOfPeriod(at: Instant): Instant {
  return Math.floor(at / PERIOD_MS) * PERIOD_MS
}

/** A partner's key. One that cannot be opened fails the signing, unless the rows have waited for it long enough. */
async function currentKey(
  keys: BlockKeys,
  partnerId: string,
  hasWaited: boolean,
): Promise<SigningKey | undefined> {
  try {
    return await keys.current(partnerId)
  } catch (error) {
    if (hasWaited && !isUnavailable(error)) return undefined
    throw error
  }
}

/** The end of the newest block. */
async function endOfNewest(db: Executor, source: AuditedTable): Promise<Instant> {
  const [newest] = await db.query<{ until_at: Instant | null }>(sql`
    select max(until_at) as until_at from audit_blocks where source = ${source}`)
  return newest?.until_at ?? 0
}

/**
 * When the first row between `from` and `before` was recorded. Searches ever longer spans, so as not to read all rows since
 * a long pause.
 */
async function firstRecorded(
  db: Executor,
  source: AuditedTable,
  { from, before }: { from: Instant; before: Instant },
): Promise<Instant | undefined> {
  for (let span = PERIOD_MS; from < before; span *= 16) {
    const [low, high] = [timestamp(from), timestamp(Math.min(from + span, before))]
    const [row] = await db.query<{ first: Instant | null }>(
      source === 'history'
        ? sql`select min(recorded_at) as first from history where recorded_at >= ${low} and recorded_at < ${high}`
        : sql`select min(at) as first from audit_log where at >= ${low} and at < ${high}`,
    )
    if (row?.first) return row.first
    if (from + span >= before) break
  }
  return undefined
}

async function lastBlock(db: Executor, source: AuditedTable, partnerId: string): Promise<Block | undefined> {
  const [block] = await db.query<Block>(sql`
    select partner_id, number, from_at, until_at, key_id, leaves, previous, hash from audit_blocks
    where partner_id = ${partnerId} and source = ${source} order by number desc limit 1`)
  return block
}
