// @databases citus

import { beforeEach, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, startTestService, type TestPartner } from '../rig.ts'
import { startSecondService } from '../second-service.ts'

// Each process remembers users and finished lists; here two processes share one database.
const first = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))
const second = forAllTests(() => startSecondService(first))
let partner: TestPartner
/** The partner's client of each process. */
let clients: readonly [Client, Client]
beforeEach(async () => {
  partner = await first.newPartner()
  clients = [partner.client, partner.connect({ baseUrl: second.address })]
})

function create(userid: string, benefits: string[], client = clients[0]) {
  return client.createUser({ userid, ...ada, offername: 'starter', benefits })
}
function list(client: Client, userid: string) {
  return client.getBenefits({ userid, ...adaAsks })
}
async function tile(client: Client, userid: string, name: string) {
  return (await list(client, userid)).find(one => one.name === name)
}
async function enrolled(client: Client, userid: string) {
  return (await list(client, userid)).filter(one => one.status === 'enrolled').map(one => one.name)
}

/** A metric of the second process, as the operator reads it. */
async function numberOf(name: string): Promise<number> {
  const line = (await second.metrics()).split('\n').find(text => text.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1))
}

test('under load each read sees every write that was answered before it was sent, on both processes', async () => {
  const wrong: string[] = []
  const live = async (userid: string, number: number) => {
    await create(userid, ['telehealth'])
    for (let round = 0; round < 10; round += 1) {
      const isPicked = round % 2 === 0
      const writer = clients[(number + round) % 3 === 0 ? 1 : 0]
      if (isPicked) await writer.swapBenefits({ userid, add: ['identity'], remove: [] })
      else await writer.undoSwap({ userid })
      const seen = await Promise.all(clients.map(client => tile(client, userid, 'identity')))
      for (const [process, identity] of seen.entries())
        if (identity?.isselectedforswap !== isPicked) wrong.push(`${userid} ${round} on ${process}`)
    }
  }
  await Promise.all(Array.from({ length: 12 }, (_, number) => live(`u${number}`, number)))
  expect(wrong).toEqual([])
})

test('what is the same is answered from memory, and in full', async () => {
  await create('u', ['telehealth'])
  // Read once, and then from memory: from then on the answer is kept.
  await list(clients[1], 'u')
  const before = await list(clients[1], 'u')
  const [users, answers] = ['memory_reads_total{found="same"}', 'memory_answers_total{found="same"}']
  const counted = [await numberOf(users), await numberOf(answers)]
  expect(await list(clients[1], 'u')).toEqual(before)
  expect([await numberOf(users), await numberOf(answers)]).toEqual(counted.map(count => count + 1))
})

test('another question about the same user, and another language, get answers of their own', async () => {
  await create('u', ['telehealth'])
  const [client] = clients
  const english = await list(client, 'u')
  const spanish = await client.getBenefits({ userid: 'u', ...adaAsks }, { acceptLanguage: 'es' })
  const plus = await client.getBenefits({ userid: 'u', ...adaAsks, offername: 'plus' })
  expect(spanish.map(one => one.name)).toEqual(english.map(one => one.name))
  expect(spanish.map(one => one.displayname)).not.toEqual(english.map(one => one.displayname))
  expect(plus.map(one => one.name)).not.toEqual(english.map(one => one.name))
  expect(await list(client, 'u')).toEqual(english)
})

test('a change made in the database by hand is seen at once, if it raises the version', async () => {
  await create('u', ['telehealth'])
  for (const client of clients) expect(await enrolled(client, 'u')).toContain('telehealth')
  await first.database.query(sql`
    update enrolments set state = 'ended', ends_at = starts_at where partner_id = ${partner.partnerId}
      and benefit = 'telehealth'`)
  await first.database.query(sql`
    update users set version = version + 1 where partner_id = ${partner.partnerId} and userid = 'u'`)
  for (const client of clients) expect(await enrolled(client, 'u')).not.toContain('telehealth')
})

test('an erased user leaves the memory of who erased it, and nobody lists it any more', async () => {
  await create('u', ['telehealth'], clients[1])
  for (const client of clients) await list(client, 'u')
  const remembered = await numberOf('memory_users')
  await clients[1].eraseUser({ userid: 'u' })
  expect(await numberOf('memory_users')).toBe(remembered - 1)
  for (const client of clients)
    await expect(list(client, 'u')).rejects.toMatchObject({ code: 'user_not_found' })
})

test('a new user by the name of an erased one is not taken for it, though it has the same version', async () => {
  await create('u', ['telehealth'])
  expect(await enrolled(clients[1], 'u')).toContain('telehealth')
  await clients[0].eraseUser({ userid: 'u' })
  await create('u', ['dental'])
  const seen = await enrolled(clients[1], 'u')
  expect(seen).toContain('dental')
  expect(seen).not.toContain('telehealth')
})

test('a catalogue published by another process is seen within the second of contract §3', async () => {
  await clients[1].prefillUser({ userid: 'u' })
  const before = await list(clients[1], 'u')
  const [row] = await first.database.query<{
    document: { benefits: { name: string; description: object }[] }
  }>(sql`select document from catalogue_versions order by version desc limit 1`)
  const document = structuredClone(row?.document)
  for (const benefit of document?.benefits ?? []) benefit.description = { en: 'Changed.', es: 'Cambiado.' }
  await first.database.query(sql`
    insert into catalogue_versions (version, document, published_at, published_by)
    select max(version) + 1, ${JSON.stringify(document)}::jsonb, max(published_at), 'test' from catalogue_versions`)
  first.advance(1000)
  const after = await list(clients[1], 'u')
  expect(after.map(one => one.name)).toEqual(before.map(one => one.name))
  expect(new Set(after.map(one => one.description))).toEqual(new Set(['Changed.']))
})
