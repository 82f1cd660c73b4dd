import { readFile, stat } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { countRefused } from '../../service/src/feeds/answer-store.ts'
import { deleteLapsed } from '../../service/src/schedule/housekeeping.ts'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { openCorrections } from '../life/corrections.ts'
import { ada } from '../rig.ts'
import { columns, startFeeds } from './stage.ts'

const stage = forAllTests(startFeeds)
const MINUTE = 60_000
const x12834 = {
  ...{ sender: ['ZZ', 'OURS'], receiver: ['FI', '987654321'], sponsor: ['FI', '123456789'] },
  lines: { art: 'DEN', books: 'VIS' },
}
const DAY = 86_400_000
const partner = forEachTest(() => stage.service.newPartner())

async function create(userid: string, lastname: string): Promise<void> {
  await partner.client.createUser({
    userid,
    ...ada,
    lastname,
    state: 'NY',
    offername: 'mid',
    benefits: ['art'],
  })
}

/** What Get User says of a user's benefit `art`, and of how far its insurer knows it. */
async function seen(userid: string) {
  const user = await partner.client.getUser({ userid, include: ['insurer'] })
  return 'benefits' in user ? user.benefits.find(({ name }) => name === 'art') : undefined
}
async function known(userid: string) {
  return (await seen(userid))?.insurer
}

describe('a feed', () => {
  test('tells an insurer each change once, and a second run sends nothing', async () => {
    const { client } = partner
    const { lines, run } = await stage.newFeed()
    await create('life', '=King')
    expect(await lines()).toEqual(['add life =King ART1 2027-05-12'])
    expect(await run()).toMatchObject({ run: { run: 2, status: 'taken', lines: 0 }, file: undefined })
    await client.updateUser({ userid: 'life', lastname: 'Lovelace' })
    expect(await lines()).toEqual(['change life Lovelace ART1 2027-05-12'])
    stage.service.advance(MINUTE)
    await client.cancelUser({ userid: 'life', effective: 'immediate' })
    expect(await lines()).toEqual(['end life Lovelace ART1 2027-05-12 2027-05-12'])
    await client.reinstateUser({ userid: 'life' })
    expect(await lines()).toEqual(['reinstate life Lovelace ART1 2027-05-12'])
    await client.swapBenefits({ userid: 'life', add: ['books'], remove: ['art'], previewonly: false })
    expect(await lines()).toEqual([])
    expect(await lines({ full: true })).toEqual(['change life Lovelace ART1 2027-05-12'])
  })

  test('says a value as it is that every object has a member of, and nothing where a person lacks one', async () => {
    const dept = { name: 'DEPT', value: 'moredetails.dept', codes: { sales: 'S1' } }
    const more = { name: 'MORE', value: 'moredetails.constructor' }
    const { lines } = await stage.newFeed({ columns: [...columns.slice(0, 3), more, dept] })
    await create('inherits', 'King')
    await partner.client.updateUser({ userid: 'inherits', moredetails: { dept: 'constructor' } })
    expect(await lines()).toContain('add inherits  constructor')
  })

  test('takes back what was never in force: a cancel or an erasure in the millisecond of the start is told as a void', async () => {
    const { lines } = await stage.newFeed()
    await create('never', 'King')
    await create('gone', 'King')
    await lines()
    await partner.client.cancelUser({ userid: 'never', effective: 'immediate' })
    await partner.client.eraseUser({ userid: 'gone' })
    expect(await lines()).toEqual(['void   ART1 2027-05-12', 'void never King ART1 2027-05-12'])
    const { lines: billed } = await partner.client.listStatementLines({ month: '2027-05' })
    expect(billed).toEqual([])
  })

  test('tells as far ahead as a start the last day that an operator gave a benefit before it', async () => {
    const { lines } = await stage.newFeed({ aheaddays: 30 })
    await lines()
    const { client, partnerId } = partner
    const person = { ...ada, state: 'NY' as const, offername: 'mid', benefits: ['art'] }
    await client.createUser({ userid: 'short', ...person, effectivedate: '2027-05-20' })
    const correct = openCorrections(stage.service, { partnerId, zone: 'America/New_York' })
    expect(await correct('short', { op: 'moveend', b: 'art', days: 10 })).toEqual({})
    expect(await lines()).toEqual(['add short Riveracanary ART1 2027-05-20 2027-05-22'])
    expect(await lines()).toEqual([])
  })

  test('says a swap as an end and an add in one file, also before the schedule has applied it', async () => {
    const { lines } = await stage.newFeed({ aheaddays: 31 })
    await create('swaps', 'King')
    await lines()
    await partner.client.swapBenefits({
      userid: 'swaps',
      add: ['books'],
      remove: ['art'],
      previewonly: false,
    })
    expect(await lines()).toEqual([
      'end swaps King ART1 2027-05-12 2027-05-31',
      'add swaps King books 2027-06-01',
    ])
  })

  test('puts a whole file, for this system user only, and makes the same bytes again', async () => {
    const { run, again } = await stage.newFeed()
    await create('file', 'King')
    const { file = '', run: made } = await run()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(file).toMatch(/feed\d+\/feed\d+-000001\.csv$/)
    expect(await again(made.run)).toBe(await readFile(file, 'utf8'))
  })

  test('ends the cover of an erased person by serviceid and dates only, and the lines about them are gone', async () => {
    const { lines, again } = await stage.newFeed()
    await create('erased', 'Canaryname')
    await create('stays', 'King')
    await lines()
    stage.service.advance(MINUTE)
    await partner.client.eraseUser({ userid: 'erased' })
    expect(await lines()).toEqual(['end   ART1 2027-05-12 2027-05-12'])
    expect(await again(1)).not.toContain('Canaryname')
    expect(await again(1)).toContain('stays')
    expect(await lines()).toEqual([])
  })

  test('lists the refused end of an erased person by serviceid alone until it is accepted', async () => {
    const { feed, lines, answer } = await stage.newFeed()
    const counted = async () => {
      const partners = await stage.context.partners()
      return (await countRefused(stage.service.database, partners)).get(feed)
    }
    await create('leaves', 'King')
    const { serviceid } = await partner.client.getUser({ userid: 'leaves' })
    await lines()
    stage.service.advance(MINUTE)
    await partner.client.eraseUser({ userid: 'leaves' })
    const end = await lines()
    await answer('LINE,STATUS,MESSAGE,CERT\n1,NO,King is not known,\n')
    const refused = { run: 2, line: 1, userid: '', serviceid, benefit: 'art', code: 'NO', text: '' }
    expect(await stage.refused()).toMatchObject([refused])
    expect(await lines()).toEqual(end)
    expect(await stage.refused()).toMatchObject([refused])
    expect(await counted()).toBe(1)
    await answer('LINE,STATUS,MESSAGE,CERT\n1,OK,,\n')
    expect([await stage.refused(), await counted()]).toEqual([[], undefined])
    expect(await lines()).toEqual([])
  })

  test('sends what was refused again, keeps cover, and shows the partner what the insurer said', async () => {
    const { lines, answer } = await stage.newFeed()
    await create('asks', 'King')
    expect(await known('asks')).toEqual({ status: 'unsent', memberid: '' })
    await lines()
    expect(await known('asks')).toEqual({ status: 'sent', memberid: '' })
    const refusal = 'LINE,STATUS,MESSAGE,CERT\r\n1,NO,No such plan,\r\n'
    expect(await answer(refusal, 1)).toEqual({ accepted: 0, refused: 1, known: 0, unknown: 0 })
    expect(await answer(refusal, 1)).toEqual({ accepted: 0, refused: 0, known: 1, unknown: 0 })
    expect(await seen('asks')).toMatchObject({ state: 'enrolled', insurer: { status: 'refused' } })
    expect(await lines()).toEqual(['add asks King ART1 2027-05-12'])
    expect(await answer('LINE,STATUS,MESSAGE,CERT\n1,OK,,C-77\n', 2)).toMatchObject({ accepted: 1 })
    expect(await known('asks')).toEqual({ status: 'accepted', memberid: 'C-77' })
    expect(await lines()).toEqual([])
    const { events } = await partner.client.listEvents({})
    const names = events.map(({ eventname, data }) => `${eventname} ${data.name ?? ''}`)
    expect(names.filter(name => name.includes('insurer'))).toEqual([
      'benefit_insurer_refused art',
      'benefit_insurer_accepted art',
    ])
  })

  test('tells cover that came and went before the first run, between two runs or while it stood refused as an add and an end', async () => {
    const { lines, answer } = await stage.newFeed({ hold: { endspercent: 1 } })
    const { client } = partner
    const passes = async (userid: string) => {
      await create(userid, 'King')
      stage.service.advance(MINUTE)
      await client.cancelUser({ userid, effective: 'immediate' })
    }
    const both = (userid: string) => [
      `add ${userid} King ART1 2027-05-12`,
      `end ${userid} King ART1 2027-05-12 2027-05-12`,
    ]
    await passes('first')
    expect(await lines()).toEqual(both('first'))
    await passes('between')
    expect(await lines()).toEqual(both('between'))
    expect(await lines()).toEqual([])
    await create('refused', 'King')
    await lines()
    await answer('LINE,STATUS,MESSAGE,CERT\n1,NO,No such plan,\n')
    stage.service.advance(MINUTE)
    await client.cancelUser({ userid: 'refused', effective: 'immediate' })
    expect(await lines()).toEqual(both('refused'))
    await answer('LINE,STATUS,MESSAGE,CERT\n1,OK,,\n2,OK,,\n')
    expect(await lines()).toEqual([])
    expect(await stage.refused()).toEqual([])
  })

  test('lists a refused line by its userid until nothing is left to tell of it', async () => {
    const { lines, answer } = await stage.newFeed()
    await create('never', 'King')
    await lines()
    await answer('LINE,STATUS,MESSAGE,CERT\n1,NO,No such plan,\n')
    expect(await stage.refused()).toMatchObject([{ userid: 'never', benefit: 'art', code: 'NO' }])
    await partner.client.cancelUser({ userid: 'never', effective: 'immediate' })
    expect(await lines()).toEqual([])
    expect(await stage.refused()).toEqual([])
    await answer('LINE,STATUS,MESSAGE,CERT\n1,NEVER,Still no such plan,\n', 1)
    expect(await stage.refused()).toEqual([])
  })

  test('finds by serviceid and benefit the newest line of that person, in whatever run, and takes no two answers that differ', async () => {
    const columns = { serviceid: 'ID', benefit: 'PLAN', code: 'STATUS' }
    const { lines, answer, run } = await stage.newFeed({ answers: { columns, accepted: ['OK'] } })
    await create('found', 'King')
    await create('later', 'King')
    const { serviceid } = await partner.client.getUser({ userid: 'found' })
    await lines()
    await partner.client.updateUser({ userid: 'later', lastname: 'Lovelace' })
    await lines()
    expect(await run()).toMatchObject({ run: { run: 3, lines: 0 } })
    const both = `ID,PLAN,STATUS\n${serviceid},ART1,OK\n${serviceid},ART1,NO\n`
    await expect(answer(both)).rejects.toThrow(/answers line 1 of run 1 twice, and differently/)
    expect(await answer(`ID,PLAN,STATUS\n${serviceid},ART1,OK\n`)).toMatchObject({ accepted: 1, unknown: 0 })
    expect(await answer(`ID,PLAN,STATUS\n${serviceid},ART1,OK\n`, 2)).toMatchObject({ unknown: 1 })
  })

  test('takes no answer by serviceid to the end of an erased person in a run that is held', async () => {
    const columns = { serviceid: 'ID', benefit: 'PLAN', code: 'STATUS' }
    const answers = { columns, accepted: ['OK'] }
    const { lines, run, answer, decide } = await stage.newFeed({ answers, hold: { endspercent: 1 } })
    await create('held', 'King')
    const { serviceid } = await partner.client.getUser({ userid: 'held' })
    await lines()
    stage.service.advance(MINUTE)
    await partner.client.eraseUser({ userid: 'held' })
    expect(await run()).toMatchObject({ run: { status: 'held' } })
    expect(await answer(`ID,PLAN,STATUS\n${serviceid},ART1,OK\n`)).toMatchObject({ accepted: 0, unknown: 1 })
    await decide('made')
    expect(await lines()).toEqual(['end   ART1 2027-05-12 2027-05-12'])
  })

  test('tells planned ends when their day comes, by time alone', async () => {
    const { lines } = await stage.newFeed()
    await create('leaves', 'King')
    await lines()
    await partner.client.cancelUser({ userid: 'leaves', effective: 'endofperiod' })
    expect(await lines()).toEqual([])
    stage.service.advance(20 * DAY)
    expect(await lines()).toEqual(['end leaves King ART1 2027-05-12 2027-05-31'])
  })

  test('holds a run that takes away more than it may, until a second person lets it go or drops it', async () => {
    const { lines, run, decide } = await stage.newFeed({ hold: { endspercent: 1 } })
    await create('held', 'King')
    await lines()
    stage.service.advance(MINUTE)
    await partner.client.cancelUser({ userid: 'held', effective: 'immediate' })
    expect(await run()).toMatchObject({ run: { run: 2, status: 'held', lines: 1 }, file: undefined })
    expect(await run()).toMatchObject({ run: { run: 2, status: 'held' } })
    await decide('dropped')
    expect(await run()).toMatchObject({ run: { run: 3, status: 'held', lines: 1 } })
    await decide('made')
    // Who comes too late takes nothing from a run that goes out.
    await decide('dropped')
    expect(await lines()).toHaveLength(1)
    expect(await lines()).toEqual([])
  })

  test('shows in a dry run what the next run would be, or the one that is not taken yet', async () => {
    const { run, tried, decide } = await stage.newFeed({ hold: { endspercent: 1 } })
    await create('tried', 'King')
    expect(await tried()).toMatchObject({ run: 1, status: 'made', lines: 1 })
    await run()
    stage.service.advance(MINUTE)
    await partner.client.cancelUser({ userid: 'tried', effective: 'immediate' })
    await run()
    expect(await tried()).toMatchObject({ run: 2, status: 'held', lines: 1 })
    await decide('made')
    expect(await tried()).toMatchObject({ run: 2, status: 'made', lines: 1 })
  })

  test('says again what the insurer’s own list lacks or has otherwise, an end as an end', async () => {
    const { lines, answer, findLacking } = await stage.newFeed()
    await create('lacking', 'King')
    const [line] = await lines()
    const { serviceid } = await partner.client.getUser({ userid: 'lacking' })
    const accepted = 'LINE,STATUS,MESSAGE,CERT\n1,OK,,C-5\n'
    await answer(accepted, 1)
    expect(await known('lacking')).toEqual({ status: 'accepted', memberid: 'C-5' })
    expect(await findLacking([serviceid])).toBe(1)
    expect(await known('lacking')).toEqual({ status: 'unsent', memberid: 'C-5' })
    // An answer of before does not stand against it.
    expect(await answer(accepted, 1)).toMatchObject({ accepted: 0, known: 1 })
    expect(await lines()).toEqual([line])
    expect(await known('lacking')).toMatchObject({ status: 'sent' })
    await findLacking([serviceid], 'dates')
    expect(await known('lacking')).toMatchObject({ status: 'sent' })
    expect(await lines()).toEqual([line?.replace('add', 'correct')])
    stage.service.advance(MINUTE)
    await partner.client.cancelUser({ userid: 'lacking', effective: 'immediate' })
    const ended = await lines()
    await findLacking([serviceid], 'dates')
    expect(await lines()).toEqual(ended)
    expect(await lines()).toEqual([])
  })

  test('lacks nobody in the insurer’s own list whose told end lies behind by the clock of the partner', async () => {
    const { lines, findLacking } = await stage.newFeed()
    const { client } = partner
    const advance = (days: number) =>
      client.advanceClock({ advanceto: new Date(stage.service.now() + days * DAY).toISOString() })
    await advance(90)
    await create('over', 'King')
    const { serviceid } = await client.getUser({ userid: 'over' })
    await lines()
    await advance(91)
    await client.cancelUser({ userid: 'over', effective: 'immediate' })
    expect(await lines()).toHaveLength(1)
    expect(await findLacking([serviceid])).toBe(1)
    await lines()
    await advance(92)
    expect(await findLacking([serviceid])).toBe(0)
  })

  const named = {
    serviceid: 'ID',
    benefit: 'PLAN',
    startson: 'FROM',
    firstname: 'FIRST',
    lastname: 'LAST',
    dob: 'BORN',
  }
  const asCsv = {
    columns: Object.entries(named).map(([value, name]) => ({ name, value })),
    list: { columns: named },
  }
  test.each([
    ['UTF-8', asCsv],
    ['ISO 8859-1', { ...asCsv, csv: { encoding: 'iso-8859-1', dates: 'MM/DD/YY' } }],
    ['ASCII', { ...asCsv, csv: { encoding: 'ascii' } }],
    ['X12', { format: 'x12834', columns: undefined, answers: undefined, x12834 }],
  ])(
    'finds in its own file of %s as the insurer’s list no difference, whatever letters a name has',
    async (_, form) => {
      const { run, compared } = await stage.newFeed(form)
      const names = { firstname: `Zoë–${'x'.repeat(29)} “Ann”`, lastname: '~Muñoz|O’Łęé 李' }
      const person = { ...ada, ...names, state: 'NY' as const, offername: 'mid', benefits: ['art'] }
      const { serviceid } = await partner.client.createUser({ userid: 'spelt', ...person })
      const { file = '' } = await run()
      expect(await compared(await readFile(file), serviceid)).toEqual([])
    },
  )

  test('two processes make one run', async () => {
    const { run } = await stage.newFeed()
    await create('once', 'King')
    const both = await Promise.allSettled([run(), run()])
    const made = both.flatMap(one => (one.status === 'fulfilled' ? [one.value.run] : []))
    expect(made.filter(({ lines }) => lines > 0)).toHaveLength(1)
  })

  test('forgets the end of an erased person after 90 days, sent or not', async () => {
    const { lines } = await stage.newFeed()
    await create('forgotten', 'King')
    await lines()
    stage.service.advance(MINUTE)
    await partner.client.eraseUser({ userid: 'forgotten' })
    stage.service.advance(90 * DAY)
    const partners = await stage.context.partners()
    await deleteLapsed(stage.service.database, partners, stage.context.clock)
    expect((await lines()).filter(line => line.startsWith('end   '))).toEqual([])
  })

  test('takes what an import told for older than each later line, also where the clock of the sandbox is ahead', async () => {
    const { lines, answer } = await stage.newFeed()
    const { client, partnerId } = partner
    await client.advanceClock({ advanceto: new Date(stage.service.now() + 90 * DAY).toISOString() })
    const benefits = [{ name: 'art', memberid: 'M-1' }]
    const moved = {
      userid: 'moved',
      ...ada,
      state: 'NY',
      offername: 'mid',
      offersince: '2027-01-01',
      benefits,
    }
    expect(await stage.importMembers(partnerId, moved)).toBe(1)
    expect(await lines()).toEqual([])
    await client.updateUser({ userid: 'moved', lastname: 'Lovelace' })
    expect(await lines()).toEqual(['change moved Lovelace ART1 2027-01-01'])
    await client.updateUser({ userid: 'moved', moredetails: { dept: 'sales' } })
    expect(await lines()).toEqual([])
    await answer('LINE,STATUS,MESSAGE,CERT\n1,OK,,M-2\n')
    expect(await known('moved')).toEqual({ status: 'accepted', memberid: 'M-2' })
  })

  test('tells in its first run who changed since the import, and again while that is refused', async () => {
    const { lines, answer } = await stage.newFeed()
    const { client, partnerId } = partner
    const benefits = [{ name: 'art', memberid: 'M-1' }]
    const member = {
      ...ada,
      lastname: 'King',
      state: 'NY',
      offername: 'mid',
      offersince: '2027-01-01',
      benefits,
    }
    const members = ['same', 'renamed'].map(userid => ({ ...member, userid }))
    expect(await stage.importMembers(partnerId, ...members)).toBe(2)
    stage.service.advance(MINUTE)
    await client.updateUser({ userid: 'renamed', lastname: 'Lovelace' })
    const change = ['change renamed Lovelace ART1 2027-01-01']
    expect(await lines()).toEqual(change)
    await answer('LINE,STATUS,MESSAGE,CERT\n1,NO,,\n')
    expect(await lines()).toEqual(change)
    expect(await lines()).toEqual([])
    await client.updateUser({ userid: 'same', lastname: 'Lovelace' })
    expect(await lines()).toEqual(['change same Lovelace ART1 2027-01-01'])
  })

  test('says in a full file who is covered, and an end for as many days as asked', async () => {
    const { lines } = await stage.newFeed({ content: 'full', endstatedfor: 10 })
    await create('remains', 'King')
    await create('ends', 'King')
    const ofOurs = async () => (await lines()).filter(line => / (remains|ends) /.test(line)).toSorted()
    await ofOurs()
    stage.service.advance(MINUTE)
    await partner.client.cancelUser({ userid: 'ends', effective: 'immediate' })
    const both = [/^change remains/, /^end ends/].map(line => expect.stringMatching(line))
    expect([await ofOurs(), await ofOurs()]).toEqual([both, both])
    stage.service.advance(11 * DAY)
    expect(await ofOurs()).toEqual([both[0]])
  })
})
