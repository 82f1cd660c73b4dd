import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { LoadedUser } from '../reading/loaded-user.ts'
import type { AppliedChange } from '../rules/apply-due.ts'
import type { Raised } from '../rules/events.ts'
import { linesOf } from '../rules/history.ts'
import { changesThePast, offerPeriodsOf } from '../rules/offer-periods.ts'
import type { User } from '../rules/state.ts'
import type { BatchWrites, HistoryRow } from './batch-writes.ts'

/** An empty collection, which will be written at an instant of real time. */
export function noWrites(recordedAt: Instant): BatchWrites {
  return {
    recordedAt,
    renamed: [],
    changed: new Map(),
    erased: [],
    ended: [],
    consents: new Map(),
    confirmations: [],
    retained: [],
    farewells: [],
    told: [],
    chargedFrom: [],
    named: new Map(),
    documents: new Map(),
    history: [],
    offerPeriods: new Map(),
    correctedPasts: new Map(),
    events: [],
    staleKeys: [],
    keys: [],
    alongside: [],
  }
}

/** Adds a change of a user, which makes its next version, and the events that the change raised. */
export function recordChange(
  writes: BatchWrites,
  mine: LoadedUser,
  applied: AppliedChange,
  by: HistoryRow['by'],
): void {
  const { before, after: user } = applied
  const isOver = user.status === 'cancelled' || user.status === 'erased'
  if (isOver && before.status !== user.status) writes.ended.push(user)
  mine.version += 1
  const events = applied.events.map(event => ({
    id: uuidv7(writes.recordedAt),
    user,
    eventname: event.eventname,
    body: bodyOf(user, event),
    data: { name: event.benefit, reason: event.reason, traceparent: by.traceparent },
  }))
  writes.events.push(...events)
  for (const period of offerPeriodsOf(applied))
    writes.offerPeriods.set(versionName(user, period.name, period.startsAt), { user, period })
  if (changesThePast(applied)) writes.correctedPasts.set(user.serviceId, user)
  writes.history.push({
    user,
    version: mine.version,
    at: applied.at,
    recordedAt: writes.recordedAt,
    by,
    lines: linesOf(applied, by.who, by.why),
    eventIds: events.map(event => event.id),
  })
}

/** The body of an event, with its members in the order of the interface; every attempt sends these bytes. */
function bodyOf(user: User, event: Raised): Buffer {
  return Buffer.from(
    JSON.stringify({
      userid: user.userid,
      eventname: event.eventname,
      currentofferdetails: {
        offer: event.offer,
        updatedat: formatTimestamp(event.updatedAt),
        serviceid: user.serviceId,
      },
    }),
  )
}

/** The name within a batch of a version of a user's consent or designation. */
export function versionName(
  { serviceId }: Pick<User, 'serviceId'>,
  name: string,
  version: string | number,
): string {
  return `${serviceId} ${name} ${version}`
}
