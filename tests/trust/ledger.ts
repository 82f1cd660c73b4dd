import { isDeepStrictEqual } from 'node:util'
import { withDatabase } from '@benefit-enrolment/embedded-postgres'
import { expect, vi } from 'vitest'
import { type Executor, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import type { Receiver } from '../faults/receiver.ts'
import { patientDatabase } from '../patient-database.ts'
import type { Delivery } from '../webhooks/receiver.ts'
import { checkFiles, checkLogs, checkTables } from './canaries.ts'
import { nobody, possibleStates, type UserState } from './effects.ts'
import type { Entry, Journal } from './journal.ts'

/** The three records that must agree after any fault, and what the service wrote to its outputs. */
export type Books = {
  readonly journal: Pick<Journal, 'entries' | 'wrong'>
  readonly receiver: Pick<Receiver, 'arrived' | 'wrong'>
  readonly database: Pick<Executor, 'query'>
  readonly partnerId: string
  readonly logs: string
  /** Whether events may still wait: no process runs that would deliver them, or what a killed one claimed is due only later. */
  readonly mayWait?: boolean
  /** The events that were not on record as delivered when processes were hurt: only of these may copies be on no record. */
  readonly undelivered?: ReadonlySet<string>
}

/**
 * Compares the records of the client, the receiver and the database: everything acknowledged is there; each write had one
 * effect; each event is delivered, waits or is visibly dead, and nothing else was delivered; one event has one body;
 * and no personal data is outside ciphertext. A test that has only some of the records calls the parts.
 */
export async function checkLedger(books: Books): Promise<void> {
  await checkUsers(books)
  await checkDeliveries(books)
  checkLogs(books.logs)
  await checkTables(books.database)
}

/** The same for a service with its own embedded database, all of whose files are searched, too. */
export async function checkEmbeddedLedger(
  books: Omit<Books, 'database'> & { readonly dataDir: string },
): Promise<void> {
  await withDatabase({ dataDir: books.dataDir }, async address => {
    const database = openDatabase(address, { max: 2, ...patientDatabase })
    const owner = openDatabase({ ...address, user: 'postgres' }, { max: 1, ...patientDatabase })
    try {
      await checkLedger({ ...books, database })
      // Rows that are only in memory reach the data files.
      await owner.script('checkpoint')
      await checkFiles(books.dataDir)
    } finally {
      await database.close()
      await owner.close()
    }
  })
}

type FoundUser = UserState & { readonly versions: number; readonly events: readonly string[] }

/**
 * Compares the client's journal with the database: each user is as the writes for it made it, with one version, one row
 * of history and its events for each of them; and nobody is there for whom nothing was sent.
 */
export async function checkUsers({
  journal,
  database,
  partnerId,
}: Pick<Books, 'journal' | 'database' | 'partnerId'>): Promise<void> {
  expect(journal.wrong).toEqual([])
  const found = await readUsers(database, partnerId)
  for (const [userid, entries] of grouped(journal.entries, entry => entry.userid)) {
    const user = found.get(userid)
    found.delete(userid)
    const faults = faultsOf(user, entries)
    expect(faults, `${userid}: ${faults.join(', ')}: ${JSON.stringify({ user, entries })}`).toEqual([])
  }
  expect([...found.keys()], 'sent by nobody').toEqual([])
}

// Each table is read once and joined here. On tables that were never analyzed, PostgreSQL's plans would compare each
// row with each, and on a busy machine the check itself would run out of time.
async function readUsers(database: Books['database'], partnerId: string): Promise<Map<string, FoundUser>> {
  const rows = await database.query<{
    userid: string
    service_id: string
    status: string
    versions: number
  }>(sql`
    select userid, service_id, status, version as versions from users where partner_id = ${partnerId}`)
  const events = await database.query<Told>(sql`
    select event_id, service_id, userid, eventname from events where partner_id = ${partnerId} order by position`)
  const history = await database.query<Owned & { event_ids: string[] }>(sql`
    select service_id, event_ids::text[] as event_ids from history where partner_id = ${partnerId} order by version`)
  const documents = await database.query<Owned>(sql`
    select service_id from sealed_records
    where partner_id = ${partnerId} and kind = any ('{prefill,profile,draft}')`)
  const keys = await database.query<Owned>(
    sql`select service_id from data_keys where partner_id = ${partnerId}`,
  )
  const erased = await database.query<Owned>(
    sql`select service_id from erasures where partner_id = ${partnerId}`,
  )
  const ids = new Set(rows.map(row => row.service_id))
  const astray = [...events, ...history, ...documents, ...keys, ...erased].filter(
    row => !ids.has(row.service_id),
  )
  expect(astray, 'rows of nobody').toEqual([])
  const documentsOf = counted(documents)
  const keysOf = counted(keys)
  const erasedOf = counted(erased)
  const told = grouped(events, event => event.service_id)
  const changes = grouped(history, row => row.service_id)
  // An erased user's name is gone, but events that still wait contain it.
  const useridOf = new Map(events.map(event => [event.service_id, event.userid]))
  const nameOf = new Map(events.map(event => [event.event_id, event.eventname]))
  const found = new Map(
    rows.map(({ userid, service_id, status, versions }) => [
      useridOf.get(service_id) ?? userid,
      {
        status,
        versions,
        events: (told.get(service_id) ?? []).map(event => event.eventname),
        changes: (changes.get(service_id) ?? []).map(row => row.event_ids.map(id => nameOf.get(id) ?? id)),
        documents: documentsOf.get(service_id) ?? 0,
        keys: keysOf.get(service_id) ?? 0,
        isListed: erasedOf.has(service_id),
      },
    ]),
  )
  expect(found.size).toBe(rows.length)
  return found
}

type Owned = { service_id: string }
type Told = { event_id: string; service_id: string; userid: string; eventname: string }

function counted(rows: readonly Owned[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { service_id } of rows) counts.set(service_id, (counts.get(service_id) ?? 0) + 1)
  return counts
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

/** The contradictions between one user and the requests for it. */
function faultsOf(user: FoundUser | undefined, entries: readonly Entry[]): string[] {
  const possible = possibleStates(entries).map(state => ({
    ...state,
    versions: state.changes.length,
    events: state.changes.flat(),
  }))
  const found: FoundUser = user ?? { ...nobody, versions: 0, events: [] }
  if (possible.some(state => isDeepStrictEqual(state, found))) return []
  if (!user) return ['acknowledged and not there']
  // Compared with the state in which every write has taken effect.
  const last = possible.at(-1)
  if (!last) return ['acknowledged and not possible']
  const names = Object.keys(found) as (keyof FoundUser)[]
  return names.filter(name => !isDeepStrictEqual(found[name], last[name])).map(name => `wrong ${name}`)
}

type Logged = { event_id: string; eventname: string; body: Buffer; position: number }
type Attempt = Named & { status: number | null; is_kept: boolean }
type Endpoint = { endpoint_id: string; all_events: boolean; events: string[] }

/**
 * Compares the receiver's record with the database: each event was delivered to each endpoint that wants it, waits or is
 * visibly dead; nothing arrived that is no event; every copy has the event's bytes; the log has no gap; no attempt is on
 * record that did not arrive, nor the answer to one that was accepted; and, where it is known what was undelivered at each
 * fault, nothing else came again without being on record.
 */
export async function checkDeliveries({
  receiver,
  database,
  partnerId,
  mayWait = false,
  undelivered,
}: Pick<Books, 'receiver' | 'database' | 'partnerId' | 'mayWait' | 'undelivered'>): Promise<void> {
  expect(receiver.wrong).toEqual([])
  const waiting = () =>
    database.query<Named>(sql`select event_id, endpoint_id from deliveries where partner_id = ${partnerId}`)
  // Not by `expect.poll`, which does not know its test where tests run side by side.
  if (!mayWait)
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(0), { timeout: 240_000, interval: 100 })
  const events = await database.query<Logged>(sql`
    select event_id, eventname, body, position from events where partner_id = ${partnerId} order by position`)
  const [head] = await database.query<{ last: number }>(sql`
    select last from event_log_heads where partner_id = ${partnerId}`)
  const positions = [...events.map(event => event.position), (head?.last ?? 0) + 1]
  expect(
    positions.filter((position, index) => position !== index + 1),
    'positions after a gap',
  ).toEqual([])
  const endpoints = await database.query<Endpoint>(sql`
    select endpoint_id, all_events, events from webhook_endpoints
    where partner_id = ${partnerId} and deleted_at is null`)
  // What waits is read first: where a process still delivers, a delivery may be made or given up between these statements,
  // and must then be found by one of them.
  const waits = await waiting()
  const dead = await database.query<Named>(sql`
    select event_id, endpoint_id from dead_deliveries where partner_id = ${partnerId}`)
  const attempts = await database.query<Attempt>(sql`
    select event_id, endpoint_id, status, sealed_answer is not null as is_kept from delivery_attempts
    where partner_id = ${partnerId}`)
  const accepted = attempts.filter(({ status }) => status !== null && status >= 200 && status <= 299)
  const accounted = new Set(
    [...waits, ...dead, ...accepted.filter(({ event_id }) => receiver.arrived.has(event_id))].map(nameOf),
  )
  const unaccounted = events.flatMap(({ event_id, eventname }) =>
    endpoints
      .filter(endpoint => endpoint.all_events || endpoint.events.includes(eventname))
      .map(({ endpoint_id }) => nameOf({ event_id, endpoint_id }))
      .filter(name => !accounted.has(name)),
  )
  expect(unaccounted, 'events that are neither delivered nor waiting nor dead').toEqual([])
  const bodies = new Map(events.map(event => [event.event_id, event.body.toString('hex')]))
  // A delivery without a committed event would have no body here.
  for (const [key, copies] of receiver.arrived)
    expect([key, ...new Set(copies)], 'an event and its bodies').toEqual([key, bodies.get(key)])
  const answered = grouped(
    attempts.filter(({ status }) => status !== null),
    ({ event_id }) => event_id,
  )
  const unheard = [...answered].filter(
    ([key, rows]) => rows.length > (receiver.arrived.get(key)?.length ?? 0),
  )
  expect(unheard, 'attempts that never arrived').toEqual([])
  const recorded = grouped(attempts, ({ event_id }) => event_id)
  const unrecorded = [...receiver.arrived]
    .filter(([key, copies]) => copies.length > (recorded.get(key)?.length ?? 0))
    .map(([key]) => key)
  expect(
    unrecorded.filter(key => undelivered && !undelivered.has(key)),
    'copies that are on no record, of what was delivered before the fault',
  ).toEqual([])
  expect(
    accepted.filter(({ is_kept }) => is_kept),
    'answers that are kept although they accept',
  ).toEqual([])
}

type Named = { event_id: string; endpoint_id: string }

function nameOf({ event_id, endpoint_id }: Named): string {
  return `${event_id} ${endpoint_id}`
}

/** What the receiver of a webhook test got, in the form that the ledger compares; that test checks the credentials itself. */
export function arrivedIn(deliveries: readonly Delivery[]): Books['receiver'] {
  const arrived = new Map<string, string[]>()
  for (const { key, body } of deliveries)
    arrived.set(key, [...(arrived.get(key) ?? []), Buffer.from(body).toString('hex')])
  return { arrived, wrong: [] }
}
