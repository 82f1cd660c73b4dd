// @prism

import { expect, test, vi } from 'vitest'
import type { Service } from '../../service/src/service.ts'
import { forAllTests } from '../for-all-tests.ts'
import type { TestService } from '../rig.ts'
import { startTestService } from '../rig.ts'
import { startSecondService } from '../second-service.ts'
import { lives, newStagePartner } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forAllTests(() => newStagePartner(service))

async function lines(userid: string, { get } = partner) {
  return ((await get(userid, 'timeline')).timeline ?? []).map(
    line => `${line.attimestamp.slice(0, 10)} ${line.what}: ${line.from}>${line.to} ${line.who}, ${line.why}`,
  )
}

test('tells what happened and what is going to happen, with who and why, in order', async () => {
  const { client } = partner
  await client.prefillUser({ userid: 'u', firstname: 'Ada' })
  await partner.create('u', { offername: 'mid', benefits: ['art'] })
  await partner.to('2026-10-22T12:00')
  await client.changeOffer({ userid: 'u', offername: 'low' })
  await client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  expect(await lines('u')).toEqual([
    '2026-10-20 user: none>prefilled partner, prefill',
    '2026-10-20 prefill: >stored partner, prefill',
    '2026-10-20 user: prefilled>active partner, create',
    '2026-10-20 prefill: stored> partner, create',
    '2026-10-20 offer: >mid partner, create',
    '2026-10-20 benefit base: >enrolled partner, create',
    '2026-10-20 benefit extra: >enrolled partner, create',
    '2026-10-20 benefit art: >enrolled partner, create',
    '2026-10-22 pending offer: >low partner, offer change',
    '2026-10-22 benefit extra: enrolled>endscheduled partner, offer change',
    '2026-10-22 swap: >art>care partner, swap',
    '2026-10-22 benefit art: enrolled>endscheduled partner, swap',
    '2026-10-22 benefit care: >scheduled partner, swap',
    '2026-11-01 offer: mid>low schedule, offer change',
    '2026-11-01 benefit extra: endscheduled>ended schedule, pending change',
    '2026-11-01 benefit art: endscheduled>ended schedule, pending change',
    '2026-11-01 benefit care: scheduled>enrolled schedule, swap',
  ])
})

test('tells of what a pending change takes away before it has begun, and of ends that lie far ahead', async () => {
  const { client } = partner
  const picks = ['art', 'books', 'grow']
  await partner.create('ahead', { offername: 'mid', effectivedate: '2026-11-10', benefits: picks })
  await client.changeOffer({
    userid: 'ahead',
    offername: 'low',
    effective: 'immediate',
    ...(await previewOf('ahead')),
  })
  expect((await lines('ahead')).filter(line => line.includes(' schedule, '))).toEqual([
    '2026-11-10 offer: >low schedule, offer change',
    '2026-11-10 benefit base: scheduled>enrolled schedule, start',
    '2026-11-10 benefit extra: scheduled>withdrawn schedule, pending change',
    '2026-11-10 benefit art: scheduled>enrolled schedule, start',
    '2026-11-10 benefit books: scheduled>enrolled schedule, start',
    '2026-11-10 benefit grow: scheduled>withdrawn schedule, pending change',
  ])
  await partner.create('old', { effectivedate: '2026-11-10', benefits: ['grow'] })
  expect(await lines('old')).toContain('2030-04-01 benefit grow: endscheduled>ended schedule, endsatage')
})

test('a benefit that will begin with a planned end is announced with the states that it then gets', async () => {
  const own = await newStagePartner(service)
  await own.create('planned', { effectivedate: '2026-11-10', benefits: ['art', 'grow'] })
  await own.client.swapBenefits({ userid: 'planned', add: ['books'], remove: ['art'] })
  const begins = (lines: readonly string[]) =>
    lines.filter(line => line.includes(': scheduled>')).map(line => line.replace(/ schedule, .*/, ''))
  const announced = begins(await lines('planned', own))
  expect(announced).toEqual([
    '2026-11-10 benefit base: scheduled>enrolled',
    '2026-11-10 benefit art: scheduled>endscheduled',
    '2026-11-10 benefit grow: scheduled>endscheduled',
    '2026-12-01 benefit books: scheduled>enrolled',
  ])
  await own.to('2026-12-01T12:00')
  expect(begins(await lines('planned', own))).toEqual(announced)
})

test('a benefit that was planned is told as called off before it is told as begun in another way', async () => {
  await partner.create('sooner', { offername: 'mid' })
  await partner.client.changeOffer({ userid: 'sooner', offername: 'top', effective: 'nextperiod' })
  await partner.client.changeOffer({ userid: 'sooner', offername: 'top', effective: 'immediate' })
  const told = (await lines('sooner')).filter(line => line.includes('benefit home'))
  expect(told.map(line => line.replace(/.*home: (\S+) .*/, '$1'))).toEqual([
    '>scheduled',
    'scheduled>withdrawn',
    '>enrolled',
  ])
})

async function previewOf(userid: string): Promise<{ previewid: string }> {
  const wish = { userid, offername: 'low', effective: 'immediate' } as const
  const { previewid } = await partner.client.previewOfferChange(wish)
  return { previewid }
}

test('shows what is due and not yet written as happened, once', async () => {
  await partner.create('late', { benefits: ['art'] })
  await partner.client.cancelUser({ userid: 'late', reason: 'nonpayment' })
  await partner.lateTo('2026-11-05T12:00')
  const before = await lines('late')
  expect(before.filter(line => line.includes('active>cancelled'))).toEqual([
    '2026-11-01 user: active>cancelled schedule, cancel: nonpayment',
  ])
  await partner.to('2026-11-05T12:00')
  expect(await lines('late')).toEqual(before)
})

test('a suggestion for an active user lapses too, and changes nothing that was confirmed', async () => {
  const { client } = partner
  await partner.create('active')
  await client.prefillUser({ userid: 'active', firstname: 'Eve' })
  await partner.to('2027-06-01T12:00')
  expect(await partner.get('active')).toMatchObject({ status: 'active' })
  expect(await lines('active')).toContain('2027-02-03 prefill: stored> schedule, prefill expired')
})

/** Another process on the same database, whose clock is behind: its ids do not follow those of this process. */
async function startBehind(service: TestService, behindMs: number): Promise<Service> {
  vi.resetModules()
  const anew = '../../service/src/service.ts?anew'
  const { startService } = (await import(anew)) as typeof import('../../service/src/service.ts')
  return startSecondService(service, { real: () => service.now() - behindMs, start: startService })
}

test('tells changes in the order in which they were made, though the clocks of two processes differ', async () => {
  await partner.create('two', { offername: 'mid', benefits: ['art'] })
  const behind = await startBehind(service, 60_000)
  const there = partner.connect({ baseUrl: behind.address })
  await there.swapBenefits({ userid: 'two', add: ['care'], remove: ['art'] })
  await partner.client.undoSwap({ userid: 'two' })
  await there.swapBenefits({ userid: 'two', add: ['care'], remove: ['art'] })
  await behind.close()
  const timeline = (await partner.get('two', 'timeline')).timeline ?? []
  const moves = timeline.filter(({ what }) => ['offer', 'swap'].includes(what))
  expect(moves.map(({ from, to }) => `${from} to ${to}`)).toEqual([
    ' to mid',
    ' to art>care',
    'art>care to ',
    ' to art>care',
  ])
})

test('a pending cancel is announced with the end of the offer, as it then happens', async () => {
  const own = await newStagePartner(service)
  await own.create('leaving', { offername: 'mid', benefits: ['art'] })
  await own.client.cancelUser({ userid: 'leaving' })
  const moves = async () => (await lines('leaving', own)).map(line => line.split(' schedule, ')[0])
  const announced = (await moves()).slice(-5)
  expect(announced).toEqual([
    '2026-11-01 user: active>cancelled',
    '2026-11-01 offer: mid>',
    '2026-11-01 benefit base: endscheduled>ended',
    '2026-11-01 benefit extra: endscheduled>ended',
    '2026-11-01 benefit art: endscheduled>ended',
  ])
  await own.to('2026-11-01T12:00')
  const happened = (await moves()).slice(-6)
  expect(happened.filter(line => !line?.includes(' pending cancel: '))).toEqual(announced)
})
