import { failureOf } from '../../db/failure.ts'
import { describeCause } from '../../log.ts'
import type { PartContext } from './context.ts'
import { openEndpointLoader } from './endpoint-loader.ts'
import { type OwnedEndpoint, ownEndpoint, replaceEndpoint } from './endpoint-queues.ts'
import { openHealthReview } from './health-review.ts'
import {
  leave,
  type OwnLeases,
  readFree,
  readLeases,
  reportAlive,
  TAKEN_AT_ONCE,
  takeLeases,
} from './lease.ts'

/** Keeps the leases of the endpoints that this process owns: an even share of all endpoints. */
export type Leasing = {
  /** Sends a heartbeat now, or right after the one that is under way. */
  request(): void
  /** Reads again endpoints that a partner or operator changed. */
  reload(changed: readonly OwnedEndpoint[]): Promise<void>
  /** Whether the leases are valid at this moment. */
  areLeasesValid(): boolean
  /** Whether a heartbeat is under way or requested. */
  isBusy(): boolean
  /** Sends no more heartbeats; fulfils when none is under way. */
  end(): Promise<void>
}

/**
 * Opens the heartbeat, which beats three times in the life of a lease. A beat also finds out where other processes have
 * committed something that is due, and requests a read of these endpoints, so that an idle process needs no other query.
 */
export function openLeasing(context: PartContext & { owner: string; leaseMs: number }): Leasing {
  const { database, endpoints, timers, owner, leaseMs, real, log, wake } = context
  const load = openEndpointLoader(context)
  let validUntil = 0
  let beating: Promise<void> | undefined
  let isWanted = false
  let isEnded = false

  const request = () => {
    isWanted = true
    if (beating || isEnded) return
    isWanted = false
    beating = runBeat()
      .catch(error => log('webhook_leases_not_renewed', describeCause(error)))
      .finally(() => {
        beating = undefined
        timers.set('beat', leaseMs / 3, request)
        if (isWanted) request()
        wake()
      })
  }

  const areLeasesValid = () => performance.now() < validUntil

  const reviewHealth = openHealthReview({ ...context, request })

  const runBeat = async (): Promise<void> => {
    const left = endpoints.all().filter(owned => owned.phase === 'leaving' && owned.inMemory.size === 0)
    if (left.length > 0) await leave(database, left).catch(noneIfGone)
    const startedAt = performance.now()
    const wereValid = areLeasesValid()
    // The process trusts its lease for less time than the database does, so that no attempt begins after its end.
    const extendLeases = () => {
      validUntil = startedAt + leaseMs * 0.9
    }
    const heartbeat = { dispatcherId: owner, leaseMs, now: real() }
    const { others, read, ...life } = await reportAlive(database, heartbeat)
    // A beat may have failed after it had reported that this process lives again, before it learned what was lost.
    if (!life.isLate && wereValid) extendLeases()
    const found = read ?? (await readLeases(database, heartbeat))
    await takeIn(found)
    extendLeases()
    const part = Math.ceil(found.count / (others.length + 1))
    const wanted = part - found.leases.length
    if (wanted > 0) await takeFree(others, wanted)
    giveUpAbove(part, endpoints.all())
  }

  /** Owns from now on exactly the endpoints that the database says are this process's. */
  const takeIn = async ({ leases: own }: OwnLeases): Promise<void> => {
    const leases = new Map(own.map(lease => [lease.endpoint_id, lease]))
    for (const owned of endpoints.all())
      if (leases.get(owned.endpointId)?.epoch !== owned.epoch) lose(owned, leases.has(owned.endpointId))
    const outdated = endpoints
      .all()
      .filter(
        owned => (leases.get(owned.endpointId)?.version ?? owned.endpoint.version) !== owned.endpoint.version,
      )
    if (outdated.length > 0) await reload(outdated)
    const unknown = own.filter(lease => !endpoints.get(lease.endpoint_id))
    await takeUp(unknown)
    for (const owned of endpoints.all()) {
      const hasDue = leases.get(owned.endpointId)?.has_due
      reviewHealth(owned, hasDue ?? true)
      if (hasDue) endpoints.requestRead(owned)
    }
  }

  /** Takes up to `wanted` endpoints. */
  const takeFree = async (others: readonly string[], wanted: number): Promise<void> => {
    const limit = Math.min(TAKEN_AT_ONCE, wanted)
    const free = await readFree(database, { dispatcherId: owner, others, limit })
    if (free.length === 0) return
    const taken = await takeLeases(database, owner, free).catch(noneIfGone)
    if (free.length === TAKEN_AT_ONCE) isWanted = true
    await takeUp(taken)
  }

  /**
   * Drops a lost endpoint. With an attempt under way it is kept as `leaving`, because a re-enable under the same lease would
   * read that delivery again.
   */
  const lose = (owned: OwnedEndpoint, isTakenAnew = false) => {
    endpoints.leave(owned)
    if (isTakenAnew || owned.inMemory.size === 0) endpoints.drop(owned)
  }

  /** An endpoint was deleted with its partner after it was read: a beat follows at once, and reads those that are left. */
  const noneIfGone = (error: unknown): [] => {
    if (!failureOf(error).refersToNothing) throw error
    isWanted = true
    return []
  }

  /** Begins to send to endpoints. Beats follow one another, so nothing takes these up meanwhile. */
  const takeUp = async (
    leases: readonly { partner_id: string; endpoint_id: string; epoch: number }[],
  ): Promise<void> => {
    if (leases.length === 0) return
    const ids = leases.map(lease => ({ partnerId: lease.partner_id, endpointId: lease.endpoint_id }))
    const epochs = new Map(leases.map(lease => [lease.endpoint_id, lease.epoch]))
    for (const loaded of await load(ids))
      endpoints.add(ownEndpoint(loaded, epochs.get(loaded.endpoint.endpoint_id) ?? 0))
  }

  const reload = async (changed: readonly OwnedEndpoint[]): Promise<void> => {
    const found = new Map((await load(changed)).map(one => [one.endpoint.endpoint_id, one]))
    for (const owned of changed) {
      const opened = found.get(owned.endpointId)
      if (!opened) {
        endpoints.leave(owned)
        continue
      }
      if (opened.endpoint.url !== owned.endpoint.url) {
        context.outgoing.forget(owned.endpointId)
        // How long attempts at the old address take says nothing about the new one.
        endpoints.turns.forget(owned.endpointId)
      }
      replaceEndpoint(owned, opened)
      if (opened.endpoint.disabled_at !== null) endpoints.leave(owned)
      else endpoints.requestRead(owned)
      endpoints.offer(owned)
    }
  }

  const giveUpAbove = (part: number, from: readonly OwnedEndpoint[]) => {
    const surplus = from.filter(owned => owned.phase !== 'leaving').slice(part)
    for (const owned of surplus) endpoints.leave(owned)
    // Where nothing is under way, no ending attempt will request the heartbeat that gives the endpoint up.
    if (surplus.some(owned => owned.inMemory.size === 0)) isWanted = true
  }

  return {
    request,
    reload,
    areLeasesValid,
    isBusy: () => beating !== undefined || isWanted,
    async end() {
      isEnded = true
      await beating
    },
  }
}
