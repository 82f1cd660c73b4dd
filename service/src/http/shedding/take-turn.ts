import { ServiceError } from '../service-error.ts'
import type { Turns } from './turns.ts'

/**
 * Resolves when it is this caller's turn for work of this weight, such as the next lines of a request that has many; what
 * it resolves to ends the turn. Rejects with `unavailable` when the work has waited for too long, or memory ends.
 */
export function takeTurn(turns: Turns, work: Parameters<Turns['wait']>[0]): Promise<() => void> {
  return new Promise((resolve, reject) => {
    turns.wait(work, end => {
      if (end) resolve(end)
      else reject(new ServiceError('unavailable', undefined, { headers: { 'Retry-After': '1' } }))
      return end !== undefined
    })
  })
}
