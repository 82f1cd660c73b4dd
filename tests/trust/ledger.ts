import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Database } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import type { Receiver } from '../crash/receiver.ts'
import { ada } from '../rig.ts'
import type { Entry, Journal } from './journal.ts'

/** The three books that must agree after any fault, and where ciphertext is to be all that tells of a person. */
export type Books = {
  readonly journal: Pick<Journal, 'entries' | 'wrong'>
  readonly receiver: Receiver
  readonly database: Database
  readonly partnerId: string
  /** What the service wrote to its outputs. */
  readonly logs: string
  /** Where the data files lie, where they can be read. */
  readonly dataDir?: string
}

/**
 * Checks the client's journal, the receiver's and the database against each other: what was acknowledged is there; each
 * key had one effect; each event is delivered, waits or is visibly dead, and nothing else was delivered; one event has
 * one body; and no personal data is outside ciphertext.
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

async function checkUsers({ journal, database, partnerId }: Books): Promise<void> {
  const users = await database.query<User>(sql`
    select u.userid, u.service_id, u.status, u.version as versions,
      (select count(*)::integer from documents d where d.partner_id = u.partner_id and d.service_id = u.service_id) as documents,
      (select count(*)::integer from data_keys k where k.partner_id = u.partner_id and k.service_id = u.service_id) as keys,
      exists (select from erasures r where r.partner_id = u.partner_id and r.service_id = u.service_id) as listed,
      coalesce((select array_agg(e.eventname order by e.position) from events e
        where e.partner_id = u.partner_id and e.service_id = u.service_id), '{}') as events
    from users u where u.partner_id = ${partnerId}`)
  // Of the erased the name is gone; the events that wait still say it.
  const named = await database.query<{ service_id: string; userid: string }>(sql`
    select distinct service_id, userid from events where partner_id = ${partnerId}`)
  const nameOf = new Map(named.map(row => [row.service_id, row.userid]))
  const found = new Map(users.map(user => [nameOf.get(user.service_id) ?? user.userid, user]))
  expect(found.size).toBe(users.length)
  for (const [userid, entries] of byUser(journal.entries)) {
    const user = found.get(userid)
    found.delete(userid)
    expect(faultsOf(user, entries), `${userid}: ${JSON.stringify({ user, entries })}`).toEqual([])
  }
  // Nobody is there for whom nothing was sent.
  expect([...found.keys()]).toEqual([])
}

function byUser(entries: readonly Entry[]): ReadonlyMap<string, Entry[]> {
  const users = new Map<string, Entry[]>()
  for (const entry of entries) users.set(entry.userid, [...(users.get(entry.userid) ?? []), entry])
  return users
}

const begun = {
  prefill: { status: 'prefilled', events: ['enrollment_request_received'] },
  create: { status: 'active', events: ['enrollment_successful', 'offer_activiation_successful'] },
} as const

/** What does not fit between one user and what was sent for it; each write has had one effect or, unanswered, none. */
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

type Event = { event_id: string; body: Buffer; state: 'delivered' | 'waiting' | 'dead' | null }

async function checkDeliveries({ receiver, database, partnerId }: Books): Promise<void> {
  const read = () =>
    database.query<Event>(sql`
      select e.event_id, e.body, case
        when exists (select from deliveries d where d.partner_id = e.partner_id and d.event_id = e.event_id) then 'waiting'
        when exists (select from dead_deliveries d where d.partner_id = e.partner_id and d.event_id = e.event_id) then 'dead'
        when exists (select from delivery_attempts a where a.partner_id = e.partner_id and a.event_id = e.event_id
          and a.status between 200 and 299) then 'delivered' end as state
      from events e where e.partner_id = ${partnerId}`)
  const waits = async () => (await read()).filter(event => event.state === 'waiting').length
  await expect.poll(waits, { timeout: 120_000, interval: 100 }).toBe(0)
  const events = await read()
  const unaccounted = events.filter(
    ({ event_id, state }) => state === null || (state === 'delivered' && !receiver.arrived.has(event_id)),
  )
  expect(unaccounted).toEqual([])
  const bodies = new Map(events.map(event => [event.event_id, event.body.toString('hex')]))
  // A delivery of no committed event would have no body here.
  for (const [key, copies] of receiver.arrived)
    expect([key, ...new Set(copies)]).toEqual([key, bodies.get(key)])
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
  // The files themselves hold dead rows, and the log of the database; the catalogue's pages are no personal data.
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path).catch(() => Buffer.alloc(0))
    expect([path, ...found(bytes)]).toEqual([path])
  }
}
