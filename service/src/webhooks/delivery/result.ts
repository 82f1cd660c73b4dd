import type { Instant } from '../../calendar/calendar.ts'
import type { Disposition, EndedAttempt } from '../endpoint/verdict.ts'
import type { Attempt } from './attempt.ts'
import type { Item } from './claim.ts'
import type { Target } from './target.ts'

/** The result of one attempt at a delivery: one request, or two while new credentials are on trial. */
export type Result = {
  readonly target: Target
  readonly item: Item
  readonly disposition: Disposition
  readonly attempts: readonly Attempt[]
  readonly endedAt: Instant
  /** What it shows about the endpoint; absent where that is nothing new. `version` is the endpoint's when it began. */
  readonly ended?: (EndedAttempt & { readonly version: number }) | undefined
}
