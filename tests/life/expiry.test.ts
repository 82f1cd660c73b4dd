import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { newVisitor, type Visitor } from '../page/visitor.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner, refusal } from './stage.ts'

// Data that lapses by itself: prefills, drafts of a registration, and the keys of writes.
const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service))
const userid = 'u'
// 90 times 24 hours after October 20, 12:00.
const lapse = '2027-01-18T12:00:00.000Z'
const before = '2027-01-18T11:59:59.999Z'

async function documents(): Promise<string[]> {
  return (
    await service.database.query<{ kind: string }>(
      sql`select kind from sealed_records where partner_id = ${partner.partnerId} order by kind`,
    )
  ).map(row => row.kind)
}

/** A person on the registration page who has answered with another name. */
async function openPage(): Promise<Visitor> {
  const { linkurl } = await partner.client.createLinkToken({ userid, offername: 'low' })
  const visitor = newVisitor(service.baseUrl)
  await visitor.get(linkurl ?? '')
  await visitor.post(linkurl ?? '')
  return visitor
}
async function answerName(visitor: Visitor, firstname: string) {
  await visitor.get('/register/details/name')
  await visitor.post('/register/details/name', { firstname, lastname: 'Ruiz' })
}

test('a prefill lives 90 days from its last write; then its data is gone and the serviceid stays', async () => {
  await partner.client.prefillUser({ userid, firstname: 'Ada' })
  const { serviceid } = await partner.get(userid)
  await partner.to('2026-12-01T12:00')
  await partner.client.prefillUser({ userid, firstname: 'Eve' })
  await partner.to(lapse)
  expect(await partner.get(userid)).toMatchObject({ status: 'prefilled' })
  await partner.to('2027-03-01T12:00')
  expect(await refusal(partner.get(userid))).toBe('404 user_not_found')
  expect(await documents()).toEqual([])
  await partner.client.prefillUser({ userid, firstname: 'Ada' })
  expect(await partner.get(userid)).toMatchObject({ serviceid })
})

test('a draft goes with the prefill it began from', async () => {
  await partner.client.prefillUser({ userid, firstname: 'Ada' })
  await partner.to('2026-12-01T12:00')
  await answerName(await openPage(), 'Eve')
  expect(await partner.get(userid)).toMatchObject({ status: 'registering' })
  await partner.to(before)
  expect(await documents()).toEqual(['draft', 'prefill'])
  await partner.to(lapse)
  expect(await documents()).toEqual([])
  expect(await refusal(partner.get(userid))).toBe('404 user_not_found')
})

test('a draft of somebody of whom nothing was known lives 90 days from the opening of the link', async () => {
  const visitor = await openPage()
  await partner.to('2026-12-01T12:00')
  await answerName(visitor, 'Eve')
  await partner.to(before)
  expect(await documents()).toEqual(['draft'])
  await partner.to(lapse)
  expect(await documents()).toEqual([])
  // A person who continues with the page still open begins anew, and sees no old data.
  expect((await visitor.get('/register/details/name')).html).not.toContain('Eve')
  expect(await partner.get(userid)).toMatchObject({ status: 'registering' })
})

test('a draft of one who was a member before lapses too; what was confirmed stays', async () => {
  await partner.create(userid)
  await partner.client.cancelUser({ userid, effective: 'immediate' })
  await answerName(await openPage(), 'Eve')
  await partner.to(before)
  expect(await documents()).toEqual(['draft', 'profile'])
  await partner.to(lapse)
  expect(await documents()).toEqual(['profile'])
  expect(await partner.get(userid)).toMatchObject({ status: 'cancelled' })
})

test('a lapsed draft is never seen, though nothing has deleted it yet', async () => {
  await partner.client.prefillUser({ userid, firstname: 'Ada' })
  const visitor = await openPage()
  await answerName(visitor, 'Evelyn')
  expect((await visitor.get('/register/details/name')).html).toContain('Evelyn')
  await partner.lateTo(lapse)
  const { html } = await visitor.get('/register/details/name')
  expect(html).not.toContain('Evelyn')
  expect(html).not.toContain('Ada')
})

test('a cancel that takes effect ends links and sessions, though the schedule has not applied it yet', async () => {
  await partner.create(userid)
  await partner.client.cancelUser({ userid })
  const mint = async () =>
    (await partner.client.createLinkToken({ userid, purpose: 'benefits' })).linkurl ?? ''
  const visitor = newVisitor(service.baseUrl)
  await visitor.get(await mint())
  expect((await visitor.post(await mint())).status).toBe(200)
  const [seen, pressed] = [await mint(), await mint()]
  await partner.lateTo('2026-11-01T04:00')
  expect((await visitor.get('/register/overview')).status).toBe(401)
  const stranger = newVisitor(service.baseUrl)
  expect((await stranger.get(seen)).status).toBe(410)
  expect((await stranger.post(pressed)).status).toBe(410)
  // A link that is minted after the cancel took effect outlives its late application.
  const { linkurl } = await partner.client.createLinkToken({ userid })
  expect((await stranger.post(linkurl ?? '')).status).toBe(200)
  await partner.to('2026-11-01T05:00')
  expect((await stranger.get('/register/details/name')).status).toBe(200)
})

test('a key is free after 24 hours, one of a prefill when 90 days have passed since its entry was written', async () => {
  const { client } = partner
  await client.prefillUser({ userid: 'sent', firstname: 'Ada' }, { idempotencyKey: 'k' })
  await partner.create(userid)
  const update = (phone: string) => client.updateUser({ userid, phone }, { idempotencyKey: 'k' })
  await update('3055550199')
  const again = () => client.prefillUser({ userid: 'other', firstname: 'Ada' }, { idempotencyKey: 'k' })
  service.advance(24 * 3_600_000 - 1)
  expect(await refusal(update('3055550198'))).toBe('409 idempotency_key_reused')
  service.advance(1)
  await update('3055550198')
  // A day has also passed for the partner.
  await partner.to(before)
  expect(await refusal(again())).toBe('409 idempotency_key_reused')
  await partner.to(lapse)
  await again()
})

// The last test, because it moves the real time of all.
test("a member's draft lives 90 days from its last write; links and sessions are kept for 30", async () => {
  await partner.create(userid)
  const { linkurl } = await partner.client.createLinkToken({ userid, purpose: 'benefits' })
  const visitor = newVisitor(service.baseUrl)
  await visitor.get(linkurl ?? '')
  await visitor.post(linkurl ?? '')
  await visitor.post('/register/benefits', { benefit: 'art' })
  const sessions = async () =>
    (await service.database.query(sql`select 1 from page_sessions where partner_id = ${partner.partnerId}`))
      .length
  /** Clean-up runs every few minutes. */
  const laterBy = async (ms: number) => {
    service.advance(ms)
    await service.service().runDue()
  }
  await laterBy(29 * 86_400_000)
  expect([await documents(), await sessions()]).toEqual([['draft', 'profile'], 1])
  await laterBy(2 * 86_400_000)
  expect([await documents(), await sessions()]).toEqual([['draft', 'profile'], 0])
  await laterBy(60 * 86_400_000)
  expect(await documents()).toEqual(['profile'])
})
