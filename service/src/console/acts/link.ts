import { html } from '../../http/html.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { mintLinkToken } from '../../registration/links/link-tokens.ts'
import { revokeSession } from '../../registration/session/store.ts'
import { record, recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  choiceOf,
  type OperatorVisit,
  onChange,
  onGet,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { actionForm, section, selectField, when } from '../views/parts.ts'
import { refusedAlone } from './date-and-link.ts'
import { whyNoLink } from './date-or-link.ts'
import { wordsOf } from './effect.ts'
import { lookAtUser, ofWhom, requiredUser } from './screens.ts'

/** Makes a link that the operator gives to the person. */
export const linkScreens: readonly Screen[] = [
  onGet('/users/:serviceid/link', 'support', choose),
  onChange('/users/:serviceid/link', 'support', make),
]

const PURPOSES = {
  registration: 'Register and enroll',
  benefits: 'See and change benefits',
  swap: 'Swap benefits',
  offerchange: 'Change the offer',
} as const
const DISABLED =
  'This partner was stopped, so its pages open for nobody, and no link of it works. An admin can let it in again.'

async function choose(visit: OperatorVisit): Promise<Answer> {
  const details = await lookAtUser(visit)
  const isMember = details.user.status === 'active'
  if (details.partner.disabledAt !== undefined)
    return {
      title: 'Make a link',
      body: html`${ofWhom(details)}<p class="notice bad" role="status">${DISABLED}</p>
<p><a href="/partners/${details.partner.partnerId}">The partner</a></p>`,
    }
  return {
    title: 'Make a link',
    body: html`${ofWhom(details)}
${section(
  'What for',
  html`<p class="hint">The link works once, for 24 hours.
Where the birth date is known, the page asks for it before it shows anything. We send nothing:
you pass the link on, to the person alone. Whatever is done by it is on record as done by a link that you made.</p>
${actionForm(visit, {
  action: `/users/${details.serviceId}/link`,
  button: 'Make the link',
  color: 'primary',
  fields: selectField(
    'purpose',
    'It opens',
    Object.entries(PURPOSES),
    isMember ? 'benefits' : 'registration',
  ),
  why: 'why-link',
})}`,
)}`,
  }
}

async function make(visit: OperatorVisit): Promise<Answer> {
  const details = await requiredUser(visit)
  const reason = reasonOf(visit)
  const { partner, user, serviceId } = details
  const purpose = choiceOf(visit, 'purpose', PURPOSES)
  const deed = { action: 'make link', partner, serviceId, reason }
  if (partner.disabledAt !== undefined) {
    await record(visit, { ...deed, result: 'partner_disabled' })
    throw new ConsoleRefusal(409, 'Not done', DISABLED)
  }
  const { action } = deed
  const whyNot = await whyNoLink(visit, details)
  if (whyNot) return refusedAlone(visit, details, { action, why: whyNot })
  const made = await mintLinkToken(
    { ...visit.context, baseUrl: () => visit.context.publicUrl },
    partner,
    { userid: user.userid, purpose, delivery: 'sms' },
    { by: visit.operator.operatorId, alongside: [recordAlongside(visit, deed)] },
  )
  if (isRefusal(made)) {
    await record(visit, { ...deed, result: made.refused })
    throw new ConsoleRefusal(409, 'Not done', wordsOf(made))
  }
  // The date may have been shown meanwhile; each of the two is stored before it looks for the other.
  const why = await whyNoLink(visit, details)
  if (why) {
    const name = { partner_id: partner.partnerId, session_id: made.sessionid }
    await revokeSession(visit.context.database, name, visit.context.real())
    return refusedAlone(visit, details, { action, why })
  }
  return {
    title: 'The link',
    body: html`${ofWhom(details)}
<section class="notice" role="status"><h2>Pass this on to the person alone</h2><p
class="secret"><code>${made.linkurl}</code></p>
<p>It works once, for 24 hours, until ${when(Date.parse(made.expiresat), partner.timezone)},
and is not shown again.</p></section>`,
  }
}
