import { DateTime } from 'luxon'
import { lifeCatalogue } from './catalogue.ts'
import type { SeenEvent } from './stage.ts'

// What a user's life should look like, told anew from the contract with simple data: a list of what is held, a few
// dates, and a look ahead that copies the user and lets time pass. Imports nothing of the service.

type Row = {
  n: number
  b: string
  fixed: boolean
  wait: boolean
  on: boolean
  from: number
  picked: number
  own?: number
}
type Pair = { add?: string; remove?: string }
export type Life = {
  zone: string
  status: 'none' | 'prefilled' | 'active' | 'cancelled' | 'erased'
  births: number
  entry?: number
  state: string
  dob: string
  offer: string
  since: number
  started: boolean
  next?: { offer: string; at: number }
  swap?: { pairs: Pair[]; at: number }
  cancel?: { at: number; gone: Row[] }
  rows: Row[]
  plan: Record<string, number>
  closedAt: Record<number, number>
  last: Record<string, string>
  agreed: string[]
  lenient?: boolean
  events: SeenEvent[]
}
type Refused = string | undefined

const B = new Map(lifeCatalogue.benefits.map(benefit => [benefit.name, benefit]))
const O = new Map(lifeCatalogue.offers.map(offer => [offer.offer, offer]))
const DAY = 86_400_000
let counter = 0

export const newLife = (zone: string): Life => ({
  ...{ zone, status: 'none', births: 0, state: 'FL', dob: '1990-03-27', offer: '', since: 0, started: false },
  ...{ rows: [], plan: {}, closedAt: {}, last: {}, agreed: [], events: [] },
})
const offerOf = (u: Life, name = u.offer) => {
  const offer = O.get(name)
  if (!offer) throw new Error(`no offer ${name}`)
  return offer
}
const at = (u: Life, t: number) => DateTime.fromMillis(t, { zone: u.zone })
export const boundary = (u: Life, t: number): number =>
  at(u, t).startOf('month').plus({ months: 1 }).toMillis()
const born = (u: Life) => DateTime.fromISO(u.dob, { zone: u.zone })
const age = (u: Life, t: number) => Math.floor(at(u, t).startOf('day').diff(born(u), 'years').years)
const row = (u: Life, b: string) => u.rows.find(one => one.b === b)
const picks = (u: Life) => u.rows.filter(one => !one.fixed).length
const admits = (u: Life, offer = u.offer) => !offerOf(u, offer).notin?.includes(u.state)
const forOffer = (b: string, offer: string) => B.get(b)?.offers?.includes(offer) ?? true
const admitted = (u: Life, b: string, t: number, offer = u.offer) =>
  !B.get(b)?.notin?.includes(u.state) && age(u, t) <= (B.get(b)?.maxAge ?? 999) && forOffer(b, offer)
const locked = (u: Life, now: number, t: number) => (u.started || t > u.since) && now >= t - DAY
const emit = (u: Life, eventname: string, t: number, name?: string) => {
  const over = u.status === 'cancelled' || u.status === 'erased' ? u.cancel?.at : undefined
  const updatedat = new Date(u.started ? u.since : (over ?? t)).toISOString()
  u.events.push({ eventname, offer: u.started ? u.offer : '', updatedat, ...(name ? { name } : {}) })
}
const ageEnd = (u: Life, b: string, from: number): number | undefined => {
  const years = B.get(b)?.endsatage
  return years ? boundary(u, Math.max(from, born(u).plus({ years }).toMillis())) : undefined
}
const add = (u: Life, b: string, from: number, picked: number, now: number) => {
  const wait = !!B.get(b)?.consent && !u.agreed.includes(b)
  const n = u.plan[`${b} ${from}`] ?? counter++
  const own = ageEnd(u, b, from)
  const fixed = offerOf(u).fixed.includes(b)
  u.rows.push({ n, b, fixed, wait, on: !wait && from <= now, from, picked, ...(own ? { own } : {}) })
}
const remove = (u: Life, gone: Row, t: number, how = 'gone') => {
  u.rows = u.rows.filter(one => one.n !== gone.n)
  u.closedAt[gone.n] = t
  u.last[gone.b] = how
}
const earliest = (a: Row, b: Row) =>
  Number(b.on) - Number(a.on) || a.from - b.from || a.picked - b.picked || a.n - b.n

// --- time
const due = (u: Life): number => {
  const all = [u.entry]
  if (u.status === 'active') {
    all.push(u.cancel?.at, u.next?.at, u.swap?.at, u.started ? undefined : u.since)
    for (const one of u.rows) all.push(one.own, one.on || one.wait ? undefined : one.from)
  }
  return Math.min(...all.map(t => t ?? Number.POSITIVE_INFINITY))
}
const tick = (u: Life, t: number) => {
  if (u.entry !== undefined && u.entry <= t) {
    delete u.entry
    if (u.status === 'prefilled') u.status = 'none'
  }
  if (u.status !== 'active') return
  if (u.cancel && u.cancel.at <= t) return endAll(u, t)
  if (u.next && u.next.at <= t) changeTo(u, u.next.offer, t)
  if (u.swap && u.swap.at <= t) {
    const { pairs } = u.swap
    delete u.swap
    const done = pairs.filter(pair => doPair(u, pair, t)).length
    if (done > 0) emit(u, 'user_benefits_swap_successful', t)
    if (done < pairs.length) emit(u, 'user_benefits_swap_failed', t)
  }
  for (const one of [...u.rows]) {
    if (one.own === undefined || one.own > t) continue
    remove(u, one, t)
    if (one.on) emit(u, 'benefit_enrollment_ended', t, one.b)
  }
  for (const one of u.rows) one.on ||= !one.wait && one.from <= t
  if (u.started || u.since > t) return
  u.started = true
  emit(u, 'offer_activiation_successful', t)
}
/** Lets time pass up to and at `now`. */
export const pass = (u: Life, now: number): void => {
  for (let t = due(u); t <= now; t = due(u)) {
    tick(u, t)
    replan(u)
  }
}
const endAll = (u: Life, t: number) => {
  u.cancel?.gone.push(...u.rows)
  for (const one of u.rows) remove(u, one, t)
  Object.assign(u, { status: 'cancelled', started: false, next: undefined, swap: undefined })
  emit(u, 'offer_cancel_successful', t)
}
const changeTo = (u: Life, name: string, t: number) => {
  delete u.next
  if (!admits(u, name)) return emit(u, 'offer_change_cancelled', t)
  const to = offerOf(u, name)
  const ending = (one: Row) => one.own !== undefined && one.own <= t
  const staying = u.rows
    .filter(one => !one.fixed && !ending(one) && to.selectable.includes(one.b) && forOffer(one.b, name))
    .sort(earliest)
    .slice(0, to.slots)
  const event = to.rank > offerOf(u).rank ? 'offer_upgrade_successful' : 'offer_downgrade_successful'
  Object.assign(u, { offer: name, since: t, started: true })
  for (const one of [...u.rows]) {
    if (ending(one)) continue
    if (to.fixed.includes(one.b) || staying.includes(one)) one.fixed = to.fixed.includes(one.b)
    else remove(u, one, t)
  }
  for (const b of to.fixed) if (!row(u, b) && admitted(u, b, t)) add(u, b, t, t, t)
  emit(u, event, t)
  emit(u, 'offer_activiation_successful', t)
}
const misfit = (u: Life, pair: Pair): Refused => {
  const out = pair.remove === undefined ? undefined : row(u, pair.remove)
  if (pair.remove !== undefined && (!out?.on || out.fixed)) return 'ineligible'
  if (pair.add === undefined) return undefined
  if (!offerOf(u).selectable.includes(pair.add) || !forOffer(pair.add, u.offer) || row(u, pair.add))
    return 'ineligible'
  return picks(u) - (out ? 1 : 0) >= offerOf(u).slots ? 'slots_exceeded' : undefined
}
const doPair = (u: Life, pair: Pair, t: number): boolean => {
  if (misfit(u, pair)) return false
  const unsigned = pair.add !== undefined && !!B.get(pair.add)?.consent && !u.agreed.includes(pair.add)
  if (pair.add !== undefined && (!admits(u) || !admitted(u, pair.add, t) || (unsigned && !u.lenient)))
    return false
  const out = pair.remove === undefined ? undefined : row(u, pair.remove)
  if (out) remove(u, out, t)
  if (pair.add !== undefined) add(u, pair.add, t, t, t)
  return true
}

// --- looking ahead
const copy = (u: Life): Life => ({ ...structuredClone({ ...u, events: [] }), lenient: true })
const ahead = (u: Life): Life => {
  const later = copy(u)
  const last = Math.max(0, later.cancel?.at ?? 0, later.next?.at ?? 0, later.swap?.at ?? 0)
  if (u.status === 'active')
    for (let t = due(later); t <= last && later.status === 'active'; t = due(later)) tick(later, t)
  return later
}
const replan = (u: Life) => {
  const later = ahead(u)
  const coming = later.rows.filter(one => !u.rows.some(held => held.n === one.n))
  const before = u.plan
  // Who picks it after all has not declined it any more.
  for (const one of coming) if (u.last[one.b] === 'declined') u.last[one.b] = 'gone'
  u.plan = Object.fromEntries(coming.map(one => [`${one.b} ${one.from}`, one.n]))
  for (const key of Object.keys(before)) {
    const [b = ''] = key.split(' ')
    if (!(key in u.plan) && !row(u, b) && u.last[b] !== 'declined') u.last[b] = 'gone'
  }
  return { later, coming }
}
const tryPairs = (u: Life, pairs: Pair[], t: number): Refused[] => {
  const later = copy(u)
  delete later.swap
  for (let d = due(later); d < t; d = due(later)) tick(later, d)
  if (later.next && later.next.at <= t) changeTo(later, later.next.offer, t)
  return pairs.map(pair => {
    const wrong = misfit(later, pair)
    const refused = pair.add !== undefined && (!admits(later) || !admitted(later, pair.add, t))
    doPair(later, pair, t)
    return wrong ?? (refused ? 'refused' : undefined)
  })
}
const recheckSwap = (u: Life, now: number) => {
  if (!u.swap || tryPairs(u, u.swap.pairs, u.swap.at).every(wrong => !wrong || wrong === 'refused')) return
  delete u.swap
  emit(u, 'user_benefits_swap_cancelled', now)
}

// --- what partners ask for
export type Op =
  | { op: 'prefill' | 'reinstate' | 'erase' | 'undooffer' | 'undoswap' }
  | {
      op: 'create'
      offer: string
      picks: string[]
      days: number
      state: string
      dob: string
      agreed: string[]
    }
  | { op: 'update'; state?: string; dob?: string }
  | { op: 'cancel'; effective: 'endofperiod' | 'immediate' }
  | { op: 'offer'; offer: string; effective: 'auto' | 'immediate' | 'nextperiod' }
  | { op: 'swap'; add: string[]; remove: string[] }
  | { op: 'enrol'; b: string; agreed: boolean }
  | { op: 'decline'; b: string }
export type Answer = {
  refused?: Refused
  gained?: string[]
  lost?: string[]
  kept?: string[]
  notrestored?: string[]
}

/** Does what was asked for at `now`; the answer says whether it was refused. */
export const act = (u: Life, op: Op, now: number): Answer => {
  const answer = decide(u, op, now)
  replan(u)
  return answer
}
const decide = (u: Life, op: Op, now: number): Answer => {
  const known = u.status === 'active' || u.status === 'cancelled'
  if (op.op === 'prefill') {
    if (u.status === 'erased' || u.births === 0) rebirth(u)
    if (u.status === 'none') u.status = 'prefilled'
    u.entry = now + 90 * DAY
    emit(u, 'enrollment_request_received', now)
    return {}
  }
  if (op.op === 'create') return create(u, op, now)
  if (op.op === 'erase') return erase(u, now)
  if (!known) return { refused: 'user_not_found' }
  if (op.op === 'cancel') return cancel(u, op.effective, now)
  if (op.op === 'reinstate') return reinstate(u, now)
  if (u.status === 'cancelled') return { refused: 'user_cancelled' }
  if (op.op === 'update') return update(u, op, now)
  if (op.op === 'offer') return changeOffer(u, op, now)
  if (op.op === 'undooffer') return u.next ? undoOffer(u, now) : {}
  if (op.op === 'swap') return { refused: swap(u, op, now) }
  if (op.op === 'undoswap') return { refused: swap(u, { add: [], remove: [] }, now) }
  if (op.op === 'enrol') return { refused: enrol(u, op, now) }
  return op.op === 'decline' ? { refused: decline(u, op.b, now) } : {}
}
const rebirth = (u: Life) =>
  Object.assign(u, {
    ...newLife(u.zone),
    births: u.births + 1,
    events: u.events,
    entry: undefined,
    cancel: undefined,
  })
const create = (u: Life, op: Op & { op: 'create' }, now: number): Answer => {
  if (u.status === 'active') return { refused: 'user_exists' }
  const who = { ...u, state: op.state, dob: op.dob, offer: op.offer }
  const since = op.days === 0 ? now : at(u, now).startOf('day').plus({ days: op.days }).toMillis()
  const { fixed, selectable, slots } = offerOf(who)
  const wanted = op.picks.filter(b => !fixed.includes(b))
  if (!admits(who) || wanted.some(b => !selectable.includes(b) || !admitted(who, b, since)))
    return { refused: 'ineligible' }
  if (wanted.length > slots) return { refused: 'slots_exceeded' }
  if (u.status === 'erased' || u.births === 0) rebirth(u)
  const agreed = [...new Set([...u.agreed, ...op.agreed])]
  Object.assign(u, { status: 'active', state: op.state, dob: op.dob, offer: op.offer, since, agreed })
  Object.assign(u, {
    started: since <= now,
    entry: undefined,
    cancel: undefined,
    next: undefined,
    swap: undefined,
  })
  for (const b of [...fixed, ...wanted]) if (admitted(u, b, since)) add(u, b, since, now, now)
  emit(u, 'enrollment_successful', now)
  if (u.started) emit(u, 'offer_activiation_successful', now)
  return {}
}
const update = (u: Life, op: { state?: string; dob?: string }, now: number): Answer => {
  const isNew = (op.state ?? u.state) !== u.state || (op.dob ?? u.dob) !== u.dob
  Object.assign(u, op.state ? { state: op.state } : {}, op.dob ? { dob: op.dob } : {})
  const end = boundary(u, now)
  for (const one of isNew ? [...u.rows] : []) {
    if (admits(u) && admitted(u, one.b, one.from)) Object.assign(one, { own: ageEnd(u, one.b, one.from) })
    else if (!one.on) remove(u, one, now)
    else if (one.own === undefined || one.own > end) one.own = end
  }
  emit(u, 'user_update_successful', now)
  return {}
}
const cancel = (u: Life, effective: string, now: number): Answer => {
  const immediate = effective === 'immediate' || !u.started
  if (u.status === 'cancelled' || (u.cancel && !immediate)) return {}
  if (u.next) {
    delete u.next
    emit(u, 'offer_change_cancelled', now)
  }
  if (u.swap) {
    delete u.swap
    emit(u, 'user_benefits_swap_cancelled', now)
  }
  const gone = u.rows.filter(one => !one.on)
  for (const one of gone) remove(u, one, now)
  u.cancel = { at: immediate ? now : boundary(u, now), gone: [...(u.cancel?.gone ?? []), ...gone] }
  if (immediate) endAll(u, now)
  else emit(u, 'offer_cancel_scheduled', now)
  return {}
}
const reinstate = (u: Life, now: number): Answer => {
  const { cancel: was } = u
  if (!was) return { refused: 'not_cancelled' }
  const isBack = u.status === 'cancelled'
  const day = at(u, was.at).startOf('day')
  const into = was.at - day.toMillis()
  const until = Math.min(day.plus({ days: 30 }).toMillis() + into, day.plus({ days: 31 }).toMillis())
  if (isBack && now >= until) return { refused: 'reinstate_expired' }
  if (isBack && !admits(u)) return { refused: 'ineligible' }
  const since = isBack ? Math.max(now, u.since) : u.since
  Object.assign(u, { status: 'active', cancel: undefined, since, started: isBack ? since <= now : u.started })
  const notrestored: string[] = []
  for (const one of was.gone.sort(earliest)) {
    if (row(u, one.b)) continue
    const from = isBack ? since : Math.max(now, one.from)
    const { fixed, selectable, slots } = offerOf(u)
    const may = admits(u) && admitted(u, one.b, isBack ? since : one.from)
    const hasRoom = fixed.includes(one.b) || (selectable.includes(one.b) && picks(u) < slots)
    if (may && hasRoom) add(u, one.b, from, isBack ? now : one.picked, now)
    else notrestored.push(one.b)
  }
  emit(u, 'offer_reinstate_successful', now)
  if (isBack && u.started) emit(u, 'offer_activiation_successful', now)
  return { notrestored }
}
const erase = (u: Life, now: number): Answer => {
  if (u.status === 'none') return { refused: 'user_not_found' }
  if (u.status === 'erased') return {}
  if (u.status === 'active') cancel(u, 'immediate', now)
  Object.assign(u, { status: 'erased', entry: undefined })
  emit(u, 'user_erased', now)
  return {}
}
const changeOffer = (u: Life, op: Op & { op: 'offer' }, now: number): Answer => {
  if (op.offer === u.offer) return u.next ? undoOffer(u, now) : { refused: 'already_on_offer' }
  const isUp = offerOf(u, op.offer).rank > offerOf(u).rank
  const immediate = op.effective === 'immediate' || (op.effective === 'auto' && isUp)
  const t = immediate ? Math.max(now, u.since) : boundary(u, Math.max(now, u.since))
  if (!admits(u, op.offer) || (!immediate && u.cancel)) return { refused: 'ineligible' }
  const later = copy(u)
  changeTo(later, op.offer, t)
  const had = u.rows.map(one => one.b)
  const has = later.rows.filter(one => !(one.own !== undefined && one.own <= t)).map(one => one.b)
  const answer = {
    gained: has.filter(b => !had.includes(b)),
    lost: had.filter(b => !has.includes(b)),
    kept: has.filter(b => had.includes(b)),
  }
  if (u.next?.offer === op.offer && u.next.at === t) return answer
  if (!immediate && locked(u, now, t)) return { refused: 'change_locked' }
  if (u.next) {
    delete u.next
    emit(u, 'offer_change_cancelled', now)
  }
  if (t <= now) changeTo(u, op.offer, now)
  else {
    u.next = { offer: op.offer, at: t }
    emit(u, 'offer_change_scheduled', now)
  }
  recheckSwap(u, now)
  return answer
}
const undoOffer = (u: Life, now: number): Answer => {
  if (u.next && locked(u, now, u.next.at)) return { refused: 'change_locked' }
  delete u.next
  emit(u, 'offer_change_cancelled', now)
  recheckSwap(u, now)
  return {}
}
const swap = (u: Life, lists: { add: string[]; remove: string[] }, now: number): Refused => {
  const t = u.swap?.at ?? boundary(u, Math.max(now, u.since))
  const size = Math.max(lists.add.length, lists.remove.length)
  const pairs = Array.from({ length: size }, (_, i) => ({
    ...(lists.add[i] ? { add: lists.add[i] } : {}),
    ...(lists.remove[i] ? { remove: lists.remove[i] } : {}),
  }))
  if (JSON.stringify(u.swap?.pairs ?? []) === JSON.stringify(pairs)) return undefined
  if (locked(u, now, t)) return 'change_locked'
  if (pairs.length > 0) {
    if (u.cancel || lists.add.some(b => lists.remove.includes(b))) return 'ineligible'
    const wrong = tryPairs(u, pairs, t)
    if (wrong.some(one => one === 'ineligible' || one === 'refused')) return 'ineligible'
    if (wrong.includes('slots_exceeded')) return 'slots_exceeded'
  }
  if (u.swap) {
    delete u.swap
    emit(u, 'user_benefits_swap_cancelled', now)
  }
  if (pairs.length === 0) return undefined
  u.swap = { pairs, at: t }
  emit(u, 'user_benefits_pendingswap', now)
  return undefined
}
const enrol = (u: Life, { b, agreed }: { b: string; agreed: boolean }, now: number): Refused => {
  const consents = agreed ? [...new Set([...u.agreed, b])] : u.agreed
  const held = row(u, b)
  const isPicked = u.swap?.pairs.some(pair => pair.add === b) && replan(u).coming.some(one => one.b === b)
  if (held || (isPicked && agreed)) {
    u.agreed = consents
    if (!held?.wait || !consents.includes(b)) return undefined
    const from = Math.max(now, held.from)
    Object.assign(held, { wait: false, on: from <= now, from })
    emit(u, 'benefit_enrollment_successful', now, b)
    return undefined
  }
  const { fixed, selectable, slots } = offerOf(u)
  const from = Math.max(now, u.since)
  if (![...fixed, ...selectable].includes(b) || !admits(u) || !admitted(u, b, from)) return 'ineligible'
  const promised = u.swap?.pairs.filter(pair => pair.add && !pair.remove).length ?? 0
  if (!fixed.includes(b) && picks(u) + promised >= slots) return 'slots_exceeded'
  u.agreed = consents
  add(u, b, from, now, now)
  emit(u, row(u, b)?.wait ? 'benefit_action_required' : 'benefit_enrollment_successful', now, b)
  return undefined
}
const decline = (u: Life, b: string, now: number): Refused => {
  const held = row(u, b)
  if (held?.on) return 'benefit_in_force'
  const isPicked = !held && u.swap?.pairs.some(pair => pair.add === b)
  if (held) remove(u, held, now, 'declined')
  else if (!isPicked && u.last[b] === 'declined') return undefined
  else if (!isPicked && ![...offerOf(u).fixed, ...offerOf(u).selectable].includes(b)) return 'bad_request'
  u.last[b] = 'declined'
  if (isPicked && u.swap) u.swap.pairs = u.swap.pairs.filter(pair => pair.add !== b)
  emit(u, 'benefit_declined', now, b)
  if (u.swap?.pairs.length !== 0) return undefined
  delete u.swap
  emit(u, 'user_benefits_swap_cancelled', now)
  return undefined
}

// --- what can be seen
/** The user as the interface should show it at `now`. */
export const look = (u: Life) => {
  const { later, coming } = replan(structuredClone(u))
  const date = (t?: number) => (t === undefined ? null : new Date(t).toISOString())
  const shown = u.rows.map(one => {
    const end = later.closedAt[one.n] ?? (one.on ? one.own : undefined)
    const state = one.wait
      ? 'actionrequired'
      : !one.on
        ? 'scheduled'
        : end === undefined
          ? 'enrolled'
          : 'endscheduled'
    return one.wait ? [one.b, state, null, null] : [one.b, state, date(one.from), date(end)]
  })
  const planned = coming.map(one => [
    one.b,
    one.wait ? 'actionrequired' : 'scheduled',
    one.wait ? null : date(one.from),
    null,
  ])
  const waits = [...shown, ...planned].some(([, state]) => state === 'actionrequired')
  const isOn = u.status === 'active'
  return {
    status: u.status,
    conditions: [
      ...(u.next ? ['offerchangepending'] : []),
      ...(u.swap ? ['swappending'] : []),
      ...(isOn && u.cancel ? ['cancelpending'] : []),
      ...(waits ? ['actionrequired'] : []),
    ],
    offer: u.started ? u.offer : '',
    since: u.started ? date(u.since) : u.status === 'cancelled' ? date(u.cancel?.at) : undefined,
    pending: u.next ? { offer: u.next.offer, effectiveattimestamp: date(u.next.at) } : null,
    benefits: [...shown, ...planned].map(one => one.join(' ')).sort(),
  }
}
