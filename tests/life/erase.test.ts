// @prism

import { expect, test } from 'vitest'
import { inEachCell } from '../../service/src/db/by-cell.ts'
import { sql } from '../../service/src/db/sql.ts'
import { cleanUpWebhooks } from '../../service/src/webhooks/log/clean-up.ts'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner, refusal } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service))

test('ends what is in force with the events of an immediate cancel, then user_erased; asked again: the same', async () => {
  const { client } = partner
  const { serviceid } = await partner.create('u', { offername: 'mid', benefits: ['art'] })
  await client.changeOffer({ userid: 'u', offername: 'low' })
  await client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  await partner.events('u')
  const erased = await client.eraseUser({ userid: 'u' })
  expect(erased).toEqual({ userid: 'u', serviceid, status: 'erased', erasedat: '2026-10-20T12:00:00.000Z' })
  expect(await partner.names('u')).toEqual([
    'offer_change_cancelled',
    'user_benefits_swap_cancelled',
    'offer_cancel_successful',
    'user_erased',
  ])
  await partner.to('2026-11-03T12:00')
  expect(await client.eraseUser({ userid: 'u' })).toEqual(erased)
  expect(await client.getUser({ userid: 'u' })).toEqual(erased)
  expect(await partner.names('u')).toEqual([])
})

test('nothing in clear tells who an erased user was; its events leave log and replay once nothing waits', async () => {
  const { client, partnerId } = partner
  const { database } = service
  const userid = 'ada.lovelace@canary.example'
  await partner.create(userid, { benefits: ['art'] })
  await client.cancelUser({ userid, reason: 'deceased' })
  const { serviceid } = await client.eraseUser({ userid })
  const dumped = async () => {
    const tables = await database.query<{ name: string }>(
      sql`
      select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any (current_schemas(false)) and c.relkind = 'r'`,
    )
    const texts: string[] = []
    for (const { name } of tables) {
      const rows = await database.query<{ text: string }>({
        name: '',
        text: `select to_jsonb(t)::text as text from "${name}" t`,
        values: [],
      })
      texts.push(...rows.map(row => row.text).filter(text => text.includes(partnerId)))
    }
    return texts.join('\n')
  }
  await inEachCell(database, cell => cleanUpWebhooks(cell, service.now()))
  expect((await partner.names(userid)).at(-1)).toBe('user_erased')
  await inEachCell(database, cell => cleanUpWebhooks(cell, service.now() + 86_400_000))
  const left = await dumped()
  expect(left).toContain(serviceid)
  expect(left).not.toContain('canary.example')
  expect(left).not.toContain(Buffer.from(userid).toString('hex'))
  expect(left).not.toMatch(/deceased|"art"/)
  expect(await partner.names(userid)).toEqual([])
  expect(await client.getUser({ userid })).toMatchObject({ userid, serviceid, status: 'erased' })
  const again = await partner.create(userid)
  expect(again.serviceid).not.toBe(serviceid)
  await client.eraseUser({ userid })
  expect(await client.getUser({ userid })).toMatchObject({ serviceid: again.serviceid, status: 'erased' })
})

test('from every state; the event of a cancelled user keeps the date of the cancel', async () => {
  const { client } = partner
  await client.prefillUser({ userid: 'sent', firstname: 'Ada' })
  await partner.create('later', { effectivedate: '2026-11-10' })
  await partner.create('gone')
  await client.cancelUser({ userid: 'gone', effective: 'immediate' })
  await partner.to('2026-10-25T12:00')
  await partner.events('gone')
  for (const userid of ['sent', 'later', 'gone']) {
    expect(await client.eraseUser({ userid })).toMatchObject({ status: 'erased' })
  }
  expect(await partner.events('gone')).toEqual([
    { eventname: 'user_erased', offer: '', updatedat: '2026-10-20T12:00:00.000Z' },
  ])
  expect(await refusal(client.eraseUser({ userid: 'nobody' }))).toBe('404 user_not_found')
})

test('a name that was used again after an erasure can be erased again, and then tells of the last user', async () => {
  const { client } = partner
  const first = await partner.create('u')
  await client.eraseUser({ userid: 'u' })
  await client.prefillUser({ userid: 'u', firstname: 'Ada' })
  const second = await client.eraseUser({ userid: 'u' })
  expect(second.serviceid).not.toBe(first.serviceid)
  expect(await client.getUser({ userid: 'u' })).toMatchObject({
    serviceid: second.serviceid,
    status: 'erased',
  })
  const third = await partner.create('u', { benefits: ['art'] })
  expect(third.consents).toEqual([])
  expect((await client.eraseUser({ userid: 'u' })).serviceid).toBe(third.serviceid)
})

test('nothing that could be opened stays; that and when something changed does', async () => {
  const { client, partnerId } = partner
  const { serviceid } = await partner.create('u', { benefits: ['art'] })
  await client.prefillUser({ userid: 'u', firstname: 'Ada' })
  await client.eraseUser({ userid: 'u' })
  const count = async (query: ReturnType<typeof sql>) =>
    (await service.database.query<{ count: number }>(query))[0]?.count
  expect(await count(sql`select count(*) as count from data_keys where partner_id = ${partnerId}`)).toBe(0)
  expect(await count(sql`select count(*) as count from sealed_records where partner_id = ${partnerId}`)).toBe(
    0,
  )
  const answers = sql`select count(*) as count from idempotency_keys where partner_id = ${partnerId} and sealed_answer is not null`
  expect(await count(answers)).toBe(0)
  const history = sql`select count(*) as count from history where partner_id = ${partnerId} and service_id = ${serviceid}`
  expect(await count(history)).toBeGreaterThan(1)
})
