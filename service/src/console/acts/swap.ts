import { openSwaps, swapBenefitsOf } from '../../benefits/swap.ts'
import { html, type Slot } from '../../http/html.ts'
import { refuse } from '../../membership/rules/refusal.ts'
import { type Enrolment, isHeld, isInForce, type User } from '../../membership/rules/state.ts'
import { offerOf, slotsTaken } from '../../membership/rules/terms.ts'
import { selectField, writeDay } from '../views/parts.ts'
import { benefitName, swapWords } from '../views/told.ts'
import type { Act, UserState } from './act.ts'

/** The form's value for a pick that is given up without a replacement. */
const NOTHING = '-'

/** Picks benefits to add and to remove at the end of the period; replaces a pending swap. */
export const swap: Act = {
  name: 'swap',
  title: 'Swap benefits',
  button: 'Swap them',
  fits: ({ user }) => user.status === 'active' && user.offer !== undefined,
  fields,
  why: () => 'swap',
  decide: (form, { user, now, terms }) => {
    if (user.status !== 'active') return refuse('user_cancelled')
    return swapBenefitsOf(user, listsOf(form), now, terms)
  },
}

/** Undoes a pending swap. */
export const callSwapOff: Act = {
  name: 'swapoff',
  title: 'Call the swap off',
  button: 'Call it off',
  fits: ({ user }) => user.status === 'active' && user.swap !== undefined,
  fields: moment => {
    const { user, terms } = moment
    return html`<p class="hint">${
      user.swap
        ? html`At the end of the period, after ${writeDay(user.swap.at - 1, terms.zone)}:
${swapWords(user.swap.pairs, name => benefitName(moment, name))}. All of it is taken back.`
        : 'No swap is pending.'
    }</p>`
  },
  why: () => 'swap',
  decide: (_form, { user, now, terms }) => {
    if (user.status !== 'active') return refuse('user_cancelled')
    return swapBenefitsOf(user, { add: [], remove: [] }, now, terms)
  },
}

function fields(moment: UserState): Slot {
  const { user, terms } = moment
  const choices = [
    ...picksOf(user).map(pick => ({
      name: `out-${pick.benefit}`,
      label: `${benefitName(moment, pick.benefit)} is swapped for`,
      rest: [
        ['', 'it stays'],
        [NOTHING, 'nothing: it ends'],
      ] as const,
      chosen: chosenFor(user, pick),
    })),
    ...freeSlots(moment).map((chosen, index) => ({
      name: `free-${index}`,
      label: 'Into a free place comes',
      rest: [['', 'nothing']] as const,
      chosen,
    })),
  ]
  const names = comingNames(moment)
  if (choices.length === 0) return html`<p class="hint">The offer leaves nothing to choose.</p>`
  return html`<p class="hint">The whole choice: what is pending now is replaced by it.
It takes effect at the end of the period, in the zone ${terms.zone}.
A benefit that asks for a consent comes only if the consent is given by then.</p>
${
  names.length === 0 &&
  html`<p class="notice" role="status">Nothing can come in now:
everything is held or not admitted, a cancel is pending,
or the locked hours before the end of the period have begun.</p>`
}
${choices.map(({ name, label, rest, chosen }) =>
  selectField(name, label, [...rest, ...names.map(one => [one, benefitName(moment, one)] as const)], chosen),
)}`
}

/** The benefits that can be added: those that a swap could bring, and those of the pending swap. */
function comingNames({ user, now, terms }: UserState): readonly string[] {
  const mayCome = openSwaps(user, now, terms)
  const pending = user.swap?.pairs.map(pair => pair.add) ?? []
  const held = picksOf(user).map(pick => pick.benefit)
  return (offerOf(terms, user)?.selectable ?? []).filter(
    name => !held.includes(name) && (pending.includes(name) || mayCome(name)),
  )
}

function picksOf(user: User): readonly Enrolment[] {
  return user.enrolments.filter(one => isHeld(one) && isInForce(one) && !one.isFixed)
}

/** The benefit that the pending swap brings in the place of a pick. */
function chosenFor({ swap: pending }: User, pick: Enrolment): string {
  const pair = pending?.pairs.find(one => one.remove === pick.benefit)
  return pair ? (pair.add ?? NOTHING) : ''
}

/** For each free slot, the benefit that the pending swap brings into it. */
function freeSlots({ user, terms }: UserState): readonly string[] {
  const free = (offerOf(terms, user)?.slots ?? 0) - slotsTaken(user)
  const pending = (user.swap?.pairs ?? []).flatMap(pair =>
    pair.remove === undefined && pair.add !== undefined ? [pair.add] : [],
  )
  return Array.from({ length: Math.max(0, free, pending.length) }, (_, index) => pending[index] ?? '')
}

/** The two lists of a swap: benefits that replace another come first, because the lists are paired by position. */
function listsOf(form: URLSearchParams): { add: readonly string[]; remove: readonly string[] } {
  const wanted = [...form].filter(([, value]) => value !== '')
  const exchanged = wanted.flatMap(([name, value]) =>
    name.startsWith('out-') ? [{ remove: name.slice('out-'.length), add: value }] : [],
  )
  const pairs = exchanged.filter(({ add }) => add !== NOTHING)
  const ending = exchanged.filter(({ add }) => add === NOTHING)
  const joining = wanted.flatMap(([name, value]) => (/^free-\d+$/.test(name) ? [value] : []))
  return {
    add: [...pairs.map(({ add }) => add), ...joining],
    remove: [...pairs, ...ending].map(({ remove }) => remove),
  }
}
