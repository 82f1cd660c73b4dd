import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Query } from '../../db/sql.ts'
import type { RowTable } from '../../db/table.ts'
import type { Partner } from '../../partners/partner.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { Change, Command, ExecutorContext } from '../command.ts'
import { dataKeyOf, type LoadedUser } from '../reading/load.ts'
import { factsOf } from '../records/confirmations.ts'
import { importedRows, insurerLines } from '../records/insurer-lines.ts'
import {
  type DocumentKind,
  type SealedRecord,
  sealedRecords,
  sealRecord,
  searchHashesOf,
  type UserIds,
} from '../records/sealed.ts'
import type { AppliedChange } from '../rules/apply-due.ts'
import { changesThePast, linesOf, offerPeriodsOf } from '../rules/history.ts'
import type { Person } from '../rules/person.ts'
import type { Consent, Raised, User } from '../rules/state.ts'
import {
  chargeAnew,
  chargedFrom,
  consents,
  correctedPasts,
  type HistoryRow,
  heldPeriods,
  history,
} from './tables.ts'

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
    data: {
      ...{ name: event.benefit, dependantid: event.dependantId, reason: event.reason },
      traceparent: by.traceparent,
    },
  }))
  writes.events.push(...events)
  for (const period of offerPeriodsOf(applied)) addRow(writes, heldPeriods, { user, period })
  if (before.status === 'cancelled' && applied.events.some(isEnrolment))
    writes.alongside.push(chargeAnew(user, user.offer?.since ?? applied.at))
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

function isEnrolment({ eventname }: Raised): boolean {
  return eventname === 'enrollment_successful'
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

/** A decided change, with all that its sealed records depend on. */
type Sealing = {
  readonly context: Pick<ExecutorContext, 'clock' | 'consentHash'>
  readonly writes: BatchWrites
  readonly command: Pick<Command<unknown>, 'partner' | 'who' | 'actor'>
  /** The user after the change. */
  readonly mine: LoadedUser
  /** The user before the change. */
  readonly before: User
  readonly change: Change
  /** Whether prefilled data and a draft have expired, so that they are deleted. */
  readonly hasLapsed: boolean
  readonly now: Instant
}

/**
 * Adds to the writes of a batch what a change writes beside the user's state, sealed with the user's data key: consents,
 * documents, beneficiaries, dependants, the confirmation, and what insurers were told before. Throws when a consent that an operator puts on record has no evidence,
 * because it must not be stored without.
 */
export function writeSealed(sealing: Sealing): void {
  writeConsents(sealing)
  writeDocuments(sealing)
  writeDesignations(sealing)
  writeDependants(sealing)
  writeConfirmation(sealing)
  writeTold(sealing)
}

function writeConsents(sealing: Sealing): void {
  const { context, writes, command, mine, before } = sealing
  const { user } = mine
  for (const consent of user.consents) {
    if (before.consents.includes(consent)) continue
    const isGiven = consent.channel === undefined
    const isOnPage = command.who === 'user' || command.who === 'operatorlink'
    addRow(writes, consents, {
      user,
      consent,
      textHash: context.consentHash(consent),
      channel: consent.channel ?? (isOnPage ? 'page' : 'partner'),
      recordedBy: isGiven ? undefined : command.actor,
    })
    if (!isGiven) writeEvidence(sealing, consent)
  }
}

function writeEvidence(sealing: Sealing, consent: Consent): void {
  const { evidence } = sealing.change
  if (evidence === undefined) throw new Error('a consent without its evidence')
  const content = typeof evidence === 'string' ? evidence : evidence(consent)
  const { name, version, agreedAt: at } = consent
  if (!addSealed(sealing, { kind: 'evidence', name, version, at }, content))
    throw new Error('a consent without its evidence')
}

function writeDocuments(sealing: Sealing): void {
  const { writes, command, mine, change, hasLapsed, now } = sealing
  const { user } = mine
  const changes = hasLapsed ? { prefill: null, draft: null, ...change.documents } : (change.documents ?? {})
  for (const kind of Object.keys(changes) as DocumentKind[]) {
    const content: unknown = changes[kind] ?? undefined
    const found = kind !== 'draft' && content ? searchHashesOf(command.partner, content as Person) : undefined
    const name = { kind, name: '', version: '', at: now, found }
    const sealed = content === undefined ? undefined : addSealed(sealing, name, content)
    if (!sealed && !mine.documents.has(kind)) continue
    if (!sealed) removeRow(writes, sealedRecords, { ...name, user })
    mine.documents.set(kind, sealed)
    mine.people.set(kind, content as Person | undefined)
  }
}

function writeDesignations(sealing: Sealing): void {
  const { mine, before, change } = sealing
  for (const designation of mine.user.designations) {
    if (before.designations.includes(designation)) continue
    const { benefit, version, who, writtenAt: at } = designation
    const given = change.designations?.find(one => one.benefit === benefit && one.version === version)
    if (!given) throw new Error('a designation that names nobody')
    const name = { kind: 'beneficiaries', name: benefit, version: `${version}`, at, facts: { who } } as const
    addSealed(sealing, name, given.beneficiaries)
  }
}

/** Keeps each version of the list of dependants; the newest is part of the account's data, too. */
function writeDependants(sealing: Sealing): void {
  const { mine, before, change, command, now } = sealing
  const { dependantsVersion } = mine.user
  if (dependantsVersion === undefined || dependantsVersion === before.dependantsVersion) return
  const { dependants } = (change.documents?.profile ?? {}) as Person
  if (!dependants) throw new Error('a list of dependants that names nobody')
  const facts = { who: command.who, actor: command.actor }
  addSealed(
    sealing,
    { kind: 'dependants', name: '', version: `${dependantsVersion}`, at: now, facts },
    dependants,
  )
}

function writeConfirmation(sealing: Sealing): void {
  const { context, mine, change, now: at } = sealing
  const confirmation = change.confirmation?.(mine.user)
  if (!confirmation) return
  const version = uuidv7(context.clock.real())
  const facts = factsOf(confirmation)
  const name = { kind: 'confirmation', name: confirmation.reference, version, at, facts } as const
  addSealed(sealing, name, confirmation.content)
}

/** Seals a record and adds it to the writes; `undefined` for a user without a key, who was just erased. */
function addSealed(
  { writes, command, mine }: Sealing,
  name: Omit<SealedRecord, 'user' | 'sealed' | 'isFirst'>,
  content: unknown,
): Buffer | undefined {
  const { user } = mine
  const key = dataKeyOf(mine, command.partner)
  const sealed = key && sealRecord(key, name.kind, content, user)
  if (sealed) addRow(writes, sealedRecords, { ...name, user, sealed, isFirst: mine.readVersion === 0 })
  return sealed
}

function writeTold({ writes, command, mine, change }: Sealing): void {
  const { user } = mine
  if (change.chargedFrom) addRow(writes, chargedFrom, { ...user, month: change.chargedFrom })
  const key = change.told && dataKeyOf(mine, command.partner)
  if (!key || !change.told) return
  // Runs date their lines by the real clock, and the newest line of a cover counts.
  for (const row of importedRows(key, user, { covers: change.told, at: writes.recordedAt }))
    addRow(writes, insurerLines, row)
}
