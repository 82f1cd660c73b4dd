import { effectOf } from '../../membership/rules/effect.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import type { RequestKind, SecondPersonRequest } from '../requests/request.ts'
import { livingUserDetails } from '../user-data/user-details.ts'
import type { Act } from './act.ts'
import { acts } from './all.ts'
import { showEffect, wordsOf } from './effect.ts'
import { submitAct } from './submit.ts'

/** The acts on a user that need a second person, as kinds of requests. */
export const actRequests: readonly RequestKind[] = acts.flatMap(act =>
  act.second
    ? [
        {
          action: act.second,
          title: act.title,
          color: act.color ?? 'primary',
          role: 'support',
          ...kindOf(act),
        },
      ]
    : [],
)

function kindOf(act: Act): Pick<RequestKind, 'preview' | 'perform'> {
  return {
    async preview(visit, request) {
      const details = await livingUserDetails(visit, request.serviceId ?? '')
      if (!details) return gone
      const changed = act.decide(formOf(request), details)
      if (isRefusal(changed)) return { refused: wordsOf(changed) }
      const effect = effectOf(changed, details, act.why(formOf(request)))
      return { shown: showEffect(effect, details), effect: effect.text }
    },
    async perform(visit, request, decision) {
      const details = await livingUserDetails(visit, request.serviceId ?? '')
      if (!details) return gone
      // `askedBy` is the operator who wanted the act; the request id is that of the confirmation, so that the audit log
      // leads to both.
      const refused = await submitAct({ ...visit.context, requestId: visit.requestId }, details, {
        act,
        form: formOf(request),
        actor: request.askedBy,
        alongside: decision,
        effect: request.effect,
      })
      return refused ? { refused: wordsOf(refused) } : { to: `/users/${details.serviceId}` }
    },
  }
}

const gone = { refused: 'There is no such user any more.' }

function formOf({ payload }: SecondPersonRequest): URLSearchParams {
  const { form } = payload
  return new URLSearchParams(typeof form === 'string' ? form : '')
}
