import { html, type Slot } from '../../http/html.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { operatorNames } from '../../operators/store.ts'
import { releaseKind } from '../feeds/release.ts'
import type { RequestKind, SecondPersonRequest } from '../requests/request.ts'
import { ALLOWED_HOURS } from '../requests/store.ts'
import { livingUser, ofWhom } from '../user-data/living-user.ts'
import { type Act, membershipActs, showEffect, submitAct, tryAct, wordsOf } from './act.ts'
import { recordConsent } from './consent.ts'
import { corrections } from './corrections.ts'
import { erase } from './erase.ts'
import { callSwapOff, swap } from './swap.ts'

/** All changes that an operator can make to a user after seeing the effect, in the order of the page. */
export const acts: readonly Act[] = [
  ...membershipActs,
  swap,
  callSwapOff,
  recordConsent,
  ...corrections,
  erase,
]

/** All kinds of requests to a second person: acts on a user, and what somebody may do alone once another has allowed it. */
export const requestKinds: readonly RequestKind[] = [
  ...acts.flatMap(act => (act.second ? [requestOf(act, act.second)] : [])),
  releaseKind,
  allowance(
    {
      action: 'dateandlink',
      title: 'Link by whoever has seen the birth date',
      color: 'danger',
      right: 'support',
    },
    who => html`<p>For ${ALLOWED_HOURS} hours ${who} may make links of this person, which ask for the birth date,
and could act as the person, having seen that date.</p>`,
  ),
  // An admin must allow it, because the API asks for no second person: a secret and a key are enough to act alone.
  allowance(
    { action: 'credentials', title: 'A new credential of a partner', color: 'primary', right: 'administer' },
    (
      who,
      { partner },
    ) => html`<p>Within ${ALLOWED_HOURS} hours ${who} may make one client secret, API key or signing secret of ${partner.name}.
Whoever holds a secret and a key reads, changes and erases its users by the API, alone; whoever holds a signing secret makes events that
its receiver believes.</p>`,
  ),
]

function requestOf(act: Act, action: RequestKind['action']): RequestKind {
  return {
    action,
    title: act.title,
    color: act.color ?? 'primary',
    right: 'support',
    async preview(visit, request) {
      const details = await livingUser(visit, request.serviceId ?? '')
      if (!details) return gone
      const form = formOf(request)
      const effect = tryAct(act, form, details)
      if (isRefusal(effect)) return { refused: wordsOf(effect) }
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

/** What a request is for, in words. */
export function titleOfRequest(action: string): string {
  return requestKinds.find(one => one.action === action)?.title ?? action
}

const gone = { refused: 'There is no such user any more.' }

function formOf({ payload }: SecondPersonRequest): URLSearchParams {
  const { form } = payload
  return new URLSearchParams(typeof form === 'string' ? form : '')
}

/** A request that changes nothing itself: for some hours whoever asked may do alone what takes two. */
function allowance(
  kind: Pick<RequestKind, 'action' | 'title' | 'color' | 'right'>,
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
