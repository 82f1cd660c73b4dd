import { beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

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

  test('by the email or phone of an account or a prefill, exactly, for support alone', async () => {
    const userid = 'canary-found-1'
    const own = { ...ada, email: 'Found.Canary@Example.com', phone: '7865550143' }
    const prefilled = { userid: 'canary-only-prefilled' }
    await partner.client.prefillUser({ ...own, ...prefilled })
    for (const what of [own.email, own.phone])
      expect((await support.post('/find', { what })).text).toContain('User canary-only-prefilled')
    await partner.client.eraseUser(prefilled)
    expect((await support.post('/find', { what: own.email })).status).toBe(404)
    const { serviceid: id } = await partner.client.createUser({ ...own, userid, offername: 'starter' })
    for (const what of [
      'found.canary@example.com',
      'FOUND.CANARY@EXAMPLE.COM',
      '7865550143',
      '+1 786-555-0143',
    ]) {
      expect((await support.post('/find', { what })).path).toBe(`/users/${id}`)
      expect((await viewer.post('/find', { what })).status).toBe(404)
    }
    expect((await support.post('/find', { what: 'canary@example.com' })).status).toBe(404)
    await partner.client.updateUser({ userid, email: 'new.canary@example.com', phone: null })
    expect((await support.post('/find', { what: own.email })).status).toBe(404)
    expect((await support.post('/find', { what: '7865550143' })).status).toBe(404)
    expect((await support.post('/find', { what: 'new.canary@example.com' })).path).toBe(`/users/${id}`)
    await partner.client.eraseUser({ userid })
    expect((await support.post('/find', { what: 'new.canary@example.com' })).status).toBe(404)
    const left = await service.database.query(sql`select from sealed_records where service_id = ${id}`)
    expect(left).toEqual([])
  })

  test('by a userid that is the email or phone of somebody else, whom it finds, too; a viewer by the userid alone', async () => {
    const named = { ...ada, offername: 'starter' }
    for (const what of ['shared.canary@example.com', '7865550177']) {
      const { serviceid: byName } = await partner.client.createUser({ ...named, userid: what })
      const reached = what.includes('@') ? { email: what } : { phone: what }
      const { serviceid: byReach } = await partner.client.createUser({
        ...named,
        ...reached,
        userid: `canary of ${what}`,
      })
      const found = await support.post('/find', { what })
      expect(found.text).toContain('Several users')
      for (const id of [byName, byReach]) expect(found.text).toContain(`/users/${id}"`)
      expect((await viewer.post('/find', { what })).path).toBe(`/users/${byName}`)
      await partner.client.updateUser({ userid: what, ...reached })
      await partner.client.eraseUser({ userid: `canary of ${what}` })
      expect((await support.post('/find', { what })).path).toBe(`/users/${byName}`)
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
