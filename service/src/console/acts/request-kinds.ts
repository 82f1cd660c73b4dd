import { html, type Slot } from '../../http/html.ts'
import { effectOf } from '../../membership/rules/effect.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { operatorNames } from '../../operators/store.ts'
import type { RequestKind, SecondPersonRequest } from '../requests/request.ts'
import { ALLOWED_HOURS } from '../requests/second-person.ts'
import { livingUser, ofWhom } from '../user-data/living-user.ts'
import type { Act } from './act.ts'
import { acts } from './all.ts'
import { showEffect, wordsOf } from './effect.ts'
import { submitAct } from './submit.ts'

/** All kinds of requests to a second person: acts on a user, and what somebody may do alone once another has allowed it. */
export const requestKinds: readonly RequestKind[] = [
  ...acts.flatMap(act => (act.second ? [requestOf(act, act.second)] : [])),
  allowance(
    {
      action: 'dateandlink',
      title: 'Link by whoever has seen the birth date',
      color: 'danger',
      role: 'support',
    },
    who => html`<p>For ${ALLOWED_HOURS} hours ${who} may make links of this person, which ask for the birth date,
and could act as the person, having seen that date.</p>`,
  ),
  // An admin must allow it, because the API asks for no second person: a secret and a key are enough to act alone.
  allowance(
    { action: 'credentials', title: 'New credentials of a partner', color: 'primary', role: 'admin' },
    (
      who,
      { partner },
    ) => html`<p>For ${ALLOWED_HOURS} hours ${who} may make client secrets and API keys of ${partner.name}.
Whoever holds them reads, changes and erases its users by the API, alone.</p>`,
  ),
]

function requestOf(act: Act, action: RequestKind['action']): RequestKind {
  return {
    action,
    title: act.title,
    color: act.color ?? 'primary',
    role: 'support',
    async preview(visit, request) {
      const details = await livingUser(visit, request.serviceId ?? '')
      if (!details) return gone
      const form = formOf(request)
      const changed = act.decide(form, details)
      if (isRefusal(changed)) return { refused: wordsOf(changed) }
      const effect = effectOf(changed, details, act.why(form))
      return {
        shown: html`${ofWhom(details)}${showEffect(effect, details)}${act.kept?.(form, details)}`,
        effect: effect.text,
      }
    },
    async perform(visit, request, decision) {
      const details = await livingUser(visit, request.serviceId ?? '')
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

/** A request that changes nothing itself: for some hours whoever asked may do alone what takes two. */
function allowance(
  kind: Pick<RequestKind, 'action' | 'title' | 'color' | 'role'>,
  words: (who: string, request: SecondPersonRequest) => Slot,
): RequestKind {
  return {
    ...kind,
    async preview({ context }, request) {
      const names = await operatorNames(context.database)
      return { shown: words(names.get(request.askedBy) ?? request.askedBy, request), effect: kind.action }
    },
    async perform({ context }, { partner, serviceId }, decision) {
      await context.database.commit(decision)
      return { to: serviceId === undefined ? `/partners/${partner.partnerId}` : `/users/${serviceId}` }
    },
  }
}
