import { describe, expect, test } from 'vitest'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner, type Wire } from './stage.ts'

// A preview, or the answer to a change, promises what then happens; and an undone change leaves no effect.
const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service))
const userid = 'u'
const boundary = '2026-11-01T04:00:00.000Z'
function signed(name: string) {
  return [{ name, version: 'v1' }]
}

/** What the user has: in force, waiting for a consent, or accepted for a later start of the membership. */
async function held(): Promise<string[]> {
  return (await partner.get(userid)).benefits
    .filter(
      one =>
        ['enrolled', 'endscheduled', 'actionrequired'].includes(one.state) ||
        (one.state === 'scheduled' && one.startsattimestamp !== boundary),
    )
    .map(one => one.name)
    .sort()
}
async function inForce() {
  return (await partner.get(userid)).benefits
    .filter(one => one.state === 'enrolled' || one.state === 'endscheduled')
    .map(one => one.name)
    .sort()
}
function without(these: string[], those: string[]) {
  return these.filter(name => !those.includes(name)).sort()
}

/** Everything visible of a user except the traces of the undone change. */
function seen({ updatedat, benefits, ...user }: Wire) {
  return {
    ...user,
    benefits: benefits.filter(one => !['withdrawn', 'ended', 'declined'].includes(one.state)),
  }
}

type Move = {
  what: string
  create: Record<string, unknown>
  given?: () => Promise<unknown>
  to: string
  effective: 'immediate' | 'nextperiod' | 'auto'
}
const moves: Move[] = [
  { what: 'an upgrade now', create: { benefits: ['art', 'home'] }, to: 'top', effective: 'auto' },
  { what: 'an upgrade later', create: { benefits: ['art'] }, to: 'mid', effective: 'nextperiod' },
  {
    what: 'an upgrade to an offer of which a fixed benefit does not admit the person',
    create: { benefits: ['art'], state: 'NY' },
    to: 'mid',
    effective: 'auto',
  },
  {
    what: 'a downgrade that leaves less room, with a pick that waits and one that is reserved for others',
    create: { offername: 'mid', benefits: ['eyes', 'fit', 'art'] },
    to: 'low',
    effective: 'auto',
  },
  {
    what: 'a downgrade at once',
    create: { offername: 'top', benefits: ['art', 'books', 'care'], consents: signed('gold') },
    to: 'low',
    effective: 'immediate',
  },
  {
    what: 'a downgrade at a boundary at which something ends by itself',
    create: { offername: 'mid', benefits: ['grow', 'art', 'books'], dob: '1986-10-25' },
    to: 'low',
    effective: 'auto',
  },
  {
    what: 'a change for after a start that lies ahead, with a pick that waits for its consent',
    create: { offername: 'mid', benefits: ['eyes', 'art', 'books'], effectivedate: '2026-10-25' },
    to: 'low',
    effective: 'auto',
  },
  {
    what: 'a change before the membership has begun',
    create: { offername: 'mid', benefits: ['art', 'books', 'care'], effectivedate: '2026-10-25' },
    to: 'low',
    effective: 'auto',
  },
]

describe('an offer change', () => {
  test.each(moves)('gains, loses and keeps what its preview said: $what', async move => {
    await partner.create(userid, move.create)
    const before = await held()
    const wish = { userid, offername: move.to, effective: move.effective }
    const { previewid, expiresat, currentofferdetails, pendingoffer, ...promised } =
      await partner.client.previewOfferChange(wish)
    expect(await held()).toEqual(before)
    const answer = await partner.client.changeOffer({ ...wish, previewid })
    expect(answer).toMatchObject({ ...promised, pendingoffer })
    if (answer.pendingoffer) await partner.to(answer.pendingoffer.effectiveattimestamp)
    const after = await held()
    expect({
      gained: without(after, before),
      lost: without(before, after),
      kept: before.filter(name => after.includes(name)),
    }).toEqual({
      gained: [...promised.gained].sort(),
      lost: [...promised.lost].sort(),
      kept: [...promised.kept].sort(),
    })
    expect(await partner.get(userid)).toMatchObject({ currentofferdetails: { offer: move.to } })
  })

  test('undone is as if it had not been', async () => {
    await partner.create(userid, { offername: 'mid', benefits: ['art', 'books', 'care'] })
    const before = await partner.get(userid)
    await partner.client.changeOffer({ userid, offername: 'low' })
    await partner.client.undoOfferChange({ userid })
    expect(seen(await partner.get(userid))).toEqual(seen(before))
    await partner.to(boundary)
    expect(seen(await partner.get(userid))).toEqual(seen(before))
  })
})

describe('a swap', () => {
  const rows: { what: string; picks: string[]; offername?: string; add: string[]; remove: string[] }[] = [
    { what: 'one for one', picks: ['art'], add: ['care'], remove: ['art'] },
    { what: 'two for two', picks: ['art', 'books'], add: ['care', 'home'], remove: ['art', 'books'] },
    { what: 'into a free slot', picks: ['art'], add: ['care'], remove: [] },
    { what: 'one for one, and one into a free slot', picks: ['art'], add: ['care', 'home'], remove: ['art'] },
    { what: 'only out', picks: ['art', 'books'], add: [], remove: ['books'] },
    {
      what: 'two out for one in',
      picks: ['art', 'books', 'care'],
      offername: 'mid',
      add: ['home'],
      remove: ['art', 'care'],
    },
  ]
  test.each(rows)('does what its preview said: $what', async ({ picks, offername = 'low', add, remove }) => {
    await partner.create(userid, { offername, benefits: picks })
    const before = await inForce()
    const request = { userid, add, remove }
    const preview = await partner.client.swapBenefits({ ...request, previewonly: true })
    expect(await partner.client.swapBenefits(request)).toEqual(preview)
    expect(preview).toMatchObject({ add, remove, boundarytimestamp: boundary })
    await partner.to('2026-11-01T03:59')
    expect(await inForce()).toEqual(before)
    await partner.to(preview.boundarytimestamp)
    const after = await inForce()
    expect({ gained: without(after, before), lost: without(before, after) }).toEqual({
      gained: [...add].sort(),
      lost: [...remove].sort(),
    })
    // The old benefit ends when the new one begins: no gap, no overlap.
    const dates = (await partner.get(userid)).benefits
    for (const name of add) expect(dates.find(one => one.name === name)?.startsattimestamp).toBe(boundary)
    for (const name of remove) expect(dates.find(one => one.name === name)?.endsattimestamp).toBe(boundary)
  })

  const failures: { what: string; add: string[]; given: () => Promise<unknown>; after: string[] }[] = [
    { what: 'a consent is missing', add: ['eyes'], given: async () => {}, after: ['art', 'base', 'books'] },
    {
      what: 'the person moved away',
      add: ['dental'],
      given: () => partner.client.updateUser({ userid, state: 'NY' }),
      after: ['art', 'base', 'books'],
    },
    {
      what: 'the person is too old by then',
      add: ['grow'],
      given: () => partner.client.updateUser({ userid, dob: '1986-10-25' }),
      after: ['art', 'base', 'books'],
    },
    {
      what: 'one pair of two fails',
      add: ['eyes', 'care'],
      given: async () => {},
      after: ['art', 'base', 'care'],
    },
  ]
  test.each(failures)('leaves nobody with less cover than before: $what', async ({ add, given, after }) => {
    await partner.create(userid, { benefits: ['art', 'books'] })
    await partner.client.swapBenefits({ userid, add, remove: ['art', 'books'].slice(0, add.length) })
    await given()
    const before = await inForce()
    await partner.to(boundary)
    expect(await inForce()).toEqual(after)
    expect(after).toHaveLength(before.length)
    // A benefit that stayed has no gap: its start did not change.
    const stayed = (await partner.get(userid)).benefits.filter(one => before.includes(one.name))
    for (const one of stayed) expect(one.startsattimestamp).toBe('2026-10-20T12:00:00.000Z')
  })

  test('undone is as if it had not been, by both ways', async () => {
    await partner.create(userid, { benefits: ['art', 'books'] })
    const before = await partner.get(userid)
    const request = { userid, add: ['care'], remove: ['art'] }
    await partner.client.swapBenefits(request)
    await partner.client.undoSwap({ userid })
    expect(seen(await partner.get(userid))).toEqual(seen(before))
    await partner.client.swapBenefits(request)
    await partner.client.swapBenefits({ userid, add: [], remove: [] })
    expect(seen(await partner.get(userid))).toEqual(seen(before))
    await partner.to(boundary)
    expect(seen(await partner.get(userid))).toEqual(seen(before))
  })
})

describe('a cancel', () => {
  test.each(['endofperiod', 'immediate'] as const)(
    'ends what its answer said, when it said: %s',
    async how => {
      await partner.create(userid, { offername: 'mid', benefits: ['art', 'books', 'eyes'] })
      const before = await inForce()
      const answer = await partner.client.cancelUser({ userid, effective: how })
      expect(answer.benefits.map(one => one.name).sort()).toEqual(before)
      await partner.to(answer.effectiveattimestamp)
      expect(await inForce()).toEqual([])
      const user = await partner.get(userid)
      expect(user).toMatchObject({
        status: 'cancelled',
        currentofferdetails: { offer: '', updatedat: answer.effectiveattimestamp },
      })
      const ended = user.benefits.filter(one => one.state === 'ended')
      expect(ended.map(({ name, endsattimestamp }) => ({ name, endsattimestamp }))).toEqual(answer.benefits)
      expect(await partner.client.cancelUser({ userid })).toEqual({ ...answer, status: 'cancelled' })
    },
  )

  test('undone is as if it had not been', async () => {
    await partner.create(userid, { offername: 'mid', benefits: ['art', 'books', 'eyes'] })
    const before = await partner.get(userid)
    await partner.client.cancelUser({ userid })
    await partner.client.reinstateUser({ userid })
    expect(seen(await partner.get(userid))).toEqual(seen(before))
    await partner.to(boundary)
    expect(seen(await partner.get(userid))).toEqual(seen(before))
  })
})

test('the timeline is told in lines of six members, past and future in one order', async () => {
  await partner.create(userid, { offername: 'mid', benefits: ['art'] })
  await partner.client.changeOffer({ userid, offername: 'low' })
  const { timeline = [] } = await partner.get(userid, 'timeline')
  for (const line of timeline)
    expect(Object.keys(line)).toEqual(['attimestamp', 'what', 'from', 'to', 'who', 'why'])
  const instants = timeline.map(line => line.attimestamp)
  expect(instants).toEqual([...instants].sort())
  expect(instants.at(-1)).toBe(boundary)
  expect(await partner.get(userid)).not.toHaveProperty('timeline')
  expect(await partner.client.getUser({ userid, include: [] })).not.toHaveProperty('timeline')
})
