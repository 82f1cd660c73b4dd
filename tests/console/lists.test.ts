import { beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner } from '../../service/src/partners/manage.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const first = forAllTests(() => service.newPartner({ name: 'Aviso Rides' }))
const formula = forAllTests(() => service.newPartner({ name: '=cmd|calc' }))
beforeAll(async () => {
  const { partnerId } = await service.newPartner({ name: 'Zephyr Foods' })
  await changePartner(partnerId, { isDisabled: true }, service.manage)
  for (const [partner, host] of [
    [first, 'b.localhost'],
    [formula, 'a.localhost'],
  ] as const)
    await partner.client.createWebhook({ url: `http://${host}:9/secret-path`, username: 'u', password: 'p' })
})
const admin = forAllTests(() => signIn(service, 'admin'))
const viewer = forAllTests(() => signIn(service, 'viewer'))

/** The names of a list's links, in the order of the page. */
function namesIn(text: string, path: string) {
  return [...text.matchAll(new RegExp(`<a href="${path}/[\\da-f-]{36}">([^<]*)</a>`, 'g'))].map(
    ([, name]) => name,
  )
}

describe('the list of partners', () => {
  test('is sorted by its headings, one way and the other, and filtered by name and state', async () => {
    const names = async (query: string) => namesIn((await viewer.get(`/partners${query}`)).text, '/partners')
    expect(await names('?sort=partner')).toEqual(['=cmd|calc', 'Aviso Rides', 'Zephyr Foods'])
    expect(await names('?sort=-partner')).toEqual(['Zephyr Foods', 'Aviso Rides', '=cmd|calc'])
    expect(await names('?state=disabled')).toEqual(['Zephyr Foods'])
    expect(await names('?name=AVI')).toEqual(['Aviso Rides'])
    expect((await viewer.get('/partners?sort=-partner')).text).toContain('aria-sort="descending"')
    expect((await viewer.get('/partners?name=nobody')).text).toContain('No partner fits')
  })

  test('is a file for support, with harmless cells, on record; and none for a viewer', async () => {
    const file = await admin.get('/partners.csv?sort=partner')
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(file.text.split('\r\n')).toEqual([
      'partner,state,partnerid',
      `'=cmd|calc,enabled,${formula.partnerId}`,
      `Aviso Rides,enabled,${first.partnerId}`,
      expect.stringMatching(/^Zephyr Foods,disabled,/),
      '',
    ])
    expect((await viewer.get('/partners.csv')).status).toBe(403)
    const [row] = await service.database.query(sql`
      select from audit_log where actor = ${admin.operatorId} and action = 'export partners'`)
    expect(row).toBeDefined()
  })
})

describe('the list of webhooks', () => {
  test('is sorted and filtered, by partner and by state', async () => {
    const hosts = async (query: string) => namesIn((await viewer.get(`/webhooks${query}`)).text, '/webhooks')
    expect(await hosts('?sort=endpoint')).toEqual(['a.localhost:9', 'b.localhost:9'])
    expect(await hosts('?sort=-endpoint')).toEqual(['b.localhost:9', 'a.localhost:9'])
    expect(await hosts(`?partner=${first.partnerId}`)).toEqual(['b.localhost:9'])
    expect(await hosts('?state=disabled')).toEqual([])
  })

  test('is a file for support, with harmless cells and without what an address may hide', async () => {
    const { text } = await admin.get('/webhooks.csv?sort=endpoint')
    expect(text.split('\r\n').slice(0, 3)).toEqual([
      'partner,endpoint,state,waiting,oldest,givenup',
      "'=cmd|calc,a.localhost:9,ok,0,,0",
      'Aviso Rides,b.localhost:9,ok,0,,0',
    ])
    expect(text).not.toContain('secret-path')
  })
})

describe('the settings of a partner', () => {
  test('are shown filled in, changed for a reason, and hold at once', async () => {
    const partner = await service.newPartner({ name: 'Settled' })
    const path = `/partners/${partner.partnerId}/settings`
    expect((await admin.get(path)).text).toContain('value="Settled"')
    const wish = {
      name: 'Settled Rides',
      timezone: 'America/Chicago',
      locale: 'es',
      rate: '40',
      apikey: 'needed',
      origins: 'https://rides.example\nhttps://www.rides.example',
      helpphone: '1-800-555-0142',
      offer: 'starter',
      scheme: 'dark',
      radius: '8',
      operatorline: 'Administered by Tidewater',
    }
    expect((await admin.post(path, wish)).status).toBe(422)
    const { text } = await admin.post(path, { ...wish, reason: 'ticket 12' })
    for (const shown of [
      'Settled Rides',
      'America/Chicago',
      'Spanish',
      '40 requests a second',
      '1-800-555-0142',
    ])
      expect(text).toContain(shown)
    expect(text).toContain('https://rides.example, https://www.rides.example')
    expect(text).toContain('radius 8, scheme dark')
    expect(text).toContain('Administered by Tidewater')
    const [row] = await service.database.query<{ because: boolean }>(sql`
      select sealed_reason is not null as because from audit_log
      where actor = ${admin.operatorId} and action = 'change partner' and partner_id = ${partner.partnerId}`)
    expect(row).toEqual({ because: true })
  })

  test('that are wrong are refused in words, and change nothing', async () => {
    const partner = await service.newPartner({ name: 'Careful' })
    const path = `/partners/${partner.partnerId}/settings`
    for (const wrong of [
      { timezone: 'Moon/Tranquility' },
      { helpphone: 'call me' },
      { offer: 'gold', name: 'Careful' },
      { radius: '99' },
      { rate: 'fast' },
      { name: ' ' },
    ]) {
      const refused = await admin.post(path, { ...wrong, reason: 'because' })
      expect([wrong, refused.status]).toEqual([wrong, 409])
      expect(refused.text).not.toContain('--')
    }
    expect((await admin.get(path)).text).toContain('value="America/New_York"')
    const own = await signIn(service, 'admin', [first.partnerId])
    expect((await own.get(path)).status).toBe(404)
    expect((await own.post(path, { name: 'Mine', reason: 'because' })).status).toBe(404)
  })
})
