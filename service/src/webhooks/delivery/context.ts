import type { Instant } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import type { Log } from '../../log.ts'
import type { Directory } from '../../partners/directory.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import type { WebhookMetrics } from './metrics.ts'
import type { OwnedEndpoints } from './owned-endpoints.ts'
import type { Timers } from './timers.ts'
import type { Writer } from './writer.ts'

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

/** What its parts share besides. */
export type PartContext = DispatcherContext & {
  readonly timers: Timers
  readonly writer: Writer
  readonly endpoints: OwnedEndpoints
  /** How many attempts may be under way at once, over all endpoints and at one of them. */
  readonly slots: number
  readonly endpointSlots: number
  /** Called when something may have become possible. */
  readonly wake: () => void
}
