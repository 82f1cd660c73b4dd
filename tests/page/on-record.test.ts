import { expect, test, vi } from 'vitest'
import { type AuditRow, listEntries, noPartner } from '../../service/src/audit/entries.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ana, startRig } from './rig.ts'
import { newVisitor, recordsAgreed, type Visitor } from './visitor.ts'

// Every change that a person makes on the page is on record with its session and request, and so are each opening of the
// page and each secret of it that was refused.

const rig = forAllTests(() => startRig())

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
    select h.lines -> 0 ->> 'why' as why, h.who, h.actor, h.request_id, h.reference from history h
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
  await visitor.post('/register/swap', { out: 'dental', in: 'vision' })
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
  const stored = await rig.running.database.query<{ reference: string }>(sql`
    select name as reference from sealed_records where partner_id = ${rig.partner.partnerId} and kind = 'confirmation'
      and name = any (${confirmed.map(({ reference }) => reference)}::text[])`)
  expect(new Set(stored.map(({ reference }) => reference))).toEqual(
    new Set(confirmed.map(({ reference }) => reference)),
  )
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

/** The entries of the audit log, which are written about a second after what they record. */
function entriesOf(partnerId: string, fits: (rows: readonly AuditRow[]) => boolean): Promise<AuditRow[]> {
  const { database, now } = rig.running
  return vi.waitFor(
    async () => {
      const rows = await listEntries(database, { partnerId, from: 0, until: now() + 86_400_000 })
      if (!fits(rows)) throw new Error('not written yet')
      return rows
    },
    { timeout: 120_000 },
  )
}

/** The entry about the session that the rig's person has opened, and the user whom it must name. */
async function openingOf(userid: string) {
  const { partnerId } = rig.partner
  const [session] = await rig.running.database.query<{ session_id: string; service_id: string }>(sql`
    select session_id, service_id from page_sessions where partner_id = ${partnerId} and userid = ${userid}`)
  const isIts = ({ action, actor }: AuditRow) => action === 'openPage' && actor === session?.session_id
  const entries = (await entriesOf(partnerId, rows => rows.some(isIts))).filter(isIts)
  expect(entries).toHaveLength(1)
  return { entry: entries[0], serviceId: session?.service_id }
}

test('the opening of the page: by whom, from which network, by which request, and of which user', async () => {
  const prefilled = await rig.newPerson()
  const { visitor, seen } = noting()
  await visitor.post(await rig.mintLink())
  const { entry, serviceId } = await openingOf(prefilled)
  expect(entry).toMatchObject({ actor_kind: 'session', result: 'shown', service_id: serviceId, times: 1 })
  expect(seen).toContain(entry?.request_id)
  expect(entry?.source).toHaveLength(16)

  const member = await rig.newPerson('unknown')
  await rig.partner.client.createUser({ userid: member, ...ana, offername: 'plus' })
  const opened = await newVisitor(rig.service).send('/embed/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ linktoken: await rig.mintToken(), origin: rig.host }),
  })
  expect(opened.status).toBe(200)
  const embedded = await openingOf(member)
  expect(embedded.entry).toMatchObject({
    service_id: embedded.serviceId,
    source: entry?.source,
    request_id: opened.headers.get('request-id'),
  })

  // Of somebody of whom nothing was known, nothing was shown either.
  const stranger = await rig.newPerson('unknown')
  await newVisitor(rig.service).post(await rig.mintLink())
  expect((await openingOf(stranger)).entry).toMatchObject({ service_id: null, source: entry?.source })
})

test('a link or session that the service never made is a refused authentication, and one that ended is not', async () => {
  await rig.newPerson()
  const link = await rig.mintLink()
  const visitor = newVisitor(rig.service)
  await visitor.post(link)
  const [[name = '', handle = ''] = []] = [...visitor.cookies].filter(([, value]) => value.includes('_sh_'))
  await visitor.get('/register')
  await rig.endSessions()
  expect((await visitor.get('/register')).status).toBe(401)
  expect((await newVisitor(rig.service).post(link)).status).toBe(410)

  const changed = (secret: string) => secret.replace(/.$/, last => (last === 'a' ? 'b' : 'a'))
  expect((await newVisitor(rig.service).get(changed(link))).status).toBe(410)
  expect((await newVisitor(rig.service).post(changed(link))).status).toBe(410)
  const stranger = newVisitor(rig.service)
  const guess = { cookie: `${name}=${changed(handle)}` }
  expect((await stranger.send('/register', { headers: guess })).status).toBe(401)
  const frame = newVisitor(rig.service, changed(handle))
  expect((await frame.send('/register')).status).toBe(401)
  const exchanged = await stranger.send('/embed/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ linktoken: changed(await rig.mintToken()), origin: rig.host }),
  })
  expect(exchanged.status).toBe(401)

  const timesOf = (rows: readonly AuditRow[]) =>
    rows.filter(({ result }) => result === 'refused').reduce((sum, { times }) => sum + times, 0)
  const rows = await entriesOf(noPartner, found => timesOf(found) >= 5)
  expect(timesOf(rows)).toBe(5)
  const refused = rows.filter(({ result }) => result === 'refused')
  // A minute may have ended between two of them.
  expect(refused.length).toBeLessThanOrEqual(2)
  for (const row of refused) {
    expect(row).toMatchObject({ actor_kind: 'nobody', actor: '', action: 'authenticate' })
    expect(row.source).toHaveLength(16)
  }
  const { partnerId } = rig.partner
  expect(timesOf(await entriesOf(partnerId, () => true))).toBe(0)
})
