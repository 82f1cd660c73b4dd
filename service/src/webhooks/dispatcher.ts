import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { describeCause } from '../http/server.ts'
import type { Log } from '../log.ts'
import type { Directory } from '../partners/directory.ts'
import { uuidv4 } from '../vault/uuid.ts'
import { makeTry } from './attempt.ts'
import { ensureAttemptDays } from './attempt-days.ts'
import { judge } from './backoff.ts'
import { conclude, waitForOurselves } from './conclude.ts'
import { type DueRow, type Place, readDue } from './due.ts'
import { createTurns, type Turn } from './fairness.ts'
import { type Measure, review } from './health.ts'
import {
  asksOf,
  dueIn,
  emptyQueues,
  healthOf,
  type Item,
  type Lane,
  openLane,
  opensAt,
  queueItem,
  renewLane,
  runsLow,
} from './lane.ts'
import { beat, giveUp, type Lease } from './lease.ts'
import type { WebhookMetrics } from './metrics.ts'
import { readOpened } from './opened.ts'
import type { Outgoing } from './outgoing.ts'
import type { Result } from './results.ts'
import { openTimers } from './timers.ts'
import { openWriter } from './writer.ts'

/** What a dispatcher holds right now; all zero after `close`. */
export type Inventory = { endpoints: number; underWay: number; unwritten: number; timers: number }

/** Delivers webhooks, together with the dispatchers of other processes on the same database. */
export type Dispatcher = {
  /** Looks for new work now: at the endpoints of these partners, or everywhere. */
  nudge(partnerIds?: ReadonlySet<string>): void
  /** Looks for new, changed and removed endpoints now, and for new work everywhere. */
  refresh(): void
  /** Fulfils when this process has nothing under way and nothing that it could send now. */
  idle(): Promise<void>
  /** Starts no more tries, waits for those under way (within bounds), and leaves the endpoints to others. */
  close(): Promise<void>
  inventory(): Inventory
}

/** What a dispatcher works with. */
export type DispatcherContext = {
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
  /** Tries under way at once, over all endpoints. */
  readonly slots?: number
  /** Tries under way at once at one endpoint. */
  readonly endpointSlots?: number
  /** How long an endpoint stays ours without a renewal; it is renewed three times in that. */
  readonly leaseMs?: number
  /** How often the database is asked for work that other processes made, while there is work; when idle, less often. */
  readonly pollMs?: number
  /** How often it is asked when idle. */
  readonly idlePollMs?: number
  /** How long `close` waits for tries under way. */
  readonly graceMs?: number
}

const ROWS_IN_MEMORY = 8192
const MOST_QUOTA = 1024
const BUSY_MS = 30_000
/** Results that wait to be written, for each slot: what is not written yet is sent again after a crash. */
const UNWRITTEN = 2
/** How often the heads of all queues are looked at while there is more behind: what was committed late stands there. */
const HEAD_MS = 5000

/** Starts a dispatcher; what is due is delivered from then on. */
export const openDispatcher = (context: DispatcherContext, options: DispatcherOptions = {}): Dispatcher => {
  const { database, outgoing, metrics, real, log } = context
  const { slots = 256, endpointSlots = 64, leaseMs = 6000, pollMs = 200, idlePollMs = 3000 } = options
  const owner = uuidv4()
  const lanes = new Map<string, Lane>()
  const turns = createTurns(slots)
  const writer = openWriter({ database, owner, log })
  const underWay = new Set<Promise<void>>()
  const timers = openTimers()
  const wanted = new Set<Lane>()
  /** Ended while a read was under way: its snapshot may still show them as due. */
  const endedMeanwhile = new Set<string>()
  let leasesHoldUntil = 0
  let busyUntil = 0
  const headTimes = new WeakMap<Lane, number>()
  let isClosing = false
  let reading: Promise<void> | undefined
  let beating: Promise<void> | undefined
  let isBeatWanted = false
  let idleSlots: (() => void)[] = []

  const now = performance.now.bind(performance)
  const isOwned = (lane: Lane) => lanes.get(lane.endpointId) === lane
  const quota = () => Math.max(8, Math.min(MOST_QUOTA, Math.floor(ROWS_IN_MEMORY / Math.max(1, lanes.size))))

  const want = (lane: Lane) => {
    wanted.add(lane)
    startReading()
  }
  const wakeAt = (lane: Lane, at: Instant) => {
    const name = `lane ${lane.endpointId}`
    timers.set(name, at - real() + 2, () => {
      if (!isOwned(lane)) return
      place(lane)
      want(lane)
    })
  }

  /** Says what the lane has to offer now. */
  const place = (lane: Lane) => {
    if (!isOwned(lane)) return
    turns.offer(lane.endpointId, dueIn(lane, endpointSlots, real()), now())
    const at = opensAt(lane, real())
    if (at !== undefined) wakeAt(lane, at)
  }

  const pump = () => {
    while (!isClosing && now() < leasesHoldUntil && writer.pending() < slots * UNWRITTEN) {
      const turn = turns.next(now())
      if (!turn) break
      const lane = lanes.get(turn.endpointId)
      const item = lane?.queues[turn.work].shift()
      if (!lane || !item) {
        turns.settle(turn, now())
        if (lane) place(lane)
        continue
      }
      const work = deliver(lane, item, turn).catch(error => {
        log('webhook_failed', describeCause(error))
        waitForOurselves(lane, real())
        lane.held.delete(item.event_id)
        place(lane)
      })
      underWay.add(work)
      void work.finally(() => {
        underWay.delete(work)
        noteIdle()
      })
    }
    noteIdle()
  }

  const deliver = async (lane: Lane, item: Item, turn: Turn): Promise<void> => {
    busyUntil = now() + BUSY_MS
    const { requests, last } = await makeTry(lane, item, { outgoing, real }).finally(() =>
      turns.settle(turn, now()),
    )
    const verdict = judge(last.outcome, real())
    const wasOwned = isOwned(lane)
    const { fate, isChanged, measure } = conclude(lane, item, {
      ...{ verdict, last, at: real(), limit: endpointSlots },
      random: Math.random(),
    })
    metrics.note(item, { verdict, last, fate })
    const disable =
      measure.kind === 'disable' && !lane.isLeaving
        ? { version: lane.endpoint.version, reason: measure.because, at: real() }
        : undefined
    if (disable) leave(lane)
    if (runsLow(lane, quota())) want(lane)
    place(lane)
    pump()
    const claim = { partnerId: lane.partnerId, endpointId: lane.endpointId, epoch: lane.epoch }
    const result: Result = {
      ...claim,
      eventId: item.event_id,
      number: item.attempts + 1,
      fate,
      attempts: requests,
      endedAt: real(),
    }
    if (verdict.kind === 'unspent' && verdict.fault === 'stopped') return
    const change =
      isChanged || disable ? { ...claim, health: healthOf(lane), ...(disable && { disable }) } : undefined
    const written = await writer.write({ kind: 'result', result, ...(change && { change }) }).catch(error => {
      log('webhook_result_refused', describeCause(error))
      // Its row stays as it was; without a pause it would be sent again at once.
      waitForOurselves(lane, real())
      return true
    })
    if (reading) endedMeanwhile.add(`${lane.endpointId} ${item.event_id}`)
    lane.held.delete(item.event_id)
    if (!written && wasOwned && isOwned(lane)) leave(lane)
    if (disable || measure.kind === 'notice') tell(lane, measure)
    if (!isOwned(lane)) return
    if (disable) requestBeat()
    if (fate.kind === 'later') noteDue(lane, fate.dueAt)
    if (lane.isLeaving && lane.held.size === 0) requestBeat()
    // Its row is due still, before what was read last.
    if (fate.kind === 'unchanged') lane.readUpTo[item.work] = undefined
    if (fate.kind === 'unchanged' || lane.endpoint.ordering === 'user' || runsLow(lane, quota())) want(lane)
    place(lane)
    pump()
  }

  const tell = (lane: Lane, measure: Measure) => {
    const about = { partnerid: lane.partnerId, webhookid: lane.endpointId }
    if (measure.kind === 'notice') {
      log('webhook.failing', {
        ...about,
        failingsince: new Date(measure.failingSince).toISOString(),
        disablesat: new Date(measure.disablesAt).toISOString(),
      })
    } else if (measure.kind === 'disable') log('webhook.disabled', { ...about, reason: measure.because })
  }

  /** A retry that we wrote ourselves need not wait for the next look. */
  const noteDue = (lane: Lane, at: Instant) => {
    const name = `due ${lane.endpointId}`
    const known = dueTimes.get(lane)
    if (known !== undefined && known <= at && timers.has(name)) return
    dueTimes.set(lane, at)
    // Timers may fire a moment early.
    timers.set(name, at - real() + 2, () => {
      if (isOwned(lane)) want(lane)
    })
  }
  const dueTimes = new WeakMap<Lane, Instant>()

  const startReading = () => {
    if (reading || isClosing || wanted.size === 0) return
    reading = read()
      .catch(error => {
        log('webhook_read_failed', describeCause(error))
        timers.set('read again', 500, () => nudge())
      })
      .finally(() => {
        reading = undefined
        startReading()
        noteIdle()
      })
  }

  const read = async (): Promise<void> => {
    const asked = [...wanted].filter(isOwned)
    wanted.clear()
    endedMeanwhile.clear()
    const asks = asked.flatMap(lane => {
      const fromHead = now() >= (headTimes.get(lane) ?? 0)
      if (fromHead) headTimes.set(lane, now() + HEAD_MS)
      return asksOf(lane, { limit: endpointSlots, quota: quota(), now: real(), fromHead })
    })
    if (asks.length === 0) return
    const rows = await readDue(database, asks, real())
    const found = new Map<string, { count: number; last: DueRow }>()
    const behind: DueRow[] = []
    const outdated = new Set<Lane>()
    for (const row of rows) {
      const lane = lanes.get(row.endpoint_id)
      const name = `${row.endpoint_id} ${row.work}`
      found.set(name, { count: (found.get(name)?.count ?? 0) + 1, last: row })
      if (!lane || lane.isLeaving || endedMeanwhile.has(`${row.endpoint_id} ${row.event_id}`)) continue
      if (row.version !== lane.endpoint.version) outdated.add(lane)
      else if (row.behind) behind.push(row)
      else queueItem(lane, row)
    }
    for (const { endpointId, work, quota: asking } of asks) {
      const lane = lanes.get(endpointId)
      const { count = 0, last } = found.get(`${endpointId} ${work}`) ?? {}
      if (lane)
        lane.readUpTo[work] = last && count >= asking ? later(lane.readUpTo[work], placeOf(last)) : undefined
    }
    for (const lane of asked) place(lane)
    pump()
    if (behind.length > 0) await park(behind)
    if (outdated.size > 0) await renew([...outdated])
  }

  const park = async (rows: readonly DueRow[]): Promise<void> => {
    const parked = rows.flatMap(row => {
      const lane = lanes.get(row.endpoint_id)
      if (!lane || lane.held.has(row.event_id)) return []
      const { partnerId, endpointId, epoch } = lane
      return [{ partnerId, endpointId, epoch, eventId: row.event_id }]
    })
    if (parked.length === 0) return
    await writer.write({ kind: 'park', rows: parked })
    // Behind them others may wait that have nobody before them.
    for (const row of rows) {
      const lane = lanes.get(row.endpoint_id)
      if (lane) wanted.add(lane)
    }
  }

  /** Reads endpoints anew that somebody changed. */
  const renew = async (changed: readonly Lane[]): Promise<void> => {
    const found = new Map((await readOpened(changed, context)).map(one => [one.endpoint.endpoint_id, one]))
    for (const lane of changed) {
      const opened = found.get(lane.endpointId)
      if (!opened) {
        leave(lane)
        continue
      }
      if (opened.endpoint.url !== lane.endpoint.url) outgoing.forget(lane.endpointId)
      renewLane(lane, opened.endpoint, opened.secrets)
      if (opened.endpoint.disabled_at !== null) leave(lane)
      else wanted.add(lane)
      place(lane)
    }
  }

  /** Starts nothing more there; the next beat gives it up once nothing is under way. */
  const leave = (lane: Lane) => {
    lane.isLeaving = true
    emptyQueues(lane)
    place(lane)
  }

  const drop = (lane: Lane) => {
    emptyQueues(lane)
    lanes.delete(lane.endpointId)
    turns.forget(lane.endpointId)
    outgoing.forget(lane.endpointId)
    timers.clear(`lane ${lane.endpointId}`)
    timers.clear(`due ${lane.endpointId}`)
    wanted.delete(lane)
  }

  const requestBeat = () => {
    isBeatWanted = true
    if (beating || isClosing) return
    isBeatWanted = false
    beating = runBeat()
      .catch(error => log('webhook_leases_not_renewed', describeCause(error)))
      .finally(() => {
        beating = undefined
        timers.set('beat', leaseMs / 3, requestBeat)
        if (isBeatWanted) requestBeat()
        noteIdle()
      })
  }

  const runBeat = async (): Promise<void> => {
    const startedAt = now()
    const leaving = [...lanes.values()].filter(lane => lane.isLeaving && lane.held.size === 0)
    const owned = await beat(database, { dispatcherId: owner, leaseMs, leaving })
    // A little earlier than the database sees it, so that nothing begins under a lease that has ended.
    leasesHoldUntil = startedAt + leaseMs * 0.9
    const leases = new Map(owned.leases.map(lease => [lease.endpoint_id, lease]))
    for (const lane of [...lanes.values()]) {
      if (leases.get(lane.endpointId)?.epoch !== lane.epoch) drop(lane)
    }
    const outdated = [...lanes.values()].filter(
      lane => leases.get(lane.endpointId)?.version !== lane.endpoint.version,
    )
    const fresh = owned.leases.filter(lease => !lanes.has(lease.endpoint_id))
    if (fresh.length > 0) await takeUp(fresh)
    if (outdated.length > 0) await renew(outdated)
    const surplus = [...lanes.values()].filter(lane => !lane.isLeaving).slice(owned.part)
    for (const lane of surplus) leave(lane)
    // Those that stay too quiet to be given up at a try's end are given up by the next beat.
    if (surplus.some(lane => lane.held.size === 0)) isBeatWanted = true
    await reviewAll()
    startReading()
    pump()
  }

  const takeUp = async (leases: readonly Lease[]): Promise<void> => {
    const ids = leases.map(lease => ({ partnerId: lease.partner_id, endpointId: lease.endpoint_id }))
    const epochs = new Map(leases.map(lease => [lease.endpoint_id, lease.epoch]))
    for (const { endpoint, secrets } of await readOpened(ids, context)) {
      const lane = openLane(endpoint, secrets, epochs.get(endpoint.endpoint_id) ?? 0)
      lanes.set(lane.endpointId, lane)
      wanted.add(lane)
    }
  }

  /** Time passes for a failing endpoint also while nothing is due there. */
  const reviewAll = async (): Promise<void> => {
    for (const lane of lanes.values()) {
      const { health, measure } = review(lane.health, real())
      if (measure.kind === 'none' || lane.isLeaving) continue
      lane.health = health
      const { partnerId, endpointId, epoch } = lane
      const disable =
        measure.kind === 'disable'
          ? { version: lane.endpoint.version, reason: measure.because, at: real() }
          : undefined
      await writer.write({
        kind: 'result',
        change: { partnerId, endpointId, epoch, health: healthOf(lane), ...(disable && { disable }) },
      })
      tell(lane, measure)
      if (disable) {
        leave(lane)
        isBeatWanted = true
      }
    }
  }

  const nudge = (partnerIds?: ReadonlySet<string>) => {
    if (isClosing) return
    for (const lane of lanes.values()) {
      if (partnerIds && !partnerIds.has(lane.partnerId)) continue
      wanted.add(lane)
      // The clock may have moved past the end of a pause.
      if (!partnerIds) place(lane)
    }
    startReading()
  }

  const poll = () => {
    timers.set('poll', now() < busyUntil ? pollMs : idlePollMs, () => {
      nudge()
      poll()
    })
  }

  const isQuiet = () =>
    !reading &&
    !beating &&
    !isBeatWanted &&
    wanted.size === 0 &&
    underWay.size === 0 &&
    writer.pending() === 0
  const noteIdle = () => {
    if (!isQuiet()) return
    const waiting = idleSlots
    idleSlots = []
    for (const resolve of waiting) resolve()
  }
  const quiet = () =>
    new Promise<void>(resolve => {
      idleSlots.push(resolve)
      queueMicrotask(noteIdle)
    })

  const preparing = ensureAttemptDays(database, real()).catch(error =>
    log('webhook_days_failed', describeCause(error)),
  )
  requestBeat()
  poll()

  return {
    nudge,
    refresh() {
      requestBeat()
      nudge()
    },
    async idle() {
      // A look that begins now sees what was committed before; if it finds nothing, nothing is left.
      requestBeat()
      await quiet()
      nudge()
      await quiet()
    },
    async close() {
      if (isClosing) return
      isClosing = true
      timers.close()
      const graceEnd = new Promise<void>(resolve => {
        const timer = setTimeout(resolve, options.graceMs ?? 5000)
        timer.unref()
      })
      await Promise.race([Promise.allSettled([...underWay, reading, beating, preparing]), graceEnd])
      writer.stop()
      for (const lane of [...lanes.values()]) drop(lane)
      await giveUp(database, owner).catch(error => log('webhook_leases_not_given_up', describeCause(error)))
    },
    inventory: () => ({
      endpoints: lanes.size,
      underWay: underWay.size,
      unwritten: writer.pending(),
      timers: timers.count(),
    }),
  }
}

const later = (known: Place | undefined, place: Place): Place =>
  known && (known.dueAt > place.dueAt || (known.dueAt === place.dueAt && known.eventId > place.eventId))
    ? known
    : place
const placeOf = (row: DueRow) => ({ dueAt: row.due_at, eventId: row.event_id })
