import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ana } from './fixtures/parts.ts'
import { startRig } from './rig.ts'
import { newVisitor, recordsAgreed, type Visitor } from './visitor.ts'

// Every change that a person makes on the page is on record with its session and request.

const rig = forAllTests(() => startRig({ startAt: Date.UTC(2027, 2, 10, 15) }))

/** A browser that records the ids of its requests, redirects included. */
function noting(): { visitor: Visitor; seen: Set<string> } {
  const seen = new Set<string>()
  const real = globalThis.fetch
  const visitor = newVisitor(rig.service)
  const noted =
    <Arguments extends unknown[], Result>(call: (...given: Arguments) => Promise<Result>) =>
    async (...given: Arguments): Promise<Result> => {
      globalThis.fetch = async (...request) => {
        const response = await real(...request)
        seen.add(response.headers.get('request-id') ?? '')
        return response
      }
      try {
        return await call(...given)
      } finally {
        globalThis.fetch = real
      }
    }
  return { visitor: { ...visitor, get: noted(visitor.get), post: noted(visitor.post) }, seen }
}

type Row = {
  why: string | null
  who: string
  actor: string | null
  request_id: string | null
  reference: string | null
}
function rowsOf(userid: string): Promise<Row[]> {
  return rig.running.database.query<Row>(sql`
    select h.lines -> 0 ->> 3 as why, h.who, h.actor, h.request_id, h.reference from history h
    join users u on u.partner_id = h.partner_id and u.service_id = h.service_id
    where h.partner_id = ${rig.partner.partnerId} and u.userid = ${userid} and h.who = 'user' order by h.version`)
}

test('of somebody who registers', async () => {
  const userid = await rig.newPerson('unknown')
  const { visitor, seen } = noting()
  const address = await rig.mintLink({ offername: 'starter' })
  await visitor.get(address)
  await visitor.post(address)
  await visitor.get('/register/details/name')
  await visitor.post('/register/details/name', { firstname: 'Ana', lastname: 'Rivera' })
  const rows = await rowsOf(userid)
  expect(rows.length).toBeGreaterThan(1)
  const [session] = await rig.running.database.query<{ session_id: string }>(sql`
    select session_id from page_sessions where partner_id = ${rig.partner.partnerId} and userid = ${userid}`)
  for (const { actor, request_id } of rows) {
    expect(actor).toBe(session?.session_id)
    expect(seen).toContain(request_id)
  }
})

test('of a member, by every path that changes something', async () => {
  const userid = await rig.newPerson('unknown')
  await rig.partner.client.createUser({
    userid,
    ...ana,
    offername: 'plus',
    benefits: ['telehealth', 'dental'],
  })
  const { visitor, seen } = noting()
  const address = await rig.mintLink({ offername: '', purpose: 'benefits' })
  await visitor.get(address)
  await visitor.post(address)
  await visitor.get('/register/details/name')
  await visitor.post('/register/details/name', { firstname: 'Anna', lastname: 'Rivera' })
  await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', { benefit: 'legal' })
  await visitor.post('/register/enrol', recordsAgreed)
  await visitor.get('/register/swap')
  await visitor.post('/register/swap', { out: 'dental' })
  await visitor.post('/register/swap/choose', { in: 'vision' })
  await visitor.post('/register/swap/confirm')
  await visitor.get('/register/swap')
  await visitor.post('/register/swap/undo')
  await visitor.get('/register/offer')
  await visitor.post('/register/offer', { offername: 'starter' })
  await visitor.post('/register/offer/confirm')
  await visitor.get('/register/offer')
  await visitor.post('/register/offer/undo')
  await visitor.get('/register/cancel')
  await visitor.post('/register/cancel', { effective: 'endofperiod' })
  await visitor.get('/register/cancel')
  await visitor.post('/register/cancel/undo')
  const rows = await rowsOf(userid)
  for (const { actor, request_id } of rows) {
    expect(actor).toMatch(/^[0-9a-f-]{36}$/)
    expect(seen).toContain(request_id)
  }
  const confirmed = rows.filter(({ reference }) => reference !== null)
  expect([...new Set(confirmed.map(({ why }) => why))].sort()).toEqual(
    ['enrol', 'offer change', 'offer change undone', 'reinstate', 'swap', 'voluntary'].sort(),
  )
  // The reference is kept beside the lines, where an erasure finds it, and never in their words.
  for (const { reference } of confirmed) expect(reference).toMatch(/^BE-\w{4}-\w{4}$/)
  expect(rows.filter(({ why }) => why?.includes('BE-'))).toEqual([])
  // Each was another request of the same session.
  expect(new Set(rows.map(({ actor }) => actor)).size).toBe(1)
  expect(new Set(rows.map(({ request_id }) => request_id)).size).toBe(rows.length)

  await rig.partner.client.eraseUser({ userid })
  const kept = await rig.running.database.query(sql`
    select 1 from history where partner_id = ${rig.partner.partnerId}
      and request_id = any (${confirmed.map(row => row.request_id)}::uuid[])
      and (reference is not null or lines::text like '%BE-%')`)
  expect(kept).toEqual([])
})
