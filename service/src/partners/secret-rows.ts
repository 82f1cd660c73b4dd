import type { Instant } from '../calendar/calendar.ts'
import { coalesceApart } from '../db/coalesce.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type CredentialKind, findPartners, type PartnerRow, partnerColumns } from './store.ts'

/** The secrets that a request may carry. */
export type SentSecret = 'access_token' | CredentialKind

/** What a secret says of itself in clear: its kind, its partner, and its own id. */
type SecretIds = { readonly kind: SentSecret; readonly partnerId: string; readonly ownId: string }

/** The stored side of a secret, with its partner. */
export type SecretRow = PartnerRow & {
  readonly kind: SentSecret
  /** Of a token, that of the client secret with which it was issued; revoking that one revokes the token. */
  readonly credential_id: string
  readonly pepper_id: string
  readonly hash: Buffer
  /** Of a token. */
  readonly scopes_of_token: string[] | null
  readonly expires_at: Instant | null
  readonly revoked_at: Instant | null
}

/** Reads secrets: what is asked for at the same time by one statement for each cell, so that nobody waits for the node of another. */
export function openSecretRows(database: Database): (asked: SecretIds) => Promise<SecretRow | undefined> {
  return coalesceApart<SecretIds, SecretRow | undefined>(({ partnerId }) => database.cellOf(partnerId), {
    name: 'read secrets',
    maxBatch: 500,
    run: async asked => {
      const ids = asked.map(({ partnerId }) => partnerId)
      const rows = await findSecrets(database.of(ids[0] ?? ''), asked).catch(async error => {
        // The cell of a partner that is not there cannot be asked.
        if ((await findPartners(database, ids)).length > 0) throw error
        return []
      })
      const found = new Map(rows.map(({ place, ...row }) => [place, row]))
      return asked.map((_, index) => ({ ok: true, value: found.get(index + 1) }))
    },
  })
}

/**
 * The secrets of these ids that there are, each with its place among them. One by one, by `limit`: a join might be planned, and its
 * plan kept, when there were few, and then read all of them each time.
 */
export function findSecrets(
  db: Executor,
  asked: readonly SecretIds[],
): Promise<(SecretRow & { readonly place: number })[]> {
  return db.query(sql`
    select p.*, s.*, asked.place::integer
    from unnest((select ${asked.map(({ partnerId }) => partnerId)}::uuid[]), ${asked.map(({ ownId }) => ownId)}::text[],
      ${asked.map(({ kind }) => kind === 'access_token')}::boolean[]) with ordinality
      as asked (partner_id, own_id, is_token, place)
    cross join lateral (select ${partnerColumns} from partners where partner_id = asked.partner_id limit 1) p
    cross join lateral (
      (select 'access_token' as kind, t.credential_id, t.pepper_id, t.hash, t.scopes as scopes_of_token, t.expires_at,
        coalesce(t.revoked_at, (
          select c.revoked_at from credentials c
          where c.partner_id = t.partner_id and c.credential_id = t.credential_id limit 1)) as revoked_at
      from access_tokens t
      where asked.is_token and t.partner_id = asked.partner_id and t.token_id = asked.own_id limit 1)
      union all
      (select c.kind, c.credential_id, c.pepper_id, c.hash, null, c.expires_at, c.revoked_at from credentials c
      where not asked.is_token and c.partner_id = asked.partner_id and c.credential_id = asked.own_id limit 1)
    ) s`)
}
