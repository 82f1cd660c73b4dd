import { noteRefusedBodies } from '../accounts/refused-bodies.ts'
import { mountBulk } from '../bulk/mount.ts'
import type { OpenBulks } from '../bulk/open-bulks.ts'
import { type MountContext, mountOperations } from '../http/mount.ts'
import { defaultRequestLimits } from '../http/request-limits.ts'
import type { createServer } from '../http/server.ts'
import { longTurns } from '../http/shedding/long-reads.ts'
import type { Turns } from '../http/shedding/turns.ts'
import {
  authenticatePartner,
  type Caller,
  type Callers,
  type refuseFailures,
} from '../partners/authenticate.ts'
import type { Partner } from '../partners/partner.ts'
import type { RateLimits } from '../partners/rate-limit.ts'
import { findPartners } from '../partners/store.ts'
import type { Quiet } from '../quiet.ts'
import { sandboxHandlers } from '../sandbox/handlers.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { Delivery } from './delivery.ts'
import { dryHandlers, longOperations, partnerHandlers } from './operations.ts'
import type { Shared } from './shared.ts'
import type { Users } from './users.ts'

/** What the operations of partners need. */
type ApiContext = {
  readonly users: Users
  readonly delivery: Delivery
  readonly schedule: Schedule
  readonly quiet: Quiet
  readonly baseUrl: () => string
  readonly basePath: string
  readonly isClosing: () => boolean
  readonly refuse: ReturnType<typeof refuseFailures>
  readonly callers: Callers
  readonly rates: RateLimits
  readonly bulks: OpenBulks
  readonly turns: Turns
}

/** Mounts the operations of the API, those of a sandbox only in one. */
export function mountApi(app: ReturnType<typeof createServer>, shared: Shared, context: ApiContext): void {
  const { options, clock, directory } = shared
  const { users, schedule, baseUrl, basePath, refuse, callers } = context
  const { database } = options
  const mounting: MountContext<Caller> = {
    basePath,
    authenticate: authenticatePartner({ directory, callers, real: options.real, refuse }),
    limit: caller => context.rates.count(caller.partner),
    longOperations,
    onRefusedBody: noteRefusedBodies({ clock, noteRefused: users.noteRefused }),
  }
  const { dispatcher } = context.delivery
  const catchUp = async (partner: Partner) => {
    if (context.quiet.isQuiet()) return
    // Another process of a sandbox may just have moved the clock.
    const [row] = options.installation.sandbox ? await findPartners(database, [partner.partnerId]) : []
    await schedule.catchUp({ ...partner, clockOffsetMs: row?.clock_offset_ms ?? partner.clockOffsetMs })
  }
  const handlers = partnerHandlers(shared, users, {
    dispatcher,
    catchUp,
    baseUrl,
    turn: longTurns(context.turns),
  })
  mountOperations(app, handlers, mounting)
  mountBulk(app, {
    ...mounting,
    handlers,
    dryHandlers: dryHandlers(shared, users),
    limits: options.requestLimits ?? defaultRequestLimits,
    log: options.log,
    baseUrl,
    isClosing: context.isClosing,
    turns: context.turns,
    bulks: context.bulks,
  })
  if (options.installation.sandbox)
    mountOperations(app, sandboxHandlers({ database, directory, clock, schedule }), mounting)
}
