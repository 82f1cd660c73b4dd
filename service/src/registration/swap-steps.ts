import { swapBenefitsOf } from '../benefits/swap.ts'
import { lockedFrom } from '../calendar/calendar.ts'
import type { Benefit, Offer } from '../catalogue/model.ts'
import { beforeSwap, isBoundaryLocked, nextBoundary } from '../membership/boundary.ts'
import { mergeConsents } from '../membership/enrolments.ts'
import { isRefusal, refuse } from '../membership/refusal.ts'
import {
  type Consent,
  type Enrolment,
  heldEnrolment,
  isActive,
  isHeld,
  type SwapPair as MemberPair,
} from '../membership/state.ts'
import { judgePick, knownBenefit, offerOf, openBenefit, slotsTaken } from '../membership/terms.ts'
import { cardOf, consentsFor, dayOf, enrolmentLine, lineOf, statusOf } from './cards.ts'
import { noteDone } from './outcomes.ts'
import { referenceOf } from './reference.ts'
import type { Posted, Step } from './step.ts'
import { parseConsents, parseSwap, type SwapChoice } from './views/choices.ts'
import type { FieldError } from './views/faults.ts'
import type { Kept, SwapPair } from './views/parts.ts'
import { pageOf, type Visit } from './visit.ts'

/** What may be exchanged for what, as it will be at the boundary. */
type SwapScene = {
  readonly boundary: number
  readonly lockedAt: number
  readonly isLocked: boolean
  readonly held: readonly Enrolment[]
  readonly available: readonly Benefit[]
  readonly freeSlots: number
}

const sceneOf = (visit: Visit): SwapScene | undefined => {
  const { user, terms, now } = visit
  const offer = offerOf(terms, user)
  if (!visit.isMember || !offer || !user.offer?.inForce) return undefined
  const boundary = user.swap?.at ?? nextBoundary(user, now, terms)
  const ahead = beforeSwap(user, boundary, terms)
  const aheadOffer = offerOf(terms, ahead) ?? offer
  const held = ahead.enrolments.filter(
    enrolment => isHeld(enrolment) && !enrolment.isFixed && isStillIn(enrolment, visit),
  )
  const available = aheadOffer.selectable.flatMap(name =>
    openToSwap(visit, { name, offer: aheadOffer, boundary }),
  )
  return {
    boundary,
    lockedAt: lockedFrom(boundary, offer.cutoffhours),
    isLocked: isBoundaryLocked(user, boundary, { now, terms }),
    held,
    available: available.filter(({ name }) => !heldEnrolment(ahead, name)),
    freeSlots: Math.max(0, aheadOffer.slots - slotsTaken(ahead)),
  }
}

/** In force now: what has not begun has no place to give. */
const isStillIn = (enrolment: Enrolment, visit: Visit): boolean => {
  const now = visit.user.enrolments.find(({ id }) => id === enrolment.id)
  return now?.state === 'enrolled' || now?.state === 'endscheduled'
}

const openToSwap = (
  visit: Visit,
  wish: { name: string; offer: Offer; boundary: number },
): readonly Benefit[] => {
  const benefit = openBenefit(visit.terms, wish.name)
  return benefit && judgePick(visit.terms, benefit, wish.boundary, wish.offer.offer).admitted ? [benefit] : []
}

/** A question for each pick and each free place: what to have instead. */
export const swap: Step = {
  show: (visit, typed) => {
    const scene = sceneOf(visit)
    if (!scene) return { to: 'overview' }
    return {
      view: 'SWAP',
      page: pageOf(visit),
      held: scene.held.flatMap(enrolment => {
        const benefit = knownBenefit(visit.terms, visit.user, enrolment.benefit)
        const now = visit.user.enrolments.find(({ id }) => id === enrolment.id) ?? enrolment
        return benefit ? [cardOf(visit, benefit, { status: statusOf(visit, now) })] : []
      }),
      available: scene.available.map(benefit =>
        cardOf(visit, benefit, { status: { kind: 'available' }, startsAt: scene.boundary }),
      ),
      freeslots: scene.freeSlots,
      chosen: typed.isPosted ? chosenIn(typed.form) : chosenBefore(visit, scene),
      effectiveon: dayOf(visit, scene.boundary),
      lockedat: scene.lockedAt,
      pending: pairsShown(visit, scene, visit.user.swap?.pairs ?? []),
      locked: scene.isLocked,
    }
  },
  post: (visit, form) => {
    const scene = sceneOf(visit)
    if (!scene || scene.isLocked) return { to: 'swap' }
    const parsed = parseSwap(form, allowedIn(scene))
    if (!parsed.ok) return { errors: parsed.errors }
    return { to: `swap/confirm?${queryOf(form)}` }
  },
}

/** The chosen swap side by side. Its address names the benefits, so that going back shows the same. */
export const swapConfirm: Step = {
  show: (visit, typed) => {
    const scene = sceneOf(visit)
    const parsed = scene && parseSwap(typed.form, allowedIn(scene))
    if (!scene || scene.isLocked || !parsed?.ok) return { to: 'swap' }
    return {
      view: 'SWAP_CONFIRM',
      page: pageOf(visit),
      pairs: pairsShown(visit, scene, pairsOf(parsed.values)),
      effectiveon: dayOf(visit, scene.boundary),
      lockedat: scene.lockedAt,
      consents: wantedConsents(visit, scene, {
        choice: parsed.values,
        posted: typed.isPosted ? typed.form : undefined,
      }),
    }
  },
  post: async (visit, form) => {
    const scene = sceneOf(visit)
    const parsed = scene && parseSwap(form, allowedIn(scene))
    if (!scene || !parsed?.ok) return { to: 'swap' }
    const wanted = wantedConsents(visit, scene, { choice: parsed.values, posted: undefined })
    const agreed = parseConsents(form, wanted)
    if (!agreed.ok) return { errors: agreed.errors }
    const consents = agreed.values.map(consent => ({ ...consent, agreedAt: visit.now, locale: visit.locale }))
    return swapNow(visit, parsed.values, consents)
  },
}

/** Takes a pending swap back. */
export const swapUndo: Step = {
  show: () => ({ to: 'swap' }),
  post: visit => swapNow(visit, { add: [], remove: [] }, []),
}

const swapNow = async (visit: Visit, choice: SwapChoice, consents: readonly Consent[]): Promise<Posted> => {
  const result = choice.add.length > 0 ? 'swapped' : 'undone'
  const reference = referenceOf(visit.session.session_id, result)
  const outcome = await visit.context.ledger.submit({
    partner: visit.partner,
    userid: visit.user.userid,
    who: 'user',
    why: `swap ${reference}`,
    decide: ({ member, now, terms }) => {
      if (member?.user.serviceId !== visit.user.serviceId || !isActive(member.user))
        return refuse('user_not_found')
      const { user } = member
      const isMade = JSON.stringify(user.swap?.pairs ?? []) === JSON.stringify(pairsOf(choice))
      if (isMade) return { answer: () => undefined }
      const agreed = { ...user, consents: mergeConsents(user.consents, consents) }
      const change = swapBenefitsOf(agreed, choice, now, terms())
      return isRefusal(change) ? change : { change, answer: () => undefined }
    },
  })
  if (isRefusal(outcome)) return outcome.refused === 'user_not_found' ? 'gone' : refusedSwap(outcome.refused)
  await noteDone(visit, result, reference)
  return { to: 'done' }
}

/** The rules have changed since the view was made: the swap is shown anew. */
const refusedSwap = (code: string): Posted => {
  const errors: FieldError[] = [{ input: 'form', code: 'benefit_unavailable' }]
  return code === 'change_locked' ? { to: 'swap' } : { errors }
}

const allowedIn = (scene: SwapScene) => ({
  held: scene.held.map(({ benefit }) => benefit),
  available: scene.available.map(({ name }) => name),
  freeslots: scene.freeSlots,
})

const pairsOf = ({ add, remove }: SwapChoice): MemberPair[] =>
  add.map((name, at) => ({ add: name, remove: remove[at] }))

const pairsShown = (visit: Visit, scene: SwapScene, pairs: readonly MemberPair[]): SwapPair[] =>
  pairs.flatMap(({ add, remove }) => {
    const benefit = add === undefined ? undefined : openBenefit(visit.terms, add)
    if (!benefit) return []
    const held = remove === undefined ? undefined : heldEnrolment(visit.user, remove)
    if (!held) return [{ in: lineOf(visit, benefit, scene.boundary) }]
    // The one that goes is told without days: it ends at the moment the new one starts.
    const { name, displayname, iconurl } = enrolmentLine(visit, held)
    return [{ out: { name, displayname, iconurl }, in: lineOf(visit, benefit, scene.boundary) }]
  })

const wantedConsents = (
  visit: Visit,
  scene: SwapScene,
  about: { choice: SwapChoice; posted: URLSearchParams | undefined },
) =>
  consentsFor(
    visit,
    scene.available.filter(({ name }) => about.choice.add.includes(name)),
    about.posted,
  )

/** What the form says, by held benefit or free place. */
const chosenIn = (form: URLSearchParams): Kept =>
  Object.fromEntries(
    [...form].filter(([name]) => name.startsWith('replace.')).map(([name, value]) => [name.slice(8), value]),
  )

/** The pending swap as it stands; without one, the benefit that the person's link is about, where its place is clear. */
const chosenBefore = (visit: Visit, scene: SwapScene): Kept => {
  let free = 0
  const pending = (visit.user.swap?.pairs ?? []).map(pair => {
    if (pair.remove === undefined) free += 1
    return [pair.remove ?? `free${free}`, pair.add ?? ''] as const
  })
  if (pending.length > 0) return Object.fromEntries(pending)
  const wanted = scene.available.find(({ name }) => name === visit.deepLink?.productname)
  if (!wanted) return {}
  const [only, ...more] = scene.held
  if (scene.freeSlots > 0) return { free1: wanted.name }
  return only && more.length === 0 ? { [only.benefit]: wanted.name } : {}
}

const queryOf = (form: URLSearchParams): string =>
  new URLSearchParams(
    [...form].filter(([name, value]) => name.startsWith('replace.') && value !== ''),
  ).toString()
