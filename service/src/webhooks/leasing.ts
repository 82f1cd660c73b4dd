import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { describeCause, type Log } from '../log.ts'
import type { Directory } from '../partners/directory.ts'
import { type Measure, review } from './health.ts'
import { healthOf, type Lane, openLane, renewLane } from './lane.ts'
import { beat, leave, type NamedEndpoint, TAKEN_AT_ONCE, take } from './lease.ts'
import type { OpenLanes } from './open-lanes.ts'
import { openOpening } from './opened.ts'
import type { Outgoing } from './outgoing.ts'
import { tellMeasure } from './sending.ts'
import type { Timers } from './timers.ts'
import type { Writer } from './writer.ts'

/** Keeps the leases of this process's even part of the endpoints. */
export type Leasing = {
  /** Beats now, or right after the beat that is under way. */
  request(): void
  /** Reads endpoints anew that somebody changed. */
  renew(changed: readonly Lane[]): Promise<void>
  /** Whether the leases hold at this moment. */
  hold(): boolean
  /** Whether a beat is under way or wanted. */
  isBusy(): boolean
  /** What is under way; fulfils always. */
  underWay(): Promise<void> | undefined
}

/**
 * Opens the heartbeat: three in the time of a lease. A beat also tells where something is due that others committed, so
 * that nobody has to ask for it: `onDue` is called for those lanes, `onBeat` when all of it is taken in.
 */
export const openLeasing = (context: {
  database: Database
  directory: Pick<Directory, 'partner'>
  outgoing: Pick<Outgoing, 'forget'>
  lanes: OpenLanes
  writer: Writer
  timers: Timers
  owner: string
  leaseMs: number
  real: () => Instant
  log: Log
  isClosing: () => boolean
  onDue: (lane: Lane) => void
  onBeat: () => void
  onQuiet: () => void
}): Leasing => {
  const { database, lanes, writer, timers, owner, leaseMs, real, log } = context
  const opening = openOpening(context)
  let holdUntil = 0
  let beating: Promise<void> | undefined
  let isWanted = false

  const request = () => {
    isWanted = true
    if (beating || context.isClosing()) return
    isWanted = false
    beating = runBeat()
      .catch(error => log('webhook_leases_not_renewed', describeCause(error)))
      .finally(() => {
        beating = undefined
        timers.set('beat', leaseMs / 3, request)
        if (isWanted) request()
        context.onQuiet()
      })
  }

  const runBeat = async (): Promise<void> => {
    const left = lanes.all().filter(lane => lane.isLeaving && lane.held.size === 0)
    if (left.length > 0) await leave(database, owner, left)
    const startedAt = performance.now()
    const owned = await beat(database, { dispatcherId: owner, leaseMs, now: real() })
    // A little earlier than the database sees it, so that nothing begins under a lease that has ended.
    holdUntil = startedAt + leaseMs * 0.9
    const leases = new Map(owned.leases.map(lease => [lease.endpoint_id, lease]))
    for (const lane of lanes.all()) if (leases.get(lane.endpointId)?.epoch !== lane.epoch) lanes.drop(lane)
    const outdated = lanes
      .all()
      .filter(lane => leases.get(lane.endpointId)?.version !== lane.endpoint.version)
    if (outdated.length > 0) await renew(outdated)
    const taken = owned.free.length > 0 ? await take(database, owner, owned.free) : []
    opening.forgetOthers(new Set([...owned.leases, ...taken].map(lease => lease.endpoint_id)))
    const fresh = [...taken, ...owned.leases.filter(lease => !lanes.get(lease.endpoint_id))]
    if (fresh.length > 0) await takeUp(fresh)
    if (owned.free.length === TAKEN_AT_ONCE) isWanted = true
    giveUpAbove(owned.part)
    reviewAll(lane => leases.get(lane.endpointId)?.has_due ?? true)
    for (const lane of lanes.all()) {
      // The clock may have moved past the end of a pause.
      lanes.place(lane)
      if (leases.get(lane.endpointId)?.has_due) context.onDue(lane)
    }
    context.onBeat()
  }

  const takeUp = async (
    leases: readonly { partner_id: string; endpoint_id: string; epoch: number }[],
  ): Promise<void> => {
    const ids: NamedEndpoint[] = leases.map(lease => ({
      partnerId: lease.partner_id,
      endpointId: lease.endpoint_id,
    }))
    const epochs = new Map(leases.map(lease => [lease.endpoint_id, lease.epoch]))
    for (const { endpoint, credentials } of await opening.read(ids)) {
      const lane = openLane(endpoint, credentials, epochs.get(endpoint.endpoint_id) ?? 0)
      lanes.add(lane)
      context.onDue(lane)
    }
  }

  const renew = async (changed: readonly Lane[]): Promise<void> => {
    const found = new Map((await opening.read(changed)).map(one => [one.endpoint.endpoint_id, one]))
    for (const lane of changed) {
      const opened = found.get(lane.endpointId)
      if (!opened) {
        lanes.leave(lane)
        continue
      }
      if (opened.endpoint.url !== lane.endpoint.url) {
        context.outgoing.forget(lane.endpointId)
        // Tries under way at the old address take no place at the new one, of which nothing is known yet.
        lanes.turns.forget(lane.endpointId)
      }
      renewLane(lane, opened.endpoint, opened.credentials)
      if (opened.endpoint.disabled_at !== null) lanes.leave(lane)
      else context.onDue(lane)
      lanes.place(lane)
    }
  }

  const giveUpAbove = (part: number) => {
    const surplus = lanes
      .all()
      .filter(lane => !lane.isLeaving)
      .slice(part)
    for (const lane of surplus) lanes.leave(lane)
    // Those that stay too quiet to be given up at a try's end are given up by the next beat.
    if (surplus.some(lane => lane.held.size === 0)) isWanted = true
  }

  /** Time passes for a failing endpoint also while nothing is due there. */
  const reviewAll = (mayHaveDue: (lane: Lane) => boolean): void => {
    for (const lane of lanes.all()) {
      const { health, measure } = review(lane.health, real())
      if (measure.kind === 'none' || lane.isLeaving) continue
      // What is due there decides: it may be us who were away for so long. While it keeps us away, time does.
      const isPaused = (lane.pausedUntil ?? 0) > real()
      if (measure.kind === 'disable' && mayHaveDue(lane) && !isPaused) continue
      lane.health = health
      // Not awaited: when an outage of many ends in as many notices, the leases must be renewed meanwhile.
      void carryOut(lane, measure)
    }
  }

  const carryOut = async (lane: Lane, measure: Measure): Promise<void> => {
    const disable =
      measure.kind === 'disable'
        ? { version: lane.endpoint.version, reason: measure.because, at: real() }
        : undefined
    if (disable) lanes.leave(lane)
    const change = { claim: lane.claim, health: healthOf(lane), ...(disable && { disable }) }
    try {
      const { isOwned, isDisabled } = await writer.write({ kind: 'result', change })
      if (disable ? isDisabled : isOwned) tellMeasure(log, lane, measure)
    } catch (error) {
      log('webhook_result_refused', describeCause(error))
    }
    if (disable) request()
    context.onQuiet()
  }

  return {
    request,
    renew,
    hold: () => performance.now() < holdUntil,
    isBusy: () => beating !== undefined || isWanted,
    underWay: () => beating,
  }
}
