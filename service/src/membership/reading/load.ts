import type { Instant } from '../../calendar/calendar.ts'
import { type Columns, column, listOf } from '../../db/columns.ts'
import type { Executor } from '../../db/database.ts'
import { type Fragment, fragment, nothing, type Query, sql, timestamp } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'
import { newKey } from '../../vault/seal.ts'
import type { Command } from '../command.ts'
import { type DocumentKind, openDataKey, openJson, wrapDataKey } from '../records/sealed.ts'
import { consents, covered, designations, enrolments, users } from '../records/tables.ts'
import type { Person } from '../rules/person.ts'
import type { Covered, Enrolment, User, UserStatus } from '../rules/state.ts'

/** Names a user as the partner does. */
export type UserName = { readonly partnerId: string; readonly userid: string }

/** That name as one text, for maps and sets. */
export function nameOf({ partnerId, userid }: UserName): string {
  return `${partnerId} ${userid}`
}

/** The name of a command's user. */
export function nameOfUser({ partner, userid }: Pick<Command<unknown>, 'partner' | 'userid'>): string {
  return nameOf({ partnerId: partner.partnerId, userid })
}

const documentKinds = fragment`'{prefill,profile,draft}'`

const wanted: Columns<UserName> = {
  partner_id: column.uuid(name => name.partnerId),
  userid: column.text(name => name.userid),
}

/**
 * The current users of these names with their enrolments, consents and designations; each with its place among the names,
 * which begin at 1.
 */
export function loadUsers(db: Executor, names: readonly UserName[]): Promise<UserRow[]> {
  return db.query<UserRow>(usersOf(names, false))
}

/** The same with their wrapped data keys and sealed documents. */
export function loadUsersWithDocuments(db: Executor, names: readonly UserName[]): Promise<UserRow[]> {
  return db.query<UserRow>(usersOf(names, true))
}

function usersOf(names: readonly UserName[], withDocuments: boolean): Query {
  return sql`
    select ${columnsOfUser({ whole: fragment`true`, sealed: fragment`${withDocuments}::boolean` })}, row.place::integer
    from ${listOf(wanted, names, 'numbered')}
    join users u on u.partner_id = row.partner_id and u.userid = row.userid and u.is_current`
}

/** Which users a page lists: those after a service id, in order of these ids. */
export type UserPageQuery = {
  readonly partnerId: string
  readonly after: string
  readonly limit: number
  /** Only this status; `undefined`: every status but `none` and `erased`. */
  readonly status: UserStatus | undefined
  /** Only users that changed at this instant or later. */
  readonly since: Instant | undefined
  /** The partner's present: a user with a change that is due by then is loaded whole, and whatever its status. */
  readonly now: Instant
}

/** A page of users with their enrolments; those with a due change also with all that applying it needs. */
export async function loadUserPage(db: Executor, query: UserPageQuery): Promise<UserRow[]> {
  const { partnerId, after, limit, status, since, now } = query
  const isDue = fragment`coalesce(u.due_at <= ${timestamp(now)}, false)`
  const wanted = status === undefined ? ['prefilled', 'registering', 'active', 'cancelled'] : [status]
  const changed = since === undefined ? nothing : await changedSince(db, { partnerId, since, now })
  return db.query<UserRow>(sql`
    select ${columnsOfUser({ whole: isDue, sealed: isDue })}, 0 as place
    from users u
    where u.partner_id = ${partnerId} and u.service_id > ${after} and u.is_current
      and (u.status = any (${wanted}::text[]) or ${isDue}) ${changed}
    order by u.service_id limit ${limit}`)
}

/** At most so many changed users are found by the index of changes; of more, each page meets enough in order of their ids. */
const FEW_CHANGED = 10_000

async function changedSince(
  db: Executor,
  { partnerId, since, now }: { partnerId: string; since: Instant; now: Instant },
): Promise<Fragment> {
  const found = fragment`
    select service_id from (
      select service_id from users where partner_id = ${partnerId} and updated_at >= ${timestamp(since)}
      limit ${FEW_CHANGED}) as changed
    union all
    select service_id from (
      select service_id from users where partner_id = ${partnerId} and due_at <= ${timestamp(now)}
      limit ${FEW_CHANGED}) as due`
  const [row] = await db.query<{ count: number }>(
    sql`select count(*)::integer as count from (${found}) as found`,
  )
  return (row?.count ?? 0) < FEW_CHANGED
    ? fragment`and u.service_id in (${found})`
    : fragment`and (u.updated_at >= ${timestamp(since)} or u.due_at <= ${timestamp(now)})`
}

const selected = {
  users: users.select('u'),
  enrolments: enrolments.array('e'),
  consents: consents.array('c'),
  designations: designations.array('d'),
  covered: fragment`json_build_array(c.enrolment_id, ${covered.array('c')})`,
}

/** Which parts of a user are loaded: `whole` adds consents and designations, `sealed` the sealed documents and their key. */
type LoadedParts = { readonly whole: Fragment; readonly sealed: Fragment }

/** The columns of `UserRow` but its place, from `users u`. */
function columnsOfUser({ whole, sealed }: LoadedParts): Fragment {
  return fragment`${selected.users}, u.version,
      case when u.offer is not null then (
        select json_agg(${selected.enrolments} order by e.picked_at, e.enrolment_id)
        from enrolments e where e.partner_id = u.partner_id and e.service_id = u.service_id
      ) end as enrolments,
      case when u.dependants_version is not null then (
        select json_agg(${selected.covered} order by c.enrolment_id, c.place)
        from covered_dependants c where c.partner_id = u.partner_id and c.service_id = u.service_id
      ) end as covered,
      case when u.offer is not null and ${whole} then (
        select json_agg(${selected.consents} order by c.name, c.version)
        from consents c where c.partner_id = u.partner_id and c.service_id = u.service_id
      ) end as consents,
      case when u.offer is not null and ${whole} then (
        select json_agg(${selected.designations} order by d.benefit)
        from (
          select distinct on (s.name) s.name as benefit, s.version::integer as version, s.facts ->> 'who' as who,
            s.at as written_at
          from sealed_records s
          where s.partner_id = u.partner_id and s.service_id = u.service_id and s.kind = 'beneficiaries'
          order by s.name, s.version::integer desc) d
      ) end as designations,
      case when ${sealed} then (
        select k.wrapped_key from data_keys k where k.partner_id = u.partner_id and k.service_id = u.service_id
      ) end as wrapped_key,
      case when ${sealed} then (
        select json_agg(json_build_array(d.kind, encode(d.sealed, 'base64')))
        from sealed_records d
        where d.partner_id = u.partner_id and d.service_id = u.service_id and d.kind = any (${documentKinds})
      ) end as documents`
}

/**
 * The status of the current user of a name, who is neither changed nor erased until the transaction ends; `undefined`:
 * there is none, or only an erased one.
 */
export async function lockUser(
  tx: Executor,
  { partnerId, userid }: UserName,
): Promise<UserStatus | undefined> {
  const [row] = await tx.query<{ status: UserStatus }>(sql`
    select status from users where partner_id = ${partnerId} and userid = ${userid} and is_current for share`)
  return row?.status
}

/** A sealed document, and the key that sealed it, wrapped. */
export type DocumentRow = { service_id: string; kind: DocumentKind; sealed: Buffer; wrapped_key: Buffer }

/** The sealed documents of the current users of these names. */
export function loadDocuments(db: Executor, names: readonly UserName[]): Promise<DocumentRow[]> {
  return db.query<DocumentRow>(sql`
    select u.service_id, d.kind, d.sealed, k.wrapped_key
    from ${listOf(wanted, names)}
    join users u on u.partner_id = row.partner_id and u.userid = row.userid and u.is_current
    join sealed_records d on d.partner_id = u.partner_id and d.service_id = u.service_id and d.kind = any (${documentKinds})
    join data_keys k on k.partner_id = u.partner_id and k.service_id = u.service_id`)
}

/** A row of `idempotency_keys`, and what has happened to its user. */
export type KeyRow = {
  partner_id: string
  operation: string
  key_hash: Buffer
  request_hash: Buffer
  attempt_id: string
  service_id: string | null
  prefill_number: number | null
  sealed_answer: Buffer | null
  expires_at: Instant
  user_prefill_written_at: Instant | null
  user_erased_at: Instant | null
}

/** The name of an idempotency key. */
export type KeyName = { readonly partnerId: string; readonly operation: string; readonly keyHash: Buffer }

/** The columns of that name. */
export const keyNames: Columns<KeyName> = {
  partner_id: column.uuid(key => key.partnerId),
  operation: column.text(key => key.operation),
  key_hash: column.bytes(key => key.keyHash),
}

/** The rows of these idempotency keys. */
export function loadKeys(db: Executor, keys: readonly KeyName[]): Promise<KeyRow[]> {
  return db.query<KeyRow>(sql`
    select k.partner_id, k.operation, k.key_hash, k.request_hash, k.attempt_id, k.service_id, k.prefill_number,
      k.sealed_answer, k.expires_at, u.prefill_written_at as user_prefill_written_at, u.erased_at as user_erased_at
    from ${listOf(keyNames, keys)}
    join idempotency_keys k using (partner_id, operation, key_hash)
    left join users u on u.partner_id = k.partner_id and u.service_id = k.service_id`)
}

/**
 * How far the clock of each of these partners was moved, by partner: another process of a sandbox may just have moved
 * one.
 */
export async function loadClockOffsets(
  db: Pick<Executor, 'query'>,
  partners: readonly { readonly partnerId: string }[],
): Promise<Map<string, number>> {
  const partnerIds = [...new Set(partners.map(({ partnerId }) => partnerId))]
  const rows = await db.query<{ partner_id: string; clock_offset_ms: number }>(sql`
    select partner_id, clock_offset_ms from partners where partner_id = any(${partnerIds}::uuid[])`)
  return new Map(rows.map(row => [row.partner_id, row.clock_offset_ms]))
}

/** A row of `users` as the loading statement returns it, with its dependent rows as JSON arrays. */
export type UserRow = {
  partner_id: string
  service_id: string
  userid: string
  version: number
  /** Its place among the names that were asked for, from 1 on. */
  place: number
  /** Null when there is none, or it was not requested. */
  wrapped_key: Buffer | null
  enrolments: unknown[][] | null
  /** Who else is covered; null for a user who never had a dependant. */
  covered: [enrolmentId: string, one: unknown[]][] | null
  consents: unknown[][] | null
  designations: unknown[][] | null
  /** The sealed documents in base64; null when there are none, or they were not requested. */
  documents: [kind: DocumentKind, sealed: string][] | null
}

/** The user of a row. */
export function userOf(row: UserRow): User {
  // Added in place: copying the user with `...` would cost 7 µs.
  return Object.assign(users.ofRow(row), {
    enrolments: withCovered((row.enrolments ?? []).map(enrolments.ofArray), row.covered),
    consents: (row.consents ?? []).map(consents.ofArray),
    designations: (row.designations ?? []).map(designations.ofArray),
  })
}

/** Added in place, too: with copies a family of six covers took 10 µs, not 1. */
function withCovered(
  own: (Omit<Enrolment, 'covered'> & { covered?: Covered[] })[],
  rows: UserRow['covered'],
): Enrolment[] {
  if (!rows) return own
  const byId = new Map(own.map(one => [one.id, one]))
  for (const [enrolmentId, row] of rows) {
    const enrolment = byId.get(enrolmentId)
    if (enrolment?.covered) enrolment.covered.push(covered.ofArray(row))
    else if (enrolment) enrolment.covered = [covered.ofArray(row)]
  }
  return own
}

/** A user in a batch: the state as decided so far, and the sealed data, which is opened only when it is needed. */
export type LoadedUser = {
  user: User
  /** The user as stored in the database; `undefined` for a new one. */
  stored: User | undefined
  /** The version that was read, 0 for a new user; changes may be written only on this version. */
  readonly readVersion: number
  /** The version after the decided changes. */
  version: number
  dataKey: Buffer | undefined
  wrappedKey: Buffer | undefined
  documents: Map<DocumentKind, Buffer | undefined>
  people: Map<DocumentKind, Person | undefined>
}

/** The loaded user of a row. */
export function loadedUserOf(row: UserRow): LoadedUser {
  const user = userOf(row)
  return {
    user,
    stored: user,
    readVersion: row.version,
    version: row.version,
    dataKey: undefined,
    wrappedKey: row.wrapped_key ?? undefined,
    documents: new Map((row.documents ?? []).map(([kind, sealed]) => [kind, Buffer.from(sealed, 'base64')])),
    people: new Map(),
  }
}

/** A new user, with a data key of its own. */
export function newLoadedUser(partner: Partner, user: User): LoadedUser {
  const dataKey = newKey()
  return {
    user,
    stored: undefined,
    readVersion: 0,
    version: 0,
    dataKey,
    wrappedKey: wrapDataKey(partner, user.serviceId, dataKey),
    documents: new Map(),
    people: new Map(),
  }
}

/** The user's data key, unwrapped only once. */
export function dataKeyOf(loaded: LoadedUser | undefined, partner: Partner): Buffer | undefined {
  if (!loaded?.dataKey && loaded?.wrappedKey)
    loaded.dataKey = openDataKey(partner, loaded.user.serviceId, loaded.wrappedKey)
  return loaded?.dataKey
}

/** A document of the user, opened only once. */
export function personOf(loaded: LoadedUser, partner: Partner, kind: DocumentKind): Person | undefined {
  if (loaded.people.has(kind)) return loaded.people.get(kind)
  const sealed = loaded.documents.get(kind)
  const key = sealed && dataKeyOf(loaded, partner)
  const person =
    sealed && key ? (openJson(key, sealed, `documents.${kind}`, loaded.user) as Person) : undefined
  loaded.people.set(kind, person)
  return person
}

/** A key that was used before. */
export type SeenKey = {
  readonly requestHash: Buffer
  readonly attemptId: string
  readonly serviceId: string | undefined
  readonly prefillNumber: number | undefined
  readonly expiresAt: Instant
  /** The first answer; `undefined` when it can no longer be opened. */
  readonly answer: (dataKey: () => Buffer | undefined) => unknown
  readonly userErasedAt: Instant | undefined
  readonly userWrittenAt: Instant | undefined
}

/** The name of a key within a batch. */
export function keyName(partnerId: string, operation: string, keyHash: Buffer): string {
  return `${partnerId} ${operation} ${keyHash.toString('base64')}`
}

/** The seen key of a row. */
export function seenKeyOf(row: KeyRow): SeenKey {
  return {
    requestHash: row.request_hash,
    attemptId: row.attempt_id,
    serviceId: row.service_id ?? undefined,
    prefillNumber: row.prefill_number ?? undefined,
    expiresAt: row.expires_at,
    answer: dataKey => {
      const key = row.sealed_answer && dataKey()
      if (!row.sealed_answer || !key || !row.service_id) return undefined
      const user = { partnerId: row.partner_id, serviceId: row.service_id }
      return openJson(key, row.sealed_answer, 'idempotency_keys', user)
    },
    userErasedAt: row.user_erased_at ?? undefined,
    userWrittenAt: row.user_prefill_written_at ?? undefined,
  }
}

/**
 * The text that replaces the userid of an erased user: a keyed hash of the userid behind a control character, which no
 * userid of a partner may contain. It lets a repeated erase get its answer, and nobody without the partner's key can
 * tell whose userid it was.
 */
export function erasedName({ hashKey }: Pick<Partner, 'hashKey'>, userid: string): string {
  return `\u0001${keyedHash(hashKey, 'users.erased', userid).toString('base64url')}`
}
