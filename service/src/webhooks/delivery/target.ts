import type { Instant } from '../../calendar/calendar.ts'
import type { Partner } from '../../partners/partner.ts'
import { credentialsOf, type WireCredentials } from '../endpoint/credentials.ts'
import type { EndpointRow, NamedEndpoint } from '../endpoint/endpoint.ts'
import { openSecrets } from '../endpoint/secrets.ts'
import {
  type EndedAttempt,
  type HealthRecord,
  judge,
  modeOf,
  roomIn,
  type Verdict,
} from '../endpoint/verdict.ts'

/** An endpoint as this process knows it: how it was stored last, and what its attempts here have shown since. */
export type Target = NamedEndpoint & {
  endpoint: EndpointRow
  credentials: WireCredentials
  /** Its stored health, with the attempts that are not written yet. */
  health: HealthRecord
  /** The attempts that are not written yet and change its health, oldest first. */
  readonly unwritten: Set<EndedAttempt>
  /** Whether others were told that it fails, and not yet that it has recovered. */
  isReported: boolean
  /** Whether it is written right now that it has failed for long. */
  isReviewed: boolean
  /** Nothing is sent until this is written: that it is disabled, or that an outage is over, which changes what comes first. */
  isHeld: boolean
  /** How many faults on our side happened in a row, and until when the endpoint pauses because of them. */
  ownFaults: number
  ownFaultUntil: Instant
  /** The attempts under way at this version of the endpoint, oldest first. */
  underWay: Set<{ readonly startedAt: number }>
  /** How long its attempts take, on a moving average; undefined before the first. */
  typicalMs: number | undefined
  /** Whether something may be due there that no claim has found yet. */
  mayHaveMore: boolean
  /** Until when it is asked often whether something is due, because something was a moment ago. */
  activeUntil: number
}

/** An endpoint that was read for the first time. Throws when its secrets cannot be opened. */
export function targetOf(endpoint: EndpointRow, partner: Partner): Target {
  const named = { partnerId: endpoint.partner_id, endpointId: endpoint.endpoint_id }
  return {
    ...named,
    endpoint,
    credentials: credentialsIn(endpoint, partner),
    health: endpoint.health,
    unwritten: new Set(),
    isReported: endpoint.reported !== null,
    isReviewed: false,
    isHeld: false,
    ownFaults: 0,
    ownFaultUntil: 0,
    underWay: new Set(),
    typicalMs: undefined,
    mayHaveMore: false,
    activeUntil: 0,
  }
}

/** Takes what the partner has changed. Throws when its secrets cannot be opened. */
export function changeTarget(target: Target, endpoint: EndpointRow, partner: Partner): void {
  target.credentials = credentialsIn(endpoint, partner)
  target.endpoint = endpoint
  target.isHeld = false
  // Attempts at a former address say nothing about the present one, and take no room there.
  target.unwritten.clear()
  target.underWay = new Set()
}

/** The credentials of an endpoint. Throws when its secrets cannot be opened. */
function credentialsIn(endpoint: EndpointRow, partner: Partner): WireCredentials {
  const named = { partnerId: endpoint.partner_id, endpointId: endpoint.endpoint_id }
  return credentialsOf(openSecrets({ ...named, key: partner.key }, endpoint.sealed_secrets))
}

/** Attempts under way at once, over all endpoints and at one of them. */
export type Limits = { readonly slots: number; readonly endpointSlots: number }

/** What is stored about an endpoint besides what its partner wants. */
export type StoredState = Pick<EndpointRow, 'health' | 'reported'>

/** Takes what was read or written of its health, to which the attempts are added that are not written yet. */
export function takeHealth(target: Target, stored: StoredState, { endpointSlots }: Limits): void {
  target.isReported = stored.reported !== null
  target.health = stored.health
  for (const ended of target.unwritten) target.health = judge(target.health, ended, endpointSlots).health
}

/** Judges the endpoint by an attempt that has ended here, at once, although others may learn of it later. */
export function takeAttempt(target: Target, ended: EndedAttempt, { endpointSlots }: Limits): Verdict {
  const verdict = judge(target.health, ended, endpointSlots)
  target.health = verdict.health
  if (verdict.action.kind === 'disable' || verdict.outage) target.isHeld = true
  if (ended.assessment.kind === 'unspent') pauseAfterOwnFault(target, ended.endedAt, ended.startedAt)
  else target.ownFaults = 0
  return verdict
}

/** How long an endpoint pauses after the first fault on our side, the second in a row, and so on. */
const OWN_FAULT_MS: readonly number[] = [1000, 2000, 5000, 10_000, 30_000]

/**
 * Pauses an endpoint after a fault on our side, for longer after each further one in a row. What began before the end of the
 * last pause has met the fault that it was for.
 */
export function pauseAfterOwnFault(target: Target, at: Instant, begunAt: Instant = at): void {
  if (begunAt < target.ownFaultUntil) return
  target.ownFaultUntil = at + (OWN_FAULT_MS[Math.min(target.ownFaults, OWN_FAULT_MS.length - 1)] ?? 0)
  target.ownFaults += 1
}

/** An endpoint is slow when its attempts usually take longer, or one is taking longer right now. */
const SLOW_MS = 1000

/** How many attempts an endpoint may have under way before its first one has shown how long they take. */
const UNKNOWN_ROOM = 4

/**
 * The part of all slots that slow endpoints, and those of which no attempt has ended yet, may use while something may be due
 * at others. While nothing is, they may use all but the reserve, which an event for another finds free when it comes.
 */
const PART = { slow: 1 / 4, unknown: 1 / 8 }
const RESERVE = 1 / 4

type Pace = 'quick' | keyof typeof PART

function paceOf({ typicalMs, underWay }: Target, now: number): Pace {
  const [oldest] = underWay
  if ((oldest && now - oldest.startedAt > SLOW_MS) || (typicalMs ?? 0) > SLOW_MS) return 'slow'
  return typicalMs === undefined ? 'unknown' : 'quick'
}

/** How many more attempts may begin at the endpoint now, if it were alone. */
export function roomAt(target: Target, { endpointSlots }: Limits, now: Instant): number {
  if (target.isHeld) return 0
  const limit = target.typicalMs === undefined ? Math.min(UNKNOWN_ROOM, endpointSlots) : endpointSlots
  const mode = modeOf(target.health, target.ownFaultUntil, now)
  return Math.max(0, roomIn(mode, limit) - target.underWay.size)
}

/** How many deliveries to claim at an endpoint. */
export type Ask = { readonly target: Target; readonly room: number }

/** What an endpoint may be asked for: `room` deliveries, which is none where others come first. */
type Share = Ask & { room: number; readonly most: number; readonly pace: Pace }

/**
 * Divides the free slots among endpoints at which something may be due: each slot goes to the one that has the fewest
 * attempts under way, so that all that have enough to do end with the same number, however much waits for each. Left out
 * are those at which no attempt may begin now. `all` are those that may have attempts under way, which count against the
 * part of the slow and the unknown ones.
 */
export function shareOut(
  wanted: Iterable<Target>,
  context: { all: Iterable<Target>; free: number; limits: Limits; now: Instant; clock: number },
): readonly Ask[] {
  const { all, limits, now, clock } = context
  const { slots } = limits
  let { free } = context
  const used = { quick: 0, slow: 0, unknown: 0 }
  for (const target of all) if (target.underWay.size > 0) used[paceOf(target, clock)] += target.underWay.size
  const shares: Share[] = []
  // Each endpoint is in the list of how many attempts it has; those with equally many in the order of their requests.
  const levels: Share[][] = []
  for (const target of wanted) {
    const most = roomAt(target, limits, now)
    if (most === 0) continue
    const share = { target, most, room: 0, pace: paceOf(target, clock) }
    shares.push(share)
    at(levels, target.underWay.size).push(share)
  }
  const isBusy = shares.some(({ pace }) => pace === 'quick')
  let unreserved = free - Math.floor(slots * RESERVE)
  const mayUse = (pace: Pace) => {
    if (pace === 'quick') return true
    return isBusy ? used[pace] < Math.max(1, Math.floor(slots * PART[pace])) : unreserved > 0
  }
  for (let level = 0; level < levels.length; level += 1)
    for (const share of levels[level] ?? []) {
      if (free <= 0) return shares
      if (!mayUse(share.pace)) continue
      share.room += 1
      free -= 1
      unreserved -= 1
      used[share.pace] += 1
      if (share.room < share.most) at(levels, level + 1).push(share)
    }
  return shares
}

function at(levels: Share[][], level: number): Share[] {
  for (let missing = levels.length; missing <= level; missing += 1) levels.push([])
  return levels[level] ?? []
}
