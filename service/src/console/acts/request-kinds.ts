import { effectOf } from '../../membership/rules/effect.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { isKnown } from '../../membership/rules/state.ts'
import type { RequestKind, SecondPersonRequest } from '../requests/request.ts'
import type { Visit } from '../screen/screen.ts'
import { isErased, openUserDetails, type UserDetails } from '../user-data/user-details.ts'
import type { Act } from './act.ts'
import { acts } from './all.ts'
import { showEffect, wordsOf } from './effect.ts'
import { submitAct } from './submit.ts'

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
      // `askedBy` is the operator who wanted the act; the request id is that of the confirmation, so that the audit log
      // leads to both.
      const refused = await submitAct(visit, details, {
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
