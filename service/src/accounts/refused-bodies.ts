import { createUser } from '@benefit-enrolment/contract'
import type { RefusedBody } from '../http/mount.ts'
import type { NoteRefused } from '../membership/records/refused-creates.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Clock } from '../partners/partner.ts'

/**
 * Records creates whose bodies the schema refused, if the userid can be read. Only fields that the schema names are
 * recorded: an unknown name comes from the caller, and may contain anything.
 */
export function noteRefusedBodies({
  clock,
  noteRefused,
}: {
  clock: Clock
  noteRefused: NoteRefused
}): (caller: Caller, refused: RefusedBody) => void {
  return ({ partner }, { operation, body, requestId, error }) => {
    if (operation.id !== createUser.id) return
    const userid = typeof body === 'object' && body !== null && 'userid' in body ? body.userid : undefined
    if (typeof userid !== 'string' || userid.length > LONGEST_USERID) return
    const reasons = error.errors.map(({ field, code }) => {
      const [top = ''] = field.split(/[.[]/)
      return { field: Object.hasOwn(createUser.body.properties, top) ? top : 'body', code }
    })
    noteRefused(partner, userid, { at: clock.real(), requestId, code: error.code, reasons })
  }
}

/** No accepted userid is longer: 128 characters, of up to two units of a JavaScript string each. */
const LONGEST_USERID = 256
