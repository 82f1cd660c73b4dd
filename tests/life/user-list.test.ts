import { describe, expect, test } from 'vitest'
import type { ListedUser } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner, type StagePartner } from './stage.ts'

// The list of users (contract §16).

const service = forAllTests(() => startTestService(lives))

async function listed(
  { client }: StagePartner,
  where?: Parameters<StagePartner['client']['eachUser']>[0],
): Promise<ListedUser[]> {
  const users: ListedUser[] = []
  for await (const user of client.eachUser(where)) users.push(user)
  return users
}

async function names(of: StagePartner, where?: Parameters<typeof listed>[1]): Promise<string[]> {
  return (await listed(of, where)).map(({ userid }) => userid).sort()
}

/** Adds prefilled users without data beside those of the partner. */
async function addMany({ partnerId }: StagePartner, count: number): Promise<void> {
  await service.database.query(sql`
    insert into users (partner_id, service_id, userid, status, created_at, updated_at, prefill_count, prefill_written_at)
    select ${partnerId}, gen_random_uuid(), 'many' || n, 'prefilled', '2026-10-20T12:00Z', '2026-10-20T12:00Z', 1,
      '2026-10-20T12:00Z'
    from generate_series(1, ${count}::integer) as n`)
}

test('a listed user is the one of get, without what may be personal', async () => {
  const partner = await newStagePartner(service)
  await partner.create('member', { benefits: ['art'] })
  await partner.client.swapBenefits({ userid: 'member', add: ['care'], remove: ['art'] })
  const { requiredactions, consents, createdat, ...shown } = await partner.get('member')
  const { moredetails, ...rest } = shown as typeof shown & { moredetails?: unknown }
  expect(await listed(partner)).toEqual([rest])
})

test('pages of 500 show each user once, in order of their service ids, and next is null at the end', async () => {
  const partner = await newStagePartner(service)
  await addMany(partner, 1001)
  const first = await partner.client.listUsers({})
  expect(first.users).toHaveLength(500)
  const all = await listed(partner)
  expect(new Set(all.map(({ userid }) => userid)).size).toBe(1001)
  expect(all.map(({ serviceid }) => serviceid)).toEqual(all.map(({ serviceid }) => serviceid).sort())
})

test('users are listed in each state but erased, and by state', async () => {
  const partner = await newStagePartner(service)
  await partner.client.prefillUser({ userid: 'prefilled' })
  for (const userid of ['active', 'cancelled', 'erased']) await partner.create(userid)
  await partner.client.cancelUser({ userid: 'cancelled', effective: 'immediate' })
  await partner.client.eraseUser({ userid: 'erased' })
  expect(await names(partner)).toEqual(['active', 'cancelled', 'prefilled'])
  for (const status of ['prefilled', 'active', 'cancelled'] as const)
    expect(await names(partner, { status })).toEqual([status])
  expect(await names(partner, { status: 'registering' })).toEqual([])
})

test('what is due is applied on each page, also in the choice by state, before the schedule has come', async () => {
  const partner = await newStagePartner(service)
  await partner.create('leaves')
  await partner.client.cancelUser({ userid: 'leaves' })
  await partner.client.prefillUser({ userid: 'lapses' })
  await partner.lateTo('2026-11-01T04:00')
  expect(await listed(partner, { status: 'cancelled' })).toMatchObject([
    { userid: 'leaves', status: 'cancelled', updatedat: '2026-11-01T04:00:00.000Z', conditions: [] },
  ])
  expect(await names(partner, { status: 'active' })).toEqual([])
  await partner.lateTo('2027-02-01T04:00')
  expect(await names(partner)).toEqual(['leaves'])
})

describe('changedafter', () => {
  const since = '2026-10-25T12:00:00.000Z'

  test('keeps those who changed then or later, also by a repeated prefill, whatever the partner’s settings', async () => {
    const partner = await newStagePartner(service)
    await partner.create('still')
    await partner.create('updated')
    await partner.client.prefillUser({ userid: 'again' })
    await partner.to(since)
    expect(await names(partner, { changedafter: since })).toEqual([])
    await partner.client.updateUser({ userid: 'updated', phone: '3055550199' })
    await partner.client.prefillUser({ userid: 'again' })
    expect(await names(partner, { changedafter: since })).toEqual(['again', 'updated'])
    await partner.lateTo('2026-10-25T12:00:10')
    expect(await names(partner, { changedafter: '2026-10-25T12:00:10.000Z' })).toEqual([])
    expect(await names(partner, { changedafter: '9999-12-31T23:59:59.999Z' })).toEqual([])
    // What .NET and Go send for "never".
    const all = await names(partner)
    expect(await names(partner, { changedafter: '0001-01-01T00:00:00Z' })).toEqual(all)
  })

  test('keeps those whom time alone changed: a start, an end, an age; applied by the schedule or not yet', async () => {
    const partner = await newStagePartner(service)
    await partner.create('still')
    await partner.create('starts', { effectivedate: '2026-10-26' })
    await partner.create('ends')
    await partner.client.cancelUser({ userid: 'ends' })
    await partner.create('ages', { dob: '1986-10-27', benefits: ['grow'] })
    await partner.lateTo('2026-11-01T12:00')
    expect(await names(partner, { changedafter: since })).toEqual(['ages', 'ends', 'starts'])
    await partner.to('2026-11-01T12:00')
    expect(await names(partner, { changedafter: since })).toEqual(['ages', 'ends', 'starts'])
    // The change of the start has its own instant, however late it was applied.
    expect(await names(partner, { changedafter: '2026-10-27T12:00:00.000Z' })).toEqual(['ages', 'ends'])
  })

  test('finds the same users by the index of changes and by their ids', async () => {
    const partner = await newStagePartner(service)
    await partner.create('member')
    await addMany(partner, 10_001)
    const all = await names(partner)
    expect(all).toHaveLength(10_002)
    expect(await names(partner, { changedafter: '2026-10-20T12:00:00.000Z' })).toEqual(all)
    await partner.to(since)
    await partner.client.updateUser({ userid: 'member', phone: '3055550199' })
    expect(await names(partner, { changedafter: since })).toEqual(['member'])
  })
})

test.each([
  [{ after: 'a' }, 'after'],
  [{ changedafter: '2026-10-20' }, 'changedafter'],
  [{ status: 'erased' }, 'status'],
])('%o is a 400 that names the parameter', async (query, field) => {
  const partner = await newStagePartner(service)
  const call = partner.client.listUsers(query as never)
  await expect(call).rejects.toMatchObject({ status: 400, errors: [{ field }] })
})
