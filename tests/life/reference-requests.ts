import {
  admits,
  ageEnd,
  dayAhead,
  isKnown,
  monthAfter,
  offerOf,
  reinstatableUntil,
  takes,
} from './catalogue-rules.ts'
import type { Answer, Op } from './life-commands.ts'
import {
  begin,
  changeTo,
  close,
  copyOf,
  drop,
  due,
  earliest,
  emit,
  endAll,
  endOf,
  find,
  held,
  isOn,
  type Life,
  never,
  newLife,
  noDates,
  outlook,
  shownEnd,
  take,
  takeAll,
  tick,
  type Window,
} from './reference-model.ts'

// The requests that the reference model refuses, and what the others write into a life (contract §7 and §8).

const DAY_MS = 86_400_000
function boundary(u: Life, now: number) {
  return monthAfter(Math.max(now, u.since), u.person.zone)
}
function isLocked(u: Life, now: number, t: number) {
  return (u.at.start === never || t > u.since) && now >= t - DAY_MS
}
function refusal(codes: string[]) {
  return codes.some(code => code !== 'slots_exceeded') ? 'ineligible' : codes[0]
}
/** A pending swap that no longer fits is dropped; eligibility is checked only at the boundary. */
function recheckSwap(u: Life, now: number) {
  const against = u.at.swap < never ? outlook(u).later.against.flat() : []
  if (against.some(code => code !== 'ineligible')) drop(u, 'swap', now)
}

type Does<K> = (u: Life, op: Extract<Op, { op: K }>, now: number) => Answer | string | undefined
/** The effect of each operation; a returned text refuses it. */
const ops: { [K in Op['op']]: Does<K> } = {
  prefill(u, _, now) {
    if (u.status === 'none') u.status = 'prefilled'
    u.at.entry = now + 90 * DAY_MS
    emit(u, 'enrollment_request_received', now)
  },
  create(u, { offer, picks, days, state, dob, agreed }, now) {
    if (u.status === 'active') return 'user_exists'
    const { zone } = u.person
    const since = days === 0 ? now : dayAhead(now, days, zone)
    u.agreed.push(...agreed)
    Object.assign(u, { status: 'active', person: { zone, state, dob }, offer, since, at: { ...noDates } })
    Object.assign(u, { cancelled: undefined, gone: [], fits: true })
    if (!takes(offer, u.person)) return 'ineligible'
    const { fixed } = offerOf(offer)
    takeAll(u, fixed, since)
    const wanted = picks.filter(b => !fixed.includes(b))
    const against = takeAll(u, wanted, since)
    if (against.length > 0) return refusal(against)
    begin(u, 'enrollment_successful', now)
  },
  update(u, { state = u.person.state, dob = u.person.dob }, now) {
    const isSame = state === u.person.state && dob === u.person.dob
    Object.assign(u.person, { state, dob })
    for (const one of isSame ? [] : held(u)) {
      const month = monthAfter(now, u.person.zone)
      if (admits(u.offer, one.b, u.person, one.from)) {
        if (one.kept < never) Object.assign(one, { own: one.kept, why: 'corrected', kept: never })
        else if (one.why !== 'corrected')
          Object.assign(one, { own: ageEnd(one.b, u.person, Math.max(one.from, now)), why: '' })
      } else if (!isOn(one, now)) one.to = now
      else if (one.own > month) Object.assign(one, { own: month, why: 'ineligible', kept: byOperator(one) })
    }
    const didFit = u.fits
    if (!isSame) u.fits = takes(u.offer, u.person)
    emit(u, 'user_update_successful', now)
    if (didFit && !u.fits) emit(u, 'offer_action_required', now)
  },
  cancel(u, { effective }, now) {
    const isNow = effective === 'immediate' || u.at.start < never
    if (u.status === 'cancelled' || (u.at.cancel < never && !isNow)) return
    drop(u, 'offer', now)
    drop(u, 'swap', now)
    const waiting = held(u).filter(one => !isOn(one, now))
    close(u, waiting, now)
    u.at.cancel = isNow ? now : monthAfter(now, u.person.zone)
    if (isNow) endAll(u, now)
    else emit(u, 'offer_cancel_scheduled', now)
  },
  reinstate(u, _, now) {
    const { cancelled, gone } = u
    if (cancelled === undefined && u.at.cancel === never) return 'not_cancelled'
    if (cancelled && now >= reinstatableUntil(cancelled, u.person.zone)) return 'reinstate_expired'
    if (cancelled && !takes(u.offer, u.person)) return 'ineligible'
    // What the cancel was to end when an operator gave it an earlier end, and was not taken again.
    const cut = u.windows.filter(
      one =>
        cancelled !== undefined &&
        one.ends.includes(cancelled) &&
        one.why === 'corrected' &&
        one.to === one.own &&
        wasOn(one) &&
        !u.windows.some(other => other.b === one.b && other.from > one.from),
    )
    if (cancelled) Object.assign(u, { since: Math.max(now, u.since), fits: true })
    Object.assign(u, { status: 'active', cancelled: undefined, gone: [], at: { ...u.at, cancel: never } })
    const back = gone.sort(earliest(now)).filter(one => !find(u, one.b))
    const from = (one: Window) => Math.max(now, cancelled ? u.since : one.from)
    const lost = back.filter(one => {
      const isOverdue = !cancelled && one.waits && one.lapse <= now
      const own = byOperator(one)
      if (isOverdue || own <= from(one) || take(u, { add: one.b }, from(one)).length > 0) return true
      const again = find(u, one.b)
      if (again && own < never) Object.assign(again, { own, why: 'corrected' })
      if (again?.waits && !cancelled) again.lapse = one.lapse
      return false
    })
    if (cancelled) begin(u, 'offer_reinstate_successful', now)
    else emit(u, 'offer_reinstate_successful', now)
    return { notrestored: [...lost, ...cut.filter(one => !find(u, one.b))].map(one => one.b) }
  },
  erase(u, _, now) {
    if (u.status === 'none') return 'user_not_found'
    if (u.status === 'erased') return
    if (u.status === 'active') ops.cancel(u, { op: 'cancel', effective: 'immediate' }, now)
    Object.assign(u, { status: 'erased', at: { ...noDates } })
    emit(u, 'user_erased', now)
  },
  offer(u, { offer, effective }, now) {
    if (offer === u.offer)
      return u.at.offer < never ? ops.undooffer(u, { op: 'undooffer' }, now) : 'already_on_offer'
    const isUp = offerOf(offer).rank > offerOf(u.offer).rank
    const isNow = effective === 'immediate' || (effective === 'auto' && isUp)
    const t = isNow ? Math.max(now, u.since) : boundary(u, now)
    if (!isNow && u.at.cancel < never) return 'cancel_pending'
    if (!takes(offer, u.person)) return 'ineligible'
    const later = { ...copyOf(u), isOutlook: true }
    Object.assign(later.at, { offer: never, swap: never })
    while (due(later) < t) tick(later, due(later))
    changeTo(later, offer, t)
    const had = held(u).map(one => one.b)
    const has = held(later)
      .filter(one => endOf(one) > t)
      .map(one => one.b)
    const [gained, lost] = [has.filter(b => !had.includes(b)), had.filter(b => !has.includes(b))]
    const answer = { gained, lost, kept: has.filter(b => had.includes(b)) }
    if (u.next === offer && u.at.offer === t) return answer
    if (!isNow && isLocked(u, now, t)) return 'change_locked'
    drop(u, 'offer', now)
    u.next = offer
    u.at.offer = t
    if (t > now) emit(u, 'offer_change_scheduled', now)
    else changeTo(u, offer, now)
    recheckSwap(u, now)
    return answer
  },
  undooffer(u, _, now) {
    if (u.at.offer < never && isLocked(u, now, u.at.offer)) return 'change_locked'
    drop(u, 'offer', now)
    recheckSwap(u, now)
  },
  swap(u, { add, remove }, now) {
    const t = Math.min(u.at.swap, boundary(u, now))
    const pairs = Array.from({ length: Math.max(add.length, remove.length) }, (_, i) => ({
      add: add[i],
      remove: remove[i],
    }))
    if (JSON.stringify(u.pairs) === JSON.stringify(pairs)) return
    if (u.at.cancel < never) return 'cancel_pending'
    if (isLocked(u, now, t)) return 'change_locked'
    if (add.some(b => remove.includes(b))) return 'ineligible'
    drop(u, 'swap', now)
    if (pairs.length === 0) return
    u.pairs = pairs
    u.at.swap = t
    const against = outlook(u).later.against.flat()
    if (against.length > 0) return refusal(against)
    emit(u, 'user_benefits_pendingswap', now)
  },
  undoswap: (u, _, now) => ops.swap(u, { op: 'swap', add: [], remove: [] }, now),
  enrol(u, { b, agreed }, now) {
    if (!isKnown(b)) return 'benefit_unknown'
    const one = find(u, b)
    const coming = outlook(u).coming.find(next => next.b === b)
    const isSwappedIn = coming && !coming.fixed
    if (agreed) u.agreed.push(b)
    if (one?.waits && u.agreed.includes(b)) {
      Object.assign(one, { waits: false, from: Math.max(now, one.from), lapse: never })
      tellPick(u, b, now)
    }
    if (one || (isSwappedIn && agreed)) return
    const against = take(u, { add: b }, Math.max(now, u.since), promisedBeside(u, b))
    // What an offer change brings can be agreed to before it.
    if (against.length > 0) return coming && agreed ? undefined : refusal(against)
    tellPick(u, b, now)
    if (!isLocked(u, now, u.at.swap)) leaveOut(u, b, now)
  },
  decline(u, { b }, now) {
    if (!isKnown(b)) return 'benefit_unknown'
    const one = find(u, b)
    if (one && isOn(one, now)) return 'benefit_in_force'
    const isPicked = !one && u.pairs.some(({ add }) => add === b)
    const isComing = !one && !isPicked && outlook(u).coming.some(next => next.b === b)
    if (!one && !isPicked && !isComing && u.declined.includes(b)) return
    const { fixed, selectable } = offerOf(u.offer)
    if (!one && !isPicked && !isComing && ![...fixed, ...selectable].includes(b)) return 'ineligible'
    if (isPicked && isLocked(u, now, u.at.swap)) return 'change_locked'
    if (isComing && isLocked(u, now, u.at.offer)) return 'change_locked'
    if (one) one.to = now
    u.declined.push(b)
    u.gone = u.gone.filter(other => other.b !== b)
    for (const other of u.windows) if (other.b === b) other.ends = []
    if (!isPicked && u.at.offer < never && offerOf(u.next).fixed.includes(b))
      u.unwanted.push(`${b} ${u.at.offer}`)
    emit(u, 'benefit_declined', now, b)
    if (isPicked) leaveOut(u, b, now)
    if (one) {
      u.pairs = u.pairs.filter(({ remove }) => remove !== b)
      leaveOut(u, b, now)
    }
  },
  void(u, { b }, now) {
    const one = find(u, b)
    if (!one) return 'user_not_found'
    u.windows = u.windows.filter(other => other !== one)
    tellCorrection(u, b, now)
  },
  movestart(u, { b, days }, now) {
    const one = find(u, b)
    if (!one) return 'user_not_found'
    const from = dayAhead(now, days, u.person.zone)
    const isBeforeOffer = u.at.start < never && from < u.since
    const end = Math.min(shownEnd(u, one, now), one.own)
    const isTwice = u.windows.some(other => other !== one && other.b === b && wasOn(other) && from < other.to)
    if (one.waits || isBeforeOffer || from > boundary(u, now) || end <= from || isTwice || from === one.from)
      return 'bad_request'
    const ends = [...one.ends, shownEnd(u, one, now)]
    Object.assign(one, { from, ends, single: one.alone && from > now })
    tellCorrection(u, b, now)
  },
  moveend(u, { b, days }, now) {
    const one = find(u, b)
    if (!one) return 'user_not_found'
    const end = dayAhead(now, days + 1, u.person.zone)
    if (one.waits || end <= one.from) return 'bad_request'
    const before = shownEnd(u, one, now)
    const isSame = one.own === end
    Object.assign(one, { own: end, why: 'corrected', kept: never, ends: [...one.ends, before] })
    if (end <= now) one.to = end
    else {
      // What changes nothing that can be seen is refused; before the start, its own end is not seen.
      if (isOn(one, now) ? shownEnd(u, one, now) === before : isSame) return 'bad_request'
    }
    tellCorrection(u, b, now)
  },
}
/** The end that an operator gave. */
function byOperator({ why, own, kept }: Window) {
  return why === 'corrected' ? own : kept
}
/** Whether a window that is over was cover once. */
function wasOn(one: Window) {
  return one.to < never && isOn(one, one.to)
}
/** The partner hears of the correction, and of a pending swap that it makes impossible. */
function tellCorrection(u: Life, b: string, now: number) {
  emit(u, 'benefit_enrollment_corrected', now, b)
  recheckSwap(u, now)
}
/** Raises the event of a benefit that was asked for alone; one that begins later raises another at its start. */
function tellPick(u: Life, b: string, now: number) {
  const one = find(u, b)
  if (!one) return
  one.alone = true
  one.single = !one.waits && one.from > now
  const accepted = one.single ? 'benefit_enrollment_scheduled' : 'benefit_enrollment_successful'
  emit(u, one.waits ? 'benefit_action_required' : accepted, now, b)
}
/**
 * The free slots that the other pairs of the swap will fill, but for those that will fail; none where the offer changes before, and
 * one more pick would then still fit.
 */
function promisedBeside(u: Life, b: string) {
  if (u.at.swap === never) return 0
  const beside = { ...copyOf(u), pairs: u.pairs.filter(({ add }) => add !== b) }
  const { against } = outlook(beside).later
  const promised = beside.pairs.filter(({ add, remove }, i) => add && !remove && !against[i]?.length).length
  if (u.at.offer === never || promised === 0) return promised
  const more = { ...copyOf(beside), pairs: [...beside.pairs, { add: offerOf(u.next).selectable[0] }] }
  return outlook(more).later.against.at(-1)?.includes('slots_exceeded') ? promised : 0
}
/** Takes a benefit out of the swap; a swap without pairs is dropped. */
function leaveOut(u: Life, b: string, now: number) {
  u.pairs = u.pairs.filter(({ add }) => add !== b)
  if (u.pairs.length === 0) drop(u, 'swap', now)
}
const anybody = ['prefill', 'create', 'erase']
// Corrections are of what is held, which a cancelled membership has none of.
const cancelledToo = [...anybody, 'cancel', 'reinstate', 'void', 'movestart', 'moveend']

/** Performs a request at `now`; a refused one changes nothing. */
export function act(u: Life, op: Op, now: number): Answer {
  const isNobody = u.births === 0 || u.status === 'erased'
  if (!anybody.includes(op.op) && (isNobody || u.status === 'none' || u.status === 'prefilled'))
    return { refused: 'user_not_found' }
  if (!cancelledToo.includes(op.op) && u.status === 'cancelled') return { refused: 'user_cancelled' }
  const isBorn = isNobody && op.op !== 'erase'
  const after = isBorn
    ? { ...newLife(u.person.zone), births: u.births + 1, events: [...u.events] }
    : copyOf(u)
  after.clock = now
  const answer = (ops[op.op] as Does<string>)(after, op, now)
  if (typeof answer === 'string') return { refused: answer }
  outlook(after)
  Object.assign(u, after)
  return answer ?? {}
}
