// @databases citus stock

import { beforeEach, expect, test, vi } from 'vitest'
import { scopeNames } from '../../contract/src/index.ts'
import type { Database } from '../../service/src/db/database.ts'
import { changePartner, revokeKey } from '../../service/src/partners/administer.ts'
import { listCredentials } from '../../service/src/partners/store.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService, type TestPartner } from '../rig.ts'
import { startSecondService } from '../second-service.ts'
import { send } from './raw.ts'

// Two processes share one database. Callers are revoked and changed by the first; the second remembers them, and reads whom to
// forget.
const first = forAllTests(startTestService)
/** The statements about callers that the second process has sent, and how often it has read whom to forget. */
let lookUps = 0
let reads = 0
/** What it looks up, and what it reads of changes, reaches it only once these have resolved. */
let lookedUp: Promise<void> = Promise.resolve()
let told: Promise<void> = Promise.resolve()

function watched(database: Database): Database {
  return {
    ...database,
    of: partnerId => watched(database.of(partnerId)),
    cells: () => database.cells().map(watched),
    async query<Row>(query: Parameters<Database['query']>[0]): Promise<Row[]> {
      const rows = await database.query<Row>(query)
      if (query.text.includes('from caller_changes')) {
        await told
        reads += 1
      }
      if (query.text.includes('from access_tokens t')) {
        lookUps += 1
        await lookedUp
      }
      return rows
    },
  }
}

const second = forAllTests(async () => {
  const { database, keyring, now } = first
  return startSecondService({ database: watched(database), keyring, now }, { real: now })
})

let partner: TestPartner
let token: string
beforeEach(async () => {
  partner = await first.newPartner()
  token = await partner.token()
  lookedUp = Promise.resolve()
  told = Promise.resolve()
  lookUps = 0
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

/** The second process has read whom to forget, by a statement that it sent from now on. */
async function readChanges(): Promise<void> {
  const before = reads
  // The first may have been under way.
  await vi.waitFor(() => expect(reads).toBeGreaterThan(before + 1), { timeout: 60_000 })
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

test('a caller is looked up every twenty seconds, however often it calls', async () => {
  expect(await ask()).toBe(404)
  for (let times = 0; times < 3; times += 1) {
    first.advance(6600)
    await readChanges()
    expect(await ask()).toBe(404)
  }
  expect(lookUps).toBe(1)
  first.advance(900)
  expect(await ask()).toBe(404)
  expect(lookUps).toBe(2)
})

const takenAway = [
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
] as const

test.each(takenAway)(
  'a %s that another process takes away is refused once this one has read so',
  async (_what, takeAway, refused) => {
    expect(await ask()).toBe(404)
    await takeAway()
    await readChanges()
    expect(await ask()).toBe(refused)
  },
)

test.each(takenAway)(
  'a %s that another process takes away is refused a second later, although no change can be read',
  async (_what, takeAway, refused) => {
    expect(await ask()).toBe(404)
    await readChanges()
    let answer = () => {}
    told = new Promise(resolve => {
      answer = resolve
    })
    await takeAway()
    first.advance(1000)
    expect(await ask()).toBe(refused)
    answer()
  },
)

test('a caller that was read before it was revoked, and whose answer came after, is not kept', async () => {
  expect(await ask()).toBe(404)
  token = await partner.token()
  let answer = () => {}
  lookedUp = new Promise(resolve => {
    answer = resolve
  })
  const asked = ask()
  await vi.waitFor(() => expect(lookUps).toBe(2), { timeout: 60_000 })
  await revokeToken()
  first.advance(1)
  await readChanges()
  answer()
  expect(await asked).toBe(404)
  expect(await ask()).toBe(401)
})
