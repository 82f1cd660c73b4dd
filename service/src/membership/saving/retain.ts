import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { openConfirmation, readConfirmations } from '../records/confirmations.ts'
import { openEvidence, readConsentRecords } from '../records/consents.ts'
import { designationRecord, openDesignation, readDesignations } from '../records/designations.ts'
import { type RetainedKind, sealRetained } from '../records/retained-rows.ts'
import type { BatchWrites, ErasedUserRow } from './batch-writes.ts'
import { versionName } from './writes.ts'

/** A user whose erasure is about to be committed, while all of the user's data can still be read. */
type Erasing = ErasedUserRow & {
  readonly db: Executor
  /** What was made in the same batch is here, and not in the database yet. */
  readonly writes: BatchWrites
}

/** Gives the records of one kind; an empty list for a user who has none. */
type Gather = (erasing: Erasing) => Promise<readonly unknown[]> | readonly unknown[]

/**
 * Every kind of record that outlives an erasure when the partner's `retain` is set. To keep another kind, add its
 * source here.
 */
const sources: Readonly<Record<RetainedKind, Gather>> = {
  consents: consentsOf,
  coverage: coverageOf,
  confirmations: confirmationsOf,
  beneficiaries: beneficiariesOf,
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
    for (const kind of Object.keys(sources) as RetainedKind[]) {
      const records = await sources[kind]({ ...erased, db, writes })
      if (records.length === 0) continue
      writes.retained.push(sealRetained(partner, { serviceId: user.serviceId, kind }, records, keepUntil))
    }
  }
}

/** The same date that many years later; February 29 becomes March 1 in a year without it. */
function yearsAfter(at: Instant, years: number): Instant {
  const date = new Date(at)
  return date.setUTCFullYear(date.getUTCFullYear() + years)
}

/** The consents; those that an operator put on record include how they were given, and the evidence. */
async function consentsOf({ db, partner, user, key, writes }: Erasing): Promise<readonly unknown[]> {
  if (user.consents.length === 0) return []
  const stored = await readConsentRecords(db, { partner, user })
  return user.consents.map(({ name, version, agreedAt, locale, channel }) => {
    const sealed = writes.consents.get(versionName(user, name, version))?.sealedEvidence
    const evidence =
      key && sealed
        ? openEvidence(key, sealed, user)
        : stored.find(one => one.name === name && one.version === version)?.evidence
    return {
      userid: user.userid,
      name,
      version,
      agreedat: formatTimestamp(agreedAt),
      locale,
      ...(channel === undefined ? {} : { channel }),
      ...(evidence === undefined ? {} : { evidence }),
    }
  })
}

/** All enrolments with their dates of cover, and the terms under which each began. */
function coverageOf({ user }: Erasing): readonly unknown[] {
  return user.enrolments.map(one => ({
    userid: user.userid,
    benefit: one.benefit,
    offer: one.offer,
    state: one.state,
    catalogueversion: one.version,
    startsat: formatTimestamp(one.startsAt),
    endsat: one.endsAt === undefined ? null : formatTimestamp(one.endsAt),
    reason: one.closeReason === 'cancelled' ? (user.cancel?.reason ?? one.closeReason) : one.closeReason,
  }))
}

async function confirmationsOf({ db, partner, user, key, writes }: Erasing): Promise<readonly unknown[]> {
  if (!key) return []
  const made = writes.confirmations.filter(row => row.user.serviceId === user.serviceId)
  const records = [
    ...(await readConfirmations(db, { partner, user })),
    ...made.map(row => openConfirmation(key, row)),
  ]
  return records.map(record => ({ userid: user.userid, ...record }))
}

/** All versions of the person's designations, including those of this batch. */
async function beneficiariesOf({ db, partner, user, key, writes }: Erasing): Promise<readonly unknown[]> {
  if (!key || user.designations.length === 0) return []
  const fresh = user.designations.flatMap(one => {
    const sealed = writes.named.get(versionName(user, one.benefit, one.version))
    return sealed ? [{ ...one, beneficiaries: openDesignation(key, sealed, user) }] : []
  })
  return [...(await readDesignations(db, { partner, user }, 'all')), ...fresh].map(one => ({
    userid: user.userid,
    ...designationRecord(one),
  }))
}
