import type { DocumentKind } from '../records/sealed.ts'
import { consents, designations, enrolments, users } from '../records/tables.ts'
import type { User } from '../rules/state.ts'

/** A row of `users` as the loading statement returns it, with its dependent rows as JSON arrays. */
export type UserRow = {
  partner_id: string
  service_id: string
  userid: string
  version: number
  /** Its place among the names that were asked for, from 1 on. */
  place: number
  /** Null when there is none, or it was not requested. */
  wrapped_key: Buffer | null
  enrolments: unknown[][] | null
  consents: unknown[][] | null
  designations: unknown[][] | null
  /** The sealed documents in base64; null when there are none, or they were not requested. */
  documents: [kind: DocumentKind, sealed: string][] | null
}

/** The user of a row. */
export function userOf(row: UserRow): User {
  // Added in place: copying the user with `...` would cost 7 µs.
  return Object.assign(users.ofRow(row), {
    enrolments: (row.enrolments ?? []).map(enrolments.ofArray),
    consents: (row.consents ?? []).map(consents.ofArray),
    designations: (row.designations ?? []).map(designations.ofArray),
  })
}
