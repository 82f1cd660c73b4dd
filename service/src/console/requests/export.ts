import { formatTimestamp } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { exportUser, type UserExport } from '../../membership/export/user-export.ts'
import type { Reader } from '../../membership/reading/reader.ts'
import type { Partner } from '../../partners/partner.ts'
import { openedRequest } from './request.ts'
import { requestsAbout, stateOf } from './store.ts'

/** What one operator asked another to confirm about a person. */
type ExportedRequest = {
  readonly requestid: string
  readonly action: string
  readonly askedat: string
  /** `null` when the request can no longer be opened; then `effect` is, too. */
  readonly reason: string | null
  /** What it would have done when it was asked for. */
  readonly effect: string | null
  /** `waiting` until somebody decided it or its time was over. */
  readonly outcome: string
  readonly decidedat: string | null
}

/** Everything that is kept of one user, with what operators asked each other about it. */
type FullExport = UserExport & { readonly requests: readonly ExportedRequest[] }

/** Gathers everything that is kept of a living user; `undefined` where the partner has none of this userid. */
export async function exportAllHeld(
  context: {
    readonly database: Database
    readonly reader: Reader
    readonly real: () => number
  },
  partner: Partner,
  userid: string,
): Promise<FullExport | undefined> {
  const { database, real } = context
  const exported = await exportUser(context, partner, userid)
  if (!exported) return undefined
  const rows = await requestsAbout(database, partner.partnerId, exported.user.serviceid)
  const requests = rows.map(row => {
    const { reason = null, effect = null } = openedRequest(partner, row) ?? {}
    return {
      requestid: row.request_id,
      action: row.action,
      askedat: formatTimestamp(row.asked_at),
      reason,
      effect,
      outcome: stateOf(row, real()),
      decidedat: row.decided_at === null ? null : formatTimestamp(row.decided_at),
    }
  })
  return { ...exported, requests }
}
