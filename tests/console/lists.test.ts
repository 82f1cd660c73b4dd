// @databases citus

import { beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner } from '../../service/src/partners/administer.ts'
import { findPartners } from '../../service/src/partners/store.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
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
  test('is in the order of names, and filtered by name and state', async () => {
    const names = async (query: string) => namesIn((await viewer.get(`/partners${query}`)).text, '/partners')
    expect(await names('')).toEqual(['=cmd|calc', 'Aviso Rides', 'Zephyr Foods'])
    expect(await names('?state=disabled')).toEqual(['Zephyr Foods'])
    expect(await names('?name=AVI')).toEqual(['Aviso Rides'])
    expect((await viewer.get('/partners?name=nobody')).text).toContain('No partner fits')
  })

  test('is a file for support, with harmless cells, on record; and none for a viewer', async () => {
    const file = await admin.get('/partners.csv')
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
  test('is filtered by partner and by state', async () => {
    const hosts = async (query: string) => namesIn((await viewer.get(`/webhooks${query}`)).text, '/webhooks')
    expect((await hosts('')).sort()).toEqual(['a.localhost:9', 'b.localhost:9'])
    expect(await hosts(`?partner=${first.partnerId}`)).toEqual(['b.localhost:9'])
    expect(await hosts('?state=disabled')).toEqual([])
  })

  test('is a file for support, with harmless cells and without what an address may hide', async () => {
    const { text } = await admin.get('/webhooks.csv')
    const [names, ...lines] = text.split('\r\n')
    expect(names).toBe('partner,endpoint,state,waiting,oldest,givenup,certificate')
    expect(lines.sort()).toEqual([
      '',
      "'=cmd|calc,a.localhost:9,ok,0,,0,",
      'Aviso Rides,b.localhost:9,ok,0,,0,',
    ])
    expect(text).not.toContain('secret-path')
  })

  test('says when the certificate of an endpoint ends, as its page does', async () => {
    await service.database.query(sql`
      update endpoint_health set certificate_ends_at = '2031-01-31T12:00:00Z'
      where partner_id = ${formula.partnerId}`)
    const { text } = await viewer.get(`/webhooks?partner=${formula.partnerId}`)
    expect(text).toContain('Jan 31, 2031')
    const [path = ''] = /\/webhooks\/[\da-f-]{36}/.exec(text) ?? []
    expect((await viewer.get(path)).text).toMatch(/Certificate ends<.*Jan 31, 2031/s)
  })

  test('leads to an endpoint, whose whole address support sees and a viewer does not', async () => {
    const path = /\/webhooks\/[\da-f-]{36}/.exec((await viewer.get('/webhooks')).text)?.[0] ?? ''
    expect((await admin.get(path)).text).toContain('/secret-path')
    const { status, text } = await viewer.get(path)
    expect(status).toBe(200)
    expect(text).not.toContain('secret-path')
  })
})

test('a change of the offer proposes another one than the present', async () => {
  const { serviceid } = await first.client.createUser({ ...ada, userid: 'rider', offername: 'plus' })
  const { text } = await admin.get(`/users/${serviceid}/act/offer`)
  expect(text).toContain('<option value="plus">Plus (now)</option>')
  expect(text).toContain('<option value="starter" selected>')
})

describe('the settings of a partner', () => {
  /** What the form of the page sends back of what it showed. */
  const seenAt = async (path: string) =>
    /name="seen" value="([^"]+)"/.exec((await admin.get(path)).text)?.[1] ?? ''

  test('keep an offer that has left the catalogue, until it is unticked', async () => {
    const { partnerId } = await service.newPartner({ name: 'Loyal' })
    await changePartner(partnerId, { offers: ['legacy'] }, { ...service.manage, knownOffers: [] })
    const path = `/partners/${partnerId}/settings`
    expect((await admin.get(path)).text).toContain('value="legacy" checked')
    const save = async (offers: Readonly<Record<string, string>>) => {
      const fields = { name: 'Loyal', ...offers, seen: await seenAt(path), reason: 'ticket 16' }
      expect((await admin.post(path, fields)).status).toBe(200)
      return (await findPartners(service.database, [partnerId]))[0]?.offers
    }
    expect(await save({ offer: 'legacy' })).toEqual(['legacy'])
    expect(await save({})).toBe(null)
    expect((await admin.get(path)).text).not.toContain('legacy')
  })

  test('that two send at once are saved of the first alone', async () => {
    const partner = await service.newPartner({ name: 'Raced' })
    const path = `/partners/${partner.partnerId}/settings`
    const seen = await seenAt(path)
    const send = (change: Readonly<Record<string, string>>) =>
      admin.post(path, { ...change, seen, reason: 'ticket 15' })
    const answers = await Promise.all([send({ helpphone: '1-800-555-0142' }), send({ name: 'Raced Rides' })])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})
