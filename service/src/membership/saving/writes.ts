import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Query } from '../../db/sql.ts'
import type { RowTable } from '../../db/table.ts'
import type { Partner } from '../../partners/partner.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { LoadedUser } from '../reading/loaded-user.ts'
import type { UserIds } from '../records/sealed.ts'
import type { AppliedChange } from '../rules/apply-due.ts'
import type { Raised } from '../rules/events.ts'
import { linesOf } from '../rules/history.ts'
import { changesThePast, offerPeriodsOf } from '../rules/offer-periods.ts'
import type { User } from '../rules/state.ts'
import { correctedPasts, type HistoryRow, heldPeriods, history } from './tables.ts'

/** An event with the bytes that every attempt sends. */
export type EventRow = {
  readonly id: string
  readonly user: Pick<User, 'partnerId' | 'serviceId' | 'userid'>
  readonly eventname: string
  readonly body: Buffer
  /** What the log keeps besides the body. */
  readonly data: {
    readonly name?: string | undefined
    readonly reason?: string | undefined
    readonly traceparent?: string | undefined
  }
}
/** A user to write, if it still has the version that was read. */
export type ChangedUser = Pick<LoadedUser, 'user' | 'readVersion' | 'version' | 'wrappedKey'>

/** An erased user, and the text that replaces the userid. */
export type ErasedUserRow = {
  readonly user: User
  readonly name: string
  readonly partner: Partner
  /**
   * The key that opens the user's sealed records until the erasure is committed; `undefined`: nothing was ever sealed.
   */
  readonly key: Buffer | undefined
  /** How many lines insurers had been told about the user when the erasure was decided. */
  toldLines: number
}

/** Rows to add to a table and rows to delete from it, by their keys; the deletions come first. */
type TableRows = { readonly added: Map<string, unknown>; readonly deleted: Map<string, unknown> }

/** Everything that one batch writes, collected while its commands are decided. */
export type BatchWrites = {
  /** The real time of the writing. */
  readonly recordedAt: Instant
  /** Erased users who give up their name to a new user. */
  readonly renamed: UserIds[]
  /** The users to write, with their enrolments; by serviceid, which no two users have in common. */
  readonly changed: Map<string, LoadedUser>
  /** Erased users, with the texts that replace their userids. */
  readonly erased: ErasedUserRow[]
  /** Users whose cancel or erasure took effect, so that their links and sessions end. */
  readonly ended: User[]
  /** The rows of all other tables. */
  readonly rows: Map<RowTable<never, never>, TableRows>
  readonly events: EventRow[]
  /** Statements of commands that are committed together with their changes. */
  readonly alongside: Query[]
}

/** An empty collection, which will be written at an instant of real time. */
export function noWrites(recordedAt: Instant): BatchWrites {
  return {
    recordedAt,
    renamed: [],
    changed: new Map(),
    erased: [],
    ended: [],
    rows: new Map(),
    events: [],
    alongside: [],
  }
}

/** Adds a row to what is written, in place of one of the same key. */
export function addRow<Row extends Key, Key>(writes: BatchWrites, table: RowTable<Row, Key>, row: Row): void {
  rowsOf(writes, table).added.set(table.keyOf(row), row)
}

/** Deletes the row of this key, stored or about to be. */
export function removeRow<Key>(writes: BatchWrites, table: RowTable<never, Key>, key: Key): void {
  const { added, deleted } = rowsOf(writes, table)
  added.delete(table.keyOf(key))
  deleted.set(table.keyOf(key), key)
}

/** The rows that are about to be added to a table. */
export function addedTo<Row>(writes: BatchWrites, table: RowTable<Row, never>): Row[] {
  return [...(writes.rows.get(table)?.added.values() ?? [])] as Row[]
}

function rowsOf(writes: BatchWrites, table: RowTable<never, never>): TableRows {
  const known = writes.rows.get(table)
  if (known) return known
  const rows = { added: new Map(), deleted: new Map() }
  writes.rows.set(table, rows)
  return rows
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
  for (const period of offerPeriodsOf(applied)) addRow(writes, heldPeriods, { user, period })
  if (changesThePast(applied))
    addRow(writes, correctedPasts, { ...idsOf(user), recordedAt: writes.recordedAt })
  addRow(writes, history, {
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

function idsOf({ partnerId, serviceId }: UserIds): UserIds {
  return { partnerId, serviceId }
}
