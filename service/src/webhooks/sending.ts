import type { Instant } from '../calendar/calendar.ts'
import { describeCause, type Log } from '../log.ts'
import { makeTry } from './attempt.ts'
import { judge, type Verdict } from './backoff.ts'
import { type Conclusion, conclude, waitForOurselves } from './conclude.ts'
import type { Turn } from './fairness.ts'
import type { Measure } from './health.ts'
import { emptyQueues, healthOf, type Item, type Lane, letGo, readAgain, runsLow } from './lane.ts'
import type { Looking } from './looking.ts'
import type { WebhookMetrics } from './metrics.ts'
import type { OpenLanes } from './open-lanes.ts'
import type { Outgoing } from './outgoing.ts'
import type { Outage } from './release.ts'
import type { Attempt, EndpointChange } from './results.ts'
import type { Timers } from './timers.ts'
import type { Receipt, Writer } from './writer.ts'

/** Sends what is queued, by turns, and writes what came of it. */
export type Sending = {
  /** Starts as many tries as there are turns for. */
  pump(): void
  /** How many tries are under way; one is until its result is written. */
  underWay(): number
  /** Fulfils when none is. */
  ended(): Promise<void>
}

/** What the sending of deliveries works with. */
export type SendingContext = {
  readonly lanes: OpenLanes
  readonly writer: Writer
  readonly looking: Pick<Looking, 'want' | 'noteEnded'>
  readonly outgoing: Outgoing
  readonly metrics: WebhookMetrics
  readonly timers: Timers
  readonly slots: number
  readonly endpointSlots: number
  readonly real: () => Instant
  readonly log: Log
  /** Whether tries may be started: not without a lease, and not while closing. */
  readonly maySend: () => boolean
  readonly onTry: () => void
  /** Something is to be given up. */
  readonly onLeft: () => void
  readonly onQuiet: () => void
}

/**
 * Results that may wait to be written, for each slot: what is not written yet is sent again after a crash. While one batch
 * is under way the next gathers; with room for little more than a batch the sending stood still meanwhile.
 */
const UNWRITTEN = 4

/** Opens the sending; nothing is sent before the first `pump`. */
export const openSending = (context: SendingContext): Sending => {
  const { lanes, writer, looking, timers, real, log } = context
  const { turns } = lanes
  const waiting: (() => void)[] = []
  let underWay = 0
  /** Lanes at which a try has ended or was written since the last `pump`. */
  const touched = new Set<Lane>()
  const dueTimes = new WeakMap<Lane, Instant>()
  /** Lanes that are left because their endpoint is being disabled: that is done and told once. */
  const disabled = new WeakSet<Lane>()

  const pump = () => {
    const changed = new Set(touched)
    touched.clear()
    for (const lane of changed) lanes.place(lane)
    const starting: { lane: Lane; item: Item; turn: Turn }[] = []
    while (context.maySend() && writer.pending() < context.slots * UNWRITTEN) {
      const turn = turns.next(performance.now())
      if (!turn) break
      const lane = lanes.get(turn.endpointId)
      const item = lane?.queues[turn.work].shift()
      if (lane && item) {
        starting.push({ lane, item, turn })
        changed.add(lane)
      } else {
        turns.settle(turn, performance.now())
        if (lane) lanes.place(lane)
      }
    }
    // Once the turns are dealt out: they may have emptied a queue for which there is room still, and no try may end for long.
    for (const lane of changed) if (runsLow(lane, lanes.quota())) looking.want(lane)
    for (const { lane, item, turn } of starting) void begin(lane, item, turn)
    context.onQuiet()
  }

  /** Many tries end in one turn of the event loop, few lanes have them: what follows is done once for all. */
  const pumpSoon = (lane: Lane) => {
    if (touched.size === 0) queueMicrotask(pumpSafely)
    touched.add(lane)
  }
  const pumpSafely = () => {
    try {
      pump()
    } catch (error) {
      log('webhook_failed', describeCause(error))
    }
  }

  const begin = async (lane: Lane, item: Item, turn: Turn): Promise<void> => {
    context.onTry()
    underWay += 1
    let ended: Ended | undefined
    try {
      ended = await deliver(lane, item, turn)
    } catch (error) {
      breakOff(lane, item, error)
    }
    if (ended) write(ended)
    else over()
  }

  /** A fault of our own code: the delivery is as before. */
  const breakOff = (lane: Lane, item: Item, error: unknown) => {
    log('webhook_failed', describeCause(error))
    waitForOurselves(lane, real())
    letGo(lane, item)
    pumpSoon(lane)
  }

  const over = () => {
    underWay -= 1
    if (underWay === 0) for (const tell of waiting.splice(0)) tell()
    context.onQuiet()
  }

  /** Makes a try and draws its conclusions; gives nothing when there is nothing to be written. */
  const deliver = async (lane: Lane, item: Item, turn: Turn): Promise<Ended | undefined> => {
    const { version } = lane.endpoint
    let tried: Awaited<ReturnType<typeof makeTry>>
    try {
      tried = await makeTry(lane, item, context)
    } finally {
      turns.settle(turn, performance.now())
    }
    const { requests, last } = tried
    const at = real()
    const verdict = judge(last.outcome, at)
    const wasOwned = lanes.isOwned(lane)
    const conclusion = conclude(lane, item, {
      version,
      verdict,
      last,
      at,
      limit: context.endpointSlots,
      random: Math.random(),
    })
    context.metrics.note(item, { verdict, last, fate: conclusion.fate })
    const change = changeOf(lane, conclusion, at)
    if (change?.disable) {
      disabled.add(lane)
      lanes.leave(lane)
    }
    if (conclusion.outage !== undefined) {
      lane.isReleasing = true
      emptyQueues(lane)
    }
    pumpSoon(lane)
    if (isStopped(verdict)) return undefined
    // Before the success is stored: a crash in between leaves an endpoint that is still to be probed.
    if (conclusion.outage !== undefined) await release(lane, conclusion.outage)
    return { lane, item, requests, conclusion, change, wasOwned }
  }

  const write = (ended: Ended) => {
    const { lane, item, requests, conclusion, change } = ended
    const result = {
      claim: lane.claim,
      eventId: item.event_id,
      number: item.attempts + 1,
      fate: conclusion.fate,
      attempts: requests,
      endedAt: real(),
    }
    writer.handIn({ kind: 'result', result, change }, settled => {
      try {
        goOn(ended, settled.ok ? settled.value : refused(lane, settled.error))
      } catch (error) {
        breakOff(lane, item, error)
      }
      over()
    })
  }

  const refused = (lane: Lane, error: unknown): Receipt => {
    log('webhook_result_refused', describeCause(error))
    // Its row stays as it was; without a pause it would be sent again at once.
    waitForOurselves(lane, real())
    return { isOwned: true, isDisabled: false }
  }

  /** What follows once a result is written. */
  const goOn = ({ lane, item, conclusion, change, wasOwned }: Ended, { isOwned, isDisabled }: Receipt) => {
    looking.noteEnded(lane, item)
    letGo(lane, item)
    if (!isOwned && wasOwned && lanes.isOwned(lane)) lanes.leave(lane)
    const isTold = change?.disable ? isDisabled : isOwned && conclusion.measure.kind === 'notice'
    if (isTold) tellMeasure(log, lane, conclusion.measure)
    if (lanes.isOwned(lane)) lookOn(lane, item, conclusion)
    // Others may have waited for room among what is to be written.
    pumpSoon(lane)
  }

  const changeOf = (
    lane: Lane,
    { isChanged, measure }: Conclusion,
    at: Instant,
  ): EndpointChange | undefined => {
    const isDisabled = measure.kind === 'disable' && !disabled.has(lane)
    if (!isChanged && !isDisabled) return undefined
    const disable = isDisabled ? { version: lane.endpoint.version, reason: measure.because, at } : undefined
    return { claim: lane.claim, health: healthOf(lane), ...(disable && { disable }) }
  }

  const release = async (lane: Lane, outage: Outage): Promise<void> => {
    await writer
      .write({ kind: 'release', claim: lane.claim, outage })
      .catch(error => log('webhook_release_refused', describeCause(error)))
    lane.isReleasing = false
    looking.want(lane)
  }

  const lookOn = (lane: Lane, item: Item, { fate }: Conclusion) => {
    if (lane.isLeaving && lane.held.size === 0) context.onLeft()
    if (fate.kind === 'later') noteDue(lane, fate.dueAt)
    // Its row is due still, before what was read last.
    if (fate.kind === 'unchanged') readAgain(lane, item.work)
    const mayFreeAnother = fate.kind === 'unchanged' || lane.endpoint.ordering === 'user'
    if (mayFreeAnother) looking.want(lane)
  }

  /** A retry that we wrote ourselves need not wait for the next look. */
  const noteDue = (lane: Lane, at: Instant) => {
    const name = `due ${lane.endpointId}`
    const known = dueTimes.get(lane)
    if (known !== undefined && known <= at && timers.has(name)) return
    dueTimes.set(lane, at)
    // Timers may fire a moment early.
    timers.set(name, at - real() + 2, () => {
      if (lanes.isOwned(lane)) looking.want(lane)
    })
  }

  return {
    pump,
    underWay: () => underWay,
    ended: () => (underWay === 0 ? Promise.resolve() : new Promise(resolve => waiting.push(resolve))),
  }
}

/** A try that has ended, of which something is to be written. */
type Ended = {
  readonly lane: Lane
  readonly item: Item
  readonly requests: readonly Attempt[]
  readonly conclusion: Conclusion
  readonly change: EndpointChange | undefined
  /** Whether the lane was ours when the try ended. */
  readonly wasOwned: boolean
}

const isStopped = (verdict: Verdict): boolean => verdict.kind === 'unspent' && verdict.fault === 'stopped'

/** Tells the operator that an endpoint fails for long, or was disabled. */
export const tellMeasure = (log: Log, lane: Lane, measure: Measure): void => {
  const about = { partnerid: lane.partnerId, webhookid: lane.endpointId }
  if (measure.kind === 'notice') {
    log('webhook.failing', {
      ...about,
      failingsince: new Date(measure.failingSince).toISOString(),
      disablesat: new Date(measure.disablesAt).toISOString(),
    })
  } else if (measure.kind === 'disable') log('webhook.disabled', { ...about, reason: measure.because })
}
