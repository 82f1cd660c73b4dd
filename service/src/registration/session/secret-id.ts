import { decodeUuid, encodeUuid } from '../../vault/secret.ts'
import type { SessionName } from './store.ts'

/** The id in a link token, a session handle and a result token: the partner's and the session's. */
export function sessionSecretId(name: SessionName): string {
  return encodeUuid(name.partner_id) + encodeUuid(name.session_id)
}

/** The session that such an id names, or `undefined`. */
export function sessionOfSecretId(id: string): SessionName | undefined {
  const partner_id = decodeUuid(id.slice(0, 22))
  const session_id = decodeUuid(id.slice(22))
  return partner_id && session_id ? { partner_id, session_id } : undefined
}
