import { admits, ageEnd, asksConsent, goesWith, offerOf, takes } from './catalogue-rules.ts'
import type { SeenEvent } from './stage.ts'

// What a user's life should look like, told anew from the contract (§7 to §10): state, benefits, dates and events; imports
// nothing of the service. A life is a list of windows of cover and a few dated intents. Requests write windows and
// intents (reference-requests.ts), time applies them one after the other, and what is shown of the days ahead is found by
// letting time pass for a copy.

/** The date of what does not happen. */
export const never = Number.POSITIVE_INFINITY
/** Nothing is pending. */
export const noDates = { entry: never, start: never, cancel: never, offer: never, swap: never }
let counter = 0

/** A benefit held from an instant on; `own` is the end that it has by itself, `to` the end that it came to. */
export type Window = {
  b: string
  n: number
  fixed: boolean
  waits: boolean
  from: number
  own: number
  to: number
}
type Pair = { add?: string | undefined; remove?: string | undefined }

/** A life of which nothing is known yet; `at` holds the dates of what is pending. */
export const newLife = (zone: string) => ({
  births: 0,
  status: 'none' as 'none' | 'prefilled' | 'active' | 'cancelled' | 'erased',
  person: { zone, state: '', dob: '' },
  offer: '',
  since: 0,
  at: { ...noDates },
  next: '',
  pairs: [] as Pair[],
  /** What stood against each pair of the last swap that was tried. */
  against: [] as string[][],
  cancelled: undefined as number | undefined,
  windows: [] as Window[],
  /** What the last cancel took. */
  gone: [] as Window[],
  plan: {} as Record<string, number>,
  agreed: [] as string[],
  declined: [] as string[],
  isOutlook: false,
  events: [] as SeenEvent[],
})
/** One user at one partner. */
export type Life = ReturnType<typeof newLife>

/** All that is held, in force or not. */
export const held = (u: Life) => u.windows.filter(one => one.to === never)
/** The window of a benefit that is held. */
export const find = (u: Life, b = '') => held(u).find(one => one.b === b)
/** Whether cover is in force at `t`. */
export const isOn = (one: Window, t: number) => !one.waits && one.from <= t
const lacksConsent = (u: Life, b = '') => asksConsent(b) && !u.agreed.includes(b)
/** First what was in force just before `t` or its end, then what began earliest, then what was picked earliest. */
export const earliest = (t: number) => (a: Window, b: Window) =>
  Number(isOn(b, Math.min(b.to, t) - 1)) - Number(isOn(a, Math.min(a.to, t) - 1)) ||
  a.from - b.from ||
  a.n - b.n

// --- what changes
/** Tells an event: the state right after the change. */
export const emit = (u: Life, eventname: string, t: number, name?: string) => {
  const isOnOffer = u.status === 'active' && u.at.start === never
  const updatedat = new Date(isOnOffer ? u.since : (u.cancelled ?? t)).toISOString()
  u.events.push({ eventname, offer: isOnOffer ? u.offer : '', updatedat, ...(name ? { name } : {}) })
}
/** Gives up what is pending. */
export const drop = (u: Life, intent: 'offer' | 'swap', t: number) => {
  if (u.at[intent] === never) return
  u.at[intent] = never
  if (intent === 'swap') u.pairs = []
  emit(u, intent === 'offer' ? 'offer_change_cancelled' : 'user_benefits_swap_cancelled', t)
}
/** Takes a benefit in from `t` on, in the place of another or in a free slot; or says all that stands against it. */
export const take = (u: Life, { add: b, remove }: Pair, t: number, promised = 0): string[] => {
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
    u.windows.push({ b, n: u.plan[`${b} ${t}`] ?? counter++, ...kind, from: t, to: never })
  }
  if (out) out.to = t
  return []
}
/** Takes benefits in one after the other; gives all that stands against them. */
export const takeAll = (u: Life, names: readonly string[], t: number) =>
  names.flatMap(add => take(u, { add }, t))
/** Ends windows by a cancel, which a reinstate may bring back. */
export const close = (u: Life, windows: Window[], t: number) => {
  for (const one of windows) one.to = t
  u.gone.push(...windows)
}
/** The offer of a membership is in force from `since` on: what is told of it now. */
export const begin = (u: Life, eventname: string, now: number) => {
  u.at.start = u.since <= now ? never : u.since
  emit(u, eventname, now)
  if (u.at.start === never) emit(u, 'offer_activiation_successful', now)
}
/** A cancel takes effect. */
export const endAll = (u: Life, t: number) => {
  close(u, held(u), t)
  Object.assign(u, { status: 'cancelled', cancelled: t, pairs: [], at: { ...noDates, entry: u.at.entry } })
  emit(u, 'offer_cancel_successful', t)
}
/** Another offer comes into force, or the change is called off. */
export const changeTo = (u: Life, name: string, t: number) => {
  if (!takes(name, u.person)) return drop(u, 'offer', t)
  const { fixed, slots, rank } = offerOf(name)
  const isUp = rank > offerOf(u.offer).rank
  // What ends by itself at this instant is left to its own end.
  const here = held(u).filter(one => one.own > t)
  const kept = here
    .filter(one => !one.fixed && goesWith(one.b, name))
    .sort(earliest(t))
    .slice(0, slots)
  for (const one of here) {
    one.fixed = fixed.includes(one.b)
    if (!one.fixed && !kept.includes(one)) one.to = t
  }
  u.at.offer = never
  Object.assign(u, { offer: name, since: t })
  takeAll(u, fixed, t)
  begin(u, isUp ? 'offer_upgrade_successful' : 'offer_downgrade_successful', t)
}
const swapAll = (u: Life, t: number) => {
  u.against = u.pairs.map(pair => {
    // There is time to give a consent until the boundary.
    const mayCome = !pair.add || (goesWith(pair.add, u.offer) && (u.isOutlook || !lacksConsent(u, pair.add)))
    return mayCome ? take(u, pair, t) : ['misfit']
  })
  Object.assign(u, { pairs: [], at: { ...u.at, swap: never } })
  if (u.against.some(codes => codes.length === 0)) emit(u, 'user_benefits_swap_successful', t)
  if (u.against.some(codes => codes.length > 0)) emit(u, 'user_benefits_swap_failed', t)
}

// --- time
const due = (u: Life) => Math.min(...Object.values(u.at), ...held(u).map(one => one.own))
/** Applies what is due at one instant, in the order of contract §8. */
const tick = (u: Life, t: number) => {
  if (u.at.entry <= t) {
    u.at.entry = never
    if (u.status === 'prefilled') u.status = 'none'
  }
  if (u.at.cancel <= t) return endAll(u, t)
  if (u.at.offer <= t) changeTo(u, u.next, t)
  if (u.at.swap <= t) swapAll(u, t)
  for (const one of held(u).filter(({ own }) => own <= t)) {
    one.to = t
    if (isOn(one, t)) emit(u, 'benefit_enrollment_ended', t, one.b)
  }
  if (u.at.start > t) return
  u.at.start = never
  emit(u, 'offer_activiation_successful', t)
}
/** Lets time pass up to and at `now`. */
export const pass = (u: Life, now: number) => {
  for (let t = due(u); t <= now; t = due(u)) {
    tick(u, t)
    outlook(u)
  }
}
/** The user once all that is pending has taken effect, and the windows that this brings. */
export const outlook = (u: Life) => {
  const later = { ...structuredClone(u), isOutlook: true }
  while (Math.min(later.at.cancel, later.at.offer, later.at.swap) < never) tick(later, due(later))
  const coming = later.windows.slice(u.windows.length).filter(one => one.to === never)
  u.plan = Object.fromEntries(coming.map(one => [`${one.b} ${one.from}`, one.n]))
  // Who picks it after all has not declined it any more.
  u.declined = u.declined.filter(b => !find(u, b) && !coming.some(one => one.b === b))
  return { later, coming }
}

/** The user as it can be seen at `now`; an instant that is not known is never. */
export const look = (u: Life, now: number) => {
  const { later, coming } = outlook(u)
  const show = ({ b, waits, from }: Window, end: number) => {
    if (waits) return { b, state: 'actionrequired', from: never, to: never }
    return { b, state: from > now ? 'scheduled' : end === never ? 'enrolled' : 'endscheduled', from, to: end }
  }
  const endOf = (one: Window) =>
    Math.min(later.windows[u.windows.indexOf(one)]?.to ?? never, isOn(one, now) ? one.own : never)
  const isOnOffer = u.status === 'active' && u.at.start === never
  return {
    status: u.status,
    offer: isOnOffer ? u.offer : '',
    since: isOnOffer ? u.since : u.cancelled,
    next: u.at.offer < never ? { offer: u.next, at: u.at.offer } : undefined,
    isSwapping: u.at.swap < never,
    isLeaving: u.at.cancel < never,
    benefits: [...held(u).map(one => show(one, endOf(one))), ...coming.map(one => show(one, never))],
  }
}
