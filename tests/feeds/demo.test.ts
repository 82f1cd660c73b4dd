import { expect, test } from 'vitest'
import { openDemoInsurer } from '../../service/src/demo/demo-insurer.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { demoFeeds, demoRound } from './demo-round.ts'

const service = forAllTests(startTestService)

test('the made-up insurers answer about each person of a family, by the birth date of that person', async () => {
  const { client } = await service.newPartner()
  const userid = 'family'
  await client.prefillUser({ userid })
  const { serviceid } = await client.getUser({ userid })
  const last = 10 - (Number.parseInt(serviceid.slice(-4), 16) % 10)
  const born = (year: number, isRefused: boolean) =>
    `${year}-05-${String(isRefused ? last : last + 1).padStart(2, '0')}`
  const benefits = [{ name: 'dental' }, { name: 'hospital' }]
  const spouse = {
    relationship: 'spouse',
    firstname: 'Grace',
    lastname: 'King',
    dob: born(1988, false),
  } as const
  const child = { relationship: 'child', firstname: 'Tim', lastname: 'King', dob: born(2019, true) } as const
  await client.createUser({
    ...{ userid, ...ada, dob: born(1985, false), offername: 'plus', benefits: ['dental'] },
    dependants: [spouse, child].map(one => ({ ...one, benefits })),
  })
  const [grace = '', tim = ''] = (await client.getDependants({ userid })).dependants.map(
    one => one.dependantid,
  )

  const csv = await demoRound(service)
  for (const [who, id] of [
    ['member', ''],
    ['spouse', grace],
    ['child', tim],
  ])
    expect(csv).toMatch(new RegExp(`,A,.*,hospital,.*,${who},${id}\r\n`))
  const x12 = await demoRound(service, undefined, 'coralbay')
  for (const segment of ['INS*Y*18*021', 'INS*N*01*021', 'INS*N*19*021', 'HD*021**DEN**FAM'])
    expect(x12).toContain(segment)
  const answered = async () => {
    const { events } = await client.listEvents({ userid })
    return events.flatMap(({ eventname, data }) =>
      eventname.startsWith('benefit_insurer') ? [{ ...data, is: eventname.slice(16) }] : [],
    )
  }
  const first = await answered()
  for (const name of ['hospital', 'dental'])
    expect(first.filter(one => one.name === name)).toEqual([
      { name, is: 'accepted' },
      { name, dependantid: grace, is: 'accepted' },
      { name, dependantid: tim, is: 'refused' },
    ])
  const user = await client.getUser({ userid, include: ['insurer'] })
  if (user.status === 'erased') throw new Error('the user is erased')
  expect(user.benefits.map(({ name, insurer }) => [name, insurer?.memberid?.slice(0, 3)])).toEqual([
    ['accident', 'SE-'],
    ['hospital', 'SE-'],
    ['dental', 'CO-'],
  ])

  const right = { dependantid: tim, ...child, dob: born(2019, false) }
  await client.setDependants({ userid, dependants: [{ dependantid: grace, ...spouse }, right] })
  await demoRound(service, undefined, 'coralbay')
  expect((await answered()).slice(first.length)).toEqual([
    { name: 'dental', dependantid: tim, is: 'accepted' },
  ])
})

test('the made-up insurers answer each run, also those that were sent between two of their looks', async () => {
  const { client } = await service.newPartner()
  const { answering, send } = await demoFeeds(service)
  const insurer = openDemoInsurer(answering, error => {
    throw error
  })
  const unanswered: string[] = []
  for (const look of [1, 2]) {
    for (const turn of [1, 2]) {
      await client.createUser({ userid: `${look}-${turn}`, ...ada, offername: 'plus' })
      await send('seaview')
    }
    await insurer.look()
    for (const turn of [1, 2]) {
      const user = await client.getUser({ userid: `${look}-${turn}`, include: ['insurer'] })
      const insurers = 'benefits' in user ? user.benefits.map(({ insurer }) => insurer?.status) : []
      if (insurers.includes('sent') || insurers.length === 0) unanswered.push(user.userid)
    }
  }
  expect(unanswered).toEqual([])
})
