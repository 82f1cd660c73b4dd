import { certificateOf, wordsOfCertificate } from '../../accounts/erase-for-operator.ts'
import { eraseAccount } from '../../accounts/lifecycle.ts'
import { formatTimestamp } from '../../calendar/calendar.ts'
import { html } from '../../http/html.ts'
import { refuse } from '../../membership/rules/refusal.ts'
import { isKnown } from '../../membership/rules/state.ts'
import { record } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  notHere,
  type OperatorVisit,
  onGet,
  type Screen,
} from '../screen/screen.ts'
import { isErased, openUser } from '../user-data/living-user.ts'
import { tookPartInErasure } from '../user-data/store.ts'
import type { Act } from './act.ts'

/** Erases a person for good. */
export const erase: Act = {
  name: 'erase',
  title: 'Erase for good',
  button: 'Erase for good',
  color: 'danger',
  second: 'erase',
  fits: ({ user }) => isKnown(user),
  kept: () => html`<p>Destroyed for good: the data key of this person, and with it prefill, account and drafts;
benefits held, consents, confirmations and beneficiaries; links and sessions; the userid.
The serviceid, the dates of changes and the audit log stay, and what the law makes the partner keep.</p>
<p class="hint">It cannot be taken back. To hand the person a copy first, export all we hold.</p>`,
  why: () => 'erase',
  decide: (_form, { user, now, terms }) =>
    isKnown(user) ? eraseAccount(user, now, terms) : refuse('user_not_found'),
  done: ({ noteErasure }, { partnerId, serviceId, erasedAt = 0 }) =>
    noteErasure({ partnerId, serviceId, erasedAt: formatTimestamp(erasedAt) }),
}

/** The certificate of an erasure. */
export const certificateScreens: readonly Screen[] = [
  onGet('/users/:serviceid/certificate', 'support', certificate),
]

/** The certificate, for those who requested the erasure or confirmed it. */
async function certificate(visit: OperatorVisit): Promise<Answer> {
  const { database, real } = visit.context
  const details = await openUser(visit)
  if (!isErased(details)) throw notHere('certificate')
  const { partner, serviceId, erasedAt } = details
  const deed = { action: 'download certificate', partner, serviceId }
  const { partnerId } = partner
  if (!(await tookPartInErasure(database, { partnerId, serviceId }, visit.operator.operatorId))) {
    await record(visit, { ...deed, result: 'refused' })
    throw new ConsoleRefusal(
      403,
      'Not yours',
      'The certificate is for who asked for the erasure and who confirmed it. `enrolment user erase` prints it again.',
    )
  }
  const made = await certificateOf(database, { partnerId, serviceId, erasedAt })
  await record(visit, deed)
  return {
    file: `erasure-${serviceId}.txt`,
    type: 'text/plain; charset=utf-8',
    content: `${wordsOfCertificate(made, { partner, madeAt: real() }).join('\n')}\n`,
  }
}
