// @prism

import { describe, expect, test } from 'vitest'
import type { BenefitWithStatus } from '../../client/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, startTestService, type TestPartner } from '../rig.ts'
import { listenTo } from './listener.ts'
import { refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

// The middle of a month, so that no boundary is near.
const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

const asks = { userid: 'u1', ...adaAsks }
const boundary = '2027-04-01T04:00:00.000Z'
function names(listed: readonly BenefitWithStatus[]) {
  return listed.map(({ name }) => name)
}
function one(listed: readonly BenefitWithStatus[], name: string): BenefitWithStatus {
  const found = listed.find(benefit => benefit.name === name)
  if (!found) throw new Error(`${name} is not listed`)
  return found
}
function route(benefit: BenefitWithStatus) {
  return new URLSearchParams(benefit.deeplinkdata).get('redirectto')
}
function enrolled(listed: readonly BenefitWithStatus[]) {
  return names(listed.filter(({ status }) => status === 'enrolled'))
}

/** A partner with one user on an offer. */
async function withUser(offername: string, benefits: string[] = []): Promise<TestPartner> {
  const partner = await service.newPartner()
  await partner.client.createUser({ userid: 'u1', ...ada, offername, benefits })
  return partner
}
async function withPrefill(settings = {}): Promise<TestPartner> {
  const partner = await service.newPartner(settings)
  await partner.client.prefillUser({ userid: 'u1' })
  return partner
}

describe('the request', () => {
  test.each(['userid', 'age', 'state', 'zipcode'])('%s is required and not empty', async field => {
    const { client } = await withPrefill()
    for (const value of [undefined, '', null]) {
      await expect(client.getBenefits(unchecked({ ...asks, [field]: value }))).rejects.toMatchObject({
        status: 400,
        code: 'bad_request',
        errors: [{ field }],
      })
    }
  })

  test('age 0 and 120, every form of ZIP code; partnername and offername may be empty or absent', async () => {
    const { client } = await withPrefill()
    const { partnername: _, offername: __, ...bare } = asks
    for (const request of [asks, bare, { ...bare, age: 0 }, { ...bare, age: 120, zipcode: '331011234' }]) {
      expect(await client.getBenefits(request)).toBeInstanceOf(Array)
    }
    for (const wrong of [{ age: 121 }, { age: -1 }, { zipcode: '3310' }, { state: 'XX' }, { state: 'fl' }]) {
      await expect(client.getBenefits(unchecked({ ...asks, ...wrong }))).rejects.toMatchObject({
        status: 400,
        errors: [{ field: Object.keys(wrong)[0] }],
      })
    }
  })

  test('the elements have the documented members in the documented order', async () => {
    const { client } = await withPrefill()
    const [first = {}] = await client.getBenefits(asks)
    expect(Object.keys(first)).toEqual([
      'name',
      'displayname',
      'icon',
      'description',
      'status',
      'benefittype',
      'deeplinkdata',
      'isselectedforswap',
      'swapeffectiveattimestamp',
      'swapexpiresattimestamp',
    ])
  })

  test('texts come in the language of Accept-Language', async () => {
    const { client } = await withPrefill()
    const texts = async (acceptLanguage?: string) => {
      const { displayname, description } = one(
        await client.getBenefits(asks, acceptLanguage === undefined ? {} : { acceptLanguage }),
        'dental',
      )
      return [displayname, description.slice(0, 5)]
    }
    expect(await texts()).toEqual(['Dental discount', 'Lower'])
    expect(await texts('es-US,en;q=0.5')).toEqual(['Descuento dental', 'Preci'])
    expect(await texts('en;q=0.4, es;q=0.8')).toEqual(['Descuento dental', 'Preci'])
    for (const other of ['fr', 'en', 'fr, es;q=0', 'es;q=0.1, en', '*']) {
      expect(await texts(other)).toEqual(['Dental discount', 'Lower'])
    }
  })
})

describe('404 user_not_found', () => {
  test('without a prefill or account, and for the user of another partner the same answer', async () => {
    const [mine, other] = [listenTo(await service.newPartner()), await service.newPartner()]
    await other.client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
    await other.client.prefillUser({ userid: 'u2' })
    const answers = []
    for (const userid of ['u1', 'u2', 'never-seen', 'U1']) {
      const { status, code, detail, errors } = await refusalOf(mine.client.getBenefits({ ...asks, userid }))
      answers.push({ status, code, detail, errors, names: [...mine.last().headers.keys()].sort() })
    }
    expect(answers[0]).toMatchObject({ status: 404, code: 'user_not_found' })
    expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
  })
})

describe('partnername', () => {
  test("one of the partner's own names in any case; another is 400 partnername_not_allowed", async () => {
    const { client } = await withPrefill({ name: 'Gig Works', aliases: ['GW Ünïted'] })
    const all = await client.getBenefits(asks)
    for (const partnername of ['Gig Works', 'gig WORKS', 'gw ünïted']) {
      expect(await client.getBenefits({ ...asks, partnername })).toEqual(all)
    }
    for (const partnername of ['Other', 'Gig', ' Gig Works']) {
      await expect(client.getBenefits({ ...asks, partnername })).rejects.toMatchObject({
        status: 400,
        code: 'partnername_not_allowed',
        errors: [{ field: 'partnername' }],
      })
    }
  })
})

describe('offername', () => {
  test('"" without an offer: each benefit once, of all offers that admit the request, in catalogue order', async () => {
    const { client } = await withPrefill()
    const all = [
      'accident',
      'hospital',
      'critical',
      'life',
      'income',
      'identity',
      'telehealth',
      'dental',
      'vision',
      'legal',
      'savings',
    ]
    expect(names(await client.getBenefits(asks))).toEqual(all)
    expect(names(await client.getBenefits({ ...asks, state: 'NY', zipcode: '10001' }))).toEqual(
      all.filter(name => !['hospital', 'critical', 'life', 'income'].includes(name)),
    )
    expect(await client.getBenefits({ ...asks, age: 17 })).toEqual([])
    expect(names(await client.getBenefits({ ...asks, zipcode: '96701' }))).not.toContain('vision')
  })

  test("given: that offer's benefits, by the request's age, state and ZIP code", async () => {
    const { client } = await withPrefill()
    const offername = 'starter'
    const starter = ['accident', 'identity', 'telehealth', 'dental', 'vision', 'legal']
    expect(names(await client.getBenefits({ ...asks, offername }))).toEqual(starter)
    expect(names(await client.getBenefits({ ...asks, offername, age: 80 }))).toEqual(starter.slice(1))
    expect(names(await client.getBenefits({ ...asks, offername, state: 'WA' }))).not.toContain('dental')
  })

  test("not the partner's, or in no catalogue: 400 offername_unknown", async () => {
    const { client } = await withPrefill({ offers: ['starter', 'plus'] })
    for (const offername of ['premier', 'none', 'Starter']) {
      await expect(client.getBenefits({ ...asks, offername })).rejects.toMatchObject({
        status: 400,
        code: 'offername_unknown',
      })
    }
    expect(names(await client.getBenefits(asks))).not.toContain('life')
  })

  test('"" with an account: the benefits of the user\'s offer, held ones in any case', async () => {
    const { client } = await withUser('starter', ['telehealth', 'dental'])
    const listed = await client.getBenefits({ ...asks, state: 'AK', zipcode: '99501', age: 90 })
    expect(names(listed)).toEqual(['accident', 'identity', 'telehealth', 'dental', 'legal'])
    expect(enrolled(listed)).toEqual(['accident', 'telehealth', 'dental'])
  })

  test('a cancelled user is listed like one without an offer', async () => {
    const { client } = await withUser('starter', ['telehealth'])
    await client.cancelUser({ userid: 'u1', effective: 'immediate' })
    const listed = await client.getBenefits(asks)
    expect(listed).toHaveLength(11)
    expect(enrolled(listed)).toEqual([])
    expect(new Set(listed.map(route))).toEqual(new Set(['enrol']))
  })

  test('an offer to start is the offer of the user; nothing is enrolled yet and nothing swappable', async () => {
    const partner = await service.newPartner()
    const start = { offername: 'starter', benefits: ['dental'], effectivedate: '2027-03-20' }
    await partner.client.createUser({ userid: 'u1', ...ada, ...start })
    const listed = await partner.client.getBenefits(asks)
    expect(names(listed)).toEqual(['accident', 'identity', 'telehealth', 'dental', 'vision', 'legal'])
    expect(enrolled(listed)).toEqual([])
    expect(new Set(listed.map(benefit => benefit.isselectedforswap))).toEqual(new Set([null]))
    expect([route(one(listed, 'dental')), route(one(listed, 'legal'))]).toEqual(['details', 'enrol'])
  })
})

describe('deeplinkdata', () => {
  test('is productname, producttype and redirectto, in this order', async () => {
    const { client } = await withPrefill()
    expect(one(await client.getBenefits(asks), 'dental').deeplinkdata).toBe(
      'productname=dental&producttype=discount&redirectto=enrol',
    )
  })

  test('the route is the first that fits: swap, manage, enrol, details', async () => {
    const { client } = await withUser('starter', ['telehealth', 'dental'])
    const full = await client.getBenefits(asks)
    expect(route(one(full, 'accident'))).toBe('manage')
    expect(route(one(full, 'telehealth'))).toBe('manage')
    expect(route(one(full, 'vision'))).toBe('swap')
    await client.swapBenefits({ userid: 'u1', add: ['vision'], remove: ['dental'] })
    const swapping = await client.getBenefits(asks)
    expect([route(one(swapping, 'vision')), route(one(swapping, 'dental'))]).toEqual(['swap', 'swap'])
    expect(route(one(await client.getBenefits({ ...asks, offername: 'plus' }), 'hospital'))).toBe('details')
  })

  test('with a cancel pending nothing comes in by a swap: details', async () => {
    const { client } = await withUser('starter', ['telehealth', 'dental'])
    await client.cancelUser({ userid: 'u1' })
    const listed = await client.getBenefits(asks)
    expect([route(one(listed, 'vision')), route(one(listed, 'dental'))]).toEqual(['details', 'manage'])
    await expect(
      client.swapBenefits({ userid: 'u1', add: ['vision'], remove: ['dental'] }),
    ).rejects.toMatchObject({ status: 409, code: 'cancel_pending' })
    await client.reinstateUser({ userid: 'u1' })
    expect(route(one(await client.getBenefits(asks), 'vision'))).toBe('swap')
  })

  test('a free slot is enrol; a pick that waits for a consent is enrol too', async () => {
    const { client } = await withUser('starter', ['identity'])
    const listed = await client.getBenefits(asks)
    expect(one(listed, 'identity')).toMatchObject({ status: 'notenrolled' })
    expect([route(one(listed, 'identity')), route(one(listed, 'legal'))]).toEqual(['enrol', 'enrol'])
  })
})

describe('swap fields', () => {
  const fields = (benefit: BenefitWithStatus) => [
    benefit.isselectedforswap,
    benefit.swapeffectiveattimestamp,
    benefit.swapexpiresattimestamp,
  ]

  test('everyone without an offer, and what is not selectable: all three null', async () => {
    for (const benefit of await (await withPrefill()).client.getBenefits(asks)) {
      expect(fields(benefit)).toEqual([null, null, null])
    }
    const listed = await (await withUser('plus')).client.getBenefits(asks)
    expect(fields(one(listed, 'accident'))).toEqual([null, null, null])
    expect(fields(one(listed, 'hospital'))).toEqual([null, null, null])
  })

  test('swappable and untouched: false; picked in: true and when; picked out: true and until when', async () => {
    const { client } = await withUser('starter', ['telehealth', 'dental'])
    for (const name of ['telehealth', 'dental', 'vision', 'legal']) {
      expect(fields(one(await client.getBenefits(asks), name))).toEqual([false, null, null])
    }
    await client.swapBenefits({ userid: 'u1', add: ['vision'], remove: ['dental'] })
    const listed = await client.getBenefits(asks)
    expect(fields(one(listed, 'vision'))).toEqual([true, boundary, null])
    expect(fields(one(listed, 'dental'))).toEqual([true, null, boundary])
    expect(fields(one(listed, 'telehealth'))).toEqual([false, null, null])
    expect(enrolled(listed)).toEqual(['accident', 'telehealth', 'dental'])
  })

  test('after an undo, and after the boundary, it is untouched again', async () => {
    const { client } = await withUser('starter', ['telehealth', 'dental'])
    await client.swapBenefits({ userid: 'u1', add: ['vision'], remove: ['dental'] })
    await client.undoSwap({ userid: 'u1' })
    expect(fields(one(await client.getBenefits(asks), 'vision'))).toEqual([false, null, null])
    await client.swapBenefits({ userid: 'u1', add: ['vision'], remove: ['dental'] })
    await client.advanceClock({ advanceto: boundary })
    const listed = await client.getBenefits(asks)
    expect(enrolled(listed)).toEqual(['accident', 'telehealth', 'vision'])
    for (const name of ['vision', 'dental']) expect(fields(one(listed, name))).toEqual([false, null, null])
  })
})

describe('what is in force besides the offer', () => {
  test('cover that an update no longer admits is listed and enrolled until its end', async () => {
    const { client } = await withUser('starter', ['dental'])
    await client.updateUser({ userid: 'u1', state: 'WA', zipcode: '98101', address: null })
    const washington = { ...asks, state: 'WA', zipcode: '98101' } as const
    expect(enrolled(await client.getBenefits(washington))).toContain('dental')
    await client.advanceClock({ advanceto: boundary })
    expect(names(await client.getBenefits(washington))).not.toContain('dental')
  })
})

test('icon is an address under the stage path, and what is there is an image', async () => {
  await using staged = await startTestService({ basePath: '/v1' })
  const { client } = await staged.newPartner()
  await client.prefillUser({ userid: 'u1' })
  for (const { icon, name } of await client.getBenefits(asks)) {
    expect(icon).toBe(`${staged.service().baseUrl}/icons/${name}.svg`)
    const answer = await fetch(`${staged.baseUrl}/icons/${name}.svg`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^image\/svg\+xml/)
    expect(await answer.text()).toContain('<svg')
  }
  for (const other of ['none.svg', '..%2f..%2fpackage.json']) {
    expect((await fetch(`${staged.baseUrl}/icons/${other}`)).status).toBe(404)
  }
})
