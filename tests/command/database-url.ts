import type { DatabaseAddress } from '../../service/src/db/database.ts'

/** A database in the form of DATABASE_URL; the directory of a socket is percent-encoded in the place of a host. */
export function urlOf(address: DatabaseAddress): string {
  return 'url' in address
    ? address.url
    : `postgres://${address.user}@${encodeURIComponent(address.host)}:${address.port}/${address.database}`
}
