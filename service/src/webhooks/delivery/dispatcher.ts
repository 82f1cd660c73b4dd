import type { Instant } from '../../calendar/calendar.ts'
import type { Settled } from '../../db/coalesce.ts'
import type { Database } from '../../db/database.ts'
import { describeCause, type Log } from '../../log.ts'
import type { Directory } from '../../partners/directory.ts'
import { tracing } from '../../tracing.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { listEnabled, type NamedEndpoint, readEndpoints } from '../endpoint/endpoint.ts'
import { assess, dispositionOf, noticeFor, reviewHealth } from '../endpoint/verdict.ts'
import { makeAttempt, noteOutcome, type Sendable, spanOf } from './attempt.ts'
import { claimDue, gapOf, giveBack, type Item } from './claim.ts'
import type { WebhookMetrics } from './metrics.ts'
import {
  changeTarget,
  pauseAfterOwnFault,
  roomAt,
  shareOut,
  type Target,
  takeAttempt,
  takeHealth,
  targetOf,
} from './target.ts'
import { openWriter, type Receipt } from './writer.ts'

/** What a dispatcher has in hand right now; all zero after `close`. */
type Inventory = { endpoints: number; underWay: number; unwritten: number; timers: number }

/** Delivers webhooks, together with the dispatchers of other processes on the same database. */
export type Dispatcher = {
  /** Claims what is due now at the endpoints of these partners; without `partnerIds`, at all endpoints. */
  nudge(partnerIds?: ReadonlySet<string>): void
  /** Finds new, changed and removed endpoints now, and what is due at all endpoints. */
  refresh(): void
  /** Fulfils when this process has nothing under way and nothing that it could send now. */
  idle(): Promise<void>
  /** Claims nothing more; what was claimed is still attempted. */
  drain(): void
  /** Drains, waits for what is under way (within bounds), and gives back what is still claimed then. */
  close(): Promise<void>
  inventory(): Inventory
}

/** What a dispatcher works with. */
export type DispatcherContext = {
  /** That of one cell, on a cluster: who waits for its node waits for no other. */
  readonly database: Database
  readonly directory: Pick<Directory, 'partner'>
  readonly outgoing: Outgoing
  readonly metrics: WebhookMetrics
  /** Real time. */
  readonly real: () => Instant
  readonly log: Log
}

/** How a dispatcher works; all have defaults. */
export type DispatcherOptions = {
  /** Attempts under way at once, over all endpoints of the cell. */
  readonly slots?: number
  /** Attempts under way at once at one endpoint. */
  readonly endpointSlots?: number
  /** How often endpoints are asked at which something was due a moment ago; the others ten times as rarely. */
  readonly pollMs?: number
  /** How long `close` waits for attempts under way. A stop may have waited ten seconds for requests by then, of fourteen. */
  readonly graceMs?: number
}

/** How much rarer than the active endpoints all of them are asked. */
const RARER = 10
/** For how long an endpoint is asked often after something was due there. */
const ACTIVE_MS = 30_000
/** After a failed read or claim. */
const AGAIN_MS = 500
/**
 * How many results may wait to be written, for each slot; after a crash their deliveries are sent again. With a smaller
 * number sending would pause while a batch is written, because the next batch gathers meanwhile.
 */
const UNWRITTEN = 4

/**
 * Starts a dispatcher, which delivers what is due from then on. The table of deliveries is the only queue: where something
 * may be due, as many deliveries are claimed as there are free slots for (`target.ts` divides them), attempted at once, and
 * their results are written.
 *
 *     nudge, poll, list ──> wanted endpoints ──> claim ──> attempt ──> judge ──> write
 */
export function openDispatcher(context: DispatcherContext, options: DispatcherOptions = {}): Dispatcher {
  const { database, directory, real, log } = context
  const { slots = 256, endpointSlots = 64, pollMs = 200, graceMs = 3000 } = options
  const limits = { slots, endpointSlots }
  const clock = () => ({ now: real(), aheadMs: real() - Date.now() })
  const targets = new Map<string, Target>()
  /** Endpoints whose secrets could not be opened. */
  const closed = new Set<string>()
  let wanted = new Set<Target>()
  /** What is claimed and has no written result yet. */
  const claimed = new Set<{ readonly partnerId: string; readonly item: Item }>()
  let inSlots = 0
  const timers = new Map<string, NodeJS.Timeout>()
  let isListing = false
  let isClaiming = false
  let mustList = true
  let listedAt = Number.NEGATIVE_INFINITY
  let isDraining = false
  let isWoken = false
  let waiting: { readonly isOver: () => boolean; readonly resolve: () => void }[] = []

  /** Proceeds once for all attempts that end in one turn of the event loop: what they have freed is claimed together. */
  const wake = () => {
    if (!isWoken) setImmediate(proceed)
    isWoken = true
  }
  function proceed() {
    isWoken = false
    if (!isDraining) {
      if (mustList && !isListing) void list()
      if (!isClaiming) void claim()
    }
    const over = waiting.filter(one => one.isOver())
    waiting = waiting.filter(one => !over.includes(one))
    for (const { resolve } of over) resolve()
  }
  const until = (isOver: () => boolean) =>
    new Promise<void>(resolve => {
      waiting.push({ isOver, resolve })
      wake()
    })
  const isAtRest = () => !isListing && !isClaiming && claimed.size + writer.pending() === 0
  const want = (target: Target) => {
    target.mayHaveMore = true
    wanted.add(target)
    wake()
  }
  const nudge = (partnerIds?: ReadonlySet<string>) => {
    for (const target of targets.values()) if (!partnerIds || partnerIds.has(target.partnerId)) want(target)
  }
  const refresh = () => {
    mustList = true
    wake()
  }
  const after = (name: string, ms: number, run: () => void) => {
    if (isDraining || timers.has(name)) return
    const fire = () => {
      timers.delete(name)
      run()
    }
    timers.set(name, setTimeout(fire, ms))
  }
  const stopTimer = (name: string) => {
    clearTimeout(timers.get(name))
    timers.delete(name)
  }
  const writer = openWriter({ ...context, endpointSlots, onTold: partnerId => nudge(new Set([partnerId])) })

  const poll = () => {
    const now = performance.now()
    if (now - listedAt >= pollMs * RARER) return refresh()
    for (const target of targets.values()) if (target.activeUntil > now) want(target)
    pollLater()
  }
  const pollLater = () => {
    const now = performance.now()
    const isActive = [...targets.values()].some(target => target.activeUntil > now)
    after('poll', isActive ? pollMs : pollMs * RARER, poll)
  }

  /** Learns which endpoints there are, and at which of them something is due. */
  const list = async () => {
    isListing = true
    mustList = false
    listedAt = performance.now()
    try {
      const rows = await listEnabled(database, clock())
      const found = new Set(rows.map(row => row.endpoint_id))
      for (const id of targets.keys()) if (!found.has(id)) forget(id)
      const changed = rows.filter(row => {
        const target = targets.get(row.endpoint_id)
        return target?.endpoint.version !== row.version || target.health.revision !== row.revision
      })
      await load(changed.map(row => ({ partnerId: row.partner_id, endpointId: row.endpoint_id })))
      for (const row of rows) {
        const target = targets.get(row.endpoint_id)
        if (target) reviewLate(target, row)
        if (target && row.has_due) want(target)
      }
    } catch (error) {
      log('webhook_read_failed', describeCause(error))
    }
    isListing = false
    pollLater()
    wake()
  }
  const forget = (endpointId: string) => {
    targets.delete(endpointId)
    closed.delete(endpointId)
    context.outgoing.forget(endpointId)
    stopTimer(endpointId)
  }
  /**
   * Reads endpoints as they are now; returns which of them are there and not disabled. One whose secrets cannot be opened is
   * left out, which is logged once.
   */
  const load = async (ids: readonly NamedEndpoint[]): Promise<ReadonlySet<string>> => {
    const enabled = new Set<string>()
    if (ids.length === 0) return enabled
    for (const row of await readEndpoints(database, ids)) {
      const { endpoint_id: id, partner_id: partnerId } = row
      if (row.disabled_at === null) enabled.add(id)
      const known = targets.get(id)
      try {
        if (known?.endpoint.version !== row.version) {
          const partner = await directory.partner(partnerId)
          if (!partner) throw new Error('an endpoint without a partner')
          // It goes by the former rate.
          stopTimer(id)
          if (known) changeTarget(known, row, partner)
          else targets.set(id, targetOf(row, partner))
        }
        const target = targets.get(id)
        if (target) takeHealth(target, row, limits)
        if (closed.delete(id)) log('webhook_opened', { partnerid: partnerId, webhookid: id })
      } catch (error) {
        if (!closed.has(id))
          log('webhook_not_opened', { partnerid: partnerId, webhookid: id, ...describeCause(error) })
        targets.delete(id)
        closed.add(id)
      }
    }
    return enabled
  }

  const claim = async () => {
    const isFull = inSlots >= slots || writer.pending() >= slots * UNWRITTEN
    if (wanted.size === 0 || isFull) return
    isClaiming = true
    let mayGoOn = true
    try {
      const candidates = [...wanted].filter(target => targets.get(target.endpointId) === target)
      wanted = new Set()
      const free = slots - inSlots
      const all = targets.values()
      const shares = shareOut(candidates, { all, free, limits, now: real(), clock: performance.now() })
      const asks = shares.filter(({ room }) => room > 0)
      for (const { target, room } of shares) if (room === 0) wanted.add(target)
      mayGoOn = asks.length > 0 || wanted.size === 0
      if (asks.length > 0) await claimAt(asks)
    } catch (error) {
      log('webhook_read_failed', describeCause(error))
      after('again', AGAIN_MS, refresh)
    }
    isClaiming = false
    // What must leave the free slots to others waits for the end of an attempt, which wakes.
    if (mayGoOn) wake()
  }
  const claimAt = async (asks: Parameters<typeof claimDue>[1]) => {
    for (const { target } of asks) target.mayHaveMore = false
    const { items, more, outdated } = await claimDue(database, asks, clock())
    const byId = new Map(asks.map(({ target }) => [target.endpointId, target]))
    const unwanted: { partnerId: string; item: Item }[] = []
    for (const item of items) {
      const target = byId.get(item.endpoint_id)
      if (!target) continue
      // Another attempt that has ended meanwhile may have left less room, or none.
      if (!isDraining && roomAt(target, limits, real()) > 0) void begin(target, item)
      else {
        unwanted.push({ partnerId: target.partnerId, item })
        target.mayHaveMore = true
      }
    }
    if (unwanted.length > 0) await giveBack(database, unwanted)
    if (isDraining) return
    for (const { target } of asks) if (more.has(target.endpointId)) want(target)
    if (outdated.size > 0) {
      const stale = asks.flatMap(({ target }) => (outdated.has(target.endpointId) ? [target] : []))
      const enabled = await load(stale)
      for (const { endpointId } of stale) {
        if (!enabled.has(endpointId)) forget(endpointId)
        const target = targets.get(endpointId)
        if (target) want(target)
      }
    }
  }

  const begin = async (target: Target, item: Item) => {
    const entry = { partnerId: target.partnerId, item }
    claimed.add(entry)
    target.activeUntil = performance.now() + ACTIVE_MS
    const gap = gapOf(target)
    if (gap > 0) after(target.endpointId, gap, () => want(target))
    const done = () => {
      claimed.delete(entry)
      wake()
    }
    try {
      if (!isSendable(item)) writeGone(target, item, done)
      else if (tracing) await tracing.run(spanOf(item), () => deliver(target, item, done))
      else await deliver(target, item, done)
    } catch (error) {
      // A fault in our own code: the claim is given back, so that the delivery is attempted again after a pause.
      log('webhook_failed', describeCause(error))
      pauseAfterOwnFault(target, real())
      await giveBack(database, [entry]).catch(() => {})
      done()
    }
  }

  const deliver = async (target: Target, item: Sendable, done: () => void) => {
    const { underWay, endpoint } = target
    const { version } = endpoint
    const running = { startedAt: performance.now() }
    underWay.add(running)
    inSlots += 1
    const { requests, last } = await makeAttempt(target, item, context).finally(() => {
      underWay.delete(running)
      inSlots -= 1
      const tookMs = performance.now() - running.startedAt
      target.typicalMs = target.typicalMs === undefined ? tookMs : target.typicalMs * 0.75 + tookMs * 0.25
    })
    if (tracing) noteOutcome(tracing, last.outcome)
    const endedAt = real()
    const assessment = assess(last.outcome, endedAt)
    const disposition = dispositionOf(item, assessment, { at: endedAt, random: Math.random() })
    context.metrics.note(item, { assessment, last, disposition })
    // What is under way when the process ends is given back by `close`.
    if (assessment.kind === 'unspent' && assessment.fault === 'stopped') return done()
    const { certificateEndsAt } = last.outcome
    const ended = {
      ...{ eventId: item.event_id, version, assessment, pair: last.pair, certificateEndsAt },
      ...{ startedAt: last.startedAt, endedAt },
    }
    const wasProbed = target.health.breaker.open !== null
    // If the partner has changed the endpoint meanwhile, the outcome counts for the delivery only.
    const verdict = version === target.endpoint.version ? takeAttempt(target, ended, limits) : undefined
    const isNews = verdict && (verdict.isChanged || wasProbed || verdict.action.kind !== 'none')
    if (isNews) target.unwritten.add(ended)
    const wasHeld = verdict && (verdict.outage || verdict.action.kind === 'disable')
    if (target.mayHaveMore) want(target)
    const result = {
      target,
      item,
      disposition,
      attempts: requests,
      endedAt,
      ended: isNews ? ended : undefined,
    }
    writer.enqueue({ kind: 'result', result }, receipt => {
      target.unwritten.delete(ended)
      takeReceipt(target, receipt)
      // It may be judged otherwise there, by what another process has seen: then it is not disabled.
      if (wasHeld) target.isHeld = receipt.ok && receipt.value.stored?.isDisabled === true
      // Another event of the user is due, or what waited for the end of an outage.
      if (target.endpoint.ordering === 'user' || wasHeld) want(target)
      done()
    })
  }

  /** Removes a delivery whose event has left the log, as if it had been delivered. */
  const writeGone = (target: Target, item: Item, done: () => void) => {
    const result = { target, item, disposition: DELIVERED, attempts: [], endedAt: real() }
    writer.enqueue({ kind: 'result', result }, receipt => {
      takeReceipt(target, receipt)
      done()
    })
  }

  const takeReceipt = (target: Target, receipt: Settled<Receipt>) => {
    if (!receipt.ok) {
      log('webhook_result_refused', describeCause(receipt.error))
      target.isHeld = false
      // No stored revision, so that the next list or claim reads the health as it is without this result.
      target.health = { ...target.health, revision: 0 }
      return pauseAfterOwnFault(target, real())
    }
    const { stored } = receipt.value
    if (stored) takeHealth(target, stored, limits)
    if (stored?.isDisabled) refresh()
  }

  /** Reports or disables an endpoint that has failed for long, because that time passes even while nothing is due there. */
  const reviewLate = (target: Target, row: { has_due: boolean; is_attempted: boolean }) => {
    if (target.isHeld || target.isReviewed) return
    const { health, isReported } = target
    const at = real()
    const { action } = reviewHealth(health, at)
    // Not while deliveries are due or attempted there: the service may have been down, and these attempts show whether the
    // endpoint works. While it has asked for a pause no attempt begins, so it is disabled when its time is over.
    const mayDisable = !row.is_attempted && (!row.has_due || (health.pausedUntil ?? 0) > at)
    const isDue = action.kind === 'notice' || (action.kind === 'disable' && mayDisable)
    if (!isDue && !noticeFor(health, { wasReported: isReported, isDelivered: false, now: at })) return
    target.isReviewed = true
    writer.enqueue({ kind: 'review', target, mayDisable, at }, receipt => {
      target.isReviewed = false
      takeReceipt(target, receipt)
      wake()
    })
  }

  const drain = () => {
    isDraining = true
    for (const timer of timers.values()) clearTimeout(timer)
    timers.clear()
  }

  wake()
  return {
    nudge,
    refresh,
    async idle() {
      const isIdle = () => isDraining || (!mustList && wanted.size === 0 && isAtRest())
      // The second list sees what the results of the first round have made due.
      for (let round = 0; round < 2; round += 1) {
        mustList = true
        await until(isIdle)
      }
    },
    drain,
    async close() {
      drain()
      await Promise.race([until(isAtRest), new Promise(end => setTimeout(end, graceMs).unref())])
      writer.stop()
      if (claimed.size > 0)
        await giveBack(database, [...claimed]).catch(error =>
          log('webhook_claims_not_given_back', describeCause(error)),
        )
      claimed.clear()
      targets.clear()
    },
    inventory: () => ({
      endpoints: targets.size,
      underWay: claimed.size,
      unwritten: writer.pending(),
      timers: timers.size,
    }),
  }
}

const DELIVERED = { kind: 'delivered' } as const

function isSendable(item: Item): item is Sendable {
  return item.body !== null && item.created_at !== null
}
