import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eraseListed } from '../../service/src/cli/operator/erasures.ts'
import { sql } from '../../service/src/db/sql.ts'
import { markInstallation } from '../../service/src/installation.ts'
import { openErasureList } from '../../service/src/membership/erasure-list/list.ts'
import { forAllTests } from '../for-all-tests.ts'
import { holdUsers } from '../hold-users.ts'
import { startTestService } from '../rig.ts'
import { startSecondService } from '../second-service.ts'
import { lives, newStagePartner, type StagePartner } from './stage.ts'

const service = forAllTests(() => startTestService(lives))

async function swapAll(partner: StagePartner, count: number) {
  const userids = Array.from({ length: count }, (_, index) => `u${index}`)
  await Promise.all(
    userids.map(async userid => {
      await partner.create(userid, { benefits: ['art'] })
      await partner.client.swapBenefits({ userid, add: ['care'], remove: ['art'] })
    }),
  )
  return userids
}

/** Adds users like one: its row is copied; due changes do not need the data key. */
async function copyUser(partner: StagePartner, userid: string, count: number): Promise<void> {
  await service.database.query(sql`
    insert into users (partner_id, service_id, userid, status, created_at, updated_at, offer, offer_since,
      offer_version, offer_in_force, due_at)
    select partner_id, gen_random_uuid(), 'copy' || n, status, created_at, updated_at, offer, '2026-11-01T04:00Z',
      offer_version, false, '2026-11-01T04:00Z'
    from users, generate_series(1, ${count}::integer) as n where partner_id = ${partner.partnerId} and userid = ${userid}`)
}

async function countOf(partner: StagePartner, eventname: string): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(sql`
    select count(*) as count from events where partner_id = ${partner.partnerId} and eventname = ${eventname}`)
  return row?.count ?? 0
}

test('two services on one database apply a due change once', async () => {
  const partner = await newStagePartner(service)
  const userids = await swapAll(partner, 60)
  const { database } = service
  const second = await startSecondService(service)
  try {
    await partner.lateTo('2026-11-01T04:00')
    await Promise.all([service.service().runDue(), second.runDue()])
  } finally {
    await second.close()
  }
  expect(await countOf(partner, 'user_benefits_swap_successful')).toBe(userids.length)
  const rows = await database.query<{ state: string; count: number }>(sql`
    select state, count(*) as count from enrolments where partner_id = ${partner.partnerId} group by state order by state`)
  expect(rows).toEqual([
    { state: 'ended', count: 60 },
    { state: 'enrolled', count: 120 },
  ])
})

test('the event log has what is due, although the schedule has not applied it yet', async () => {
  const partner = await newStagePartner(service)
  const { client } = partner
  await swapAll(partner, 3)
  await partner.create('left', {})
  await client.cancelUser({ userid: 'left' })
  const { next } = await client.listEvents({})
  await partner.lateTo('2026-11-01T04:00')
  // Several at once, as each of a partner's processes may read the log.
  const pages = await Promise.all([1, 2, 3].map(() => client.listEvents({ after: next })))
  for (const { events } of pages)
    expect(
      events
        .map(({ userid, eventname, body }) => [userid, eventname, body.currentofferdetails.updatedat])
        .sort(),
    ).toEqual([
      ['left', 'offer_cancel_successful', '2026-11-01T04:00:00.000Z'],
      ...['u0', 'u1', 'u2'].map(userid => [
        userid,
        'user_benefits_swap_successful',
        '2026-10-20T12:00:00.000Z',
      ]),
    ])
})

test('a due change that cannot be written does not keep the event log from being read', async () => {
  const partner = await newStagePartner(service)
  await partner.create('held', {})
  await partner.client.cancelUser({ userid: 'held' })
  await partner.lateTo('2026-11-02T00:00')
  const hold = await holdUsers(service, partner)
  const names = async () => (await partner.client.listEvents({})).events.map(event => event.eventname)
  const known = ['enrollment_successful', 'offer_activiation_successful', 'offer_cancel_scheduled']
  try {
    expect(await names()).toEqual(known)
  } finally {
    await hold.release()
  }
})

test('after a long downtime everything overdue is applied in its order, with its own dates', async () => {
  const partner = await newStagePartner(service)
  const { client } = partner
  await partner.create('u', {
    offername: 'mid',
    effectivedate: '2026-10-25',
    benefits: ['art', 'grow'],
    dob: '1986-11-28',
  })
  await client.changeOffer({ userid: 'u', offername: 'top' })
  await client.prefillUser({ userid: 'v', firstname: 'Ada' })
  await partner.events('u')
  await partner.lateTo('2027-02-15T12:00')
  expect(await partner.get('u')).toMatchObject({
    currentofferdetails: { offer: 'top', updatedat: '2026-10-25T04:00:00.000Z' },
  })
  await service.service().runDue()
  expect(await partner.events('u')).toEqual([
    { eventname: 'offer_upgrade_successful', offer: 'top', updatedat: '2026-10-25T04:00:00.000Z' },
    { eventname: 'offer_activiation_successful', offer: 'top', updatedat: '2026-10-25T04:00:00.000Z' },
    // Nobody has agreed to gold, which came with the offer.
    {
      eventname: 'benefit_declined',
      offer: 'top',
      updatedat: '2026-10-25T04:00:00.000Z',
      name: 'gold',
      reason: 'expired',
    },
  ])
  const lines = (await partner.get('u', 'timeline')).timeline ?? []
  const instants = lines.map(line => line.attimestamp)
  expect(instants).toEqual([...instants].sort())
})

test("a partner's thousands of due changes do not delay another's", async () => {
  const big = await newStagePartner(service)
  const small = await newStagePartner(service)
  await swapAll(small, 3)
  const userids = await swapAll(big, 1)
  const { database } = service
  await copyUser(big, userids[0] ?? '', 5000)
  await big.lateTo('2026-11-01T05:00')
  await small.lateTo('2026-11-01T05:00')
  await service.service().runDue()
  expect(await countOf(small, 'user_benefits_swap_successful')).toBe(3)
  // Long before the big partner is done, whose changes take several rounds. The ids of one process rise.
  const [before] = await database.query<{ count: number }>(sql`
    select count(*)::integer as count from events
    where partner_id = ${big.partnerId} and eventname = 'offer_activiation_successful' and event_id::text < (
      select max(event_id::text) from events
      where partner_id = ${small.partnerId} and eventname = 'user_benefits_swap_successful')`)
  expect(before?.count).toBeLessThan(3000)
  expect(await countOf(big, 'user_benefits_swap_successful')).toBe(1)
  expect(await countOf(big, 'offer_activiation_successful')).toBe(5001)
})

test('a user whose change fails holds up nobody else, and is tried again later', async () => {
  const partner = await newStagePartner(service)
  await swapAll(partner, 3)
  const { database, logged } = service
  // A constraint, since there are no triggers on a cluster.
  await database.script(`
    alter table users add constraint refuse_u1
      check (partner_id <> '${partner.partnerId}' or userid <> 'u1' or swap_at is not null) not valid`)
  await partner.lateTo('2026-11-02T00:00')
  await service.service().runDue()
  expect(await countOf(partner, 'user_benefits_swap_successful')).toBe(2)
  expect(logged.some(line => line.event === 'schedule_failed')).toBe(true)
  await database.script('alter table users drop constraint refuse_u1')
  service.advance(31_000)
  await service.service().runDue()
  expect(await countOf(partner, 'user_benefits_swap_successful')).toBe(3)
})

test('a user whose row another session holds for long delays the due changes of nobody else', async () => {
  const held = await newStagePartner(service)
  await swapAll(held, 1)
  const other = await newStagePartner(service)
  const userids = await swapAll(other, 1)
  // More than are applied side by side.
  await copyUser(other, userids[0] ?? '', 600)
  await held.lateTo('2026-11-02T00:00')
  await other.lateTo('2026-11-02T00:00')
  const hold = await holdUsers(service, held)
  await service.service().runDue()
  expect(await countOf(other, 'offer_activiation_successful')).toBe(601)
  expect(await countOf(held, 'user_benefits_swap_successful')).toBe(0)
  await hold.release()
  service.advance(31_000)
  await service.service().runDue()
  expect(await countOf(held, 'user_benefits_swap_successful')).toBe(1)
})

test('a partner whose key cannot be opened holds up no other, and is told of', async () => {
  const broken = await newStagePartner(service)
  const other = await newStagePartner(service)
  await swapAll(other, 1)
  const { database, logged } = service
  const flipLastByte = () =>
    database.query(sql`
      update partners set wrapped_key = set_byte(wrapped_key, length(wrapped_key) - 1,
        255 - get_byte(wrapped_key, length(wrapped_key) - 1)) where partner_id = ${broken.partnerId}`)
  await flipLastByte()
  await other.lateTo('2026-11-02T00:00')
  await service.service().runDue()
  expect(await countOf(other, 'user_benefits_swap_successful')).toBe(1)
  expect(logged.find(({ event }) => event === 'partner_not_opened')?.fields).toMatchObject({
    partnerid: broken.partnerId,
    partners: 1,
  })
  // A start erases again whom a restored database brought back.
  const dir = await mkdtemp(join(tmpdir(), 'erasures-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const list = await openErasureList(join(dir, 'list'))
  const back = await other.get('u0')
  await list.note({ partnerId: other.partnerId, serviceId: back.serviceid, erasedAt: back.updatedat })
  const { keyring, now: real } = service
  const installation = await markInstallation(database, { keyring, wanted: 'either', now: real() })
  const told: string[] = []
  const log = (event: string) => void told.push(event)
  expect(await eraseListed({ database, keyring, installation, list, real, log })).toEqual({
    count: 1,
    isDone: true,
  })
  expect(told).toEqual(['partner_not_opened'])
  await flipLastByte()
})

test('what lapses is deleted: tokens after an hour, keys after a day, those of a prefill after 90 days', async () => {
  const partner = await newStagePartner(service)
  await partner.create('u')
  await partner.client.updateUser({ userid: 'u', phone: '3055550199' }, { idempotencyKey: 'update' })
  await partner.client.prefillUser({ userid: 'v', firstname: 'Ada' }, { idempotencyKey: 'first' })
  const keys = async () =>
    (
      await service.database.query<{ operation: string }>(sql`
        select operation from idempotency_keys where partner_id = ${partner.partnerId} order by operation`)
    ).map(row => row.operation)
  const tokens = async () =>
    (await service.database.query(sql`select 1 from access_tokens where partner_id = ${partner.partnerId}`))
      .length
  const tidy = async () => {
    service.advance(5 * 60_000)
    await service.service().runDue()
  }
  await tidy()
  expect(await keys()).toEqual(['createUser', 'prefillUser', 'updateUser'])
  service.advance(25 * 3_600_000)
  await tidy()
  expect(await keys()).toEqual(['prefillUser'])
  expect(await tokens()).toBe(0)
  service.advance(60 * 86_400_000)
  await partner.client.prefillUser({ userid: 'v', firstname: 'Eve' }, { idempotencyKey: 'second' })
  service.advance(60 * 86_400_000)
  await tidy()
  // The entry was written again, so both keys live on with it.
  expect(await keys()).toEqual(['prefillUser', 'prefillUser'])
  service.advance(31 * 86_400_000)
  await tidy()
  expect(await keys()).toEqual([])
})
