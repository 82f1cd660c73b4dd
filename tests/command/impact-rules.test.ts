import { beforeAll, expect, test } from 'vitest'
import { parseCatalogue } from '../../service/src/catalogue/parse.ts'
import { openPublished } from '../../service/src/catalogue/published.ts'
import { countImpact, type Impact } from '../../service/src/cli/catalogue/count-impact.ts'
import { type ImpactCounts, sumOf } from '../../service/src/cli/catalogue/impact-tally.ts'
import { sql } from '../../service/src/db/sql.ts'
import { clockOn } from '../../service/src/partners/partner.ts'
import { forAllTests } from '../for-all-tests.ts'
import { fileOf, lifeCatalogue, type TestCatalogue } from '../life/catalogue.ts'
import { ada, startTestService, type TestPartner } from '../rig.ts'

// Mid-month, so that no changes for the boundary are locked.
const startAt = Date.parse('2026-10-10T15:00:00.000Z')
const boundary = Date.parse('2026-11-01T04:00:00.000Z')

const newYork = { ...ada.address, state: 'NY', zipcode: '10001' } as const
function isGone(name: string) {
  return name === 'dental' || name === 'care'
}

/** Without two benefits and the highest offer, with one new benefit, and stricter in two places. */
const next: TestCatalogue = {
  benefits: [
    ...lifeCatalogue.benefits
      .filter(({ name }) => !isGone(name))
      .map(one => {
        if (one.name === 'eyes') return { ...one, beneficiaries: 'required' as const }
        return one.name === 'fit' ? { ...one, offers: ['mid'] } : one
      }),
    { name: 'zeal' },
  ],
  offers: lifeCatalogue.offers
    .filter(({ offer }) => offer !== 'top')
    .map(offer => ({
      ...offer,
      selectable: [...offer.selectable.filter(name => !isGone(name)), 'zeal'],
      ...(offer.offer === 'low' ? { notin: ['FL'] } : {}),
    })),
}

let counted: Impact

function parsed(catalogue: TestCatalogue) {
  const read = parseCatalogue(fileOf(catalogue))
  if (!read.ok) throw new Error(JSON.stringify(read.problems))
  return read.catalogue
}

function count(catalogue: TestCatalogue): Promise<Impact> {
  const { database, keyring, now: real } = service
  const published = openPublished({ database, real })
  return countImpact({ database, keyring, published, clock: clockOn(real) }, parsed(catalogue))
}

function countsOf(impact: Impact, { partnerId }: TestPartner): ImpactCounts {
  const found = impact.partners.find(one => one.partner.partnerId === partnerId)
  if (!found) throw new Error('the partner is not counted')
  return found.counts
}

function create(userid: string, offername: string, benefits: readonly string[]) {
  return partner.client.createUser({ ...ada, userid, offername, benefits: [...benefits] })
}

async function eventsOf(userid: string): Promise<string[]> {
  const rows = await service.database.query<{ eventname: string }>(sql`
    select eventname from events where partner_id = ${partner.partnerId} and userid = ${userid} order by position`)
  return rows.map(row => row.eventname)
}

async function inForce(userid: string): Promise<string[]> {
  const user = await partner.client.getUser({ userid })
  if (!('benefits' in user)) throw new Error('the user is erased')
  expect(user.conditions).not.toContain('offerineligible')
  return user.benefits
    .filter(one => one.state === 'enrolled')
    .map(one => one.name)
    .sort()
}

async function stateOf(): Promise<unknown> {
  return service.database.query(sql`
    select (select count(*) from users) as users, (select sum(version) from users) as versions,
      (select count(*) from history) as history, (select count(*) from catalogue_versions) as published`)
}

const service = forAllTests(() => startTestService({ startAt, catalogue: fileOf(lifeCatalogue) }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
const other = forAllTests(() => service.newPartner({ name: 'Quiet Co' }))
beforeAll(async () => {
  await create('keeper', 'low', ['dental', 'art'])
  await create('changer', 'top', [])
  await partner.client.changeOffer({ userid: 'changer', offername: 'mid', action: 'auto', effective: 'auto' })
  await create('climber', 'mid', ['art'])
  await create('upward', 'low', [])
  await partner.client.changeOffer({
    userid: 'upward',
    offername: 'top',
    action: 'auto',
    effective: 'nextperiod',
  })
  await create('swapper', 'low', ['art', 'books'])
  await partner.client.swapBenefits({ userid: 'swapper', add: ['dental', 'home'], remove: ['art', 'books'] })
  await create('waiter', 'low', ['eyes'])
  await partner.client.prefillUser({ ...ada, userid: 'applicant' })
  await partner.client.prefillUser({ userid: 'stranger' })
  await partner.client.prefillUser({ ...ada, userid: 'northerner', zipcode: '10001', address: newYork })
  await other.client.prefillUser({ ...ada, userid: 'applicant' })
})

test('users are counted by partner, benefit and offer, and nothing is changed', async () => {
  const before = await stateOf()
  counted = await count(next)
  expect(await stateOf()).toEqual(before)
  expect([counted.follows, counted.version]).toEqual([1, 2])
  const counts = countsOf(counted, partner)
  expect(counts).toMatchObject({
    users: 9,
    members: 6,
    applicants: 3,
    unknown: 1,
    applicantsless: 2,
    applicantsmore: 2,
    calledoff: 2,
    offerineligible: 0,
  })
  expect(counts.offers.get('top')).toMatchObject({ keep: 1, calledoff: 1 })
  expect(counts.offers.get('low')).toMatchObject({ keep: 4, couldnotjoin: 4 })
  // The users who hold it, and the one whose swap is canceled at its boundary, still see it.
  expect(counts.benefits.get('dental')).toMatchObject({ keep: 1, calledoff: 1, seeless: 5, seemore: 0 })
  expect(counts.benefits.get('eyes')).toMatchObject({ keep: 0, calledoff: 0, askmore: 1 })
  expect(counts.benefits.get('zeal')).toMatchObject({ keep: 0, seemore: 7, seeless: 0 })
  expect(countsOf(counted, other)).toMatchObject({ users: 1, members: 0, applicants: 1, calledoff: 0 })
  expect(sumOf(counted.partners.map(one => one.counts))).toMatchObject({ users: 10, applicantsless: 3 })
})

test('the catalogue of today does nothing to anybody', async () => {
  const { counts } = (await count(lifeCatalogue)).partners[0] ?? { counts: undefined }
  expect(counts).toMatchObject({
    users: 9,
    applicantsless: 0,
    applicantsmore: 0,
    membersless: 0,
    membersmore: 0,
    calledoff: 0,
    offerineligible: 0,
  })
})

test('what was foretold is what happens once it is published', async () => {
  await service.publish(fileOf(next))
  service.advance(boundary + 60_000 - service.now())
  await service.service().runDue()
  expect(await eventsOf('upward')).toContain('offer_change_cancelled')
  expect(await eventsOf('changer')).toContain('offer_downgrade_successful')
  expect(await inForce('swapper')).toEqual(['art', 'base', 'home'])
  expect(await eventsOf('swapper')).toEqual(
    expect.arrayContaining(['user_benefits_swap_successful', 'user_benefits_swap_failed']),
  )
  expect(await inForce('keeper')).toEqual(['art', 'base', 'dental'])
})
