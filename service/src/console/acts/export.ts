import { html } from '../../http/html.ts'
import { exportAllHeld } from '../requests/export.ts'
import { type Answer, notHere, type OperatorVisit, onGet, onPost, type Screen } from '../screen/screen.ts'
import { actionForm, section } from '../views/parts.ts'
import { recordDate } from './date-and-link.ts'
import { lookAtUser, ofWhom, requiredUser } from './screens.ts'

/** All data kept about one person as a file, for a person who asks for it. */
export const exportScreens: readonly Screen[] = [
  onGet('/users/:serviceid/export', 'support', ask),
  onPost('/users/:serviceid/export', 'support', download),
]

async function ask(visit: OperatorVisit): Promise<Answer> {
  const details = await lookAtUser(visit)
  return {
    title: 'Export all we hold',
    body: html`${ofWhom(details)}
${section(
  'What the file holds',
  html`<p class="hint">Prefill, account and draft; benefits, consents and the timeline; what was confirmed;
beneficiaries; the events of the last 30 days; links and page sessions; what operators asked each other to confirm.
It is JSON with personal data in clear: hand it on by a safe way,
to the person or whoever asked in their name, and delete your copy.</p>
${actionForm(visit, {
  action: `/users/${details.serviceId}/export`,
  button: 'Download the file',
  color: 'primary',
  downloads: true,
  why: 'why-export',
})}`,
)}
<p><a href="/users/${details.serviceId}">Back to the user</a></p>`,
  }
}

async function download(visit: OperatorVisit): Promise<Answer> {
  const details = await requiredUser(visit)
  const { partner, user, serviceId } = details
  const exported = await exportAllHeld(visit.context, partner, user.userid)
  // Between the two reads the user may have been erased, and the userid may belong to a new user.
  if (exported?.user.serviceid !== serviceId) throw notHere('user')
  const refused = await recordDate(visit, details, { action: 'export user' })
  if (refused) return refused
  return {
    file: `user-${serviceId}.json`,
    type: 'application/json; charset=utf-8',
    content: `${JSON.stringify(exported, null, 2)}\n`,
  }
}
