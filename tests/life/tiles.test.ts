import { expect, test } from 'vitest'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner, refusal } from './stage.ts'

// A tile promises only what would be accepted (contract §6). These are the cases that were once wrong, each also tried.
// compare-tiles.ts compares every state of a life with the reference model.

const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service))

/** Where the tiles of these benefits lead. */
async function routes(names: readonly string[], asks: { offername?: string; state?: 'NY' } = {}) {
  const list = await partner.client.getBenefits({
    userid: 'u',
    age: 36,
    state: 'FL',
    zipcode: '33101',
    ...asks,
  })
  return names.map(name => list.find(one => one.name === name)?.deeplinkdata.split('redirectto=')[1])
}
function swap(add: string, remove: string, previewonly = true) {
  return partner.client.swapBenefits({ userid: 'u', add: [add], remove: [remove], previewonly })
}
function enrol(name: string) {
  return partner.client.enrolBenefit({ userid: 'u', name })
}

test("what another offer has and the user's own has not is neither enrolled in nor swapped in: details", async () => {
  await partner.create('u', { benefits: ['art'] })
  expect(await routes(['fit', 'books'], { offername: 'mid' })).toEqual(['details', 'enrol'])
  expect(await refusal(enrol('fit'))).toBe('422 ineligible')
  await enrol('care')
  expect(await routes(['fit', 'books'], { offername: 'mid' })).toEqual(['details', 'swap'])
  expect(await refusal(swap('fit', 'art'))).toBe('422 ineligible')
})

test('what the offer at the boundary will not have does not come in by a swap: details', async () => {
  await partner.create('u', { offername: 'mid', benefits: ['art', 'books', 'care'] })
  expect(await routes(['fit'])).toEqual(['swap'])
  await partner.client.changeOffer({ userid: 'u', offername: 'low' })
  expect(await routes(['fit', 'home'])).toEqual(['details', 'swap'])
  for (const pick of ['art', 'books', 'care']) expect(await refusal(swap('fit', pick))).toBe('422 ineligible')
  await swap('home', 'art')
})

test('what only the offer at the boundary will have can come in by a swap: swap', async () => {
  await partner.create('u', { offername: 'top', benefits: ['art', 'books', 'care'] })
  expect(await routes(['grow'], { offername: 'mid' })).toEqual(['details'])
  await partner.client.changeOffer({ userid: 'u', offername: 'mid' })
  expect(await routes(['grow'], { offername: 'mid' })).toEqual(['swap'])
  await swap('grow', 'art')
  expect(await refusal(enrol('grow'))).toBe('422 ineligible')
})

test('what a pending offer change will bring can be enrolled in before, where there is a place', async () => {
  await partner.create('u', { offername: 'mid' })
  await partner.client.changeOffer({ userid: 'u', offername: 'top', effective: 'nextperiod' })
  expect(await routes(['home', 'gold'], { offername: 'top' })).toEqual(['enrol', 'details'])
  expect(await refusal(enrol('gold'))).toBe('422 ineligible')
  expect(await enrol('home')).toMatchObject({ state: 'enrolled' })
})

test('before the offer is in force a swap is open and its picks lead to it, though nothing is swappable yet', async () => {
  await partner.create('u', { benefits: ['art', 'books'], effectivedate: '2026-10-25' })
  expect(await routes(['art', 'care'])).toEqual(['details', 'swap'])
  await swap('care', 'art', false)
  const list = await partner.client.getBenefits({ userid: 'u', age: 36, state: 'FL', zipcode: '33101' })
  expect(new Set(list.map(one => one.isselectedforswap))).toEqual(new Set([null]))
  expect(await routes(['art', 'care', 'books'])).toEqual(['swap', 'swap', 'details'])
})

test('in the locked hours no swap can be made, so that no tile offers one; what is picked leads to its swap', async () => {
  await partner.create('u', { benefits: ['art', 'books'] })
  expect(await routes(['care', 'art'])).toEqual(['swap', 'manage'])
  await partner.to('2026-10-31T03:59:59')
  expect(await routes(['care'])).toEqual(['swap'])
  await swap('home', 'art', false)
  await partner.to('2026-10-31T04:00')
  expect(await routes(['care', 'home', 'art', 'books'])).toEqual(['details', 'swap', 'swap', 'manage'])
  expect(await refusal(swap('care', 'art'))).toBe('422 change_locked')
  await partner.to('2026-11-01T04:00')
  expect(await routes(['care', 'home', 'art'])).toEqual(['swap', 'manage', 'swap'])
})

test("an offer that no longer admits the user gives what the benefits' own rules admit", async () => {
  await partner.create('u', { offername: 'top', benefits: ['art'] })
  expect(await routes(['care'])).toEqual(['enrol'])
  await partner.client.updateUser({ userid: 'u', state: 'NY' })
  expect(await routes(['care'], { state: 'NY' })).toEqual(['enrol'])
  await enrol('care')
})

/** The swap fields of a benefit's tile: whether it is picked, and its route. */
async function picked(name: string, offername = ''): Promise<unknown[] | undefined> {
  const request = { userid: 'u', age: 36, state: 'FL', zipcode: '33101', offername } as const
  const tile = (await partner.client.getBenefits(request)).find(one => one.name === name)
  return tile && [tile.isselectedforswap, tile.deeplinkdata.split('redirectto=')[1]]
}

test('a swap may be made before the first offer starts; until then no swap field tells of it', async () => {
  await partner.create('u', { effectivedate: '2026-11-10', benefits: ['art'] })
  expect(await swap('books', 'art', false)).toMatchObject({ boundarytimestamp: '2026-12-01T05:00:00.000Z' })
  expect((await partner.get('u')).conditions).toEqual(['swappending'])
  expect(await picked('books')).toEqual([null, 'swap'])
  await partner.to('2026-11-10T12:00')
  expect(await picked('books')).toEqual([true, 'swap'])
  await partner.to('2026-12-01T12:00')
  expect(await partner.states('u')).toMatchObject({ art: 'ended', books: 'enrolled' })
})

test('a swap whose pick new data refuse is untouched and still pending: newer data let it take place', async () => {
  await partner.create('u', { benefits: ['art'] })
  await swap('dental', 'art', false)
  expect(await picked('dental')).toEqual([true, 'swap'])
  const moved = await partner.client.updateUser({ userid: 'u', state: 'NY', zipcode: '10001' })
  expect(moved.conditions).toEqual(['swappending'])
  expect(moved.benefits).toContainEqual(expect.objectContaining({ name: 'dental', state: 'withdrawn' }))
  expect(await picked('art')).toEqual([false, 'manage'])
  await partner.client.updateUser({ userid: 'u', state: 'FL', zipcode: '33101' })
  await partner.to('2026-11-01T12:00')
  expect(await partner.states('u')).toMatchObject({ art: 'ended', dental: 'enrolled' })
})

test('what a pending offer change will bring is listed by the name of that offer', async () => {
  await partner.create('u')
  await partner.client.changeOffer({ userid: 'u', offername: 'mid', effective: 'nextperiod' })
  expect(await partner.states('u')).toMatchObject({ extra: 'scheduled' })
  expect([await picked('extra'), await picked('extra', 'mid')]).toEqual([undefined, [null, 'details']])
})
