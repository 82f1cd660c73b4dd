import { html } from '../../http/html.ts'
import { exportAllHeld } from '../requests/export.ts'
import { record } from '../screen/record.ts'
import { notHere, type Screen } from '../screen/screen.ts'
import { ofWhom, requiredUser } from '../user-data/living-user.ts'
import { reasonedScreens } from './reasoned.ts'

/** All data kept about one person as a file, for a person who asks for it. */
export const exportScreens: readonly Screen[] = reasonedScreens({
  path: '/users/:serviceid/export',
  role: 'support',
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
