import { type Columns, column } from '../../db/columns.ts'

/** The two parts of a user's primary key. */
export type UserIds = { readonly partnerId: string; readonly serviceId: string }

/** The columns of the primary key, with which each table of users begins. */
export const userKey: Columns<UserIds> = {
  partner_id: column.uuid(user => user.partnerId),
  service_id: column.uuid(user => user.serviceId),
}
