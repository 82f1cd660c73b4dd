import { setTimeout } from 'node:timers/promises'
import type { Catalogue } from '../../catalogue/model.ts'
import { openPublished } from '../../catalogue/published.ts'
import type { Database } from '../../db/database.ts'
import { describeCause } from '../../log.ts'
import type { ConsoleContext } from '../console-context.ts'
import { countImpact, type Impact } from './count.ts'

/** A count in the background, and its result. */
export type Counting = { users: number; impact?: Impact; hasFailed?: boolean }

const MOST_KEPT = 4
const countings = new WeakMap<Database, Map<string, Counting>>()

/**
 * The count for a draft, found by the id of its effect. The first call in this process starts it. It uses at most half a
 * processor, so that requests are answered meanwhile.
 */
export function countingOf(
  context: ConsoleContext,
  { effect, catalogue }: { readonly effect: string; readonly catalogue: Catalogue },
): Counting {
  const { database, log } = context
  const known = countings.get(database) ?? new Map<string, Counting>()
  countings.set(database, known)
  const running = known.get(effect)
  if (running && !running.hasFailed) return running
  const counting: Counting = { users: 0 }
  known.delete(effect)
  known.set(effect, counting)
  for (const oldest of [...known.keys()].slice(0, -MOST_KEPT)) known.delete(oldest)
  let begunAt = performance.now()
  const onBatch = async (users: number) => {
    counting.users = users
    // Nobody waits for a count that newer ones have replaced.
    if (known.get(effect) !== counting) throw new Error('the count was given up for newer ones')
    await setTimeout(performance.now() - begunAt, undefined, { ref: false })
    begunAt = performance.now()
  }
  countImpact({ ...context, published: openPublished(context), onBatch }, catalogue).then(
    impact => {
      counting.impact = impact
    },
    error => {
      counting.hasFailed = true
      log('failure', describeCause(error))
    },
  )
  return counting
}
