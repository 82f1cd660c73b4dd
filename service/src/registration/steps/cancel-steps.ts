import { cancelAccount } from '../../accounts/lifecycle.ts'
import { reinstateAccount } from '../../accounts/reinstate.ts'
import { boundaryAfter } from '../../calendar/calendar.ts'
import { isRefusal, refuse } from '../../membership/rules/refusal.ts'
import { hasPendingCancel } from '../../membership/rules/state.ts'
import { byVisitor, pageOf } from '../session/visit.ts'
import { parseCancel } from '../views/choices.ts'
import { lastDayOf, linesInForce, liveLines } from './cards.ts'
import { noteDone } from './outcomes.ts'
import { referenceOf } from './reference.ts'
import type { Step } from './step.ts'

const daysToReinstate = 30

/** What ends with a cancel, and when; a pending one can be taken back. */
export const cancel: Step = {
  show: (visit, typed) => {
    if (!visit.isMember) return { to: 'overview' }
    const { user, now, partner } = visit
    const lines = linesInForce(visit)
    const effective = typed.isPosted ? typed.form.get('effective') : undefined
    return {
      view: 'CANCEL',
      page: pageOf(visit),
      benefits: lines.length > 0 ? lines : liveLines(visit),
      lastday: lastDayOf(visit, boundaryAfter(now, partner.timezone)),
      reinstatedays: daysToReinstate,
      ...(effective === 'endofperiod' || effective === 'immediate' ? { effective } : {}),
      hasbegun: user.offer?.inForce ?? false,
      hasplanned: user.swap !== undefined || user.pendingOffer !== undefined,
      ...(user.cancel ? { pending: { on: lastDayOf(visit, user.cancel.at) } } : {}),
    }
  },
  post: async (visit, form) => {
    const parsed = parseCancel(form)
    if (!parsed.ok) return { errors: parsed.errors }
    const reference = referenceOf(visit.session.session_id, 'cancelled')
    const outcome = await visit.context.executor.submit({
      ...byVisitor(visit),
      why: `cancel ${reference}`,
      decide: ({ member, now, terms }) => {
        const user = member?.user
        if (
          user?.serviceId !== visit.user.serviceId ||
          (user.status !== 'active' && user.status !== 'cancelled')
        )
          return refuse('user_not_found')
        const change = cancelAccount(user, { effective: parsed.values, reason: 'voluntary' }, now, terms())
        return { ...(change.user === user ? {} : { change }), answer: () => undefined }
      },
    })
    if (isRefusal(outcome)) return 'gone'
    await noteDone(visit, 'cancelled', reference)
    return { to: 'done' }
  },
}

/** Keeps the benefits after all, while the cancel is still ahead. */
export const cancelUndo: Step = {
  show: () => ({ to: 'cancel' }),
  post: async visit => {
    const reference = referenceOf(visit.session.session_id, 'undone')
    const outcome = await visit.context.executor.submit({
      ...byVisitor(visit),
      why: `reinstate ${reference}`,
      decide: ({ member, now, terms }) => {
        if (member?.user.serviceId !== visit.user.serviceId) return refuse('user_not_found')
        if (!hasPendingCancel(member.user)) return { answer: () => undefined }
        const change = reinstateAccount(member.user, now, terms())
        return isRefusal(change) ? change : { change, answer: () => undefined }
      },
    })
    if (isRefusal(outcome)) return outcome.refused === 'user_not_found' ? 'gone' : { to: 'cancel' }
    await noteDone(visit, 'undone', reference)
    return { to: 'done' }
  },
}
