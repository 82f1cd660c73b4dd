import type { Instant } from '../../calendar/calendar.ts'
import { type Columns, column, within } from '../../db/columns.ts'
import { type Query, sql, timestamp } from '../../db/sql.ts'
import { type RowTable, rowsInto } from '../../db/table.ts'
import type { Command } from '../command.ts'
import { type KeyName, keyNames, type SeenKey } from '../reading/load.ts'
import type { FarewellRow } from '../records/farewells.ts'
import { insurerLines } from '../records/insurer-lines.ts'
import { retainedRecords } from '../records/retained-rows.ts'
import { sealedRecords, type UserIds, userKey } from '../records/sealed.ts'
import { consents as consentColumns } from '../records/tables.ts'
import type { OfferPeriod, StoredLine } from '../rules/history.ts'
import type { Consent, ConsentChannel, User } from '../rules/state.ts'

/** An idempotency key that a command has spent; later commands of the batch see it. */
export type ReservedKey = SeenKey & {
  readonly partnerId: string
  readonly operation: string
  readonly keyHash: Buffer
  readonly serviceId: string
  readonly sealedAnswer: Buffer | undefined
  readonly createdAt: Instant
}

/** The idempotency keys that commands have spent; one that another process has stored fails the transaction. */
export const idempotencyKeys = rowsInto<ReservedKey, KeyName>('idempotency_keys', keyNames, {
  request_hash: column.bytes(key => key.requestHash),
  attempt_id: column.uuid(key => key.attemptId),
  service_id: column.uuid(key => key.serviceId),
  prefill_number: column.integer(key => key.prefillNumber),
  sealed_answer: column.bytes(key => key.sealedAnswer),
  created_at: column.instant(key => key.createdAt),
  expires_at: column.instant(key => key.expiresAt),
})

type HeldPeriod = { readonly user: UserIds; readonly period: OfferPeriod }

/** Periods of offers that begin, end or get another end. */
export const heldPeriods = rowsInto<HeldPeriod, HeldPeriod>(
  'held_periods',
  {
    ...within(userKey, ({ user }: HeldPeriod) => user),
    name: column.text(({ period }) => period.name),
    starts_at: column.instant(({ period }) => period.startsAt),
  },
  {
    ends_at: column.instant(({ period }) => period.endsAt),
    catalogue_version: column.integer(({ period }) => period.version),
    is_offer: column.boolean(() => true),
  },
  { mayBeThere: () => true },
)

/** Users of whom something was changed that lay in the past: their adjustments are looked for. */
export const correctedPasts = rowsInto<UserIds & { readonly recordedAt: Instant }, UserIds>(
  'corrected_pasts',
  userKey,
  { recorded_at: column.instant(row => row.recordedAt) },
  { mayBeThere: () => true },
)

/** Imported members, and the months from which they are charged: what was before was charged elsewhere. */
export const chargedFrom = rowsInto<UserIds & { readonly month: string }, UserIds>(
  'charged_from',
  userKey,
  { month: column.text(row => row.month) },
  { mayBeThere: () => true },
)

/** Notes when a former member begins anew: if the former membership was an import, the later one is none. */
export function chargeAnew({ partnerId, serviceId }: UserIds, at: Instant): Query {
  return sql`
    update charged_from set anew_at = coalesce(anew_at, ${timestamp(at)})
    where partner_id = ${partnerId} and service_id = ${serviceId}`
}

type ConsentRow = {
  readonly user: UserIds
  readonly consent: Consent
  readonly textHash: Buffer | undefined
  readonly channel: ConsentChannel
  /** The operator who put the consent on record. */
  readonly recordedBy: string | undefined
}

const { name, version, ...others } = consentColumns.columns
const ofConsent = ({ consent }: ConsentRow) => consent

/** Consents, and how they were given; their evidence is a sealed record. */
export const consents = rowsInto<ConsentRow, ConsentRow>(
  'consents',
  {
    ...within(userKey, ({ user }: ConsentRow) => user),
    ...within({ name, version } as Columns<Consent>, ofConsent),
  },
  {
    ...within(others, ofConsent),
    channel: column.text(row => row.channel),
    text_hash: column.bytes(row => row.textHash),
    recorded_by: column.text(row => row.recordedBy),
  },
  { mayBeThere: () => true },
)

/** One change of one user. */
export type HistoryRow = {
  readonly user: User
  /** The version of the user after the change. */
  readonly version: number
  readonly at: Instant
  readonly recordedAt: Instant
  readonly by: Pick<Command<unknown>, 'who' | 'why' | 'actor' | 'requestId' | 'reference' | 'traceparent'>
  readonly lines: readonly StoredLine[]
  readonly eventIds: readonly string[]
}

/** What happened to users: a row for each of their versions. */
export const history = rowsInto<HistoryRow, HistoryRow>(
  'history',
  {
    ...within(userKey, ({ user }: HistoryRow) => user),
    version: column.integer(row => row.version),
  },
  {
    at: column.instant(row => row.at),
    recorded_at: column.instant(row => row.recordedAt),
    who: column.text(row => row.by.who),
    lines: column.json(row => row.lines),
    event_ids: column.text(row => `{${row.eventIds.join()}}`),
    actor: column.text(row => row.by.actor),
    request_id: column.uuid(row => row.by.requestId),
    reference: column.text(row => row.by.reference),
  },
  { casts: { event_ids: 'uuid[]' } },
)

/** What insurers must still be told of erased users. */
export const insurerFarewells = rowsInto<FarewellRow, FarewellRow>(
  'insurer_farewells',
  {
    ...within(userKey, ({ user }: FarewellRow) => user),
    benefit: column.text(row => row.benefit),
    cover: column.integer(row => row.cover),
  },
  {
    insurer: column.text(row => row.insurer),
    action: column.text(row => row.action),
    sealed: column.bytes(row => row.sealed),
    keep_until: column.instant(row => row.keepUntil),
  },
  { mayBeThere: () => true },
)

/**
 * The tables to which a change of a user adds rows, in the order in which they are written. A new table of a user is one declaration,
 * a place in this list, and a migration.
 */
export const writtenTables: readonly RowTable<never, never>[] = [
  idempotencyKeys,
  heldPeriods,
  correctedPasts,
  chargedFrom,
  consents,
  sealedRecords,
  history,
  insurerLines,
  retainedRecords,
  insurerFarewells,
]

/** The tables whose rows are deleted with their user; the others say why they stay in `tests/trust/erased-everywhere.test.ts`. */
export const erasedTables: readonly RowTable<never, never>[] = [consents, sealedRecords, insurerLines]
