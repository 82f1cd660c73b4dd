// @databases stock

import { expect } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { newUser } from '../../service/src/membership/rules/state.ts'
import { statementsOf } from '../../service/src/membership/saving/save.ts'
import { noWrites } from '../../service/src/membership/saving/writes.ts'
import { keepPlans, onOneServer, readByIndexes, usersKnown } from '../kept-plans.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, startTestService, type TestPartner } from '../rig.ts'

/** The indexes by which users, tokens and links are looked up. */
const users = ['users_pkey', 'users_by_userid']
const tokens = ['access_tokens_pkey', 'access_tokens_expiry']
const links = ['page_sessions_pkey', 'page_sessions_user', 'page_sessions_age']

function prefill({ client }: TestPartner, count: number) {
  return Promise.all(
    Array.from({ length: count }, () => client.prefillUser({ userid: crypto.randomUUID(), ...ada })),
  )
}

onOneServer('a burst of users into an empty database reads each of them, and not all for each', async () => {
  await using service = await startTestService()
  await keepPlans(service.database)
  const partner = await service.newPartner()
  // From here on plans are kept.
  const before = await readByIndexes(service.address, users)
  await prefill(partner, 10)
  await prefill(partner, 60)
  await expect.poll(() => usersKnown(service.database)).toBeGreaterThanOrEqual(64)
  await prefill(partner, 200)
  await prefill(partner, 200)
  const after = await readByIndexes(service.address, users)
  expect(after.scans).toBeGreaterThan(before.scans)
  expect((after.read - before.read) / (after.scans - before.scans)).toBeLessThan(10)
})

onOneServer(
  'a token is found by its key, and not among all tokens, though the planner last saw a single one',
  async () => {
    await using service = await startTestService()
    await keepPlans(service.database)
    const partner = await service.newPartner()
    const ask = async () => {
      // A token is looked up again when what memory has of it is older than a second.
      service.advance(2000)
      await expect(partner.client.getUser({ userid: 'nobody' })).rejects.toMatchObject({ status: 404 })
    }
    await ask()
    await service.database.script('analyze access_tokens')
    // From here on plans are kept.
    const before = await readByIndexes(service.address, tokens)
    await ask()
    for (let count = 0; count < 100; count += 1) await partner.token()
    for (let times = 0; times < 20; times += 1) await ask()
    const after = await readByIndexes(service.address, tokens)
    expect(after.scans).toBeGreaterThanOrEqual(before.scans + 20)
    expect((after.read - before.read) / (after.scans - before.scans)).toBeLessThan(3)
  },
)

onOneServer('a burst of links into an empty database reads each of them, and not all for each', async () => {
  await using service = await startTestService()
  await keepPlans(service.database)
  const { client } = await service.newPartner()
  await client.prefillUser({ userid: 'u-1001', ...ada })
  // From here on plans are kept.
  const before = await readByIndexes(service.address, links)
  const mint = () => client.createLinkToken({ userid: 'u-1001' })
  await client.revokeLinkToken({ sessionid: (await mint()).sessionid })
  const minted = await Promise.all(Array.from({ length: 100 }, mint))
  for (const { sessionid } of minted) await client.revokeLinkToken({ sessionid })
  const after = await readByIndexes(service.address, links)
  expect(after.scans).toBeGreaterThanOrEqual(before.scans + 100)
  expect((after.read - before.read) / (after.scans - before.scans)).toBeLessThan(3)
})

onOneServer(
  'the links of a user who is over are found by their key on an empty database too, and not among all links',
  async () => {
    await using service = await startTestService()
    await keepPlans(service.database)
    const { client, partnerId } = await service.newPartner()
    await client.prefillUser({ userid: 'u-1001', ...ada })
    const before = await readByIndexes(service.address, links)
    const database = openDatabase(service.address, { max: 1, ...patientDatabase })
    const at = Date.now()
    const user = newUser({ partnerId, serviceId: crypto.randomUUID(), userid: 'u-1002', at })
    const end = () => database.commit(statementsOf({ ...noWrites(at), ended: [user] }))
    // From here on its plan is kept.
    await end()
    await Promise.all(Array.from({ length: 100 }, () => client.createLinkToken({ userid: 'u-1001' })))
    for (let times = 0; times < 20; times += 1) await end()
    await database.close()
    const after = await readByIndexes(service.address, links)
    expect(after.scans).toBeGreaterThanOrEqual(before.scans + 20)
    expect(after.read - before.read).toBeLessThan(1000)
  },
)
