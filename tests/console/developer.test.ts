import { expect, onTestFinished, test, vi } from 'vitest'
import { writePolicy } from '../../service/src/console/requests/store.ts'
import { sql } from '../../service/src/db/sql.ts'
import { rotateKey } from '../../service/src/partners/administer.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { signIn } from './operator-browser.ts'
import { identifiersIn } from './walks.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))

test('a developer sees endpoints, attempts, refused requests and credentials of the own partner, and nobody’s data', async () => {
  const developer = await signIn(service, 'developer', [partner.partnerId])
  const endpoint = { url: 'http://127.0.0.1:9/hook', username: 'harbor', password: 'correct horse' }
  const { webhookid } = await partner.client.createWebhook({ ...endpoint, events: ['all'] })
  await partner.client.createUser({ ...ada, userid: 'canary-dev', offername: 'starter' })
  const refused = await partner.client
    .createUser({ ...ada, userid: 'canary-old', dob: '2020-01-01', offername: 'starter' })
    .catch((error: { requestId: string }) => error.requestId)
  const path = `/webhooks/${webhookid}`
  const pages = await vi.waitFor(
    async () => {
      const [home, one] = [await developer.get('/'), await developer.get(path)]
      expect(home.text).toContain(String(refused))
      expect(one.text).toContain('no connection')
      return [home, one]
    },
    { timeout: 60_000, interval: 200 },
  )
  expect(pages[0]?.path).toBe(`/partners/${partner.partnerId}`)
  expect(pages[0]?.text).toContain('This is the sandbox')
  expect(pages[0]?.text).toContain(`href="${path}"`)
  expect(pages[1]?.text).toContain('<code>enrollment_successful</code>')
  for (const { text } of pages) {
    expect(text).not.toMatch(/canary|Adacanary|3055550142/i)
    expect(identifiersIn([text])).toEqual([])
  }
  const counted = await developer.post(`${path}/replay`, { what: 'dead' })
  expect(counted.text).toContain('There are no events that were given up to send again.')
})

test('a developer makes one credential, or signing secret, for each word of an admin, and never alone', async () => {
  const own = await service.newPartner({ name: 'Ferry Club' })
  const developer = await signIn(service, 'developer', [own.partnerId])
  const at = (what: string) => `/partners/${own.partnerId}/${what}`
  const wanted = { kind: 'client_secret', reason: 'yearly rotation' }
  const { webhookid } = await own.client.createWebhook({
    url: 'http://127.0.0.1:9/hook',
    username: 'ferry',
    password: 'correct horse',
  })
  const admin = await signIn(service, 'admin')
  const support = await signIn(service, 'support')
  const allow = async () => {
    expect((await developer.post(at('ask'), wanted)).text).toContain('You have asked for it.')
    const [, path = ''] =
      /href="(\/requests\/[^"]+)">A new credential/.exec((await admin.get('/requests?state=waiting')).text) ??
      []
    expect((await support.post(`${path}/confirm`, wanted)).status).toBe(403)
    expect((await admin.get(path)).text).toMatch(
      /developer-\S+ may make one client secret, API key or signing secret of Ferry Club/,
    )
    await admin.post(`${path}/confirm`, wanted)
  }
  const make = async (by = developer) => {
    const { status, text } = await by.post(at('make'), wanted)
    return [status, text.includes('enr_cs_sandbox_')]
  }
  const sign = async () => {
    const { status, text } = await developer.post(`/webhooks/${webhookid}/secret`, wanted)
    return [status, /class="secret"/.test(text)]
  }
  expect([await make(), await sign()]).toEqual([
    [409, false],
    [409, false],
  ])
  await allow()
  expect(await make(await signIn(service, 'developer', [own.partnerId]))).toEqual([409, false])
  const both = await Promise.all([make(), sign()])
  expect(both.map(([status]) => status).sort()).toEqual([200, 409])
  expect(await sign()).toEqual([409, false])
  await allow()
  expect(await sign()).toEqual([200, true])
  expect(await sign()).toEqual([409, false])
})

test('a developer does not revoke the last live credential; an admin does, and is warned', async () => {
  const own = await service.newPartner({ name: 'Lone Key' })
  const developer = await signIn(service, 'developer', [own.partnerId])
  const admin = await signIn(service, 'admin')
  const path = `/partners/${own.partnerId}`
  const { text } = await admin.get(path)
  const [, credential = ''] = /name="credential" value="([^"]+)"/.exec(text) ?? []
  expect(text).toContain('The partner has no other that lasts: without one all its requests are refused.')
  const shown = (await developer.get(path)).text
  expect([shown.includes('name="credential"'), shown.includes('let an admin revoke it')]).toEqual([
    false,
    true,
  ])
  const reason = 'leaked'
  // One that is about to expire does not take its place.
  await service.database.query(sql`
    insert into credentials (partner_id, credential_id, kind, pepper_id, hash, created_at, made_by, expires_at)
    select partner_id, 'expiring' || kind, kind, pepper_id, hash, created_at, made_by, now() + interval '1 hour'
    from credentials where partner_id = ${own.partnerId}`)
  expect((await developer.post(`${path}/revoke`, { credential, reason })).status).toBe(409)
  expect((await admin.post(`${path}/revoke`, { credential, reason })).status).toBe(200)
})

test('of two that a developer revokes at once the last one lives', async () => {
  const own = await service.newPartner({ name: 'Two Tabs' })
  const developer = await signIn(service, 'developer', [own.partnerId])
  const { live } = await rotateKey(own.partnerId, 'api_key', service.manage)
  const revoke = (credential: string) =>
    developer.post(`/partners/${own.partnerId}/revoke`, { credential, reason: 'leaked' })
  const both = await Promise.all(live.map(revoke))
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('a developer makes and revokes the own credentials and those of webhooks, each on record with the reason', async () => {
  await writePolicy(service.database, 'credentials', false)
  onTestFinished(() => writePolicy(service.database, 'credentials', true))
  const own = await service.newPartner({ name: 'Corner Bank' })
  const developer = await signIn(service, 'developer', [own.partnerId])
  const { webhookid } = await own.client.createWebhook({
    url: 'http://127.0.0.1:9/hook',
    username: 'corner',
    password: 'correct horse',
  })
  const reason = 'yearly rotation'
  const made = await developer.post(`/partners/${own.partnerId}/make`, { kind: 'api_key', reason })
  const [, key = ''] = /class="secret"><code>([^<]+)</.exec(made.text) ?? []
  expect(key).toMatch(/^enr_ak_sandbox_/)
  const shown = (await developer.get(`/partners/${own.partnerId}`)).text
  expect(shown).not.toContain(key)
  expect(shown).toContain('Two are live: revoke the older one')
  const [, older = ''] = /name="credential" value="([^"]+)"/.exec(shown) ?? []
  await developer.post(`/partners/${own.partnerId}/revoke`, { credential: older, reason })
  const path = `/webhooks/${webhookid}`
  expect(
    (await developer.post(`${path}/credentials`, { username: 'a:b', password: 'x', reason })).status,
  ).toBe(422)
  await developer.post(`${path}/credentials`, { username: 'newer', password: 'battery staple', reason })
  expect((await developer.post(`${path}/secret`, { reason })).text).toMatch(/class="secret"><code>\S+</)
  const deeds = await deedsOf(service, developer)
  for (const action of [
    'make credential',
    'revoke credential',
    'set webhook credentials',
    'rotate signing secret',
  ])
    expect(deeds).toContainEqual({ action, result: 'done', serviceId: null, because: true })
})
