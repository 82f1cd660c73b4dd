import type { Instant } from '../calendar/calendar.ts'
import { coalesce } from '../db/coalesce.ts'
import type { Database } from '../db/database.ts'
import { failureOf } from '../db/failure.ts'
import { sql } from '../db/sql.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Partner } from '../partners/partner.ts'
import type { LedgerContext } from './command.ts'
import { type DocumentKind, openDataKey, openDocument, type Person } from './documents.ts'
import { type HistoryLine, linesOf, type Who } from './history.ts'
import { type DocumentRow, loadDocuments, loadUsers, type UserName } from './load.ts'
import { type UserRow, userOf } from './rows.ts'
import { dueAt, type Step, settle } from './settle.ts'
import { type User, versionsOf } from './state.ts'
import type { Terms } from './terms.ts'

/** A user as it is at an instant, with the rules that hold for it. */
export type Reading = {
  readonly user: User
  readonly terms: Terms
  readonly now: Instant
  /** What was due and is not in the table yet. */
  readonly steps: readonly Step[]
}

/** Reads users as if everything due by the instant had been applied (contract §2); writes nothing. */
export type Reader = {
  /** The user of this name, or `undefined`; an erased one is given as such. */
  read(partner: Partner, userid: string): Promise<Reading | undefined>
  /** The rules for a user of whom nothing is known. */
  termsFor(partner: Partner): Promise<Terms>
  /** The personal data of a user. */
  documents(partner: Partner, user: User): Promise<ReadonlyMap<DocumentKind, Person>>
  /** The history of a user as read, oldest first. */
  history(reading: Reading): Promise<HistoryLine[]>
}

/** Opens the reader: reads that arrive together are one statement. */
export const openReader = (context: Omit<LedgerContext, 'onEvents' | 'consentHash'>): Reader => {
  const load = coalesce<UserName, UserRow | undefined>({
    maxBatch: 256,
    run: async names => {
      const rows = new Map(
        (await guarded(() => loadUsers(context.database, names))).map(row => [
          `${row.partner_id} ${row.userid}`,
          row,
        ]),
      )
      return names.map(name => ({ ok: true, value: rows.get(`${name.partnerId} ${name.userid}`) }))
    },
  })

  const loadSealed = coalesce<UserName & { serviceId: string }, DocumentRow[]>({
    maxBatch: 256,
    run: async users => {
      const rows = await guarded(() => loadDocuments(context.database, users))
      const byUser = new Map<string, DocumentRow[]>()
      for (const row of rows) byUser.set(row.service_id, [...(byUser.get(row.service_id) ?? []), row])
      return users.map(user => ({ ok: true, value: byUser.get(user.serviceId) ?? [] }))
    },
  })

  const documentsOf = async (
    partner: Partner,
    row: Pick<UserRow, 'partner_id' | 'service_id' | 'userid' | 'wrapped_key'>,
  ) => {
    const rows = await loadSealed({
      partnerId: row.partner_id,
      userid: row.userid,
      serviceId: row.service_id,
    })
    const people = new Map<DocumentKind, Person>()
    if (!row.wrapped_key) return people
    const key = openDataKey(partner, row.service_id, row.wrapped_key)
    for (const { kind, sealed } of rows) {
      people.set(
        kind,
        openDocument(key, sealed, { kind, partnerId: row.partner_id, serviceId: row.service_id }) as Person,
      )
    }
    return people
  }

  return {
    async read(partner, userid) {
      const row = await load({ partnerId: partner.partnerId, userid })
      if (!row) return undefined
      const stored = userOf(row)
      const now = await currentNow(context, partner)
      await context.prepareTerms(versionsOf(stored))
      const due = dueAt(stored)
      if (due === undefined || due > now) {
        return { user: stored, terms: context.terms(partner, () => undefined), now, steps: [] }
      }
      // A late job is never visible: what is due is applied in memory, and in the table by the schedule.
      const people = await documentsOf(partner, row)
      const terms = context.terms(partner, () => people.get('profile'))
      const steps = settle(stored, now, terms)
      return { user: steps.at(-1)?.after ?? stored, terms, now, steps }
    },
    async termsFor(partner) {
      await context.prepareTerms([])
      return context.terms(partner, () => undefined)
    },
    async documents(partner, user) {
      const row = await load({ partnerId: partner.partnerId, userid: user.userid })
      return row && row.service_id === user.serviceId ? documentsOf(partner, row) : new Map()
    },
    async history({ user, steps }) {
      const written = await guarded(() => readHistory(context.database, user))
      // Between the two reads the schedule may have written what was due: it is shown once.
      const until = written.at(-1)?.at ?? 0
      const late = steps.filter(step => step.at > until)
      return [...written, ...late.flatMap(step => linesOf(step, 'schedule', 'due'))]
    },
  }
}

/** In a sandbox another process may just have moved the clock. */
const currentNow = async (
  context: Pick<LedgerContext, 'database' | 'clock' | 'sandbox'>,
  partner: Partner,
): Promise<Instant> => {
  if (!context.sandbox) return context.clock.now(partner)
  const [row] = await context.database.query<{ clock_offset_ms: number }>(
    sql`select clock_offset_ms from partners where partner_id = ${partner.partnerId}`,
  )
  return context.clock.now({ clockOffsetMs: row?.clock_offset_ms ?? partner.clockOffsetMs })
}

const readHistory = async (database: Database, user: User): Promise<HistoryLine[]> => {
  const rows = await database.query<{
    at: Instant
    what: string
    from_state: string
    to_state: string
    who: Who
    why: string
  }>(sql`
    select at, what, from_state, to_state, who, why from history
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId} order by sequence_number`)
  return rows.map(row => ({
    at: row.at,
    what: row.what,
    from: row.from_state,
    to: row.to_state,
    who: row.who,
    why: row.why,
  }))
}

const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (failureOf(error).unavailable) throw new ServiceError('unavailable', undefined, { cause: error })
    throw error
  }
}
