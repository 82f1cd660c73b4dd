import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { ErasedUserRow } from '../commands/batch-writes.ts'
import type { ConfirmationRow } from '../commands/confirmations.ts'
import { openConfirmation } from '../commands/confirmations.ts'
import { openEvidence, readEvidence } from '../commands/consent-records.ts'
import { designationRecord, openDesignation, readDesignations } from '../commands/designations.ts'
import { designationName, type Writes } from '../commands/writes.ts'
import type { User } from '../rules/state.ts'
import { type RetainedKind, type RetainedRow, sealRetained } from './retained-rows.ts'

/** An erasure that is about to be committed: everything of the user can still be read. */
type Erasing = ErasedUserRow & {
  readonly db: Executor
  /** Made in the same batch, so not in the database yet. */
  readonly confirmations: readonly ConfirmationRow[]
  readonly consents: Writes['consents']
  readonly named: Writes['named']
}

/** Where the records of one kind come from; a user with none gives an empty list. */
type Source = {
  readonly kind: RetainedKind
  readonly gather: (erasing: Erasing) => Promise<readonly unknown[]> | readonly unknown[]
}

/** Everything that outlives an erasure where a partner is set so: a kind of record is kept by adding its source here. */
const sources: readonly Source[] = [
  { kind: 'consents', gather: consentsOf },
  { kind: 'coverage', gather: ({ user }) => coverageOf(user) },
  { kind: 'confirmations', gather: confirmationsOf },
  { kind: 'beneficiaries', gather: beneficiariesOf },
]

/**
 * Seals again, under keys of their own, what partners must keep of those who are erased. What is read here belongs to the
 * version of the user that the erasure was decided on: where another was written meanwhile the commit fails.
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

/** The same day so many years later; of 29 February the day after where there is none. */
function yearsAfter(at: Instant, years: number): Instant {
  const date = new Date(at)
  return date.setUTCFullYear(date.getUTCFullYear() + years)
}

/** What was agreed to; with how, and the evidence, where an operator put it on record. */
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
      ...{ userid: user.userid, name, version, agreedat: formatTimestamp(agreedAt), locale },
      ...(channel === undefined ? {} : { channel }),
      ...(key && sealed ? { evidence: openEvidence(key, sealed, user) } : {}),
    }
  })
}

/** All windows of cover, with the terms under which each began. */
function coverageOf(user: User): readonly unknown[] {
  return user.enrolments.map(one => ({
    ...{ userid: user.userid, benefit: one.benefit, offer: one.offer, state: one.state },
    ...{ catalogueversion: one.version, startsat: formatTimestamp(one.startsAt) },
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
    ...{ userid: user.userid, reference: row.reference, at: formatTimestamp(row.created_at) },
    content: openConfirmation(key, row.sealed, user),
  }))
}

/** All versions of whom the person named, those of this very batch among them. */
async function beneficiariesOf({ db, partner, user, key, named }: Erasing): Promise<readonly unknown[]> {
  if (!key || user.designations.length === 0) return []
  const fresh = user.designations.flatMap(one => {
    const sealed = named.get(designationName(user, one))
    return sealed ? [{ ...one, beneficiaries: openDesignation(key, sealed, user) }] : []
  })
  return [...(await readDesignations(db, { partner, user })), ...fresh].map(one => ({
    ...{ userid: user.userid, ...designationRecord(one) },
  }))
}
