import { beforeAll, describe, expect, test, vi } from 'vitest'
import { DAY_MS } from '../../service/src/calendar/calendar.ts'
import { screens } from '../../service/src/console/screens.ts'
import { sql } from '../../service/src/db/sql.ts'
import { hasRight } from '../../service/src/operators/operator.ts'
import { forAllTests } from '../for-all-tests.ts'
import { wholeRunTest } from '../long.ts'
import { newVisitor } from '../page/visitor.ts'
import { ada, startTestService } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { type OperatorBrowser, signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
let serviceid = ''
beforeAll(async () => {
  const user = await partner.client.createUser({
    ...ada,
    userid: 'canary-user-1',
    offername: 'starter',
    benefits: ['telehealth'],
  })
  serviceid = user.serviceid
})
const viewer = forAllTests(() => signIn(service, 'viewer'))
const support = forAllTests(() => signIn(service, 'support'))

describe('one field finds a user', () => {
  test('by userid, also one that looks like an id, serviceid, event id, and the id of the request that changed it', async () => {
    const [event] = (await partner.client.listEvents({ userid: 'canary-user-1' })).events
    const [change] = await service.database.query<{ request_id: string }>(sql`
      select request_id from history where service_id = ${serviceid} order by version limit 1`)
    const shaped = crypto.randomUUID()
    const { serviceid: id } = await partner.client.createUser({
      ...ada,
      userid: shaped,
      offername: 'starter',
    })
    expect((await viewer.post('/find', { what: shaped })).path).toBe(`/users/${id}`)
    for (const what of [
      'canary-user-1',
      serviceid,
      serviceid.toUpperCase(),
      event?.eventid ?? '',
      change?.request_id ?? '',
    ]) {
      const found = await support.post('/find', { what })
      expect(found).toMatchObject({ status: 200 })
      expect(found.path).toBe(`/users/${serviceid}`)
    }
  })

  test('by a userid that begins or ends with a space', async () => {
    const userid = ' canary-spaced '
    const { serviceid: id } = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    expect((await support.post('/find', { what: userid })).path).toBe(`/users/${id}`)
    expect((await support.post('/find', { what: userid.trim() })).status).toBe(404)
    expect((await support.post('/find', { what: '  canary-user-1 ' })).path).toBe(`/users/${serviceid}`)
  })

  test('by a phone that more than a hundred accounts share, each of them', async () => {
    const phone = '7865550188'
    const many = Array.from({ length: 101 }, (_, at) => `canary-shares-${at}`)
    for (const userid of many)
      await partner.client.createUser({ ...ada, phone, userid, offername: 'starter' })
    const found = await support.post('/find', { what: phone })
    expect(found.text.match(/>canary-shares-\d+</g)).toHaveLength(many.length)
  })

  test('and says so when nobody is found; no address ever carries what was typed', async () => {
    const oddities = ['ffffffff-ffff-7fff-bfff-ffffffffffff', "'; drop table users; --", '%', '_']
    for (const what of ['nobody-of-this-name', '', ' ', crypto.randomUUID(), 'x'.repeat(500), ...oddities]) {
      const found = await support.post('/find', { what })
      expect(found.status).toBe(404)
      expect(found.path).toBe('/find')
      expect(found.text).toContain('Nobody found')
    }
    expect(JSON.stringify(service.logged)).not.toContain('canary')
    const nul = await support.post('/find', { what: 'a\0b' })
    expect([nul.status, nul.text.includes('Go back and type it again.')]).toEqual([400, true])
    expect((await support.get('/partners?name=%00')).status).toBe(400)
  })

  test('by the reference of a confirmation, in capitals or not, until the person is erased', async () => {
    const userid = 'canary-referred'
    const { serviceid: id } = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    await service.database.query(sql`
      insert into sealed_records (partner_id, service_id, kind, name, version, sealed, at)
      values (${partner.partnerId}, ${id}, 'confirmation', 'BE-7K3M-92QD', ${crypto.randomUUID()}, ''::bytea, now())`)
    for (const what of ['BE-7K3M-92QD', ' be-7k3m-92qd ']) {
      for (const operator of [viewer, support])
        expect((await operator.post('/find', { what })).path).toBe(`/users/${id}`)
    }
    expect((await support.post('/find', { what: 'BE-7K3M' })).status).toBe(404)
    const elsewhere = await signIn(service, 'support', [(await service.newPartner()).partnerId])
    expect((await elsewhere.post('/find', { what: 'BE-7K3M-92QD' })).status).toBe(404)
    await partner.client.eraseUser({ userid })
    expect((await support.post('/find', { what: 'BE-7K3M-92QD' })).status).toBe(404)
  })

  test('of the same userid at two partners both are listed', async () => {
    const other = await service.newPartner({ name: 'Other Rides' })
    await other.client.prefillUser({ ...ada, userid: 'canary-user-1' })
    const found = await support.post('/find', { what: 'canary-user-1' })
    expect(found.text).toContain('Several users')
    expect(found.text).toContain('Harbor Rides')
    expect(found.text).toContain('Other Rides')
    const own = await signIn(service, 'support', [other.partnerId])
    expect((await own.post('/find', { what: serviceid })).status).toBe(404)
    expect((await own.get(`/users/${serviceid}`)).status).toBe(404)
    expect((await own.post('/find', { what: 'canary-user-1' })).path).toMatch(/^\/users\//)
  })
})

describe('the page of a user', () => {
  test('has the userid in its heading for support, and in no title, which browsers keep in their history', async () => {
    const titled = `<title>User ${serviceid.slice(-12)} – Benefits console</title>`
    for (const [operator, heading] of [
      [support, 'User canary-user-1'],
      [viewer, 'User'],
    ] as const) {
      const { text } = await operator.get(`/users/${serviceid}`)
      expect(text).toContain(titled)
      expect(text).toContain(`<h1>${heading}</h1>`)
    }
  })

  test('says of somebody whose create was refused when and why, even if nobody has the userid', async () => {
    const userid = 'refused-canary'
    const inNewYork = {
      zipcode: '10001',
      address: { ...ada.address, state: 'NY' as const, zipcode: '10001' },
    }
    const create = () =>
      expect(
        partner.client.createUser({ ...ada, ...inNewYork, userid, offername: 'premier' }),
      ).rejects.toMatchObject({ status: 422 })
    await create()
    const found = await vi.waitFor(async () => {
      const answer = await viewer.post('/find', { what: userid })
      expect(answer.status).toBe(200)
      return answer.text
    })
    expect(found).toContain('<h1>Not enrolled</h1>')
    expect(found).toContain('Refused at Harbor Rides')
    expect(found).toMatch(/Premier[^<]*New York[^<]*<code>not_in_ny<\/code>/)
    const other = await service.newPartner({ name: 'Elsewhere' })
    const elsewhere = await signIn(service, 'support', [other.partnerId])
    expect((await elsewhere.post('/find', { what: userid })).status).toBe(404)
    await partner.client.prefillUser({ ...ada, ...inNewYork, userid })
    const { text } = await support.post('/find', { what: userid })
    expect(text).toMatch(
      /id="sentence">Prefilled on [^:]*, not enrolled: an attempt to enroll was refused on [^:]*: Premier is not [^;]*;/,
    )
    expect(text).toMatch(/<h2>Refused<[^!]*not_in_ny/)
    await partner.client.eraseUser({ userid })
    // What is kept of an erased userid is a keyed hash, which leads to the certificate.
    expect((await support.post('/find', { what: userid })).text).toContain('Certificate of erasure')
    expect((await elsewhere.post('/find', { what: userid })).status).toBe(404)
  })

  test('is found by the id of a request that could not enroll the person, whoever was there then or came since', async () => {
    const inNewYork = {
      zipcode: '10001',
      address: { ...ada.address, state: 'NY' as const, zipcode: '10001' },
    }
    const refuse = (userid: string, body = {}) =>
      partner.client.createUser({ ...ada, ...inNewYork, userid, offername: 'premier', ...body }).then(
        () => '',
        (error: { requestId: string }) => error.requestId,
      )
    const found = (what: string, by: OperatorBrowser = support) =>
      vi.waitFor(async () => {
        const answer = await by.post('/find', { what })
        expect(answer.status).toBe(200)
        return answer
      })
    const userid = 'canary-refused-request'
    const requestId = await refuse(userid)
    const misshapen = await refuse(userid, { dob: 5 })
    for (const operator of [viewer, support]) {
      const { path, text } = await found(requestId.toUpperCase(), operator)
      expect(path).toBe('/find')
      expect(text).toContain('<h1>Not enrolled</h1>')
      expect(text).toContain('Nobody has come under its userid since.')
      expect(text).toContain('Refused at Harbor Rides')
      expect(text).toMatch(/not_in_ny/)
      expect(text).not.toContain('canary')
    }
    // The other attempt of the same userid stands beside it, and what was wrong is said in words.
    const both = (await found(misshapen)).text
    expect(both).toContain(`id="request-${requestId}"`)
    expect(both).toContain('<code>dob</code> is of the wrong type <code>type</code>')
    expect(both.match(/searched for/g)).toHaveLength(1)
    expect(both).toMatch(new RegExp(`id="request-${misshapen}">.*</span> <span[^>]*>searched for`))
    const elsewhere = await signIn(service, 'admin', [(await service.newPartner()).partnerId])
    expect((await elsewhere.post('/find', { what: requestId })).status).toBe(404)

    // Somebody who comes later under the userid is who the request was about.
    const { serviceid: later } = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    const since = await found(requestId)
    expect(since.path).toBe(`/users/${later}`)
    expect(since.text).toContain(`id="request-${requestId}"`)
    // So is somebody who was there before.
    await partner.client.prefillUser({ ...ada, ...inNewYork, userid: 'canary-refused-prefilled' })
    const ofPrefilled = await refuse('canary-refused-prefilled')
    const { path, text } = await found(ofPrefilled)
    expect(path).toMatch(/^\/users\//)
    expect(text).toContain('canary-refused-prefilled')

    await partner.client.eraseUser({ userid })
    expect((await support.post('/find', { what: requestId })).status).toBe(404)
  })

  test('lists the refused attempts of a person beyond the newest twenty below them, and the one that was sought above', async () => {
    const requests: string[] = []
    for (let times = 0; times < 22; times += 1)
      await partner.client
        .createUser({ ...ada, userid: 'often-refused', offername: 'starter', dob: '2020-01-01' })
        .catch((error: { requestId: string }) => requests.push(error.requestId))
    const [oldest = '', second = ''] = requests
    const text = await vi.waitFor(async () => {
      const answer = await support.post('/find', { what: oldest })
      expect(answer.text.match(/id="request-/g)).toHaveLength(22)
      return answer.text
    })
    expect(text.indexOf(oldest)).toBeLessThan(text.indexOf(requests.at(-1) ?? '-'))
    expect(text.slice(text.indexOf('<details>'))).toMatch(/<summary>1 older</)
    expect(text.slice(text.indexOf('<details>'))).toContain(second)
  })

  test('has older changes on pages of their own, which lead back and do not take an earlier cancel for the present one', async () => {
    const userid = 'canary-long-history'
    const user = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    await partner.client.cancelUser({ userid })
    await partner.client.reinstateUser({ userid })
    for (let n = 0; n < 50; n += 1) await partner.client.updateUser({ userid, firstname: `Ada ${n}` })
    const path = `/users/${user.serviceid}`
    const wish = { effective: 'endofperiod', cause: 'deceased' }
    const preview = await support.post(`${path}/act/cancel`, wish)
    const seen = /name="seen" value="([^"]+)"/.exec(preview.text)?.[1] ?? ''
    const { text } = await support.post(`${path}/act/cancel`, {
      ...wish,
      sure: 'yes',
      seen,
      reason: 'letter 3',
    })
    const sentenceOf = (page: string) => /id="sentence">([^<]*)</.exec(page)?.[1]
    expect(sentenceOf(text)).toContain('canceled by an operator, reason deceased')
    const older = /<a href="([^"]+)">Older changes</.exec(text)?.[1] ?? ''
    const page = await support.get(older)
    expect(sentenceOf(page.text)).toContain('canceled, reason deceased')
    expect(page.text).toContain(`<a href="${path}">Newest changes</a>`)
    expect(page.text).not.toContain('>today</span>')
    expect(text).not.toContain('Newest changes')
  })

  test('leads to all entries about a user who came after the sandbox’s clock was moved', async () => {
    const ahead = await service.newPartner({ name: 'Ahead Rides' })
    await ahead.client.advanceClock({ advanceto: new Date(service.now() + 40 * DAY_MS).toISOString() })
    const user = await ahead.client.createUser({ ...ada, userid: 'canary-ahead', offername: 'starter' })
    const { text } = await support.get(`/users/${user.serviceid}`)
    const all = /<a href="(\/audit\?[^"]+)">All entries</.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect((await support.get(all)).text).toContain('look at user')
  })

  test('counts the looks in a row of one operator, so that they do not hide who changed something', async () => {
    const userid = 'looked-at-1'
    const { serviceid: id } = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    const operator = await signIn(service, 'support')
    await operator.post(`/users/${id}/person`, { reason: 'ticket 44' })
    for (let looks = 1; looks <= 30; looks += 1) await operator.get(`/users/${id}`)
    const { text } = await support.get(`/users/${id}`)
    const seen = text.slice(text.indexOf('Who looked and worked here'))
    expect(seen).toMatch(/look at user<br><span class="hint">30 times since/)
    expect(seen.match(/look at user/g)).toHaveLength(2)
    expect(seen).toContain('ticket 44')
    expect(text.indexOf('<h2>Timeline')).toBeLessThan(text.indexOf('<h2>Who looked'))
  })

  test('shows at which step a session of the page was left, and that its dead link was opened', async () => {
    const userid = 'canary-left-1'
    await partner.client.prefillUser({ ...ada, userid })
    const { linkurl } = await partner.client.createLinkToken({ userid, purpose: 'registration' })
    const visitor = newVisitor(service.baseUrl)
    const shown = await visitor.post(linkurl ?? '')
    const { path } = await support.post('/find', { what: userid })
    const links = async () => (await support.get(path)).text
    expect(shown.view).toBe('DETAILS_REVIEW')
    expect(await links()).toContain('last seen at “Check your details”, ')
    expect((await newVisitor(service.baseUrl).get(linkurl ?? '')).status).toBe(410)
    expect(await links()).toContain('last seen at “Check your details”, ')
  })

  test('shows the same of a session in the embed', async () => {
    const userid = 'canary-left-2'
    const origin = 'https://site.example.com'
    const { client } = await service.newPartner({ origins: [origin] })
    await client.prefillUser({ ...ada, userid })
    const { linktoken } = await client.createLinkToken({
      userid,
      purpose: 'registration',
      delivery: 'embed',
    })
    const exchange = () =>
      fetch(`${service.baseUrl}/embed/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ linktoken, origin }),
      })
    expect((await exchange()).status).toBe(200)
    const { path } = await support.post('/find', { what: userid })
    expect((await support.get(path)).text).toContain('last seen at “Check your details”')
    expect((await exchange()).status).toBe(401)
  })
})

describe('personal data', () => {
  test('is shown to support for a reason, which goes on record sealed', async () => {
    const operator = await signIn(service, 'support')
    const closed = await operator.get(`/users/${serviceid}`)
    expect(closed.text).not.toMatch(/Adacanary|ada\.canary|3055550142|Canary Drive|1990-03-27/)
    expect((await operator.post(`/users/${serviceid}/person`, { reason: ' ' })).status).toBe(422)
    const shown = await operator.post(`/users/${serviceid}/person`, { reason: 'caller asked, ticket 7' })
    for (const value of [
      'Adacanary',
      'ada.canary@example.com',
      '3055550142',
      '12 Canary Drive',
      '1990-03-27',
    ])
      expect(shown.text).toContain(value)
    expect(await deedsOf(service, operator)).toContainEqual({
      action: 'look at person',
      result: 'shown',
      serviceId: serviceid,
      because: true,
    })
    const { text } = await operator.get(`/audit?partner=${partner.partnerId}`)
    expect(text).toContain('caller asked, ticket 7')
    const [row] = await service.database.query<{ sealed_reason: Buffer }>(sql`
      select sealed_reason from audit_log where actor = ${operator.operatorId} and sealed_reason is not null`)
    expect(row?.sealed_reason.toString('latin1')).not.toContain('ticket')
  })

  test('is never shown to a viewer: no userid, reason or value of the person on any page', async () => {
    await partner.client.createLinkToken({ userid: 'canary-user-1', purpose: 'benefits', delivery: 'sms' })
    const pages = [
      await viewer.post('/find', { what: serviceid }),
      await viewer.get('/'),
      await viewer.get(`/users/${serviceid}`),
      await viewer.get(`/audit?partner=${partner.partnerId}&who=all`),
    ]
    for (const { status, text } of pages) {
      expect(status).toBe(200)
      expect(text).not.toMatch(/canary|3055550142|1990-03-27|ticket/i)
    }
  })
})

// isolation.test.ts shows both of every address, in `npm test` too.
wholeRunTest('an address of a higher role is refused, and the refusal is on record', async () => {
  const operators: Record<string, OperatorBrowser> = { viewer, support }
  for (const screen of screens) {
    const path = screen.path.replace(/:\w+/g, serviceid)
    for (const role of ['viewer', 'support'] as const) {
      if (hasRight({ role }, screen.right)) continue
      const operator = operators[role]
      if (!operator) throw new Error('no operator of this role')
      const answer =
        screen.method === 'GET' ? await operator.get(path) : await operator.post(path, { reason: 'because' })
      expect([screen.path, answer.status]).toEqual([screen.path, 403])
      expect(answer.text).toContain('Not for your role')
      expect(await deedsOf(service, operator)).toContainEqual({
        action: `${screen.method} ${screen.path}`,
        result: 'refused',
        serviceId: null,
        because: false,
      })
    }
  }
})

describe('the audit log', () => {
  test('can be exported, and compared with its signatures', async () => {
    const csv = await support.get(`/audit.csv?partner=${partner.partnerId}`)
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.text.split('\r\n')[0]).toBe(
      'at,actorkind,actor,operator,action,result,times,serviceid,requestid,reason',
    )
    expect((await viewer.post(`/audit/verify?partner=${partner.partnerId}`)).text).toContain(
      'The record is whole',
    )
  })

  test('of sign-ins is for those who work for all partners', async () => {
    const { noPartner } = await import('../../service/src/audit/entries.ts')
    expect((await support.get(`/audit?partner=${noPartner}`)).text).toContain('sign in')
    const own = await signIn(service, 'admin', [partner.partnerId])
    expect((await own.get(`/audit?partner=${noPartner}`)).status).toBe(404)
  })
})
