import { DAY_MS, HOUR_MS, type Instant } from '../../calendar/calendar.ts'
import { texts, uuids } from '../../db/binary-array.ts'
import { writeByCell } from '../../db/by-cell.ts'
import { coalesce } from '../../db/coalesce.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'

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
