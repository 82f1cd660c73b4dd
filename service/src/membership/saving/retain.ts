import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { confirmationRecord } from '../records/confirmations.ts'
import { byBenefit, designationOf, designationRecord } from '../records/designations.ts'
import { type RetainedKind, retainedRecords, sealRetained } from '../records/retained-rows.ts'
import {
  type OpenRecord,
  openRecord,
  type RecordKind,
  readRecords,
  sealedRecords,
} from '../records/sealed.ts'
import { addedTo, addRow, type BatchWrites, type ErasedUserRow } from './writes.ts'

/** The records of an erased user of one kind of sealed record, those of the same batch among them; oldest first. */
type Opened = (kind: RecordKind) => Promise<OpenRecord[]>

/**
 * Every kind of record that outlives an erasure when the partner's `retain` is set. To keep another kind, add it here: an empty list
 * for a user who has none.
 */
const kinds: Readonly<
  Record<
    RetainedKind,
    (erased: ErasedUserRow, opened: Opened) => readonly object[] | Promise<readonly object[]>
  >
> = {
  consents: consentsOf,
  coverage: coverageOf,
  confirmations: async (_, opened) => (await opened('confirmation')).map(confirmationRecord),
  beneficiaries: async (_, opened) =>
    (await opened('beneficiaries')).map(designationOf).sort(byBenefit).map(designationRecord),
}

/**
 * Seals the records that a partner must keep of erased users anew, under keys of their own, because the data key that
 * sealed them is about to be deleted. What is read here belongs to the version of the user on which the erasure was
 * decided: if another version was written meanwhile, the commit fails.
 */
export async function retain(db: Executor, writes: BatchWrites): Promise<void> {
  for (const erased of writes.erased) {
    const { partner, user } = erased
    if (partner.retainYears === 0) continue
    const keepUntil = yearsAfter(user.erasedAt ?? user.updatedAt, partner.retainYears)
    const opened: Opened = kind => recordsOf(db, writes, { erased, kind })
    for (const kind of Object.keys(kinds) as RetainedKind[]) {
      const records = (await kinds[kind](erased, opened)).map(one => ({ userid: user.userid, ...one }))
      if (records.length === 0) continue
      addRow(
        writes,
        retainedRecords,
        sealRetained(partner, { serviceId: user.serviceId, kind }, records, keepUntil),
      )
    }
  }
}

async function recordsOf(
  db: Executor,
  writes: BatchWrites,
  { erased, kind }: { readonly erased: ErasedUserRow; readonly kind: RecordKind },
): Promise<OpenRecord[]> {
  const { user, partner, key } = erased
  if (!key) return []
  const fresh = addedTo(writes, sealedRecords)
    .filter(row => row.user.serviceId === user.serviceId && row.kind === kind)
    .map(({ facts = {}, ...row }) => ({
      ...row,
      facts: facts as OpenRecord['facts'],
      content: () => openRecord(key, kind, row.sealed, user),
    }))
  return [...(await readRecords(db, { partner, user }, kind)).reverse(), ...fresh]
}

/** The same date that many years later; February 29 becomes March 1 in a year without it. */
function yearsAfter(at: Instant, years: number): Instant {
  const date = new Date(at)
  return date.setUTCFullYear(date.getUTCFullYear() + years)
}

/** The consents; those that an operator put on record include how they were given, and the evidence. */
async function consentsOf({ user }: ErasedUserRow, opened: Opened): Promise<readonly object[]> {
  if (user.consents.length === 0) return []
  const records = await opened('evidence')
  return user.consents.map(({ name, version, agreedAt, locale, channel }) => {
    const own = records.findLast(one => one.name === name && one.version === version)
    return {
      name,
      version,
      agreedat: formatTimestamp(agreedAt),
      locale,
      ...(channel === undefined ? {} : { channel }),
      ...(own === undefined ? {} : { evidence: own.content() }),
    }
  })
}

/** All enrolments with their dates of cover, and the terms under which each began. */
function coverageOf({ user }: ErasedUserRow): readonly object[] {
  return user.enrolments.map(one => ({
    benefit: one.benefit,
    offer: one.offer,
    state: one.state,
    catalogueversion: one.version,
    startsat: formatTimestamp(one.startsAt),
    endsat: one.endsAt === undefined ? null : formatTimestamp(one.endsAt),
    reason: one.closeReason === 'cancelled' ? (user.cancel?.reason ?? one.closeReason) : one.closeReason,
  }))
}
