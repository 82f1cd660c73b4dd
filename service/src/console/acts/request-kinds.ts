import { effectOf } from '../../membership/rules/effect.ts'
import { isRefusal, refuse } from '../../membership/rules/refusal.ts'
import { isKnown } from '../../membership/rules/state.ts'
import type { RequestKind, SecondPersonRequest } from '../requests/request.ts'
import type { Visit } from '../screen/screen.ts'
import { isErased, openUserDetails, type UserDetails } from '../user-data/user-details.ts'
import type { Act } from './act.ts'
import { acts } from './all.ts'
import { showEffect, wordsOf } from './effect.ts'

/** The acts on a user that need a second person, as kinds of requests. */
export const actRequests: readonly RequestKind[] = acts.flatMap(act =>
  act.second ? [{ action: act.second, title: act.title, role: 'support', ...kindOf(act) }] : [],
)

function kindOf(act: Act): Pick<RequestKind, 'preview' | 'perform'> {
  return {
    async preview(visit, request) {
      const details = await detailsOf(visit, request)
      if (!details) return gone
      const changed = act.decide(formOf(request), details)
      if (isRefusal(changed)) return { refused: wordsOf(changed) }
      const effect = effectOf(changed, details, act.why(formOf(request)))
      return { shown: showEffect(effect, details), effect: effect.text }
    },
    async perform(visit, request, decision) {
      const details = await detailsOf(visit, request)
      if (!details) return gone
      const { partner, user, serviceId } = details
      const form = formOf(request)
      const why = act.why(form)
      const outcome = await visit.context.executor.submit({
        // `askedBy` is the operator who wanted the act; the request id is that of the confirmation, so that the audit
        // log leads to both.
        who: 'operator',
        actor: request.askedBy,
        requestId: visit.requestId,
        partner,
        userid: user.userid,
        why,
        alongside: decision,
        decide: ({ member, now, terms }) => {
          if (!member || member.user.serviceId !== serviceId) return refuse('user_not_found')
          const moment = { user: member.user, now, terms: terms() }
          const changed = act.decide(form, moment)
          if (isRefusal(changed)) return changed
          return effectOf(changed, moment, why).text === request.effect
            ? { change: changed, answer: after => after.serviceId }
            : refuse('preview_stale')
        },
      })
      return isRefusal(outcome) ? { refused: wordsOf(outcome) } : { to: `/users/${serviceId}` }
    },
  }
}

const gone = { refused: 'There is no such user any more.' }

async function detailsOf(
  visit: Visit,
  { serviceId = '' }: SecondPersonRequest,
): Promise<UserDetails | undefined> {
  const details = await openUserDetails(visit, serviceId)
  return isErased(details) || !isKnown(details.user) ? undefined : details
}

function formOf({ payload }: SecondPersonRequest): URLSearchParams {
  const { form } = payload
  return new URLSearchParams(typeof form === 'string' ? form : '')
}
