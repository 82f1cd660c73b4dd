import { type CancelReason, cancelReasons, errors } from '@benefit-enrolment/contract/names'
import { cancelAccount } from '../../accounts/lifecycle.ts'
import { reinstateAccount } from '../../accounts/reinstate.ts'
import type { Query } from '../../db/sql.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Change } from '../../membership/command.ts'
import type { CommandExecutor } from '../../membership/commands/executor.ts'
import type { ListedErasure } from '../../membership/erasure-list/list.ts'
import { afterChange } from '../../membership/rules/apply-due.ts'
import { linesOf, type StoredLine, type Why } from '../../membership/rules/history.ts'
import { isRefusal, type Refusal, refuse } from '../../membership/rules/refusal.ts'
import { hasPendingCancel, type User } from '../../membership/rules/state.ts'
import { partnerOffers, type Terms } from '../../membership/rules/terms.ts'
import { changeOfferOf } from '../../offers/change.ts'
import type { SecondPersonAction } from '../requests/store.ts'
import type { LivingUser } from '../user-data/living-user.ts'
import { type ButtonColor, selectField } from '../views/parts.ts'
import { cancelReasonWords, lineOf, type Of, tell } from '../views/told.ts'

/** The user in the state in which an act finds it. */
export type UserState = { readonly user: User; readonly now: number; readonly terms: Terms }

/** A change that an operator makes to a user; the same rules preview it and make it. */
export type Act = {
  readonly name: string
  readonly title: string
  readonly button: string
  /** The color of that button; absent: that of an ordinary act. */
  readonly color?: ButtonColor
  /** The action in the second-person policy to which it belongs; absent: one person is enough. */
  readonly second?: SecondPersonAction
  /** Whether it is possible for this user now. */
  readonly fits: (of: UserState) => boolean
  /** The operator's choices; absent: there are none, and the page begins with the effect. */
  readonly fields?: (moment: UserState) => Slot
  /** What of the choices is kept, but is no line of the effect; shown with the effect, so that a slip is seen in time. */
  readonly kept?: (form: URLSearchParams, moment: UserState) => Slot
  /** The reason as the history keeps it. */
  readonly why: (form: URLSearchParams) => Why
  /** Decides it; a refusal says why not. */
  readonly decide: (form: URLSearchParams, moment: UserState) => Change | Refusal
  /** What follows once it is committed. */
  readonly done?: (by: AfterAct, after: User) => Promise<void>
}

/** What an act can use after its commit. */
export type AfterAct = { readonly noteErasure: (erasure: ListedErasure) => Promise<void> }

/** Cancels a membership, at the end of the period or at once. */
export const cancel: Act = {
  name: 'cancel',
  title: 'Cancel the membership',
  button: 'Cancel it',
  color: 'danger',
  fits: ({ user }) => user.status === 'active',
  fields: ({ user }) => html`<fieldset class="field"><legend><strong>When</strong></legend>
${
  !hasPendingCancel(user) &&
  html`<p class="check"><input type="radio" id="endofperiod"
name="effective" value="endofperiod" checked><label for="endofperiod">At the end of the period</label></p>`
}
<p class="check"><input type="radio" id="immediate"
name="effective" value="immediate"${
    hasPendingCancel(user) ? html` checked` : ''
  }><label for="immediate">At once</label></p></fieldset>
${selectField(
  'cause',
  'Because of',
  cancelReasons.map(cause => [cause, cancelReasonWords(cause)] as const),
)}`,
  why: form => `cancel: ${causeOf(form)}`,
  decide: (form, { user, now, terms }) => {
    if (user.status !== 'active') return refuse('user_cancelled')
    const effective = form.get('effective') === 'immediate' ? 'immediate' : 'endofperiod'
    return cancelAccount(user, { effective, reason: causeOf(form) }, now, terms)
  },
}

/** When an offer can change. */
const OFFER_TIMES = ['auto', 'immediate', 'nextperiod'] as const

const timeWords = {
  auto: 'Up at once, down at the next period',
  immediate: 'At once',
  nextperiod: 'At the next period',
} as const

function causeOf(form: URLSearchParams): CancelReason {
  return cancelReasons.find(one => one === form.get('cause')) ?? 'voluntary'
}

/** Takes a cancel back. */
export const reinstate: Act = {
  name: 'reinstate',
  title: 'Take the cancel back',
  button: 'Take it back',
  fits: ({ user, now, terms }) => !isRefusal(reinstateAccount(user, now, terms)),
  fields: () =>
    html`<p class="hint">A cancel that is not in effect yet is undone as if it had not been.
One that took effect less than 30 days ago is followed by the same offer and benefits from now on,
as far as the person is still admitted.</p>`,
  why: () => 'reinstate',
  decide: (_form, { user, now, terms }) => reinstateAccount(user, now, terms),
}

/** Changes the offer, or undoes a pending change of it. */
export const changeOffer: Act = {
  name: 'offer',
  title: 'Change the offer',
  button: 'Change it',
  fits: ({ user }) => user.status === 'active',
  fields: ({ terms, user }) => {
    const offers = partnerOffers(terms)
    const now = user.offer?.name
    const first = offers.find(({ offer }) => offer !== now)
    const note = user.pendingOffer ? ' (now; undoes the pending change)' : ' (now)'
    const options = offers.map(
      ({ offer, displayname }) => [offer, displayname.en + (offer === now ? note : '')] as const,
    )
    const times = Object.entries(timeWords)
    return html`${selectField('offername', 'To', options, first?.offer)}${selectField('effective', 'When', times)}`
  },
  why: () => 'offer change',
  decide: (form, { user, now, terms }) => {
    if (user.status !== 'active') return refuse('user_cancelled')
    const effective = OFFER_TIMES.find(one => one === form.get('effective')) ?? 'auto'
    return changeOfferOf(
      user,
      { offername: form.get('offername') ?? '', action: 'auto', effective },
      now,
      terms,
    )
  },
}

/** The acts that end, restore or change a membership. */
export const membershipActs: readonly Act[] = [cancel, reinstate, changeOffer]

/** The effect of a change on a user: the lines that the history would get, and the events that would be raised. */
type Effect = {
  readonly lines: readonly StoredLine[]
  readonly events: readonly string[]
  /** The same effect as one text: two changes with equal texts have the same effect. */
  readonly text: string
}

/** What an act would do to a user as it is now, computed by the functions that make the change; or why not. */
export function tryAct(
  act: Act,
  form: URLSearchParams,
  of: UserState,
): (Effect & { readonly change: Change }) | Refusal {
  const change = act.decide(form, of)
  if (isRefusal(change)) return change
  const applied = { at: of.now, before: of.user, after: afterChange(change, of), events: change.events }
  const lines = linesOf(applied, 'operator', act.why(form))
  const events = change.events.map(({ eventname }) => eventname)
  const moves = lines.map(({ why: _, ...move }) => move)
  return { change, lines, events, text: JSON.stringify([moves, events]) }
}

/**
 * Makes the change of an act, in one transaction with `alongside`, so that nothing is ever done without a record. Refuses
 * as the rules do, and when the change would no longer have `effect`.
 */
export async function submitAct(
  by: AfterAct & { readonly executor: CommandExecutor; readonly requestId?: string },
  { partner, user, serviceId }: Pick<LivingUser, 'partner' | 'user' | 'serviceId'>,
  asked: {
    readonly act: Act
    readonly form: URLSearchParams
    readonly actor: string
    readonly alongside: readonly Query[]
    readonly effect: string
  },
): Promise<Refusal | undefined> {
  const { act, form, actor, alongside, effect } = asked
  const result = await by.executor.submit<User>({
    partner,
    userid: user.userid,
    who: 'operator',
    why: act.why(form),
    actor,
    ...(by.requestId !== undefined && { requestId: by.requestId }),
    alongside,
    decide: ({ member, now, terms }) => {
      if (!member || member.user.serviceId !== serviceId) return refuse('user_not_found')
      const tried = tryAct(act, form, { user: member.user, now, terms: terms() })
      if (isRefusal(tried)) return tried
      if (tried.text !== effect) return refuse('preview_stale')
      return { change: tried.change, answer: after => after }
    },
  })
  if (isRefusal(result)) return result
  await act.done?.(by, result.reply)
  return undefined
}

/** An effect on a user in sentences; the lines of the history and the partner's events behind *Details*. */
export function showEffect({ lines, events }: Effect, of: Of): Slot {
  if (lines.length === 0) return html`<p>Nothing: it is so already.</p>`
  const told = events.length === 0 ? 'The partner is not told.' : 'The partner is told.'
  return html`<p>${[...tell({ lines }, of, true), 'Nothing else changes.', told].join(' ')}</p>
<details><summary>Details</summary><ul class="rules">${lines.map(line => html`<li>${lineOf(line)}</li>`)}</ul>
${events.length > 0 && html`<p class="hint">Events: <code>${events.join(', ')}</code></p>`}</details>`
}

/** Why an act is refused, in words. */
export function wordsOf({ refused, reasons }: Refusal): string {
  const why = reasons.map(({ text }) => text.en).join(' ')
  return refused === 'bad_request' && why !== '' ? why : `${errors[refused].title}. ${why}`.trim()
}
