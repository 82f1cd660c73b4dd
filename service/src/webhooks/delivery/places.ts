import type { Executor } from '../../db/database.ts'
import { namingPartners, type Part, sql } from '../../db/sql.ts'
import { describeCause, type Log } from '../../log.ts'

/** Partners whose rows one statement may ask for. */
export type Place = {
  readonly name: string
  /** `undefined` is all partners. */
  readonly partnerIds: ReadonlySet<string> | undefined
}

/** All partners. On a cluster what is asked of them fails while any node is away. */
export const everywhere: Place = { name: 'everywhere', partnerIds: undefined }

/**
 * The partners of each node of a cluster. With a thousand partners, to ask each node by itself costs seven times as much
 * as to ask for all at once, as it names them.
 */
export async function placesOfNodes(db: Executor): Promise<Place[]> {
  const rows = await db.query<{ name: string; partner_ids: string[] }>(sql`
    select placement.groupid::text as name, array_agg(p.partner_id)::text[] as partner_ids
    from partners p
    join pg_dist_shard shard on shard.logicalrelid = 'webhook_endpoints'::regclass
      and worker_hash(p.partner_id) between shard.shardminvalue::integer and shard.shardmaxvalue::integer
    join pg_dist_placement placement using (shardid)
    group by placement.groupid`)
  return rows.map(row => ({ name: row.name, partnerIds: new Set(row.partner_ids) }))
}

/** Whether a partner belongs to a place. */
export function hasPartner({ partnerIds }: Place, partnerId: string): boolean {
  return partnerIds?.has(partnerId) ?? true
}

/** Those of these endpoints whose partners belong to a place. */
export function ownedAt<Owned extends { readonly partnerId: string }>(
  place: Place,
  owned: readonly Owned[],
): Owned[] {
  return owned.filter(({ partnerId }) => hasPartner(place, partnerId))
}

/** Returns what adds to a statement that it is about these partners, so that a cluster needs no nodes but theirs. */
export function atPlace({ partnerIds }: Place): (column: Part) => Part {
  return namingPartners(partnerIds !== undefined, [...(partnerIds ?? [])])
}

/** Pieces of work that each ask for one place, and do not wait for each other. */
export type PlaceWork = {
  /**
   * Does the work, and fulfils with its result, or with `undefined` if it failed or takes too long. A node may answer
   * nothing for long, and the others must not wait for it: such work goes on, and until its end the place is busy.
   */
  run<Result>(place: Place, work: () => Promise<Result>): Promise<Result | undefined>
  isBusy(place: Place): boolean
  isAnyUnderWay(): boolean
  /** Fulfils when the work that is under way has ended. */
  ended(): Promise<unknown>
}

/** How many times longer a place that has answered slowly is waited for, at most. */
const MOST_PATIENCE = 4

/**
 * Opens the work. It takes too long after `patienceMs`, or after twice the time that work at the same place has needed
 * lately: a place that always answers slowly is no reason never to learn what is there. `onLate` is called when work that
 * took too long has ended.
 */
export function openPlaceWork(context: { patienceMs: number; log: Log; onLate: () => void }): PlaceWork {
  const { patienceMs, log, onLate } = context
  const underWay = new Map<string, Promise<unknown>>()
  const neededMs = new Map<string, number>()
  const noteTime = (name: string, ms: number) =>
    neededMs.set(name, Math.max(ms, (neededMs.get(name) ?? 0) * 0.9))
  return {
    run({ name }, work) {
      let isLate = false
      const startedAt = performance.now()
      const mostMs = Math.min(patienceMs * MOST_PATIENCE, Math.max(patienceMs, (neededMs.get(name) ?? 0) * 2))
      return new Promise(resolve => {
        const timeout = setTimeout(() => {
          isLate = true
          log('webhook_endpoints_not_read', { cause: 'late' })
          resolve(undefined)
        }, mostMs)
        const end = work()
          .then(
            result => {
              noteTime(name, performance.now() - startedAt)
              resolve(result)
            },
            error => {
              log('webhook_endpoints_not_read', describeCause(error))
              resolve(undefined)
            },
          )
          .finally(() => {
            clearTimeout(timeout)
            underWay.delete(name)
            if (isLate) onLate()
          })
        underWay.set(name, end)
      })
    },
    isBusy: ({ name }) => underWay.has(name),
    ended: () => Promise.all(underWay.values()),
    isAnyUnderWay: () => underWay.size > 0,
  }
}
