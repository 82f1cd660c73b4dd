import { expect, test } from 'vitest'
import { defaultRequestLimits } from '../../service/src/http/request-limits.ts'
import { changePartner, revokeKey } from '../../service/src/partners/administer.ts'
import { listCredentials } from '../../service/src/partners/store.ts'
import { startTestService, type TestPartner, type TestService } from '../rig.ts'
import { send } from './raw.ts'
import { refusalOf } from './refusal.ts'

// These tests hold the tokens themselves, because a client would renew them.

const limit = { failedAuthentications: 3 }
async function startLive() {
  const live = await startTestService({
    sandbox: false,
    requestLimits: { ...defaultRequestLimits, ...limit },
  })
  live.advance(60_000 - (live.now() % 60_000))
  return live
}

async function askWith(service: TestService, token: string, apiKey: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${token}`,
    'x-api-key': apiKey,
    'content-type': 'application/json',
  }
  return (await send(service, 'POST', '/user/account/get', { headers, body: { userid: 'u' } })).status
}

async function times<T>(count: number, ask: () => Promise<T>): Promise<Set<T>> {
  const seen = new Set<T>()
  for (let index = 0; index < count; index += 1) seen.add(await ask())
  return seen
}

async function credentialOf(service: TestService, partner: TestPartner, kind: 'client_secret' | 'api_key') {
  return (
    (await listCredentials(service.database, partner.partnerId)).find(one => one.kind === kind)
      ?.credential_id ?? ''
  )
}

test('a revoked secret, its tokens and a revoked API key are 401 however often they come', async () => {
  await using live = await startLive()
  const partner = await live.newPartner()
  const token = await partner.token()
  expect(await askWith(live, token, partner.apiKey)).toBe(404)
  await revokeKey(partner.partnerId, await credentialOf(live, partner, 'client_secret'), live.manage)
  live.advance(1000)
  expect(await times(10, () => askWith(live, token, partner.apiKey))).toEqual(new Set([401]))
  const asked = await times(
    10,
    async () => (await refusalOf(partner.connect().getUser({ userid: 'u' }))).status,
  )
  expect(asked).toEqual(new Set([401]))
  const other = await live.newPartner()
  const otherToken = await other.token()
  await revokeKey(other.partnerId, await credentialOf(live, other, 'api_key'), live.manage)
  live.advance(1000)
  expect(await times(10, () => askWith(live, otherToken, other.apiKey))).toEqual(new Set([401]))
})

test('an expired token is 401 however often it comes, for a day', async () => {
  await using live = await startLive()
  const partner = await live.newPartner()
  const token = await partner.token()
  for (const ms of [3_600_000, 80_000_000]) {
    live.advance(ms)
    await live.service().runDue()
    expect(await times(10, () => askWith(live, token, partner.apiKey))).toEqual(new Set([401]))
  }
})

test('a 429 is not counted: a caller that keeps trying gets a 401 again once its first failures are long enough ago', async () => {
  await using live = await startLive()
  const ask = () => askWith(live, 'nonsense', 'nonsense')
  expect([await ask(), await ask(), await ask()]).toEqual([401, 401, 401])
  for (let seconds = 0; seconds < 80; seconds += 10) {
    expect(await times(5, ask)).toEqual(new Set([429]))
    live.advance(10_000)
  }
  // Half of the minute before still counts, which was three.
  live.advance(10_000)
  expect(await ask()).toBe(401)
})

test('failures of one credential hide no other behind the same address', async () => {
  await using live = await startLive()
  const [loud, quiet] = [await live.newPartner(), await live.newPartner()]
  const token = await loud.token()
  const withOthersKey = () => askWith(live, token, quiet.apiKey)
  await times(3, withOthersKey)
  expect(await withOthersKey()).toBe(429)
  const fresh = await quiet.token()
  expect(await askWith(live, fresh, 'nonsense')).toBe(401)
  expect(await askWith(live, fresh, quiet.apiKey)).toBe(404)
})

test('a scope that the operator takes from a partner is refused within a second, for tokens that have it', async () => {
  await using live = await startTestService()
  const partner = await live.newPartner()
  await expect(partner.client.getUser({ userid: 'u' })).rejects.toMatchObject({ status: 404 })
  await changePartner(partner.partnerId, { scopes: ['benefits:read'] }, live.manage)
  live.advance(1000)
  await expect(partner.client.getUser({ userid: 'u' })).rejects.toMatchObject({
    status: 403,
    code: 'insufficient_scope',
  })
  await changePartner(partner.partnerId, { scopes: ['users:read'] }, live.manage)
  live.advance(1000)
  await expect(partner.client.getUser({ userid: 'u' })).rejects.toMatchObject({ status: 404 })
})
