import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { ConfirmationRow } from '../records/confirmations.ts'

import { openEvidence, readEvidence } from '../records/consents.ts'
import { designationRecord, openDesignation, readDesignations } from '../records/designations.ts'
import { openJson } from '../records/documents.ts'
import { type RetainedKind, type RetainedRow, sealRetained } from '../records/retained-rows.ts'
import type { User } from '../rules/state.ts'
import type { ErasedUserRow } from './batch-writes.ts'
import { designationName, type Writes } from './writes.ts'

/** A user whose erasure is about to be committed, while all of the user's data can still be read. */
type Erasing = ErasedUserRow & {
  readonly db: Executor
  /** Made in the same batch, so not in the database yet. */
  readonly confirmations: readonly ConfirmationRow[]
  readonly consents: Writes['consents']
  readonly named: Writes['named']
}

/** The source of one kind of record; it gives an empty list for a user who has none. */
type Source = {
  readonly kind: RetainedKind
  readonly gather: (erasing: Erasing) => Promise<readonly unknown[]> | readonly unknown[]
}

/**
 * Every kind of record that outlives an erasure when the partner's `retain` is set. To keep another kind, add its
 * source here.
 */
const sources: readonly Source[] = [
  { kind: 'consents', gather: consentsOf },
  { kind: 'coverage', gather: ({ user }) => coverageOf(user) },
  { kind: 'confirmations', gather: confirmationsOf },
  { kind: 'beneficiaries', gather: beneficiariesOf },
]

/**
 * Seals the records that a partner must keep of erased users anew, under keys of their own, because the data key that
 * sealed them is about to be deleted. What is read here belongs to the version of the user on which the erasure was
 * decided: if another version was written meanwhile, the commit fails.
 */
export async function retain(
  db: Executor,
  writes: Pick<Writes, 'erased' | 'confirmations' | 'consents' | 'named'>,
): Promise<RetainedRow[]> {
  const rows: RetainedRow[] = []
  for (const erased of writes.erased) {
    const { partner, user } = erased
    if (partner.retainYears === 0) continue
    const keepUntil = yearsAfter(user.erasedAt ?? user.updatedAt, partner.retainYears)
    const confirmations = writes.confirmations.filter(row => row.user.serviceId === user.serviceId)
    const consents = writes.consents.filter(row => row.user.serviceId === user.serviceId)
    for (const { kind, gather } of sources) {
      const records = await gather({ ...erased, db, confirmations, consents, named: writes.named })
      if (records.length === 0) continue
      rows.push(sealRetained(partner, { serviceId: user.serviceId, kind }, records, keepUntil))
    }
  }
  return rows
}

/** The same date that many years later; February 29 becomes March 1 in a year without it. */
function yearsAfter(at: Instant, years: number): Instant {
  const date = new Date(at)
  return date.setUTCFullYear(date.getUTCFullYear() + years)
}

/** The consents; those that an operator put on record include how they were given, and the evidence. */
async function consentsOf({ db, user, key, consents }: Erasing): Promise<readonly unknown[]> {
  if (user.consents.length === 0) return []
  const stored = user.consents.some(({ channel }) => channel !== undefined)
    ? await readEvidence(db, user)
    : []
  const made = consents.map(({ consent, sealedEvidence }) => ({ ...consent, sealedEvidence }))
  return user.consents.map(({ name, version, agreedAt, locale, channel }) => {
    const sealed = [...stored, ...made].findLast(
      one => one.name === name && one.version === version,
    )?.sealedEvidence
    return {
      userid: user.userid,
      name,
      version,
      agreedat: formatTimestamp(agreedAt),
      locale,
      ...(channel === undefined ? {} : { channel }),
      ...(key && sealed ? { evidence: openEvidence(key, sealed, user) } : {}),
    }
  })
}

/** All enrolments with their dates of cover, and the terms under which each began. */
function coverageOf(user: User): readonly unknown[] {
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

async function confirmationsOf({ db, user, key, confirmations }: Erasing): Promise<readonly unknown[]> {
  if (!key) return []
  const { partnerId, serviceId } = user
  const rows = await db.query<{ reference: string; sealed: Buffer; created_at: Instant }>(sql`
    select reference, sealed, created_at from confirmations
    where partner_id = ${partnerId} and service_id = ${serviceId} order by created_at, confirmation_id`)
  const made = confirmations.map(row => ({ ...row, created_at: row.createdAt }))
  return [...rows, ...made].map(row => ({
    userid: user.userid,
    reference: row.reference,
    at: formatTimestamp(row.created_at),
    content: openJson(key, row.sealed, 'confirmations', user),
  }))
}

/** All versions of the person's designations, including those of this batch. */
async function beneficiariesOf({ db, partner, user, key, named }: Erasing): Promise<readonly unknown[]> {
  if (!key || user.designations.length === 0) return []
  const fresh = user.designations.flatMap(one => {
    const sealed = named.get(designationName(user, one))
    return sealed ? [{ ...one, beneficiaries: openDesignation(key, sealed, user) }] : []
  })
  return [...(await readDesignations(db, { partner, user })), ...fresh].map(one => ({
    userid: user.userid,
    ...designationRecord(one),
  }))
}
