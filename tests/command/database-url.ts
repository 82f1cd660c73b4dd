import type { DatabaseAddress } from '../../service/src/db/database.ts'

/** A database as DATABASE_URL names it; a socket's directory stands percent-encoded where a host would. */
export function urlOf(address: DatabaseAddress): string {
  return 'url' in address
    ? address.url
    : `postgres://${address.user}@${encodeURIComponent(address.host)}:${address.port}/${address.database}`
}
