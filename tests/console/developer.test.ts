import { expect, onTestFinished, test, vi } from 'vitest'
import { writePolicy } from '../../service/src/console/requests/store.ts'
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
  const path = `/integration/endpoints/${webhookid}`
  const pages = await vi.waitFor(
    async () => {
      const [home, one] = [await developer.get('/'), await developer.get(path)]
      expect(home.text).toContain(String(refused))
      expect(one.text).toContain('no connection')
      return [home, one]
    },
    { timeout: 60_000, interval: 200 },
  )
  expect(pages[0]?.path).toBe('/integration')
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

test('a developer makes credentials once an admin has allowed it, and never alone', async () => {
  const own = await service.newPartner({ name: 'Ferry Club' })
  const developer = await signIn(service, 'developer', [own.partnerId])
  const wanted = { kind: 'client_secret', reason: 'yearly rotation' }
  const alone = await developer.post('/integration/make', wanted)
  expect([alone.status, alone.text.includes('enr_cs_')]).toEqual([409, false])
  expect((await developer.post('/integration/ask', wanted)).text).toContain('You have asked for it.')
  const admin = await signIn(service, 'admin')
  const [, path = ''] =
    /href="(\/requests\/[^"]+)">New credentials/.exec((await admin.get('/requests')).text) ?? []
  const support = await signIn(service, 'support')
  expect((await support.post(`${path}/confirm`, wanted)).status).toBe(403)
  expect((await admin.get(path)).text).toMatch(
    /developer-\S+ may make client secrets and API keys of Ferry Club/,
  )
  await admin.post(`${path}/confirm`, wanted)
  expect((await developer.post('/integration/make', wanted)).text).toContain('enr_cs_sandbox_')
  const another = await signIn(service, 'developer', [own.partnerId])
  expect((await another.post('/integration/make', wanted)).status).toBe(409)
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
  const made = await developer.post('/integration/make', { kind: 'api_key', reason })
  const [, key = ''] = /class="secret"><code>([^<]+)</.exec(made.text) ?? []
  expect(key).toMatch(/^enr_ak_sandbox_/)
  const shown = (await developer.get('/integration')).text
  expect(shown).not.toContain(key)
  expect(shown).toContain('Two are live: revoke the older one')
  const [, older = ''] = /name="credential" value="([^"]+)"/.exec(shown) ?? []
  await developer.post('/integration/revoke', { credential: older, reason })
  const path = `/integration/endpoints/${webhookid}`
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
