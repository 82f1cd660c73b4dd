import { failureOf } from '../../db/failure.ts'
import { describeCause } from '../../log.ts'
import type { PartContext } from './context.ts'
import { openEndpointLoader } from './endpoint-loader.ts'
import { type OwnedEndpoint, ownEndpoint, replaceEndpoint } from './endpoint-queues.ts'
import { openHealthReview } from './health-review.ts'
import {
  leave,
  type PlaceLeases,
  readFree,
  readLeases,
  reportAlive,
  TAKEN_AT_ONCE,
  takeLeases,
} from './lease.ts'
import { everywhere, hasPartner, openPlaceWork, ownedAt, type Place, placesOfNodes } from './places.ts'

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
  /** How often the lease has ended. What was read or taken before may belong to another process since. */
  let endings = 0
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
  const work = openPlaceWork({ patienceMs: leaseMs / 8, log, onLate: request })

  const runBeat = async (): Promise<void> => {
    const left = endpoints.all().filter(owned => owned.phase === 'leaving' && owned.inMemory.size === 0)
    if (left.length > 0) await giveUp(left)
    const startedAt = performance.now()
    const wereValid = areLeasesValid()
    // The process trusts its lease for less time than the database does, so that no attempt begins after its end.
    const extendLeases = () => {
      validUntil = startedAt + leaseMs * 0.9
    }
    const heartbeat = { dispatcherId: owner, leaseMs, now: real() }
    const { others, read, ...life } = await reportAlive(database, heartbeat)
    // A beat may have failed after it had reported that this process lives again, before it learned what was lost.
    const isLate = life.isLate || !wereValid
    if (isLate) endings += 1
    else extendLeases()
    const answers = await readPlaces(async place => read ?? (await readLeases(database, heartbeat, place)))
    const isAnswered = ({ partnerId }: OwnedEndpoint) =>
      answers.some(({ place }) => hasPartner(place, partnerId))
    // Others may have taken the rest while this process was late.
    if (isLate) for (const owned of endpoints.all()) if (!isAnswered(owned)) endpoints.leave(owned)
    extendLeases()
    // Endpoints on a node that is away are left out of the count: each process may remember another number of them, and
    // each might think that the rest is the share of another.
    const part = Math.ceil(sum(answers.map(({ found }) => found.count)) / (others.length + 1))
    let wanted = part - sum(answers.map(({ found }) => found.leases.length))
    for (const { place } of answers) {
      if (wanted <= 0) break
      wanted -= (await work.run(place, () => takeFree(place, others, wanted))) ?? 0
    }
    giveUpAbove(part, endpoints.all().filter(isAnswered))
  }

  type Read = (place: Place) => Promise<PlaceLeases>
  type Answer = { readonly place: Place; readonly found: PlaceLeases }

  /** Reads and takes in what this process owns, on a cluster node by node while any of them is away. */
  const readPlaces = async (read: Read): Promise<Answer[]> => {
    let isTooLate = false
    const ended = endings
    // A late answer of one node must not replace a newer answer for all nodes.
    const whole = await atEach(work.isAnyUnderWay() ? [] : [everywhere], async place => {
      const found = await read(place)
      return isTooLate ? found : takeIn(place, found, ended)
    })
    if (whole.length > 0 || !database.layout.isSpread) return whole
    isTooLate = true
    const places = await placesOfNodes(database)
    // An endpoint that is at none of these places belonged to a partner that was deleted.
    for (const owned of endpoints.all())
      if (!places.some(place => hasPartner(place, owned.partnerId))) lose(owned)
    return atEach(places, async place => takeIn(place, await read(place), ended))
  }

  /** Runs the work at all places at once, except where earlier work still runs; returns what succeeded in time. */
  const atEach = async <Found>(
    places: readonly Place[],
    run: (place: Place) => Promise<Found>,
  ): Promise<{ place: Place; found: Found }[]> => {
    const asked = places.filter(place => !work.isBusy(place))
    const ends = await Promise.all(
      asked.map(place => work.run(place, async () => ({ place, found: await run(place) }))),
    )
    return ends.filter(end => end !== undefined)
  }

  /** Node by node: one statement for all would need every node, and one for each partner would take every connection. */
  const giveUp = async (left: readonly OwnedEndpoint[]): Promise<void> => {
    const [nodes] = database.layout.isSpread
      ? await atEach([everywhere], () => placesOfNodes(database))
      : [{ found: [everywhere] }]
    await atEach(nodes?.found ?? [], async place => {
      const own = ownedAt(place, left)
      if (own.length > 0) await leave(database, own).catch(noneIfGone)
    })
  }

  /** Owns from now on, at a place, exactly the endpoints that the database says are this process's. */
  const takeIn = async (place: Place, found: PlaceLeases, ended: number): Promise<PlaceLeases> => {
    if (ended !== endings) return found
    const leases = new Map(found.leases.map(lease => [lease.endpoint_id, lease]))
    for (const owned of ownedAt(place, endpoints.all()))
      if (leases.get(owned.endpointId)?.epoch !== owned.epoch) lose(owned, leases.has(owned.endpointId))
    const outdated = ownedAt(place, endpoints.all()).filter(
      owned => (leases.get(owned.endpointId)?.version ?? owned.endpoint.version) !== owned.endpoint.version,
    )
    if (outdated.length > 0) await reload(outdated)
    const unknown = found.leases.filter(lease => !endpoints.get(lease.endpoint_id))
    await takeUp(unknown, ended)
    for (const owned of ownedAt(place, endpoints.all())) {
      const hasDue = leases.get(owned.endpointId)?.has_due
      reviewHealth(owned, hasDue ?? true)
      if (hasDue) endpoints.requestRead(owned)
    }
    return found
  }

  /** Takes up to `wanted` endpoints at a place, and returns how many. */
  const takeFree = async (place: Place, others: readonly string[], wanted: number): Promise<number> => {
    const limit = Math.min(TAKEN_AT_ONCE, wanted)
    const ended = endings
    const free = await readFree(database, { dispatcherId: owner, others, place, limit })
    if (free.length === 0) return 0
    const taken = await takeLeases(database, owner, free).catch(noneIfGone)
    if (free.length === TAKEN_AT_ONCE) isWanted = true
    await takeUp(taken, ended)
    return taken.length
  }

  /**
   * Forgets an endpoint that is not owned any more. While an attempt is under way, it is only left: if it was disabled, it
   * may be enabled again under the same lease, and would otherwise be read anew, with the delivery that is under way.
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

  /** Begins to send to endpoints that this process owned when its lease had ended `ended` times. */
  const takeUp = async (
    leases: readonly { partner_id: string; endpoint_id: string; epoch: number }[],
    ended: number,
  ): Promise<void> => {
    if (leases.length === 0) return
    const ids = leases.map(lease => ({ partnerId: lease.partner_id, endpointId: lease.endpoint_id }))
    const epochs = new Map(leases.map(lease => [lease.endpoint_id, lease.epoch]))
    for (const loaded of await load(ids)) {
      const { endpoint_id: endpointId } = loaded.endpoint
      const epoch = epochs.get(endpointId) ?? 0
      // If loading took long, a later beat may own the endpoint already, and its deliveries under way must not be read again.
      const isTakenUp = (endpoints.get(endpointId)?.epoch ?? 0) >= epoch
      if (ended === endings && !isTakenUp) endpoints.add(ownEndpoint(loaded, epoch))
    }
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
    isBusy: () => beating !== undefined || isWanted || work.isAnyUnderWay(),
    async end() {
      isEnded = true
      await beating
      await work.ended()
    },
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
