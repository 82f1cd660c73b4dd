import { cancelReasons } from '@benefit-enrolment/contract/names'
import { cancelAccount } from '../../accounts/lifecycle.ts'
import { reinstateAccount } from '../../accounts/reinstate.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Change } from '../../membership/command.ts'
import type { ListedErasure } from '../../membership/erasure-list/list.ts'
import { type Refusal, refuse } from '../../membership/rules/refusal.ts'
import { hasPendingCancel, type User } from '../../membership/rules/state.ts'
import { partnerOffers, type Terms } from '../../membership/rules/terms.ts'
import { changeOfferOf } from '../../offers/change.ts'
import type { SecondPersonAction } from '../requests/second-person.ts'
import { cancelReasonWords } from '../views/moves.ts'
import { type ButtonColor, selectField } from '../views/parts.ts'

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
  readonly fits: (user: User, terms: Terms) => boolean
  /** The operator's choices; absent: there are none, and the page begins with the effect. */
  readonly fields?: (moment: UserState) => Slot
  /** What of the choices is kept, but is no line of the effect; shown with the effect, so that a slip is seen in time. */
  readonly kept?: (form: URLSearchParams, moment: UserState) => Slot
  /** The reason as the history keeps it. */
  readonly why: (form: URLSearchParams) => string
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
  fits: user => user.status === 'active',
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

function causeOf(form: URLSearchParams): string {
  return cancelReasons.find(one => one === form.get('cause')) ?? 'voluntary'
}

/** Takes a cancel back. */
export const reinstate: Act = {
  name: 'reinstate',
  title: 'Take the cancel back',
  button: 'Take it back',
  fits: user => hasPendingCancel(user) || user.status === 'cancelled',
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
  fits: user => user.status === 'active',
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
