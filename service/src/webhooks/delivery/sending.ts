import type { Instant } from '../../calendar/calendar.ts'
import { describeCause } from '../../log.ts'
import { tracing } from '../../tracing.ts'
import { type Assessment, assess } from '../endpoint/assessment.ts'
import type { Outage } from '../endpoint/release.ts'
import { type AppliedOutcome, applyOutcome, pauseAfterOwnFault } from './apply-outcome.ts'
import { makeAttempt } from './attempt.ts'
import { noteOutcome, spanOf } from './attempt-span.ts'
import type { PartContext } from './context.ts'
import { changeOf, logHealthAction } from './endpoint-change.ts'
import {
  countStart,
  emptyQueues,
  forgetItem,
  type Item,
  type OwnedEndpoint,
  runsLow,
} from './endpoint-queues.ts'
import type { Turn } from './fairness.ts'
import type { Leasing } from './leasing.ts'
import { beginRelease, endRelease } from './mode.ts'
import { readOfPartner, tellOthers } from './notices.ts'
import type { Attempt, EndpointChange } from './result.ts'
import type { Receipt } from './writer.ts'

/** Sends queued deliveries by turns, and writes their results. */
export type Sending = {
  /** Starts as many attempts as there are turns for. */
  pump(): void
  /** How many attempts are under way: those whose result is not written yet. */
  underWay(): number
}

/**
 * How many results may wait to be written, for each slot; after a crash their deliveries are sent again. With a smaller
 * number sending would pause while a batch is written, because the next batch gathers meanwhile.
 */
const UNWRITTEN = 4

/**
 * Prepares sending; nothing is sent before the first `pump`. Attempts begin only while the leases are valid, and a
 * heartbeat gives up what is being left.
 */
export function openSending(
  context: PartContext & { leasing: Pick<Leasing, 'areLeasesValid' | 'request'> },
): Sending {
  const { endpoints, leasing, writer, real, log, wake } = context
  const { turns } = endpoints
  let underWay = 0
  /** Endpoints at which an attempt has ended or was written since the last `pump`. */
  const touched = new Set<OwnedEndpoint>()
  /** Endpoints that are being disabled, which is done and logged only once. */
  const disabled = new WeakSet<OwnedEndpoint>()

  const pump = () => {
    const changed = new Set(touched)
    touched.clear()
    for (const owned of changed) endpoints.offer(owned)
    const starting: { owned: OwnedEndpoint; item: Item; turn: Turn }[] = []
    while (leasing.areLeasesValid() && writer.pending() < context.slots * UNWRITTEN) {
      const turn = turns.next(performance.now())
      if (!turn) break
      const owned = endpoints.get(turn.endpointId)
      const item = owned?.queues[turn.queue].waiting.shift()
      if (owned && item) {
        starting.push({ owned, item, turn })
        changed.add(owned)
        const { rate_limit: rate } = owned.endpoint
        if (rate !== null) {
          countStart(owned, rate)
          endpoints.offer(owned)
        }
      } else {
        turns.end(turn, performance.now())
        if (owned) endpoints.offer(owned)
      }
    }
    // Queues that these turns have emptied are read again now, not when an attempt ends, which may take long.
    for (const owned of changed) if (runsLow(owned, endpoints.quota())) endpoints.requestRead(owned)
    for (const { owned, item, turn } of starting) void begin(owned, item, turn)
  }

  const pumpSoon = (owned: OwnedEndpoint) => {
    touched.add(owned)
    wake()
  }

  const begin = (owned: OwnedEndpoint, item: Item, turn: Turn): Promise<void> => {
    underWay += 1
    if (tracing) return tracing.run(spanOf(item), () => bringToEnd(owned, item, turn))
    return bringToEnd(owned, item, turn)
  }

  const bringToEnd = async (owned: OwnedEndpoint, item: Item, turn: Turn): Promise<void> => {
    try {
      const ended = await deliver(owned, item, turn)
      if (ended) return write(ended)
    } catch (error) {
      breakOff(owned, item, error)
    }
    over()
  }

  /** After a fault in our own code: the delivery's row stays as it was, and is read again after a pause. */
  const breakOff = (owned: OwnedEndpoint, item: Item, error: unknown) => {
    log('webhook_failed', describeCause(error))
    pauseAfterOwnFault(owned, real())
    forgetItem(owned, item)
    pumpSoon(owned)
  }

  const over = () => {
    underWay -= 1
    wake()
  }

  /** Makes an attempt and applies its outcome; returns nothing when there is nothing to write. */
  const deliver = async (owned: OwnedEndpoint, item: Item, turn: Turn): Promise<Ended | undefined> => {
    const { version } = owned.endpoint
    const endTurn = () => turns.end(turn, performance.now())
    const { requests, last } = await makeAttempt(owned, item, context).finally(endTurn)
    if (tracing) noteOutcome(tracing, last.outcome)
    const at = real()
    const assessment = assess(last.outcome, at)
    const wasOwned = endpoints.isOwned(owned)
    const applied = applyOutcome(owned, item, {
      version,
      assessment,
      last,
      at,
      limit: context.endpointSlots,
      random: Math.random(),
    })
    context.metrics.note(item, { assessment, last, disposition: applied.disposition })
    const change = toWrite(owned, applied, at)
    if (change?.disable) {
      disabled.add(owned)
      endpoints.leave(owned)
    }
    if (applied.outage !== undefined) {
      beginRelease(owned)
      emptyQueues(owned)
    }
    pumpSoon(owned)
    if (isStopped(assessment)) return undefined
    // Before the success is stored: after a crash in between, the endpoint is still probed, and a probe that succeeds releases what waits.
    if (applied.outage !== undefined) await release(owned, applied.outage)
    return { owned, item, requests, applied, change, wasOwned }
  }

  const write = (ended: Ended) => {
    const { owned, item, requests, applied, change } = ended
    const result = {
      lease: owned.lease,
      eventId: item.event_id,
      number: item.attempts + 1,
      disposition: applied.disposition,
      attempts: requests,
      endedAt: real(),
    }
    writer.enqueue({ kind: 'result', result, change }, settled => {
      try {
        goOn(ended, settled.ok ? settled.value : refused(owned, settled.error))
      } catch (error) {
        breakOff(owned, item, error)
      }
      over()
    })
  }

  const refused = (owned: OwnedEndpoint, error: unknown): Receipt => {
    log('webhook_result_refused', describeCause(error))
    // Its row stays as it was, so without a pause it would be sent again at once.
    pauseAfterOwnFault(owned, real())
    return { isOwned: true, isDisabled: false }
  }

  /** Continues once a result is written. */
  const goOn = ({ owned, item, applied, change, wasOwned }: Ended, { isOwned, isDisabled }: Receipt) => {
    forgetItem(owned, item)
    if (!isOwned && wasOwned && endpoints.isOwned(owned)) endpoints.leave(owned)
    const isTold = change?.disable ? isDisabled : isOwned && applied.action.kind === 'notice'
    if (isTold) logHealthAction(log, owned, applied.action)
    if (isDisabled) readOfPartner(endpoints, owned.partnerId)
    else if (owned.isReported && applied.disposition.kind === 'delivered') tellOthers(context, owned, true)
    if (endpoints.isOwned(owned)) followUp(owned, applied)
    // Attempts may have waited because too many results were still to be written.
    pumpSoon(owned)
  }

  const toWrite = (owned: OwnedEndpoint, { isChanged, action }: AppliedOutcome, at: Instant) => {
    if (action.kind === 'disable' && !disabled.has(owned)) return changeOf(owned, action, at)
    return isChanged ? changeOf(owned, { kind: 'none' }, at) : undefined
  }

  const release = async (owned: OwnedEndpoint, outage: Outage): Promise<void> => {
    await writer
      .write({ kind: 'release', lease: owned.lease, outage })
      .catch(error => log('webhook_release_refused', describeCause(error)))
    endRelease(owned)
    endpoints.requestRead(owned)
  }

  const followUp = (owned: OwnedEndpoint, { disposition }: AppliedOutcome) => {
    if (owned.phase === 'leaving' && owned.inMemory.size === 0) leasing.request()
    // So that the retry need not wait for the next heartbeat.
    if (disposition.kind === 'later') endpoints.readLater(owned, disposition.dueAt - real())
    const mayFreeAnother = disposition.kind === 'unchanged' || owned.endpoint.ordering === 'user'
    if (mayFreeAnother) endpoints.requestRead(owned)
  }

  return { pump, underWay: () => underWay }
}

/** An attempt that has ended, with a result to be written. */
type Ended = {
  readonly owned: OwnedEndpoint
  readonly item: Item
  readonly requests: readonly Attempt[]
  readonly applied: AppliedOutcome
  readonly change: EndpointChange | undefined
  /** Whether this process still owned the endpoint when the attempt ended. */
  readonly wasOwned: boolean
}

function isStopped(assessment: Assessment): boolean {
  return assessment.kind === 'unspent' && assessment.fault === 'stopped'
}
