import { coalesceApart } from '../db/coalesce.ts'
import type { Database } from '../db/database.ts'
import { type CredentialRow, findCredentials, findPartners, type PartnerRow } from './store.ts'
import { findTokens, type TokenRow } from './tokens.ts'

/** The ids that a secret carries: that of the partner, and its own. */
type SecretIds = { readonly partnerId: string; readonly ownId: string }

/** The rows that the directory asks for; `undefined` where there is none. */
export type Rows = {
  partner(partnerId: string): Promise<PartnerRow | undefined>
  token(ids: SecretIds): Promise<TokenRow | undefined>
  credential(ids: SecretIds): Promise<CredentialRow | undefined>
}

/**
 * Reads partners, tokens and credentials: what is asked for at the same time, by one statement for each table and cell, so that
 * nobody waits for the node of another.
 */
export function openRows(database: Database): Rows {
  const queueOf = ({ partnerId }: SecretIds) => database.cellOf(partnerId)
  const readTokens = coalesceApart<SecretIds, TokenRow | undefined>(queueOf, {
    name: 'read tokens',
    maxBatch: MAX_BATCH,
    run: async ids => {
      const keys = ids.map(({ partnerId, ownId }) => ({ partnerId, tokenId: ownId }))
      const [{ partnerId } = { partnerId: '' }] = keys
      const rows = await findTokens(database.of(partnerId), keys)
      return inOrder(ids, new Map(rows.map(row => [`${row.partner_id} ${row.token_id}`, row])))
    },
  })
  return {
    partner: coalesceApart<string, PartnerRow | undefined>(database.cellOf, {
      name: 'read partners',
      maxBatch: MAX_BATCH,
      run: async ids => {
        const found = await findPartners(database, ids)
        const rows = new Map(found.map(row => [row.partner_id, row]))
        return ids.map(id => ({ ok: true, value: rows.get(id) }))
      },
    }),
    token: readTokens,
    credential: coalesceApart<SecretIds, CredentialRow | undefined>(queueOf, {
      name: 'read credentials',
      maxBatch: MAX_BATCH,
      run: async ids => {
        const keys = ids.map(({ partnerId, ownId }) => ({ partnerId, credentialId: ownId }))
        const rows = await findCredentials(database, keys)
        return inOrder(ids, new Map(rows.map(row => [`${row.partner_id} ${row.credential_id}`, row])))
      },
    }),
  }
}

/** The rows of these secrets, in the order in which they were asked for. */
function inOrder<R>(ids: readonly SecretIds[], rows: ReadonlyMap<string, R>) {
  return ids.map(({ partnerId, ownId }) => ({ ok: true as const, value: rows.get(`${partnerId} ${ownId}`) }))
}

const MAX_BATCH = 500
