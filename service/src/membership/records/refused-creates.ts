import { DAY_MS, formatTimestamp, HOUR_MS, type Instant, MINUTE_MS } from '../../calendar/calendar.ts'
import { texts, uuids } from '../../db/binary-array.ts'
import { writeByCell } from '../../db/by-cell.ts'
import { coalesce } from '../../db/coalesce.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { keyedHash, sameHash } from '../../vault/hash.ts'
import { firstUuidAt } from '../../vault/uuid.ts'

/** A refused create: the request, the reason, and the fields at fault; no personal data. */
export type RefusedCreate = {
  readonly at: Instant
  readonly requestId: string
  readonly code: string
  readonly reasons: readonly { readonly field: string; readonly code: string }[]
}

/** Records that a create was refused, and why. */
export type NoteRefused = (partner: Partner, userid: string, refused: RefusedCreate) => void

type Noted = RefusedCreate & { readonly partnerId: string; readonly userid: string; readonly hash: Buffer }

/** A keyed hash that replaces the userid: without the partner's key nobody can tell whose it is. */
export function refusedHash({ hashKey }: Pick<Partner, 'hashKey'>, userid: string): Buffer {
  return keyedHash(hashKey, 'refused_creates', userid)
}

/**
 * The most records for one partner in an hour: a partner with more refusals has one common fault, and the table must
 * stay small.
 */
export const MOST_AN_HOUR = 2_000

/**
 * Records refused creates, so that support can answer "why is this person not enrolled?" when there is no user. No
 * request waits for it: a record that cannot be written is lost, and so are a partner's records beyond MOST_AN_HOUR.
 */
export function openRefusedCreates(database: Database): NoteRefused {
  const mayNote = boundedByHour()
  const write = coalesce<Noted, void>({
    name: 'note refused users',
    maxBatch: 500,
    run: async notes => {
      await writeByCell(database, notes, insert)
      return notes.map(() => ({ ok: true, value: undefined }))
    },
  })
  return (partner, userid, refused) => {
    const { partnerId } = partner
    if (!mayNote(partnerId, refused.at)) return
    write({ ...refused, partnerId, userid, hash: refusedHash(partner, userid) }).catch(() => undefined)
  }
}

function boundedByHour(): (partnerId: string, at: Instant) => boolean {
  let hour = 0
  const noted = new Map<string, number>()
  return (partnerId, at) => {
    const now = Math.floor(at / HOUR_MS)
    if (now !== hour) noted.clear()
    hour = now
    const before = noted.get(partnerId) ?? 0
    noted.set(partnerId, before + 1)
    return before < MOST_AN_HOUR
  }
}

async function insert(db: Executor, notes: readonly Noted[]): Promise<void> {
  const partners = uuids(notes.map(note => note.partnerId))
  await db.query(sql`
    insert into refused_creates (partner_id, userid_hash, service_id, at, request_id, code, reasons)
    select n.partner_id, n.userid_hash, u.service_id, n.at, n.request_id, n.code, n.reasons
    from unnest((select ${partners}::uuid[]), ${texts(notes.map(note => note.userid))}::text[],
      ${notes.map(note => note.hash)}::bytea[], ${notes.map(note => timestamp(note.at))}::timestamptz[],
      ${notes.map(note => note.requestId)}::uuid[], ${notes.map(note => note.code)}::text[],
      ${notes.map(note => JSON.stringify(note.reasons))}::jsonb[])
      as n (partner_id, userid, userid_hash, at, request_id, code, reasons)
    left join users u on u.partner_id = n.partner_id and u.userid = n.userid and u.is_current
    on conflict do nothing`)
}

/** As long as a prefill lives, because a person who was refused may return until then. */
const KEPT_MS = 90 * DAY_MS

/** Deletes records that are past this time. */
export async function deleteOldRefusedCreates(db: Executor, now: Instant): Promise<void> {
  await db.query(sql`delete from refused_creates where at < ${timestamp(now - KEPT_MS)}`)
}

/** A refused create with its partner. */
export type RefusedAt = RefusedCreate & { readonly partnerId: string }

/** A refused create as exports and commands show it. */
export function viewRefused({ at, requestId, code, reasons }: RefusedCreate) {
  return { at: formatTimestamp(at), requestid: requestId, code, reasons }
}

type Row = {
  partner_id: string
  at: Instant
  request_id: string
  code: string
  reasons: RefusedCreate['reasons']
}

/** The last hundred refused creates of a userid, oldest first. */
export async function findRefusedCreates(
  db: Executor,
  partner: Partner,
  userid: string,
): Promise<RefusedCreate[]> {
  return findRefusedCreatesAt(db, [partner], userid)
}

/** The last hundred refused creates of a userid at any of these partners, oldest first. */
export async function findRefusedCreatesAt(
  db: Executor,
  partners: readonly Partner[],
  userid: string,
): Promise<RefusedAt[]> {
  return ofHashes(
    db,
    partners.map(partner => ({ partnerId: partner.partnerId, hash: refusedHash(partner, userid) })),
  )
}

/** The newest refused creates of a partner, oldest first, without the users whom they named. */
export async function findNewestRefusedCreates(db: Executor, partnerId: string): Promise<RefusedCreate[]> {
  const rows = await db.query<Row>(sql`
    select partner_id, at, request_id, code, reasons from refused_creates
    where partner_id = ${partnerId} order by at desc, request_id desc limit 100`)
  return rows.reverse().map(refusedOf)
}

async function ofHashes(
  db: Executor,
  wanted: readonly { readonly partnerId: string; readonly hash: Buffer }[],
): Promise<RefusedAt[]> {
  const partnerIds = wanted.map(({ partnerId }) => partnerId)
  const rows = await db.query<Row>(sql`
    select r.partner_id, r.at, r.request_id, r.code, r.reasons
    from unnest(${partnerIds}::uuid[], ${wanted.map(({ hash }) => hash)}::bytea[])
      as wanted (partner_id, hash)
    join refused_creates r on r.partner_id = wanted.partner_id and r.userid_hash = wanted.hash
    order by r.at desc, r.request_id desc limit 100`)
  return rows
    .sort((a, b) => a.at - b.at || (a.request_id < b.request_id ? -1 : 1))
    .slice(-100)
    .map(refusedOf)
}

function refusedOf({ partner_id, at, request_id, code, reasons }: Row): RefusedAt {
  return { partnerId: partner_id, at, requestId: request_id, code, reasons }
}

/** What is known of the refused create of one request. */
export type RefusedRequest = {
  readonly partnerId: string
  /** The user whom it named, if that user was there at the time or is found to have come since. */
  readonly serviceId: string | undefined
  /** Refused creates of the same userid, this one among them, oldest first; empty where the user is known. */
  readonly attempts: readonly RefusedAt[]
  /** Whether all users who came since were compared; without it, the user may be one of them. */
  readonly isSure: boolean
}

/** The refused create of a request at one of these partners; `undefined`: there is none, or it is older than 90 days. */
export async function findRefusedRequest(
  context: { database: Executor; partner: (partnerId: string) => Promise<Partner | undefined> },
  partnerIds: readonly string[],
  requestId: string,
): Promise<RefusedRequest | undefined> {
  const { database } = context
  const [row] = await database.query<Row & { userid_hash: Buffer; service_id: string | null }>(sql`
    select partner_id, userid_hash, service_id, at, request_id, code, reasons from refused_creates
    where request_id = ${requestId} and partner_id = any(${partnerIds}::uuid[])`)
  const partner = row && (await context.partner(row.partner_id))
  if (!row || !partner) return undefined
  const { partnerId } = partner
  if (row.service_id !== null) return { partnerId, serviceId: row.service_id, attempts: [], isSure: true }
  const { serviceId, isSure } = await findWhoCameSince(database, partner, {
    hash: row.userid_hash,
    at: row.at,
  })
  if (serviceId !== undefined) return { partnerId, serviceId, attempts: [], isSure }
  const attempts = await ofHashes(database, [{ partnerId, hash: row.userid_hash }])
  const isAmong = attempts.some(one => one.requestId === row.request_id)
  return { partnerId, serviceId, attempts: isAmong ? attempts : [refusedOf(row), ...attempts], isSure }
}

/**
 * The user of a hashed userid, among the users who came after a time. Their hashes are not stored, because a refused
 * create is rare and each new user would cost a write. So the userids are hashed here, oldest first and up to a limit:
 * who was refused mostly comes back soon.
 */
async function findWhoCameSince(
  db: Executor,
  partner: Partner,
  { hash, at }: { hash: Buffer; at: Instant },
): Promise<{ serviceId: string | undefined; isSure: boolean }> {
  let after = firstUuidAt(at - 2 * MINUTE_MS)
  for (let read = 0; read < MOST_COMPARED; read += PAGE) {
    const rows = await db.query<{ service_id: string; userid: string }>(sql`
      select service_id, userid from users
      where partner_id = ${partner.partnerId} and service_id > ${after}::uuid
      order by service_id limit ${PAGE}`)
    const found = rows.find(({ userid }) => sameHash(refusedHash(partner, userid), hash))
    if (found) return { serviceId: found.service_id, isSure: true }
    if (rows.length < PAGE) return { serviceId: undefined, isSure: true }
    after = rows.at(-1)?.service_id ?? after
  }
  return { serviceId: undefined, isSure: false }
}

/** So many userids are read at once; to hash them takes some 10 ms. */
const PAGE = 2_000
const MOST_COMPARED = 20_000
