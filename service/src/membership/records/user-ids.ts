import { uuids } from '../../db/binary-array.ts'
import { type Columns, column } from '../../db/columns.ts'
import type { Layout } from '../../db/database.ts'
import { namingPartners, type Part } from '../../db/sql.ts'

/** The two parts of a user's primary key. */
export type UserIds = { readonly partnerId: string; readonly serviceId: string }

/** The columns of the primary key, with which each table of users begins. */
export const userKey: Columns<UserIds> = {
  partner_id: column.uuid(user => user.partnerId),
  service_id: column.uuid(user => user.serviceId),
}

/** What names the partners of these users to a cluster; see `namingPartners`. */
export function namingUsers({ isSpread }: Layout, users: readonly UserIds[]): (column: Part) => Part {
  return namingPartners(isSpread, isSpread && uuids(users.map(user => user.partnerId)))
}
