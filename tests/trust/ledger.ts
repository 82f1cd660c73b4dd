import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect, vi } from 'vitest'
import type { Database } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import type { Receiver } from '../crash/receiver.ts'
import { ada } from '../rig.ts'
import type { Entry, Journal } from './journal.ts'

/**
 * The three records that must agree after any fault, and the places in which personal data may appear only as
 * ciphertext.
 */
export type Books = {
  readonly journal: Pick<Journal, 'entries' | 'wrong'>
  readonly receiver: Receiver
  readonly database: Database
  readonly partnerId: string
  /** What the service wrote to its outputs. */
  readonly logs: string
  /** The data directory of an embedded database, if there is one: its data files, and PostgreSQL's own log beside them. */
  readonly dataDir?: string
}

/**
 * Compares the records of the client, the receiver and the database: everything acknowledged is there; each key had one
 * effect; each event is delivered, waits or is visibly dead, and nothing else was delivered; one event has one body;
 * and no personal data is outside ciphertext.
 */
export async function checkLedger(books: Books): Promise<void> {
  expect(books.journal.wrong).toEqual([])
  expect(books.receiver.wrong).toEqual([])
  await checkUsers(books)
  await checkDeliveries(books)
  await checkCanaries(books)
}

type User = {
  userid: string
  service_id: string
  status: string
  versions: number
  events: string[]
  documents: number
  keys: number
  listed: boolean
}

// Each table is read once and joined here. On tables that were never analyzed, PostgreSQL's plans would compare each
// row with each, and on a busy machine the check itself would run out of time.
async function checkUsers({ journal, database, partnerId }: Books): Promise<void> {
  const rows = await database.query<{
    userid: string
    service_id: string
    status: string
    versions: number
  }>(sql`
    select userid, service_id, status, version as versions from users where partner_id = ${partnerId}`)
  const events = await database.query<Told>(sql`
    select service_id, userid, eventname from events where partner_id = ${partnerId} order by position`)
  const documents = counted(
    await database.query<Owned>(sql`select service_id from documents where partner_id = ${partnerId}`),
  )
  const keys = counted(
    await database.query<Owned>(sql`select service_id from data_keys where partner_id = ${partnerId}`),
  )
  const erased = counted(
    await database.query<Owned>(sql`select service_id from erasures where partner_id = ${partnerId}`),
  )
  const told = grouped(events, event => event.service_id)
  // An erased user's name is gone, but events that still wait contain it.
  const nameOf = new Map(events.map(event => [event.service_id, event.userid]))
  const found = new Map(
    rows.map(row => [
      nameOf.get(row.service_id) ?? row.userid,
      {
        ...row,
        events: (told.get(row.service_id) ?? []).map(event => event.eventname),
        documents: documents.get(row.service_id) ?? 0,
        keys: keys.get(row.service_id) ?? 0,
        listed: erased.has(row.service_id),
      },
    ]),
  )
  expect(found.size).toBe(rows.length)
  for (const [userid, entries] of grouped(journal.entries, entry => entry.userid)) {
    const user = found.get(userid)
    found.delete(userid)
    expect(faultsOf(user, entries), `${userid}: ${JSON.stringify({ user, entries })}`).toEqual([])
  }
  // No user exists for whom nothing was sent.
  expect([...found.keys()]).toEqual([])
}

type Owned = { service_id: string }
type Told = { service_id: string; userid: string; eventname: string }

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

const begun = {
  prefill: { status: 'prefilled', events: ['enrollment_request_received'] },
  create: { status: 'active', events: ['enrollment_successful', 'offer_activiation_successful'] },
} as const

/** The contradictions between one user and the requests for it; each write has had one effect or, unanswered, none. */
function faultsOf(user: User | undefined, entries: readonly Entry[]): string[] {
  const first = entries.find(entry => entry.kind !== 'erase')
  const erase = entries.find(entry => entry.kind === 'erase')
  if (!first || first.kind === 'erase') return ['nothing was begun']
  if (!user) return first.isAcknowledged || erase?.isAcknowledged ? ['acknowledged and not there'] : []
  const faults: string[] = []
  const wanted = begun[first.kind]
  const isErased = user.status === 'erased'
  if (erase?.isAcknowledged && !isErased) faults.push('acknowledged as erased and still there')
  if (!erase && isErased) faults.push('erased unasked')
  if (!isErased && user.status !== wanted.status) faults.push(`status ${user.status}`)
  const ends = isErased
    ? [...(first.kind === 'create' ? ['offer_cancel_successful'] : []), 'user_erased']
    : []
  if (JSON.stringify(user.events) !== JSON.stringify([...wanted.events, ...ends]))
    faults.push(`events ${user.events.join(', ')}`)
  if (user.versions !== (isErased ? 2 : 1)) faults.push(`changed ${user.versions} times`)
  if (user.documents !== (isErased ? 0 : 1) || user.keys !== (isErased ? 0 : 1))
    faults.push('documents or keys')
  if (user.listed !== isErased) faults.push('erasures')
  return faults
}

type Event = { event_id: string; body: Buffer }

async function checkDeliveries({ receiver, database, partnerId }: Books): Promise<void> {
  const waiting = async () =>
    (await database.query<Named>(sql`select event_id from deliveries where partner_id = ${partnerId}`)).length
  // Not by `expect.poll`, which does not know its test where tests run side by side.
  await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 240_000, interval: 100 })
  const events = await database.query<Event>(sql`
    select event_id, body from events where partner_id = ${partnerId}`)
  const dead = named(
    await database.query<Named>(sql`select event_id from dead_deliveries where partner_id = ${partnerId}`),
  )
  const accepted = named(
    await database.query<Named>(sql`
      select event_id from delivery_attempts where partner_id = ${partnerId} and status between 200 and 299`),
  )
  const unaccounted = events.filter(
    ({ event_id }) => !dead.has(event_id) && !(accepted.has(event_id) && receiver.arrived.has(event_id)),
  )
  expect(unaccounted).toEqual([])
  const bodies = new Map(events.map(event => [event.event_id, event.body.toString('hex')]))
  // A delivery without a committed event would have no body here.
  for (const [key, copies] of receiver.arrived)
    expect([key, ...new Set(copies)]).toEqual([key, bodies.get(key)])
}

type Named = { event_id: string }

function named(rows: readonly Named[]): ReadonlySet<string> {
  return new Set(rows.map(row => row.event_id))
}

const canaries = [ada.firstname, ada.lastname, ada.email, ada.phone, ada.dob, ada.address.addline1]

async function checkCanaries({ database, logs, dataDir }: Books): Promise<void> {
  const found = (text: string | Buffer) => canaries.filter(canary => text.includes(canary))
  expect(['logs', ...found(logs)]).toEqual(['logs'])
  const tables = await database.query<{ name: string }>(sql`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind = 'r' order by 1`)
  for (const { name } of tables) {
    const rows = await database.query<{ text: string }>({
      name: '',
      text: `select t::text as text from "${name}" t`,
      values: [],
    })
    const hex = canaries.filter(one => rows.some(row => row.text.includes(Buffer.from(one).toString('hex'))))
    const plain = canaries.filter(one => rows.some(row => row.text.includes(one)))
    expect([name, ...plain, ...hex]).toEqual([name])
  }
  if (dataDir === undefined) return
  // The files also contain dead rows; the catalogue's pages contain no personal data.
  const read = new Set<string>()
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path).catch(() => Buffer.alloc(0))
    expect([path, ...found(bytes)]).toEqual([path])
    if (bytes.length > 0) read.add(relative(dataDir, path))
  }
  // A search of the wrong directory would find nothing either.
  expect([...read]).toEqual(expect.arrayContaining(['postgres.log', 'postgres/PG_VERSION']))
}
