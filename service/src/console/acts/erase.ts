import {
  certificateOf,
  type Erasure,
  eraseForOperator,
  wordsOfCertificate,
} from '../../accounts/erase-for-operator.ts'
import { eraseAccount } from '../../accounts/lifecycle.ts'
import { formatTimestamp } from '../../calendar/calendar.ts'
import type { Query } from '../../db/sql.ts'
import { html, type Slot } from '../../http/html.ts'
import { effectOf, type Effect as UserEffect } from '../../membership/rules/effect.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { askSecondPerson, needsSecondPerson } from '../requests/ask.ts'
import type { RequestEffect, RequestKind } from '../requests/request.ts'
import { record, recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  notHere,
  type OperatorVisit,
  onChange,
  onGet,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { tookPartInErasure } from '../user-data/store.ts'
import { isErased, livingUserDetails, openUserDetails, type UserDetails } from '../user-data/user-details.ts'
import { actionForm, section } from '../views/parts.ts'
import type { UserState } from './act.ts'
import { showEffect } from './effect.ts'
import { lookAtUser, ofWhom, requiredUser } from './screens.ts'

/** Erasing a person for good, and the certificate of it. */
export const eraseScreens: readonly Screen[] = [
  onGet('/users/:serviceid/erase', 'support', ask),
  onChange('/users/:serviceid/erase', 'support', handlePost),
  onGet('/users/:serviceid/certificate', 'support', certificate),
]

/** An erasure that a second person confirms. */
export const erasureRequest: RequestKind = {
  action: 'erase',
  title: 'Erase a user',
  color: 'danger',
  role: 'support',
  async preview(visit, { serviceId }): Promise<RequestEffect> {
    const details = await livingUserDetails(visit, serviceId ?? '')
    if (!details) return { refused: GONE }
    return { shown: html`${ofWhom(details)}${shown(details)}`, effect: erasureEffect(details).text }
  },
  async perform(visit, { serviceId, effect, askedBy }, decision) {
    const details = await livingUserDetails(visit, serviceId ?? '')
    if (!details) return { refused: GONE }
    const erased = await erase(visit, details, { effect, actor: askedBy, alongside: decision })
    return erased ? { to: `/users/${serviceId}` } : { refused: CHANGED }
  },
}

const GONE = 'The user is erased already, or not known any more.'
const CHANGED = 'The user has changed since this was asked for. Look again at what would happen now.'

async function ask(visit: OperatorVisit): Promise<Answer> {
  return page(visit, await lookAtUser(visit))
}

async function page(visit: OperatorVisit, details: UserDetails, isChanged = false): Promise<Answer> {
  const isSecond = await needsSecondPerson(visit, 'erase')
  return {
    title: 'Erase for good',
    body: html`${ofWhom(details)}
${isChanged && html`<p class="notice" role="status">${CHANGED}</p>`}
${section('What would happen', shown(details))}
${section(
  isSecond ? 'Ask for it' : 'Do it',
  html`<p class="hint">It cannot be taken back${
    isSecond && ', so a second person confirms it; until then nothing happens'
  }.
To hand the person a copy first, export all we hold.</p>
${actionForm(visit, {
  action: `/users/${details.serviceId}/erase`,
  button: isSecond ? 'Ask a second person' : 'Erase for good',
  color: 'danger',
  fields: html`<input type="hidden" name="seen" value="${erasureEffect(details).text}">`,
  why: 'why-erase',
})}`,
)}
<p><a href="/users/${details.serviceId}">Leave it as it is</a></p>`,
  }
}

async function handlePost(visit: OperatorVisit): Promise<Answer> {
  const details = await requiredUser(visit)
  const reason = reasonOf(visit)
  const effect = erasureEffect(details).text
  // Only the effect that was shown may happen: after a change in between, the page shows the new effect first.
  if (visit.form.get('seen') !== effect) return page(visit, await lookAtUser(visit), true)
  const { partner, serviceId } = details
  if (await needsSecondPerson(visit, 'erase'))
    return askSecondPerson(visit, { action: 'erase', partner, serviceId, reason, payload: {}, effect })
  const deed = { action: 'erase user', partner, serviceId, reason }
  const erased = await erase(visit, details, {
    effect,
    actor: visit.operator.operatorId,
    alongside: [recordAlongside(visit, deed)],
  })
  return erased ? { to: `/users/${serviceId}` } : page(visit, await lookAtUser(visit), true)
}

/** Erases if that still has the effect that was shown; `undefined` if it would now have another. */
async function erase(
  visit: OperatorVisit,
  { partner, user, serviceId }: UserDetails,
  { effect, ...by }: { effect: string; actor: string; alongside: readonly Query[] },
): Promise<Erasure | undefined> {
  const erased = await eraseForOperator(visit.context.executor, {
    partner,
    userid: user.userid,
    requestId: visit.requestId,
    ...by,
    isRefused: (found, now, terms) =>
      found.serviceId !== serviceId ||
      found.status === 'erased' ||
      erasureEffect({ user: found, now, terms }).text !== effect,
  })
  if (isRefusal(erased)) return undefined
  const erasedAt = formatTimestamp(erased.erasedAt)
  await visit.context.noteErasure({ partnerId: partner.partnerId, serviceId, erasedAt })
  return erased
}

/** The effect of an erasure. */
function erasureEffect(moment: UserState): UserEffect {
  return effectOf(eraseAccount(moment.user, moment.now, moment.terms), moment, 'erase')
}

function shown(details: UserDetails): Slot {
  return html`${showEffect(erasureEffect(details), details)}
<p>Destroyed for good: the data key of this person, and with it prefill, account and drafts;
benefits held, consents, confirmations and beneficiaries; links and sessions; the userid.
The serviceid, the dates of changes and the audit log stay, and what the law makes the partner keep.</p>`
}

/** The certificate, for those who requested the erasure or confirmed it. */
async function certificate(visit: OperatorVisit): Promise<Answer> {
  const { database, real } = visit.context
  const details = await openUserDetails(visit)
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
