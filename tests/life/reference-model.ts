import { admits, ageEnd, asksConsent, goesWith, offerOf, takes } from './catalogue-rules.ts'
import type { SeenEvent } from './stage.ts'

// A user's life as the contract describes it (§7 to §10), written independently: state, benefits, dates and events. It
// imports nothing of the service. A life is a list of windows of cover and a few dated intents. Requests write windows
// and intents (reference-requests.ts), time applies them one after the other, and future states are found by letting
// time pass for a copy.

/** The date of an event that does not happen. */
export const never = Number.POSITIVE_INFINITY
/** How long a benefit waits for what is missing. */
export const TO_ACT_MS = 30 * 86_400_000
/** Nothing is pending. */
export const noDates = { entry: never, start: never, cancel: never, offer: never, swap: never }
let counter = 0

/**
 * A benefit held from an instant on. `own` is its own end, and `why` what set it: a state that does not admit the
 * person, or an operator; otherwise an age. `kept` is the operator's while a state ends it earlier. `lapse` is its end while it
 * waits, `to` the end that it came to, `ends` the ends that were shown before an operator gave others. The start of a `single` one
 * still needs its event, and so does a start that is moved ahead of one that was picked `alone`.
 */
export type Window = {
  b: string
  n: number
  fixed: boolean
  waits: boolean
  single: boolean
  alone: boolean
  from: number
  own: number
  why: '' | 'ineligible' | 'corrected'
  kept: number
  lapse: number
  to: number
  ends: readonly number[]
}
type Pair = { add?: string | undefined; remove?: string | undefined }

/** A life of which nothing is known yet; `at` holds the dates of what is pending. */
export function newLife(zone: string) {
  return {
    births: 0,
    status: 'none' as 'none' | 'prefilled' | 'active' | 'cancelled' | 'erased',
    person: { zone, state: '', dob: '' },
    offer: '',
    /** Whether the offer still admits the person. */
    fits: true,
    since: 0,
    at: { ...noDates },
    next: '',
    pairs: [] as Pair[],
    /** The objections to each pair of the last swap that was tried. */
    against: [] as string[][],
    cancelled: undefined as number | undefined,
    windows: [] as Window[],
    /** The windows that the last cancel ended. */
    gone: [] as Window[],
    plan: {} as Record<string, number>,
    agreed: [] as string[],
    declined: [] as string[],
    /** What was declined that an offer change was to bring, and when it was to come. */
    unwanted: [] as string[],
    isOutlook: false,
    /** The instant of the present action. */
    clock: 0,
    events: [] as SeenEvent[],
  }
}
/** One user at one partner. */
export type Life = ReturnType<typeof newLife>

/** A copy that shares nothing that can change. Written out, because `structuredClone` takes ten times as long. */
export function copyOf(u: Life): Life {
  const windows = u.windows.map(one => ({ ...one }))
  return {
    ...u,
    person: { ...u.person },
    at: { ...u.at },
    pairs: [...u.pairs],
    against: [...u.against],
    windows,
    gone: u.gone.map(one => windows[u.windows.indexOf(one)] ?? { ...one }),
    plan: { ...u.plan },
    agreed: [...u.agreed],
    declined: [...u.declined],
    unwanted: [...u.unwanted],
    events: [...u.events],
  }
}

/** All held windows, in force or not. */
export function held(u: Life) {
  return u.windows.filter(one => one.to === never)
}
/** The window of a benefit that is held. */
export function find(u: Life, b = '') {
  return held(u).find(one => one.b === b)
}
/** Whether cover is in force at `t`. */
export function isOn(one: Window, t: number) {
  return !one.waits && one.from <= t
}
/** When a window ends by itself. */
export function endOf(one: Window) {
  return Math.min(one.own, one.lapse)
}
function lacksConsent(u: Life, b = '') {
  return asksConsent(b) && !u.agreed.includes(b)
}
/**
 * The order: first those in force just before `t` or their end, then those that began earliest, then those picked
 * earliest.
 */
export function earliest(t: number) {
  return (a: Window, b: Window) =>
    Number(isOn(b, Math.min(b.to, t) - 1)) - Number(isOn(a, Math.min(a.to, t) - 1)) ||
    a.from - b.from ||
    a.n - b.n
}

// --- what changes
/** Tells an event: the state right after the change. */
export function emit(u: Life, eventname: string, t: number, name?: string, reason?: string) {
  const isOnOffer = u.status === 'active' && u.at.start === never
  const updatedat = new Date(isOnOffer ? u.since : (u.cancelled ?? t)).toISOString()
  u.events.push({
    eventname,
    offer: isOnOffer ? u.offer : '',
    updatedat,
    ...(name ? { name } : {}),
    ...(reason ? { reason } : {}),
  })
}
/** Drops a pending intent. */
export function drop(u: Life, intent: 'offer' | 'swap', t: number) {
  if (u.at[intent] === never) return
  u.at[intent] = never
  if (intent === 'swap') u.pairs = []
  emit(u, intent === 'offer' ? 'offer_change_cancelled' : 'user_benefits_swap_cancelled', t)
}
/** Takes a benefit from `t` on, in the place of another or in a free slot; or returns all objections. */
export function take(u: Life, { add: b, remove }: Pair, t: number, promised = 0): string[] {
  const out = find(u, remove)
  const { fixed, slots } = offerOf(u.offer)
  if (remove && (!out || out.fixed || !isOn(out, t - 1))) return ['misfit']
  if (b) {
    const kind = { fixed: fixed.includes(b), waits: lacksConsent(u, b), own: ageEnd(b, u.person, t) }
    const picks = held(u).filter(one => !one.fixed && one !== out).length + promised
    const against = []
    if (find(u, b) || !(kind.fixed || goesWith(b, u.offer))) against.push('misfit')
    if (!kind.fixed && picks >= slots) against.push('slots_exceeded')
    if (!admits(u.offer, b, u.person, t)) against.push('ineligible')
    if (against.length > 0) return against
    // There is a month to give what is missing, and at least until the start.
    const lapse = kind.waits && !u.isOutlook ? Math.max(t, u.clock + TO_ACT_MS) : never
    u.windows.push({
      b,
      n: u.plan[`${b} ${t}`] ?? counter++,
      ...kind,
      single: false,
      alone: false,
      why: '',
      kept: never,
      from: t,
      lapse,
      to: never,
      ends: [],
    })
  }
  if (out) out.to = t
  return []
}
/** Takes benefits one after the other; returns all objections. */
export function takeAll(u: Life, names: readonly string[], t: number) {
  return names.flatMap(add => take(u, { add }, t))
}
/** Ends windows by a cancel, so that a reinstate may restore them. */
export function close(u: Life, windows: Window[], t: number) {
  for (const one of windows) one.to = t
  u.gone.push(...windows)
}
/** The offer of a membership is in force from `since` on: raises its event. */
export function begin(u: Life, eventname: string, now: number) {
  u.at.start = u.since <= now ? never : u.since
  emit(u, eventname, now)
  if (u.at.start === never) emit(u, 'offer_activiation_successful', now)
}
/** A cancel takes effect. */
export function endAll(u: Life, t: number) {
  close(u, held(u), t)
  Object.assign(u, { status: 'cancelled', cancelled: t, pairs: [], at: { ...noDates, entry: u.at.entry } })
  emit(u, 'offer_cancel_successful', t)
}
/** Another offer comes into force, or the change is cancelled. */
export function changeTo(u: Life, name: string, t: number) {
  if (!takes(name, u.person)) return drop(u, 'offer', t)
  const { fixed, slots, rank } = offerOf(name)
  const isUp = rank > offerOf(u.offer).rank
  // A window that ends by itself at this instant is left to that end.
  const here = held(u).filter(one => endOf(one) > t)
  const kept = here
    .filter(one => !one.fixed && goesWith(one.b, name))
    .sort(earliest(t))
    .slice(0, slots)
  for (const one of here) {
    one.fixed = fixed.includes(one.b)
    if (!one.fixed && !kept.includes(one)) one.to = t
  }
  u.at.offer = never
  Object.assign(u, { offer: name, fits: true, since: t })
  const wanted = fixed.filter(b => !u.unwanted.includes(`${b} ${t}`))
  takeAll(u, wanted, t)
  begin(u, isUp ? 'offer_upgrade_successful' : 'offer_downgrade_successful', t)
}
function swapAll(u: Life, t: number) {
  u.against = u.pairs.map(pair => {
    // A consent can be given until the boundary.
    const mayCome = !pair.add || (goesWith(pair.add, u.offer) && (u.isOutlook || !lacksConsent(u, pair.add)))
    return mayCome ? take(u, pair, t) : ['misfit']
  })
  Object.assign(u, { pairs: [], at: { ...u.at, swap: never } })
  if (u.against.some(codes => codes.length === 0)) emit(u, 'user_benefits_swap_successful', t)
  if (u.against.some(codes => codes.length > 0)) emit(u, 'user_benefits_swap_failed', t)
}

// --- time
export function due(u: Life) {
  const starts = held(u).map(one => (one.single ? one.from : never))
  return Math.min(...Object.values(u.at), ...held(u).map(endOf), ...starts)
}
/** Applies what is due at one instant, in the order of contract §8. */
export function tick(u: Life, t: number) {
  u.clock = t
  if (u.at.entry <= t) {
    u.at.entry = never
    if (u.status === 'prefilled') u.status = 'none'
  }
  if (u.at.cancel <= t) return endAll(u, t)
  if (u.at.offer <= t) changeTo(u, u.next, t)
  if (u.at.swap <= t) swapAll(u, t)
  for (const one of held(u).filter(one => endOf(one) <= t)) {
    one.to = t
    if (isOn(one, t)) emit(u, 'benefit_enrollment_ended', t, one.b)
    else if (one.own > t) emit(u, 'benefit_declined', t, one.b, 'expired')
  }
  if (u.at.start <= t) {
    u.at.start = never
    emit(u, 'offer_activiation_successful', t)
  }
  for (const one of held(u).filter(one => one.single && one.from <= t)) {
    one.single = false
    emit(u, 'benefit_enrollment_successful', t, one.b)
  }
}
/** Lets time pass up to and at `now`. */
export function pass(u: Life, now: number) {
  for (let t = due(u); t <= now; t = due(u)) {
    tick(u, t)
    outlook(u)
  }
}
/** The user once every pending change has taken effect, and the windows that this brings. */
export function outlook(u: Life) {
  const later = { ...copyOf(u), isOutlook: true }
  while (Math.min(later.at.cancel, later.at.offer, later.at.swap) < never) tick(later, due(later))
  const coming = later.windows.slice(u.windows.length).filter(one => one.to === never)
  u.plan = Object.fromEntries(coming.map(one => [`${one.b} ${one.from}`, one.n]))
  // A benefit that is picked later no longer counts as declined.
  u.declined = u.declined.filter(b => !find(u, b) && !coming.some(one => one.b === b))
  return { later, coming }
}

/** The user as seen at `now`; an unknown instant is never. */
export function look(u: Life, now: number) {
  const { later, coming } = outlook(u)
  const show = ({ b, waits, from }: Window, end: number) => {
    if (waits) return { b, state: 'actionrequired', from: never, to: never }
    return { b, state: from > now ? 'scheduled' : end === never ? 'enrolled' : 'endscheduled', from, to: end }
  }
  const shownEnd = (one: Window) =>
    Math.min(later.windows[u.windows.indexOf(one)]?.to ?? never, isOn(one, now) ? one.own : never)
  const isOnOffer = u.status === 'active' && u.at.start === never
  return {
    status: u.status,
    offer: isOnOffer ? u.offer : '',
    since: isOnOffer ? u.since : u.cancelled,
    next: u.at.offer < never ? { offer: u.next, at: u.at.offer } : undefined,
    first: u.status === 'active' && !isOnOffer ? { offer: u.offer, at: u.since } : undefined,
    isUnfit: u.status === 'active' && !u.fits,
    isSwapping: u.at.swap < never,
    isLeaving: u.at.cancel < never,
    benefits: [...held(u).map(one => show(one, shownEnd(one))), ...coming.map(one => show(one, never))],
    ahead: [
      ...held(u).flatMap(one => aheadOf(one, now, Math.min(shownEnd(one), endOf(one)))),
      ...coming.flatMap(one => {
        const [due, to] = lackOf(one)
        return aheadOf(one, now, one.waits ? due : one.own, to)
      }),
    ],
    actions: [
      ...held(u)
        .filter(one => one.waits)
        .map(one => ({ b: one.b, due: one.lapse })),
      ...coming.filter(one => one.waits).map(one => ({ b: one.b, due: lackOf(one)[0] })),
    ],
  }
}

/** The end of a window as it is shown: by what is pending, or its own once it has begun. */
export function shownEnd(u: Life, one: Window, now: number) {
  const { later } = outlook(u)
  return Math.min(later.windows[u.windows.indexOf(one)]?.to ?? never, isOn(one, now) ? one.own : never)
}

/** Until when a pending change's benefit may lack something, and its state afterwards: a swap does not wait. */
function lackOf({ fixed, from }: Window): [due: number, to: string] {
  return fixed ? [from + TO_ACT_MS, 'withdrawn'] : [from, 'rejected']
}

/** The future of a window that ends at `end`: when, which benefit, and its next state. */
function aheadOf({ b, waits, from }: Window, now: number, end: number, without = 'withdrawn') {
  const line = (t: number, to: string) => (t === never ? [] : [{ t, b, to }])
  if (waits) return line(end, without)
  if (from > now && end <= from) return line(end, 'withdrawn')
  const begun = end === never ? 'enrolled' : 'endscheduled'
  return [...(from > now ? line(from, begun) : []), ...line(end, 'ended')]
}
