import { reinstateAccount } from '../../accounts/reinstate.ts'
import { isRefusal, refuse } from '../../membership/rules/refusal.ts'
import { offerOf } from '../../membership/rules/terms.ts'
import { byVisitor, type Visit } from '../session/visit.ts'
import type { StartView } from '../views/model.ts'
import { liveLines } from './cards.ts'
import { noteDone } from './outcomes.ts'
import { referenceOf } from './reference.ts'
import type { Step } from './step.ts'

/** What would be back if the person took their cancel back now; `undefined` where that is not open to them. */
export function comebackOf(visit: Visit): StartView['comeback'] {
  const { user, now, terms } = visit
  if (user.status !== 'cancelled') return undefined
  const trial = reinstateAccount(user, now, terms)
  if (isRefusal(trial)) return undefined
  const offer = offerOf(terms, trial.user)
  const benefits = liveLines({ ...visit, user: trial.user }).map(({ since, ...line }) =>
    since === undefined ? line : { ...line, startson: since },
  )
  return offer && benefits.length > 0 ? { offername: offer.displayname[visit.locale], benefits } : undefined
}

/** Brings offer and benefits back after a cancel, while the days for it last; a repeat changes nothing. */
export const comeback: Step = {
  show: () => ({ to: 'start' }),
  post: async visit => {
    const reference = referenceOf(visit.session.session_id, 'undone')
    const outcome = await visit.context.executor.submit({
      ...byVisitor(visit),
      why: `reinstate ${reference}`,
      decide: ({ member, now, terms }) => {
        if (member?.user.serviceId !== visit.user.serviceId) return refuse('user_not_found')
        if (member.user.status === 'active') return { answer: () => undefined }
        const change = reinstateAccount(member.user, now, terms())
        if (isRefusal(change)) return change
        return { change: { ...change, documents: { draft: null } }, answer: () => undefined }
      },
    })
    if (isRefusal(outcome)) return outcome.refused === 'user_not_found' ? 'gone' : { to: 'start' }
    await noteDone(visit, 'undone', reference)
    return { to: 'done' }
  },
}
