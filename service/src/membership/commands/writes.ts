import type { EventName } from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { AppliedChange } from '../rules/apply-due.ts'
import type { Raised } from '../rules/events.ts'
import { linesOf } from '../rules/history.ts'
import type { Designation, User } from '../rules/state.ts'
import type { BatchWrites } from './batch-writes.ts'
import type { Command } from './command.ts'
import type { LoadedUser } from './loaded-user.ts'

/** The writes that a batch has collected. */
export type Writes = {
  renamed: BatchWrites['renamed'][number][]
  /** By serviceid, which no two users have in common. */
  changed: Map<string, LoadedUser>
  erased: BatchWrites['erased'][number][]
  ended: BatchWrites['ended'][number][]
  documents: Map<string, BatchWrites['documents'][number]>
  history: BatchWrites['history'][number][]
  events: BatchWrites['events'][number][]
  consents: BatchWrites['consents'][number][]
  confirmations: BatchWrites['confirmations'][number][]
  /** The sealed beneficiaries of new designations, by user, benefit and version. */
  named: Map<string, Buffer>
  staleKeys: BatchWrites['staleKeys'][number][]
  keys: BatchWrites['keys'][number][]
  alongside: BatchWrites['alongside'][number][]
}

/** An empty collection. */
export function noWrites(): Writes {
  return {
    renamed: [],
    changed: new Map(),
    erased: [],
    ended: [],
    documents: new Map(),
    history: [],
    events: [],
    consents: [],
    confirmations: [],
    named: new Map(),
    staleKeys: [],
    keys: [],
    alongside: [],
  }
}

/** Adds a change of a user, which makes its next version, and the events that the change raised. */
export function recordChange(
  writes: Writes,
  mine: LoadedUser,
  applied: AppliedChange,
  by: Pick<Command<unknown>, 'who' | 'why' | 'actor' | 'requestId' | 'reference'> & { real: Instant },
): void {
  const { before, after: user } = applied
  const isOver = user.status === 'cancelled' || user.status === 'erased'
  if (isOver && before.status !== user.status) writes.ended.push(user)
  mine.version += 1
  const events = applied.events.map(event => ({
    id: uuidv7(by.real),
    user,
    eventname: event.eventname,
    body: bodyOf(user, event),
    data: dataOf(event),
  }))
  writes.events.push(...events)
  writes.history.push({
    user,
    version: mine.version,
    at: applied.at,
    who: by.who,
    lines: linesOf(applied, by.who, by.why),
    eventIds: events.map(event => event.id),
    actor: by.actor,
    requestId: by.requestId,
    reference: by.reference,
  })
}

/** The data that the log keeps about an event besides its body. */
function dataOf({ benefit, reason }: Raised): Record<string, string> {
  const data: Record<string, string> = {}
  if (benefit !== undefined) data['name'] = benefit
  if (reason !== undefined) data['reason'] = reason
  return data
}

/** The body of an event, with its members in the order of the interface; every attempt sends these bytes. */
function bodyOf(user: User, event: Raised): Buffer {
  return Buffer.from(
    JSON.stringify({
      userid: user.userid,
      eventname: event.eventname satisfies EventName,
      currentofferdetails: {
        offer: event.offer,
        updatedat: formatTimestamp(event.updatedAt),
        serviceid: user.serviceId,
      },
    }),
  )
}

/** Everything collected, ready to be written at an instant of real time. */
export function writesOf(
  writes: Writes,
  retained: BatchWrites['retained'],
  recordedAt: Instant,
): BatchWrites {
  const { named, ...collected } = writes
  const changed = [...writes.changed.values()]
  // Almost all users of most batches have no enrolments and have named nobody: these are not gone through one by one.
  const holders = changed.filter(mine => mine.user.enrolments.length > 0)
  const designating = changed.filter(({ user }) => user.designations.length > 0 && user.status !== 'erased')
  return {
    ...collected,
    recordedAt,
    retained,
    users: changed,
    enrolments: holders.flatMap(mine =>
      mine.user.enrolments
        .filter(enrolment => !mine.stored?.enrolments.includes(enrolment))
        .map(enrolment => ({ user: mine.user, enrolment })),
    ),
    designations: designating.flatMap(mine => freshDesignations(mine, named)),
    decidedDesignations: designating.flatMap(decidedDesignations),
    consents: lastOnes(
      writes.consents,
      entry => `${entry.user.serviceId} ${entry.consent.name} ${entry.consent.version}`,
    ),
    documents: [...writes.documents.values()].filter(change => change.user.status !== 'erased'),
  }
}

/** The name of a designation within a batch. */
export function designationName(
  user: Pick<User, 'serviceId'>,
  { benefit, version }: Pick<Designation, 'benefit' | 'version'>,
): string {
  return `${user.serviceId} ${benefit} ${version}`
}

function freshDesignations(
  { user, stored }: LoadedUser,
  named: ReadonlyMap<string, Buffer>,
): BatchWrites['designations'] {
  return user.designations
    .filter(designation => !storedDesignation(stored, designation))
    .map(designation => {
      const sealed = named.get(designationName(user, designation))
      if (!sealed) throw new Error('a designation that names nobody')
      return { user, designation, sealed }
    })
}

function decidedDesignations({ user, stored }: LoadedUser): BatchWrites['decidedDesignations'] {
  return user.designations
    .filter(
      designation =>
        (storedDesignation(stored, designation)?.status ?? designation.status) !== designation.status,
    )
    .map(designation => ({ user, designation }))
}

function storedDesignation(
  stored: User | undefined,
  { benefit, version }: Designation,
): Designation | undefined {
  return stored?.designations.find(known => known.benefit === benefit && known.version === version)
}

function lastOnes<T>(entries: readonly T[], nameOfEntry: (entry: T) => string): T[] {
  return [...new Map(entries.map(entry => [nameOfEntry(entry), entry])).values()]
}
