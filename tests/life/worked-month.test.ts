import { expect, test } from 'vitest'
import { ada, startTestService } from '../rig.ts'
import { instant, newStagePartner, refusal } from './stage.ts'

test('the month of docs/lifecycle.md', async () => {
  await using service = await startTestService({ startAt: instant('2026-10-05T14:00'), clock: 'still' })
  const partner = await newStagePartner(service)
  const userid = 'u'
  const events = () => partner.names(userid)
  await partner.client.prefillUser({ userid, ...ada })
  expect(await events()).toEqual(['enrollment_request_received'])
  await partner.to('2026-10-06T09:00')
  await partner.client.createUser({ userid, offername: 'plus', benefits: ['telehealth', 'dental'] })
  expect(await partner.events(userid)).toMatchObject([
    { eventname: 'enrollment_successful' },
    { eventname: 'offer_activiation_successful', offer: 'plus', updatedat: '2026-10-06T09:00:00.000Z' },
  ])
  await partner.to('2026-10-07T10:00')
  await partner.client.enrolBenefit({ userid, name: 'identity' })
  expect(await events()).toEqual(['benefit_action_required'])
  await partner.to('2026-10-08T10:00')
  const consents = [{ name: 'identity', version: '2026-01' }]
  expect(await partner.client.enrolBenefit({ userid, name: 'identity', consents })).toMatchObject({
    state: 'enrolled',
  })
  expect(await events()).toEqual(['benefit_enrollment_successful'])
  await partner.to('2026-10-12T16:00')
  expect(await partner.client.changeOffer({ userid, offername: 'starter' })).toMatchObject({
    pendingoffer: { offer: 'starter', effectiveattimestamp: '2026-11-01T04:00:00.000Z' },
    lost: ['hospital', 'identity'],
  })
  expect(await events()).toEqual(['offer_change_scheduled'])
  await partner.to('2026-10-20T11:00')
  expect(await partner.client.swapBenefits({ userid, add: ['vision'], remove: ['dental'] })).toMatchObject({
    boundarytimestamp: '2026-11-01T04:00:00.000Z',
    lockedattimestamp: '2026-10-31T04:00:00.000Z',
  })
  expect(await events()).toEqual(['user_benefits_pendingswap'])
  await partner.to('2026-10-31T12:00')
  expect(await refusal(partner.client.undoSwap({ userid }))).toBe('422 change_locked')
  await partner.to('2026-11-01T04:00')
  expect(await partner.events(userid)).toMatchObject([
    { eventname: 'offer_downgrade_successful', offer: 'starter', updatedat: '2026-11-01T04:00:00.000Z' },
    { eventname: 'offer_activiation_successful', offer: 'starter', updatedat: '2026-11-01T04:00:00.000Z' },
    { eventname: 'user_benefits_swap_successful' },
  ])
  await partner.to('2026-11-10T08:00')
  expect(await partner.client.cancelUser({ userid })).toMatchObject({
    effectiveattimestamp: '2026-12-01T05:00:00.000Z',
    reinstatableuntil: '2026-12-31T05:00:00.000Z',
  })
  expect(await events()).toEqual(['offer_cancel_scheduled'])
  await partner.to('2026-11-11T08:00')
  await partner.client.reinstateUser({ userid })
  expect(await events()).toEqual(['offer_reinstate_successful'])
  await partner.to('2026-11-20T08:00')
  await partner.client.cancelUser({ userid, effective: 'immediate' })
  expect(await partner.events(userid)).toEqual([
    { eventname: 'offer_cancel_successful', offer: '', updatedat: '2026-11-20T08:00:00.000Z' },
  ])
  await partner.to('2026-11-25T08:00')
  expect(await partner.client.reinstateUser({ userid })).toMatchObject({ status: 'active', notrestored: [] })
  expect(await events()).toEqual(['offer_reinstate_successful', 'offer_activiation_successful'])
  await partner.to('2026-11-26T08:00')
  await partner.client.eraseUser({ userid })
  expect(await events()).toEqual(['offer_cancel_successful', 'user_erased'])
})
