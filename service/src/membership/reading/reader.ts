import type { Instant } from '../../calendar/calendar.ts'
import { coalesceApart } from '../../db/coalesce.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import type { ExecutorContext } from '../command.ts'
import { type OpenLine, readLines } from '../records/insurer-lines.ts'
import { type DocumentKind, openDataKey, openJson, type UserIds } from '../records/sealed.ts'
import { type AppliedChange, applyDueChanges } from '../rules/apply-due.ts'
import { type HistoryLine, linesOfDue, type StoredLine, type Who } from '../rules/history.ts'
import type { Person } from '../rules/person.ts'
import type { User } from '../rules/state.ts'
import type { Terms } from '../rules/terms.ts'
import {
  type DocumentRow,
  erasedName,
  loadClockOffsets,
  loadDocuments,
  loadUsers,
  type UserName,
  type UserRow,
  userOf,
} from './load.ts'
import type { FinishedAnswers, RememberedUser, UserMemory } from './user-memory.ts'

/** What names a user, and what its data is sealed for. */
export type UserNames = Pick<User, 'partnerId' | 'serviceId' | 'userid'>

/** A user at an instant, with the rules for it. */
export type Reading = {
  readonly user: User
  readonly terms: Terms
  readonly now: Instant
  /** Due changes that are not in the table yet. */
  readonly dueChanges: readonly AppliedChange[]
  /** Answers that were made from the stored state; `undefined` when a change was due, or the user is not remembered. */
  readonly answers: FinishedAnswers | undefined
}

/**
 * Reads users as if every change due by the instant had been applied (contract §2); writes nothing. The version of a
 * user in memory is compared with the database, and only a changed user is read again: so a read sees what any process
 * wrote before it began.
 */
export type Reader = {
  /** The user of this name, or `undefined`; an erased user is returned as such. */
  read(partner: Partner, userid: string): Promise<Reading | undefined>
  /** The rules for a user of whom nothing is known. */
  termsFor(partner: Partner): Promise<Terms>
  /** The personal data of a user. */
  documents(partner: Partner, user: UserNames): Promise<ReadonlyMap<DocumentKind, Person>>
  /** What insurers were told of a user and what they answered, newest first. */
  insurerLines(partner: Partner, user: User): Promise<OpenLine[]>
  /**
   * The history of a user as read, oldest first: the newest 500 changes, or all of them. A partner may change a user
   * as often as it likes, and no request may cost more for that.
   */
  history(reading: Pick<Reading, 'user' | 'dueChanges'>, which?: 'newest' | 'all'): Promise<HistoryLine[]>
}

/** Opens the reader: reads that arrive together become one statement. */
export function openReader(
  context: Omit<ExecutorContext, 'onEvents' | 'onWritten' | 'consentHash'> & { memory: UserMemory },
): Reader {
  const { memory, database } = context
  const lostOnes = database.lostConnections
  let lost = lostOnes()
  const queueOf = ({ partnerId }: Pick<UserName, 'partnerId'>) => database.cellOf(partnerId)
  /** The cell of those whom a batch is about. */
  const cellOf = ([first]: readonly { readonly partnerId: string }[]) => database.of(first?.partnerId ?? '')
  const isUnchanged = coalesceApart<RememberedUser, boolean>(({ user }) => queueOf(user), {
    name: 'compare versions of users',
    maxBatch: 256,
    run: async users => {
      const ids = users.map(({ user }) => user)
      const unchanged = await findUnchanged(cellOf(ids), users)
      return users.map((_, index) => ({ ok: true, value: unchanged.has(index) }))
    },
  })
  const load = coalesceApart<UserName, UserRow | undefined>(queueOf, {
    name: 'read users',
    maxBatch: 256,
    run: async names => {
      const found: (UserRow | undefined)[] = names.map(() => undefined)
      for (const row of await loadUsers(cellOf(names), names)) found[row.place - 1] = row
      return found.map(row => ({ ok: true, value: row }))
    },
  })

  const loadSealed = coalesceApart<UserNames, DocumentRow[]>(queueOf, {
    name: 'read documents of users',
    maxBatch: 256,
    run: async users => {
      const rows = await loadDocuments(cellOf(users), users)
      const byUser = new Map<string, DocumentRow[]>()
      for (const row of rows) byUser.set(row.service_id, [...(byUser.get(row.service_id) ?? []), row])
      return users.map(user => ({ ok: true, value: byUser.get(user.serviceId) ?? [] }))
    },
  })

  const documents = async (partner: Partner, user: UserNames) => {
    const rows = await loadSealed(user)
    const people = new Map<DocumentKind, Person>()
    const [first] = rows
    if (!first) return people
    const key = openDataKey(partner, user.serviceId, first.wrapped_key)
    for (const { kind, sealed } of rows)
      people.set(kind, openJson(key, sealed, `documents.${kind}`, user) as Person)
    return people
  }

  /** The user in memory; its version must still be compared. */
  const remembered = (name: UserName): RememberedUser | undefined => {
    if (lost !== lostOnes()) {
      lost = lostOnes()
      memory.clear()
    }
    return memory.find(name)
  }

  const loadErased = async (partner: Partner, userid: string): Promise<UserRow | undefined> => {
    const row = await load({ partnerId: partner.partnerId, userid: erasedName(partner, userid) })
    return row && { ...row, userid }
  }

  return {
    async read(partner, userid) {
      const name = { partnerId: partner.partnerId, userid }
      let found = remembered(name)
      if (found) {
        const isSame = await isUnchanged(found)
        memory.noteCompared(isSame)
        if (!isSame || lost !== lostOnes()) found = undefined
      }
      let row: UserRow | undefined
      if (!found) {
        row = (await load(name)) ?? (await loadErased(partner, userid))
        if (!row) {
          memory.forget(name)
          return undefined
        }
        found = memory.keepIfReadAgain(userOf(row), row.version)
      }
      const offsets = context.sandbox ? await loadClockOffsets(database, [partner]) : undefined
      const clockOffsetMs = offsets?.get(partner.partnerId)
      const now = context.clock.now(clockOffsetMs === undefined ? partner : { clockOffsetMs })
      const preparing = context.prepareTerms(found.versions)
      if (preparing) await preparing
      if (found.dueAt === undefined || found.dueAt > now) {
        const terms = context.terms(partner, () => undefined)
        return { user: found.user, terms, now, dueChanges: [], answers: found.answers }
      }
      row ??= await load(name)
      if (!row) return undefined
      const stored = userOf(row)
      // Nobody sees a late job: due changes are applied here in memory, and in the table by the schedule.
      const people = await documents(partner, stored)
      const terms = context.terms(partner, () => people.get('profile'))
      const dueChanges = applyDueChanges(stored, now, terms)
      return { user: dueChanges.at(-1)?.after ?? stored, terms, now, dueChanges, answers: undefined }
    },
    async termsFor(partner) {
      await context.prepareTerms([])
      return context.terms(partner, () => undefined)
    },
    documents,
    insurerLines: (partner, user) => readLines(database, { partner, user }),
    async history({ user, dueChanges }, which = 'newest') {
      const most = which === 'newest' ? NEWEST_CHANGES : null
      const written = await readHistory(database, user, most)
      // Between the two reads the schedule may have written the due changes; they must appear only once.
      const until = written.at(-1)?.at ?? 0
      const late = dueChanges.filter(change => change.at > until)
      return [...written, ...linesOfDue(late)]
    },
  }
}

const NEWEST_CHANGES = 500

/** The lines of the newest changes, oldest first; of all of them for `null`. */
async function readHistory(database: Database, user: User, most: number | null): Promise<HistoryLine[]> {
  const rows = await database.query<{
    at: Instant
    who: Who
    lines: StoredLine[]
    reference: string | null
  }>(sql`
    select at, who, lines, reference from history
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId}
    order by version desc limit ${most}::integer`)
  return rows
    .reverse()
    .flatMap(({ at, who, lines, reference }) =>
      lines.map(line => ({ ...line, at, who, reference: reference ?? undefined })),
    )
}

/** A user's version, as some part of this process knows it. */
type KnownVersion = { readonly user: UserIds; readonly version: number }

/**
 * Which of these users still have the known version, in one narrow statement: their indexes in the list.
 * A user that was erased, or gave up its name, has another version. The positions come as one text, because the driver takes
 * 1 µs for each row.
 */
export async function findUnchanged(db: Executor, known: readonly KnownVersion[]): Promise<Set<number>> {
  const [only] = known
  if (only && known.length === 1) return (await isUnchanged(db, only)) ? new Set([0]) : new Set()
  const partners = listOf(known.map(({ user }) => user.partnerId))
  const [row] = await db.query<{ positions: string | null }>(sql`
    select array_agg(known.position)::text as positions
    from unnest((select ${partners}::uuid[]), ${listOf(known.map(({ user }) => user.serviceId))}::uuid[],
      ${listOf(known.map(one => one.version))}::integer[]) with ordinality as known (partner_id, service_id, version, position)
    join users u on u.partner_id = known.partner_id and u.service_id = known.service_id and u.version = known.version
    where u.is_current`)
  const positions = row?.positions ?? '{}'
  return new Set(
    positions === '{}'
      ? []
      : positions
          .slice(1, -1)
          .split(',')
          .map(position => Number(position) - 1),
  )
}

/** Arrays of one cost PostgreSQL several times as much as plain values, which delays a request that is alone. */
async function isUnchanged(db: Executor, { user, version }: KnownVersion): Promise<boolean> {
  const rows = await db.query(sql`
    select from users
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId} and version = ${version} and is_current`)
  return rows.length > 0
}

/** Ids and numbers need no quotes in an array; the driver would check each value for characters that need them. */
function listOf(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`
}
