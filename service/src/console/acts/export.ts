import { formatTimestamp } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { html } from '../../http/html.ts'
import { exportUser, type UserExport } from '../../membership/export/user-export.ts'
import type { Reader } from '../../membership/reading/reader.ts'
import type { Partner } from '../../partners/partner.ts'
import { openedRequest } from '../requests/request.ts'
import { requestsAbout, stateOf } from '../requests/store.ts'
import { record } from '../screen/record.ts'
import { notHere, type Screen } from '../screen/screen.ts'
import { ofWhom, requiredUser } from '../user-data/living-user.ts'
import { reasonedScreens } from './reasoned.ts'

/** All data kept about one person as a file, for a person who asks for it. */
export const exportScreens: readonly Screen[] = reasonedScreens({
  path: '/users/:serviceid/export',
  right: 'support',
  kind: 'file',
  title: 'Export all we hold',
  find: requiredUser,
  whom: ofWhom,
  asked: () => ({
    heading: 'What the file holds',
    hint: html`<p class="hint">Prefill, account and draft; benefits, consents and the timeline; what was confirmed;
beneficiaries; the events of the last 30 days; links and page sessions; what operators asked each other to confirm.
It is JSON with personal data in clear: hand it on by a safe way,
to the person or whoever asked in their name, and delete your copy.</p>`,
    button: 'Download the file',
  }),
  async answer(visit, { partner, user, serviceId }, reason) {
    const exported = await exportAllHeld(visit.context, partner, user.userid)
    // Between the two reads the user may have been erased, and the userid may belong to a new user.
    if (exported?.user.serviceid !== serviceId) throw notHere('user')
    await record(visit, { action: 'export user', partner, serviceId, reason })
    return {
      file: `user-${serviceId}.json`,
      type: 'application/json; charset=utf-8',
      content: `${JSON.stringify(exported, null, 2)}\n`,
    }
  },
})

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
