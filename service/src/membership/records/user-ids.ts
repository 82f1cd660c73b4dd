import { uuids } from '../../db/binary-array.ts'

/** The two parts of a user's primary key. */
export type UserIds = { readonly partnerId: string; readonly serviceId: string }

/** The primary keys of users, as columns. */
export function ids(users: readonly UserIds[]) {
  return {
    partners: uuids(users.map(user => user.partnerId)),
    services: uuids(users.map(user => user.serviceId)),
  }
}
