// @databases stock

import { beforeEach, expect, test, vi } from 'vitest'
import { scopeNames } from '../../contract/src/index.ts'
import type { Database } from '../../service/src/db/database.ts'
import { markInstallation } from '../../service/src/installation.ts'
import { changePartner, revokeKey } from '../../service/src/partners/administer.ts'
import { listCredentials } from '../../service/src/partners/store.ts'
import { startService } from '../../service/src/service.ts'
import { forAllTests } from '../for-all-tests.ts'
import { onOneServer } from '../kept-plans.ts'
import { startTestService, type TestPartner } from '../rig.ts'
import { send } from './raw.ts'

// Two processes share one database. Callers are revoked and changed by the first; the second remembers them, and reads
// ahead about those that are in use.
const first = forAllTests(startTestService)
/** The statements about callers that the second process has sent, and when all that it read ahead is answered. */
let lookUps = 0
let readAhead: Promise<unknown>[] = []
/** The same, when the database has answered. */
let seenAhead: Promise<unknown>[] = []
/** What is read ahead reaches the second process only once this has resolved. */
let delay: Promise<void> = Promise.resolve()

function watched(database: Database): Database {
  return {
    ...database,
    query<Row>(query: Parameters<Database['query']>[0]): Promise<Row[]> {
      const answer = database.query<Row>(query)
      // What was read ahead of an earlier test's caller may be sent only now.
      if (query.text.includes('partner_hash') && JSON.stringify(query.values).includes(partner.partnerId)) {
        const delayed = delay.then(() => answer)
        seenAhead.push(answer)
        readAhead.push(delayed)
        return delayed
      }
      if (query.text.includes('from access_tokens t join')) lookUps += 1
      return answer
    },
  }
}

const second = forAllTests(async () => {
  const { database, keyring, now: real } = first
  return startService({
    database: watched(database),
    deliveryDatabase: database,
    keyring,
    real,
    host: '127.0.0.1',
    port: 0,
    log: () => {},
    webhookRules: { sandbox: true, allow: [] },
    installation: await markInstallation(database, { keyring, wanted: 'sandbox', now: real() }),
  })
})

let partner: TestPartner
let token: string
beforeEach(async () => {
  partner = await first.newPartner()
  token = await partner.token()
  delay = Promise.resolve()
  lookUps = 0
  readAhead = []
  seenAhead = []
})

/** The second process's answer to a read of an unknown user: 404 while the caller may read. */
async function ask(): Promise<number> {
  const { status } = await send({ ...first, baseUrl: second.address }, 'POST', '/user/account/get', {
    headers: {
      authorization: `Bearer ${token}`,
      'x-api-key': partner.apiKey,
      'content-type': 'application/json',
    },
    body: { userid: 'nobody' },
  })
  return status
}

/** The same, and everything that it made the process read ahead is answered. */
async function askAndReadAhead(): Promise<number> {
  const before = readAhead.length
  const status = await ask()
  await patiently(() => expect(readAhead.length).toBeGreaterThan(before))
  await Promise.all(readAhead)
  return status
}

/** Waits for what the process does at its own pace, on however slow a machine. */
function patiently(holds: () => void): Promise<void> {
  return vi.waitFor(holds, { timeout: 60_000 })
}

async function revokeCredential(kind: 'client_secret' | 'api_key'): Promise<void> {
  const own = await listCredentials(first.database, partner.partnerId)
  await revokeKey(partner.partnerId, own.find(row => row.kind === kind)?.credential_id ?? '', first.manage)
}

async function revokeToken(): Promise<void> {
  const basic = Buffer.from(`${partner.clientId}:${partner.clientSecret}`).toString('base64')
  await send(first, 'POST', '/oauth2/revoke', {
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    bytes: `token=${token}`,
  })
}

onOneServer(
  'a caller in use is read ahead: for twenty seconds no request of it waits for a look-up',
  async () => {
    expect(await ask()).toBe(404)
    expect(lookUps).toBe(1)
    for (let ms = 900; ms < 20_000; ms += 900) {
      first.advance(900)
      expect(await askAndReadAhead()).toBe(404)
    }
    expect(lookUps).toBe(1)
    first.advance(900)
    expect(await ask()).toBe(404)
    expect(lookUps).toBe(2)
  },
)

onOneServer('a caller that is not used is not read', async () => {
  await ask()
  first.advance(400)
  expect(await ask()).toBe(404)
  expect(readAhead).toEqual([])
})

test.each([
  ['token', revokeToken, 401],
  ['client secret', () => revokeCredential('client_secret'), 401],
  ['API key', () => revokeCredential('api_key'), 401],
  ['partner', () => changePartner(partner.partnerId, { isDisabled: true }, first.manage), 401],
  [
    'scope',
    () =>
      changePartner(
        partner.partnerId,
        { scopes: scopeNames.filter(scope => scope !== 'users:read') },
        first.manage,
      ),
    403,
  ],
] as const)(
  'a %s that another process takes away is refused within the second, though in use all the time',
  async (_what, takeAway, refused) => {
    expect(await ask()).toBe(404)
    first.advance(600)
    await ask()
    await Promise.all(readAhead)
    await takeAway()
    for (const ms of [300, 300, 300]) {
      first.advance(ms)
      await ask()
      await Promise.all(readAhead)
    }
    first.advance(100)
    expect(await ask()).toBe(refused)
  },
)

onOneServer(
  'what is answered too late is not believed: the request looks the caller up, and stays refused',
  async () => {
    expect(await ask()).toBe(404)
    let answer = () => {}
    delay = new Promise(resolve => {
      answer = resolve
    })
    first.advance(600)
    expect(await ask()).toBe(404)
    await patiently(() => expect(readAhead).toHaveLength(1))
    await Promise.all(seenAhead)
    await revokeToken()
    // The statement saw the token before it was revoked, and its answer comes when the request has looked it up.
    first.advance(400)
    expect(await ask()).toBe(401)
    expect(lookUps).toBeGreaterThan(1)
    answer()
    await Promise.all(readAhead)
    expect(await ask()).toBe(401)
  },
)
