// @databases citus stock

import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import type { PlainDate } from '../../service/src/calendar/calendar.ts'
import { parseFeeds } from '../../service/src/feeds/parse.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import { type CoverCorrection, correctCover } from '../../service/src/membership/rules/correct-cover.ts'
import { isRefusal, refuse } from '../../service/src/membership/rules/refusal.ts'
import { heldEnrolment } from '../../service/src/membership/rules/state.ts'
import type { Partner } from '../../service/src/partners/partner.ts'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { familyCatalogue } from '../life/family-catalogue.ts'
import { ada } from '../rig.ts'
import { insuredCatalogue, startFeeds } from './stage.ts'

const catalogue = insuredCatalogue(familyCatalogue)
const stage = forAllTests(() => startFeeds({ catalogue }))
const MINUTE = 60_000
const DAY = 86_400_000
const partner = forEachTest(() => stage.service.newPartner())

const columns = [
  ...['line', 'action', 'userid', 'who', 'firstname', 'benefit', 'startson', 'endson'],
  ...['effectiveon', 'reason', 'tier', 'costcents'],
].map(value => ({ name: value.toUpperCase(), value }))
const family = { benefits: ['dental', 'hospital'], columns }

type Named = NonNullable<Parameters<Client['createUser']>[0]['dependants']>[number]
const grace: Named = { relationship: 'spouse', firstname: 'Grace', lastname: 'King', dob: '1988-02-29' }
const tim: Named = { relationship: 'child', firstname: 'Tim', lastname: 'King', dob: '2019-05-04' }
/** Reaches 26 on June 20, 2028. */
const bob: Named = { relationship: 'child', firstname: 'Bob', lastname: 'King', dob: '2002-06-20' }
const covered = (one: Named, ...names: string[]): Named => ({
  ...one,
  benefits: names.map(name => ({ name })),
})

const today = () => new Date(stage.service.now()).toISOString().slice(0, 10)
const dayBefore = (date: string) => new Date(Date.parse(date) - DAY).toISOString().slice(0, 10)
function monthAhead(months: number): string {
  const now = new Date(stage.service.now())
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)).toISOString().slice(0, 10)
}
function advanceTo(date: string): void {
  stage.service.advance(Date.parse(date) + 12 * 3_600_000 - stage.service.now())
}

/** Creates a member with these dependants, whose ids are returned. */
async function create(userid: string, ...dependants: Named[]): Promise<string[]> {
  const named = dependants.flatMap(({ benefits = [] }) => benefits.map(({ name }) => name))
  const benefits = [...new Set(['hospital', ...named])].filter(name => name !== 'dental')
  const picks = { offername: 'low', benefits }
  await partner.client.createUser({ userid, ...ada, state: 'NY', ...picks, dependants })
  return (await partner.client.getDependants({ userid })).dependants.map(one => one.dependantid)
}

const changeCover = (userid: string, dependants: string[], name = 'dental') =>
  partner.client.changeCover({ userid, name, dependants, previewonly: false })

/** Corrects whom dental covers, as the console does once two persons agree. */
async function correct(userid: string, of: Omit<CoverCorrection, 'enrolmentId'>): Promise<void> {
  const outcome = await openCommandExecutor(stage.context).submit({
    ...{ userid, who: 'operator', why: 'correction: dates' },
    partner: (await stage.context.partners()).find(one => one.partnerId === partner.partnerId) as Partner,
    decide: ({ member, now, terms }) => {
      const held = member && heldEnrolment(member.user, 'dental')
      if (!held) return refuse('user_not_found')
      const changed = correctCover(member.user, { enrolmentId: held.id, ...of }, now, terms())
      return isRefusal(changed) ? changed : { change: changed, answer: () => true }
    },
  })
  expect(isRefusal(outcome)).toBe(false)
}

describe('a feed about families', () => {
  test('has a line for each person, the member first, with the price on the line of the member alone', async () => {
    const { lines } = await stage.newFeed(family)
    await create('all', covered(grace, 'dental', 'hospital'), covered(tim, 'hospital'))
    const five = [
      'add all member Adacanary dental 2027-05-12  2027-05-12  mespouse 1900',
      'add all member Adacanary hospital 2027-05-12  2027-05-12  family 3000',
      'add all spouse Grace dental 2027-05-12  2027-05-12  mespouse',
      'add all spouse Grace hospital 2027-05-12  2027-05-12  family',
      'add all child Tim hospital 2027-05-12  2027-05-12  family',
    ]
    expect(await lines()).toEqual(five)
    expect(await lines()).toEqual([])
    const again = five.map(line => line.replace('add', 'change'))
    expect((await lines({ full: true })).filter(line => line.includes(' all '))).toEqual(again)
  })

  test('ends a dependant in the benefit that covers them no more, and tells the new tier from its first day', async () => {
    const { lines } = await stage.newFeed(family)
    const [, child = ''] = await create('one', ...[grace, tim].map(one => covered(one, 'dental', 'hospital')))
    await lines()
    await changeCover('one', [child])
    expect(await lines()).toEqual([])
    stage.service.advance(22 * DAY)
    expect(await lines()).toEqual([
      'change one member Adacanary dental 2027-05-12  2027-06-01  mechildren 2100',
      'end one spouse Grace dental 2027-05-12 2027-05-31 2027-05-31 coverchanged family',
    ])
  })

  test('tells a change of cover as far ahead as starts, and takes it back when it is called off', async () => {
    const { lines } = await stage.newFeed({ ...family, aheaddays: 30 })
    const [spouse = ''] = await create('ahead', grace)
    expect(await lines()).toHaveLength(2)
    await changeCover('ahead', [spouse])
    const first = monthAhead(1)
    expect(await lines()).toEqual([
      `change ahead member Adacanary dental ${today()}  ${first}  mespouse 1900`,
      `add ahead spouse Grace dental ${first}  ${first}  mespouse`,
    ])
    expect(await lines()).toEqual([])
    await changeCover('ahead', [])
    expect(await lines()).toEqual([
      `change ahead member Adacanary dental ${today()}  ${today()}  me 1000`,
      `void ahead spouse Grace dental ${first}  ${first} corrected`,
    ])
  })

  test('tells each of several changes between two runs, and who came and went', async () => {
    const { lines } = await stage.newFeed(family)
    const [spouse = '', child = ''] = await create('twice', grace, tim)
    await lines()
    const from = today()
    await changeCover('twice', [spouse])
    const [first, second] = [monthAhead(1), monthAhead(2)]
    advanceTo(first)
    await changeCover('twice', [child])
    advanceTo(second)
    const last = dayBefore(second)
    expect(await lines()).toEqual([
      `change twice member Adacanary dental ${from}  ${first}  mespouse 1900`,
      `change twice member Adacanary dental ${from}  ${second}  mechildren 2100`,
      `add twice spouse Grace dental ${first}  ${first}  mespouse`,
      `end twice spouse Grace dental ${first} ${last} ${last} coverchanged mespouse`,
      `add twice child Tim dental ${second}  ${second}  mechildren`,
    ])
    expect(await lines()).toEqual([])
  })

  test('ends a child who has grown too old, by time alone, and the tier with it', async () => {
    const { lines } = await stage.newFeed(family)
    await create('ages', covered(bob, 'dental'))
    const from = today()
    await lines()
    advanceTo('2028-07-01')
    expect(await lines()).toEqual([
      `change ages member Adacanary dental ${from}  2028-07-01  me 1000`,
      `end ages child Bob dental ${from} 2028-06-30 2028-06-30 endsatage mechildren`,
    ])
  })

  test('tells a new name of a dependant, and nothing where an old one leaves the list', async () => {
    const { lines } = await stage.newFeed(family)
    const [spouse = ''] = await create('named', covered(grace, 'dental'))
    const from = today()
    await lines()
    const renamed = { dependantid: spouse, ...grace, firstname: 'Gracia' }
    await partner.client.setDependants({ userid: 'named', dependants: [renamed] })
    expect(await lines()).toEqual([`change named spouse Gracia dental ${from}  ${from}  mespouse`])
    await changeCover('named', [])
    advanceTo(monthAhead(1))
    await partner.client.setDependants({ userid: 'named', dependants: [] })
    expect((await lines())[1]).toMatch(/^end named spouse Gracia/)
    expect(await lines()).toEqual([])
  })

  test('ends the cover of each person of an erased family, by who and dependantid, and names nobody', async () => {
    const { lines, again } = await stage.newFeed({
      benefits: ['dental'],
      columns: [
        'line',
        'action',
        'who',
        'dependantid',
        'firstname',
        'startson',
        'endson',
        'reason',
        'tier',
      ].map(value => ({ name: value, value })),
    })
    const [spouse] = await create('gone', { ...covered(grace, 'dental'), firstname: 'Canaryspouse' })
    const from = today()
    await lines()
    stage.service.advance(MINUTE)
    await partner.client.eraseUser({ userid: 'gone' })
    expect(await lines()).toEqual([
      `end member   ${from} ${from} erased`,
      `end spouse ${spouse}  ${from} ${from} erased`,
    ])
    expect(await again(1)).not.toContain('Canaryspouse')
    expect(await lines()).toEqual([])
  })

  test('corrects the days of a dependant, also to none of those that were told, and voids who should never have been covered', async () => {
    const { lines } = await stage.newFeed(family)
    const [spouse = '', child = ''] = await create('wrong', covered(grace, 'dental'), covered(tim, 'dental'))
    const first = stage.service.now()
    const day = (days: number) => new Date(first + days * DAY).toISOString().slice(0, 10) as PlainDate
    await lines()
    stage.service.advance(40 * DAY)
    const news = async () => (await lines()).filter(line => !line.includes(' member '))
    await correct('wrong', { dependantId: spouse, lastDay: day(5) })
    expect(await news()).toEqual([
      expect.stringContaining(`end wrong spouse Grace dental ${day(0)} ${day(5)} `),
    ])
    await correct('wrong', { dependantId: spouse, firstDay: day(10), lastDay: day(20) })
    expect(await news()).toEqual([
      expect.stringContaining(`correct wrong spouse Grace dental ${day(10)} ${day(20)} `),
    ])
    await correct('wrong', { dependantId: child, isVoid: true })
    expect(await news()).toEqual([expect.stringContaining(`void wrong child Tim dental ${day(0)} `)])
    expect(await lines()).toEqual([])
  })

  test('takes a family back in an 834 with the level that was told of the member, and of nobody else', async () => {
    const parties = { sender: ['ZZ', 'OURS'], receiver: ['FI', '987654321'], sponsor: ['FI', '123456789'] }
    const tiers = { me: 'EMP', mespouse: 'ESP', mechildren: 'ECH', family: 'FAM' }
    const { run } = await stage.newFeed({
      ...{ benefits: ['dental', 'solo'], format: 'x12834', columns: undefined, answers: undefined },
      x12834: { ...parties, lines: { dental: 'DEN', solo: 'VIS' }, tiers },
    })
    await create('back', covered(grace, 'dental'))
    await partner.client.enrolBenefit({ userid: 'back', name: 'solo' })
    const { serviceid } = await partner.client.getUser({ userid: 'back' })
    const coverages = async () => {
      const { file = '' } = await run()
      const loops = (await readFile(file, 'latin1')).split('INS*').filter(loop => loop.includes(serviceid))
      return loops.map(loop => loop.split('~\n').find(segment => segment.startsWith('HD')))
    }
    expect(await coverages()).toEqual(['HD*021**DEN**ESP', 'HD*021**VIS**IND', 'HD*021**DEN**ESP'])
    await partner.client.cancelUser({ userid: 'back', effective: 'immediate' })
    expect(await coverages()).toEqual(['HD*002**DEN**ESP', 'HD*002**VIS**IND', 'HD*002**DEN'])
  })

  test('keeps apart what is answered of a dependant, who has no number of their own, and of the member', async () => {
    const [by, shown] = [
      { serviceid: 'ID', benefit: 'PLAN', dependantid: 'DEP', code: 'STATUS', memberid: 'CERT' },
      [...columns.slice(0, 5), { name: 'CERT', value: 'memberid' }],
    ]
    const more = { benefits: ['dental'], columns: shown, answers: { columns: by, accepted: ['OK'] } }
    const { lines, answer } = await stage.newFeed(more)
    const [spouse] = await create('asks', covered(grace, 'dental'))
    const { serviceid } = await partner.client.getUser({ userid: 'asks' })
    const answers = (...rows: string[]) =>
      answer(`ID,PLAN,DEP,STATUS,CERT\n${rows.map(row => `${serviceid},dental,${row}\n`).join('')}`)
    const ofAda = async () => (await lines()).filter(line => line.includes(' asks '))
    expect(await ofAda()).toEqual(['add asks member Adacanary', 'add asks spouse Grace'])
    expect(await answers(',OK,C-1', `${spouse},NO,`)).toMatchObject({ accepted: 1, refused: 1 })
    const user = await partner.client.getUser({ userid: 'asks', include: ['insurer'] })
    const told = 'benefits' in user ? user.benefits.map(({ insurer }) => insurer) : []
    expect(told).toContainEqual({ status: 'accepted', memberid: 'C-1' })
    expect(await stage.refused()).toMatchObject([{ benefit: 'dental', dependantid: spouse, code: 'NO' }])
    expect(await ofAda()).toEqual(['add asks spouse Grace C-1'])
    expect(await answers(`${spouse},OK,C-2`)).toMatchObject({ accepted: 1 })
    expect(await stage.refused()).toEqual([])
    expect(await lines({ full: true })).toContain('change asks spouse Grace C-1')
    const { events } = await partner.client.listEvents({})
    const data = events.filter(({ eventname }) => eventname.includes('insurer')).map(one => one.data)
    expect(data).toEqual([
      { name: 'dental' },
      { name: 'dental', dependantid: spouse },
      { name: 'dental', dependantid: spouse },
    ])
  })

  test('says again of one person what the insurer’s own list lacks', async () => {
    const { lines, findLacking } = await stage.newFeed({ benefits: ['dental'], columns: columns.slice(0, 5) })
    const [spouse] = await create('lacks', covered(grace, 'dental'))
    const { serviceid } = await partner.client.getUser({ userid: 'lacks' })
    await lines()
    expect(await findLacking([serviceid], 'missingthere', spouse)).toBe(2)
    expect(await lines()).toEqual(['add lacks spouse Grace'])
  })

  test('knows in the insurer’s own list a dependant who has left ours', async () => {
    const list = ['serviceid', 'benefit', 'startson', 'endson', 'firstname', 'dob']
    const { lines, compared } = await stage.newFeed({
      ...{ benefits: ['dental'], columns: columns.slice(0, 5) },
      list: { columns: Object.fromEntries(list.map(name => [name, name])) },
    })
    const [spouse] = await create('leaves', covered(grace, 'dental'))
    const { serviceid } = await partner.client.getUser({ userid: 'leaves' })
    const from = today()
    await lines()
    await changeCover('leaves', [])
    advanceTo(monthAhead(1))
    await partner.client.setDependants({ userid: 'leaves', dependants: [] })
    expect(await lines()).toContain('end leaves spouse Grace')
    const rows = [`${ada.firstname},${ada.dob}`, `${grace.firstname},${grace.dob}`]
    const covers = rows.map(row => `${serviceid},dental,${from},,${row}\n`)
    const found = await compared(Buffer.from(`${list.join(',')}\n${covers.join('')}`), serviceid)
    expect(found).toEqual([['dates', expect.objectContaining({ dependantid: spouse })]])
  })

  test('counts persons for its hold', async () => {
    // No other test covers anybody by this benefit.
    const { lines, run } = await stage.newFeed({ benefits: ['gym'], columns, hold: { endspercent: 40 } })
    const [first = ''] = await create(
      'held',
      ...[tim, { ...tim, firstname: 'Tom' }].map(one => covered(one, 'gym')),
    )
    expect(await lines()).toHaveLength(3)
    await changeCover('held', [first], 'gym')
    advanceTo(monthAhead(1))
    expect(await run()).toMatchObject({ run: { status: 'taken', counts: { end: 1 } } })
    await partner.client.cancelUser({ userid: 'held', effective: 'immediate' })
    expect(await run()).toMatchObject({ run: { status: 'held', counts: { end: 2 } } })
  })
})

test('a member number of an import counts as told for all whom it covers, and what changes later is told', async () => {
  const { lines } = await stage.newFeed(family)
  const member = { userid: 'moved', ...ada, state: 'NY' }
  const offer = {
    offername: 'low',
    offersince: '2024-05-01',
    benefits: [{ name: 'dental', memberid: 'C-7' }],
  }
  const dependants = [covered(grace, 'dental'), tim]
  expect(await stage.importMembers(partner.partnerId, { ...member, ...offer, dependants })).toBe(1)
  expect((await lines()).filter(line => line.includes(' moved '))).toEqual([])
  const people = (await partner.client.getDependants({ userid: 'moved' })).dependants
  await changeCover('moved', [people[1]?.dependantid ?? ''])
  advanceTo(monthAhead(1))
  const last = dayBefore(today())
  expect(await lines()).toEqual([
    `change moved member Adacanary dental 2024-05-01  ${today()}  mechildren 2100`,
    `end moved spouse Grace dental 2024-05-01 ${last} ${last} coverchanged mespouse`,
    `add moved child Tim dental ${today()}  ${today()}  mechildren`,
  ])
})

test('a first run tells the tier that came since the import from its day, and who ended', async () => {
  const { lines } = await stage.newFeed(family)
  const member = { userid: 'left', ...ada, state: 'NY', offername: 'low', offersince: '2024-05-01' }
  const moved = {
    ...member,
    benefits: [{ name: 'dental', memberid: 'C-8' }],
    dependants: [covered(grace, 'dental')],
  }
  expect(await stage.importMembers(partner.partnerId, moved)).toBe(1)
  await changeCover('left', [])
  advanceTo(monthAhead(1))
  const last = dayBefore(today())
  expect((await lines()).filter(line => line.includes(' left '))).toEqual([
    `change left member Adacanary dental 2024-05-01  ${today()}  me 1000`,
    `end left spouse Grace dental 2024-05-01 ${last} ${last} coverchanged mespouse`,
  ])
  expect(await lines()).toEqual([])
})

test('a feed is refused where nothing says whom a line is about, or an 834 lacks the level of a tier', async () => {
  await stage.context.prepareTerms([])
  const check = (more: object) => {
    const feed = { feed: 'seaview', insurer: 'seaview', benefits: ['solo', 'dental'], format: 'csv', ...more }
    const parsed = parseFeeds(
      JSON.stringify({ schema: 1, feeds: [feed] }),
      stage.context.published.today().catalogue,
    )
    return parsed.ok ? [] : parsed.problems.map(({ message }) => message)
  }
  expect(check({ columns })).toEqual([])
  expect(check({ columns: columns.filter(({ name }) => name !== 'WHO') })).toEqual([
    expect.stringMatching(/^dental covers families/),
  ])
  const parties = { sender: ['ZZ', 'OURS'], receiver: ['FI', '987654321'], sponsor: ['FI', '123456789'] }
  const x12834 = { ...parties, lines: { solo: 'DEN', dental: 'DEN' } }
  const tiers = { me: 'EMP', mespouse: 'ESP', mechildren: 'ECH' }
  expect(check({ format: 'x12834', x12834: { ...x12834, tiers } })).toEqual([
    expect.stringMatching(/no coverage level for family of dental/),
  ])
  expect(check({ format: 'x12834', x12834: { ...x12834, tiers: { ...tiers, family: 'FAM' } } })).toEqual([])
})
