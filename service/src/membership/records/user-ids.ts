import { uuids } from '../../db/binary-array.ts'

/** The two parts of the users' primary keys, as columns. */
export function ids(users: readonly { partnerId: string; serviceId: string }[]) {
  return {
    partners: uuids(users.map(user => user.partnerId)),
    services: uuids(users.map(user => user.serviceId)),
  }
}
