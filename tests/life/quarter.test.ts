import { expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { recordAnswers } from '../../service/src/feeds/answer.ts'
import { readCsvAnswers } from '../../service/src/feeds/answers-csv.ts'
import { answersOf, readAcknowledgements } from '../../service/src/feeds/answers-x12.ts'
import { feedOfRun } from '../../service/src/feeds/hand-over.ts'
import { placesOfRun } from '../../service/src/feeds/line-places.ts'
import { parseFeeds } from '../../service/src/feeds/parse.ts'
import { requireFeed, runFeed } from '../../service/src/feeds/run.ts'
import { newestSentRun, publishFeeds, type Run } from '../../service/src/feeds/store.ts'
import { readRecords } from '../../service/src/imports/read-records.ts'
import { runImport } from '../../service/src/imports/run-import.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import type { Partner } from '../../service/src/partners/partner.ts'
import { readCsv } from '../../service/src/read-csv.ts'
import { finalizeMonths } from '../../service/src/statements/finalize.ts'
import { monthsOf } from '../../service/src/statements/months.ts'
import { startFeeds } from '../feeds/stage.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada } from '../rig.ts'
import { openCorrections } from './corrections.ts'
import { linesOf } from './months-add-up.ts'
import {
  type Cents,
  type Covered,
  coversOf,
  dayNumber,
  type Held,
  type Life,
  openInsurer,
  type ReadLine,
  recount,
} from './quarter-recount.ts'

const zone = 'America/New_York'
const START = Date.UTC(2027, 3, 6, 16)
const MOVED_IN = 300
const LIVES = 200
const MONTHS = ['2027-04', '2027-05', '2027-06']

type Prices = { readonly art: number; readonly books: number; readonly dental: Cents }
const first: Prices = { art: 1000, books: 617, dental: [1250, 2107, 2351, 3303] }
const second: Prices = { art: 1100, books: 733, dental: [1351, 2203, 2459, 3407] }
const premium: Prices = { art: 700, books: 401, dental: [900, 1501, 1703, 2411] }
const fees = { plus: 299, max: 503 }
const tiers = [
  { tier: 'me', who: [] },
  { tier: 'mespouse', who: ['spouse'] },
  { tier: 'mechildren', who: ['child'] },
  { tier: 'family', who: ['spouse', 'child'] },
]
const insurerOf = { art: 'seaview', books: 'seaview', dental: 'harbor' } as const
type Name = keyof Prices

function catalogue(prices: Prices): string {
  const pair = (text: string) => ({ en: text, es: text })
  const worthOf = (cost = 0, premium = 0) => ({
    cost: { cents: cost, per: 'month', taken: { by: 'partner', how: pair('From your payout') } },
    premium: { cents: premium, per: 'month' },
  })
  return JSON.stringify({
    schema: 1,
    insurers: ['seaview', 'harbor'].map(insurer => ({
      insurer,
      name: `${insurer} Mutual`,
      licence: pair('NAIC 1'),
    })),
    benefits: (['art', 'books', 'dental'] as const).map((name, index) => ({
      ...{
        name,
        displayname: pair(name),
        description: pair(name),
        icon: 'vision.svg',
        benefittype: 'service',
      },
      ...{ sortorder: index, pays: pair('Much.'), notcovered: pair('Little.'), insurer: insurerOf[name] },
      ...(name === 'dental'
        ? {
            covers: { spouse: {}, child: { maxage: 26 } },
            tiers: tiers.map((tier, nth) => ({
              ...tier,
              ...worthOf(prices.dental[nth], premium.dental[nth]),
            })),
          }
        : worthOf(prices[name], premium[name])),
      rules: [],
    })),
    offers: (['plus', 'max'] as const).map((offer, nth) => ({
      ...{ offer, displayname: pair(offer), description: pair(offer), rank: nth + 1, fixed: [], slots: 2 },
      ...{ selectable: ['art', 'books', 'dental'], fee: { cents: fees[offer], per: 'month' } },
      ...{ firstmonth: 'daily', lastmonth: 'daily' },
    })),
  })
}

const feeds = {
  schema: 1,
  feeds: [
    {
      ...{ feed: 'seaview', insurer: 'seaview', benefits: ['art', 'books'], format: 'csv' },
      columns: ['line', 'action', 'serviceid', 'benefit', 'startson', 'endson'].map(value => ({
        name: value,
        value,
      })),
      answers: { columns: { line: 'line', code: 'code', memberid: 'cert' }, accepted: ['OK'] },
    },
    {
      ...{ feed: 'harbor', insurer: 'harbor', benefits: ['dental'], format: 'x12834' },
      x12834: {
        ...{ sender: ['ZZ', 'OURS'], receiver: ['FI', '987654321'], sponsor: ['FI', '123456789'] },
        lines: { dental: 'DEN' },
        tiers: { me: 'EMP', mespouse: 'ESP', mechildren: 'ECH', family: 'FAM' },
      },
    },
  ],
}

const stage = forAllTests(() => startFeeds({ startAt: START, catalogue: catalogue(first) }))

function always(cents: number): Cents {
  return [cents, cents, cents, cents]
}
function benefit(name: 'art' | 'books', from: string, to?: string, prices = first): Held {
  const worth = { cents: always(prices[name]), premium: always(premium[name]) }
  return { name, isOffer: false, from, to, ...worth, insurer: insurerOf[name] }
}
/** A change of who is covered keeps the prices under which the benefit began. */
function dental(from: string, to?: string, covered: readonly Covered[] = []): Held {
  const worth = { cents: first.dental, premium: premium.dental }
  return { name: 'dental', isOffer: false, from, to, ...worth, insurer: insurerOf.dental, covered }
}
function offer(from: string, to?: string, name: keyof typeof fees = 'plus'): Held {
  const worth = { cents: always(fees[name]), premium: always(0) }
  return { name, isOffer: true, from, to, ...worth, insurer: '' }
}
const spouse = { relationship: 'spouse', firstname: 'Grace', lastname: 'King', dob: '1988-02-29' } as const
const child = { relationship: 'child', firstname: 'Tim', lastname: 'King', dob: '2019-05-04' } as const
/** Reaches 26 on May 15. */
const grown = { ...child, firstname: 'Bob', dob: '2001-05-15' }
const DENTAL = [{ name: 'dental' }]
/** What becomes of a life is its kind; some have a family from the first day. */
const KINDS = 8
type Named = NonNullable<Parameters<Client['createUser']>[0]['dependants']>
const familyOf: Readonly<Record<number, Named>> = {
  3: [{ ...spouse, benefits: DENTAL }],
  6: [spouse, child].map(one => ({ ...one, benefits: DENTAL })),
  7: [{ ...grown, benefits: DENTAL }],
}

test('one quarter, whole: every cent, every line that an insurer was told and every event is as the script has it', async () => {
  const { service, context } = stage
  const { database, now } = service
  const { client, partnerId } = await service.newPartner({ timezone: zone })
  const partner = (await context.partners()).find(one => one.partnerId === partnerId)
  if (!partner) throw new Error('no partner')
  const executor = openCommandExecutor(context)
  const correct = openCorrections(service, { partnerId, zone })
  const to = (day: string) => service.advance(Date.parse(`${day}T16:00:00Z`) - now())
  const lives: Life[] = []
  const expected: Record<string, number> = {}
  const expectEvent = (name: string, count = 1) => {
    expected[name] = (expected[name] ?? 0) + count
  }
  await context.prepareTerms([])
  const parsed = parseFeeds(JSON.stringify(feeds), context.published.today().catalogue)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  await publishFeeds(database, { document: parsed.document, at: now(), by: 'test' }, [])

  // April 6: three hundred move in, with dates of before; they are charged from April on.
  const person = { ...ada, state: 'NY' as const, offername: 'plus' }
  const movedIn = Array.from({ length: MOVED_IN }, (_, index) => {
    const since = `202${4 + (index % 3)}-0${1 + (index % 9)}-1${index % 10}`
    const name: Name = index % 2 === 0 ? 'art' : 'dental'
    // Some with a spouse from the first day, and with a child who came later.
    const isFamily = index % 6 === 1
    const came = '2027-02-14'
    const covered: Covered[] = [
      { who: '01', from: since },
      { who: '19', from: came },
    ]
    const held = name === 'art' ? benefit(name, since) : dental(since, undefined, isFamily ? covered : [])
    lives.push({ userid: `moved-${index}`, chargedFrom: '2027-04', held: [offer(since), held] })
    const dependants = [
      { ...spouse, benefits: DENTAL },
      { ...child, benefits: [{ name, startson: came }] },
    ]
    const member = { userid: `moved-${index}`, ...person, offersince: since, benefits: [name] }
    return JSON.stringify({ ...member, ...(isFamily && { dependants }) })
  })
  async function* chunks() {
    yield Buffer.from(movedIn.join('\n'))
  }
  const imported = await runImport(readRecords(chunks()), {
    ...{ executor, partner, isDry: false, actor: 'test', importId: '01900000-0000-7000-8000-000000000000' },
    options: { checks: false, raises: false, chargeFrom: undefined },
  })
  expect(imported).toMatchObject({ taken: MOVED_IN, refused: 0, outside: [] })

  // April 8: two hundred lives begin, by bulk, each a line of it twice with one key.
  to('2027-04-08')
  const names = Array.from({ length: LIVES }, (_, index) => `life-${index}`)
  const kindOf = (userid: string) => Number(userid.slice(5)) % KINDS
  const those = (kind: number) => names.filter(userid => kindOf(userid) === kind)
  const lines = names.map(userid => ({
    ...{ operation: 'create' as const, key: `k-${userid}` },
    body: { userid, ...person, benefits: ['art', 'dental'], dependants: familyOf[kindOf(userid)] ?? [] },
  }))
  for (const _ of [1, 2]) for await (const { status } of client.bulk(lines)) expect(status).toBe(200)
  for (const name of ['enrollment_successful', 'offer_activiation_successful']) expectEvent(name, LIVES)
  const each = async (kind: number, act: (userid: string) => Promise<unknown>) => {
    for (const userid of those(kind)) await act(userid)
  }
  const insurers = { seaview: openInsurer(), harbor: openInsurer() }
  const answered = { accepted: 0, refused: 0 }
  const erasedIds = new Map<string, string>()
  const raised = new Map<string, string>()
  // At first the insurers refuse, and answer late: another run was made before the answer came.
  const late = [await tell('seaview', { refuses: true }), await tell('harbor', { refuses: true })]
  expect([await tell('seaview'), await tell('harbor')]).toEqual([undefined, undefined])
  for (const answer of late) await answer?.()
  await settle()

  // April 20: some swap for May, some are cancelled to the end of the month, some have a greater offer at once, and of some
  // families only the spouse is to be covered from May on.
  to('2027-04-20')
  await each(0, userid =>
    client.swapBenefits({ userid, add: ['books'], remove: ['art'], previewonly: false }),
  )
  await each(1, userid => client.cancelUser({ userid, effective: 'endofperiod' }))
  await each(5, userid => client.changeOffer({ userid, offername: 'max' }))
  for (const name of ['offer_upgrade_successful', 'offer_activiation_successful'])
    expectEvent(name, those(5).length)
  const spouses = new Map<string, string>()
  await each(6, async userid => {
    const [one] = (await client.getDependants({ userid })).dependants
    const dependants = one ? [one.dependantid] : []
    spouses.set(userid, dependants[0] ?? '')
    await client.changeCover({ userid, name: 'dental', dependants })
  })
  expectEvent('benefit_cover_changed', those(6).length)
  await settle()
  await monthEnd('2027-05-05')
  // May 10: new prices hold for newcomers, among them the benefits that somebody picks anew.
  to('2027-05-10')
  await service.publish(catalogue(second))
  // Each process looks for a newer catalogue after a second.
  service.advance(2000)
  await client.createUser({ userid: 'late', ...person, benefits: ['art'] })
  for (const name of ['enrollment_successful', 'offer_activiation_successful']) expectEvent(name)
  await each(2, userid => client.cancelUser({ userid, effective: 'immediate' }))
  to('2027-05-12')
  await each(3, async userid => {
    erasedIds.set((await client.getUser({ userid })).serviceid, userid)
    await client.eraseUser({ userid })
  })
  // May 20: those with the greater offer have the lesser one again from June on. By then a child has grown too old.
  to('2027-05-20')
  await each(5, userid => client.changeOffer({ userid, offername: 'plus' }))
  for (const name of ['offer_change_scheduled', 'offer_downgrade_successful', 'offer_activiation_successful'])
    expectEvent(name, those(5).length)
  expectEvent('benefit_cover_changed', those(7).length)
  await monthEnd('2027-06-05')
  // June 8, with April and May final: an operator voids a benefit that was never wanted, says of spouses that they had died, and
  // moves the first day of a family's benefit and the last one of another benefit.
  const today = '2027-06-08'
  to(today)
  const daysTo = (day: string) => dayNumber(day) - dayNumber(today)
  await each(4, userid => correct(userid, { op: 'void', b: 'art' }))
  await each(6, userid => {
    const dead = { dependant: spouses.get(userid) ?? '', days: daysTo('2027-04-28') }
    return correct(userid, { op: 'lastcovered', b: 'dental', ...dead })
  })
  await each(7, userid => correct(userid, { op: 'movestart', b: 'dental', days: daysTo('2027-04-15') }))
  await each(7, userid => correct(userid, { op: 'moveend', b: 'art', days: daysTo('2027-05-20') }))
  expectEvent('benefit_enrollment_corrected', [4, 6, 7, 7].flatMap(those).length)
  await monthEnd('2027-07-05')

  const start = '2027-04-08'
  for (const userid of names) {
    const kind = kindOf(userid)
    const end = [undefined, '2027-04-30', '2027-05-10', '2027-05-12'][kind]
    // What an account brings at a boundary after a new catalogue has the new price; the swap began on May 1, before it.
    const arts: Readonly<Record<number, Held[]>> = {
      0: [benefit('art', start, '2027-04-30'), benefit('books', '2027-05-01')],
      4: [],
      7: [benefit('art', start, '2027-05-20')],
    }
    const dentals: Readonly<Record<number, Held>> = {
      3: dental(start, end, [{ who: '01', from: start, to: end }]),
      6: dental(start, end, [
        { who: '01', from: start, to: '2027-04-28' },
        { who: '19', from: start, to: '2027-04-30' },
      ]),
      7: dental('2027-04-15', end, [{ who: '19', from: '2027-04-15', to: '2027-05-31' }]),
    }
    const offers: Readonly<Record<number, Held[]>> = {
      5: [
        offer(start, '2027-04-20'),
        offer('2027-04-20', '2027-05-31', 'max'),
        offer('2027-06-01', undefined),
      ],
    }
    lives.push({
      userid,
      held: [
        ...(offers[kind] ?? [offer(start, end)]),
        ...(arts[kind] ?? [benefit('art', start, end)]),
        dentals[kind] ?? dental(start, end),
      ],
    })
  }
  lives.push({ userid: 'late', held: [offer('2027-05-10'), benefit('art', '2027-05-10', undefined, second)] })

  // Every cent, by what the final statements say about each month.
  const serviceids = new Map<string, string>()
  for await (const { userid, serviceid } of client.eachUser()) serviceids.set(serviceid, userid)
  for (const [serviceid, userid] of erasedIds) serviceids.set(serviceid, userid)
  const found: Record<string, number> = {}
  const months = await monthsOf(context, partner)
  const listed = months.listed.filter(one => one.name <= '2027-07')
  for await (const { serviceId, line, about } of linesOf(context, partner, { ...months, listed })) {
    if (!MONTHS.includes(about)) continue
    const add = (key: string, cents: number) => {
      if (cents !== 0) found[key] = (found[key] ?? 0) + cents
    }
    const userid = serviceids.get(serviceId) ?? serviceId
    add(`${about} ${userid} ${line.name || line.offer}`, line.personcents + line.partnercents)
    if (line.insurercents !== 0) add(`${about} ${line.insurer}`, line.insurercents)
  }
  for (const key of Object.keys(found)) if (found[key] === 0) delete found[key]
  expect(found).toEqual(recount(lives, MONTHS))
  expect(months.listed.filter(one => one.name < '2027-04')).toEqual([])

  // Every line that an insurer was told: what it accepted is what is true.
  const idOf = new Map([...serviceids].map(([serviceid, userid]) => [userid, serviceid]))
  for (const insurer of ['seaview', 'harbor'] as const) {
    const truth = lives.flatMap(({ userid, held }) =>
      held.filter(one => one.insurer === insurer).flatMap(one => coversOf(idOf.get(userid) ?? '', one)),
    )
    expect(insurers[insurer].covers()).toEqual(truth.sort())
  }
  expect(answered.refused).toBeGreaterThan(0)

  // Every event that the script knows.
  const counted: Record<string, number> = {}
  for (const name of raised.values()) counted[name] = (counted[name] ?? 0) + 1
  expect(counted).toMatchObject({
    ...expected,
    benefit_insurer_accepted: answered.accepted,
    benefit_insurer_refused: answered.refused,
  })

  /** Both feeds run until nothing is left to tell, and are accepted; what was raised is noted, as events are kept for 30 days. */
  async function settle(): Promise<void> {
    for (const name of ['seaview', 'harbor'] as const) {
      await (await tell(name))?.()
      expect(await tell(name)).toBeUndefined()
    }
    for (let after: string | undefined; ; ) {
      const { events, next } = await client.listEvents(after === undefined ? {} : { after })
      for (const { eventid, eventname } of events) raised.set(eventid, eventname)
      if (events.length === 0) return
      after = next
    }
  }

  async function monthEnd(day: string): Promise<void> {
    to(day)
    for (let isDone = false; !isDone; )
      isDone = (await finalizeMonths(context, partner as Partner, { which: 'due', mayGoOn: () => true }))
        .isDone
    await settle()
  }

  /** Runs a feed; returns what records its insurer's answer, `undefined` where there was nothing to tell. */
  async function tell(
    name: 'seaview' | 'harbor',
    { refuses = false } = {},
  ): Promise<(() => Promise<void>) | undefined> {
    const pieces: Buffer[] = []
    const { run } = await runFeed(context, name, {
      asked: { by: 'test', full: false, write: async bytes => pieces.push(bytes) },
      places: { folder: undefined, command: undefined },
    })
    if (run.lines === 0) return undefined
    const file = Buffer.concat(pieces).toString('latin1')
    const read = name === 'seaview' ? linesOfCsv(file) : linesOf834(file)
    expect(read).toHaveLength(run.lines)
    // One insurer answers each line, the other a whole set.
    const isRefused = (index: number) => refuses && (name === 'harbor' || index % 7 === 3)
    for (const [index, line] of read.entries()) if (!isRefused(index)) insurers[name].take(line)
    return async () => {
      const csv = read
        .map((_, index) => `${index + 1},${isRefused(index) ? 'NO' : 'OK'},C${index}\n`)
        .join('')
      const given =
        name === 'seaview'
          ? readCsvAnswers(`line,code,cert\n${csv}`, (await requireFeed(database, name)).feed)
          : await acknowledged(run, refuses)
      const about = { feed: name, run: (await newestSentRun(database, name))?.run ?? 0, actor: 'test' }
      const counts = await recordAnswers({ ...context, executor }, given, about)
      expect([counts.unknown, counts.known, counts.accepted + counts.refused]).toEqual([0, 0, read.length])
      // Of an erased person nobody hears.
      answered.accepted += counts.accepted - read.filter(({ id }) => erasedIds.has(id)).length
      answered.refused += counts.refused
    }
  }

  async function acknowledged(run: Run, refuses: boolean) {
    const set = refuses ? 'AK2*834*0001~IK3*HD*15**8~IK5*R*5~AK9*R*1*1*0' : 'AK2*834*0001~IK5*A~AK9*A*1*1*1'
    const segments = ['ST*999*0001', `AK1*BE*${run.run}`, ...set.split('~')]
    const text = [
      'ISA*00*          *00*          *30*987654321      *ZZ*OURS           *270513*0900*^*00501*000000001*0*P*:',
      'GS*FA*987654321*OURS*20270513*0900*1*X*005010X231A1',
      ...segments,
      `SE*${segments.length + 1}*0001`,
      'GE*1*1',
      'IEA*1*000000001',
    ].join('~')
    const { x12834 } = await feedOfRun(database, run)
    if (!x12834) throw new Error('no 834 feed')
    const places = await placesOfRun(database, context, run)
    return readAcknowledgements(`${text}~`).flatMap(one => answersOf(one, x12834, places))
  }
})

function linesOfCsv(file: string): ReadLine[] {
  return [...readCsv(file)]
    .slice(1)
    .map(({ cells: [, action = '', id = '', name = '', from = '', to = ''] }) => {
      return { action, id, who: '', benefit: name, from, to, level: '' }
    })
}

const coverageCodes: Readonly<Record<string, string>> = {
  '021': 'add',
  '001': 'change',
  '026': 'correct',
  '024': 'end',
  '025': 'reinstate',
  '002': 'void',
}

function linesOf834(file: string): ReadLine[] {
  return file
    .split(/^INS/m)
    .slice(1)
    .map(loop => {
      const textOf = (pattern: RegExp) => pattern.exec(loop)?.[1] ?? ''
      const day = (code: string) =>
        textOf(new RegExp(`^DTP\\*${code}\\*D8\\*(\\d{8})`, 'm')).replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3')
      return {
        action: coverageCodes[textOf(/^HD\*(\d+)/m)] ?? '',
        id: textOf(/^REF\*0F\*([^~]+)/m),
        who: textOf(/^\*N\*(\d+)/) as ReadLine['who'],
        benefit: 'dental',
        from: day('348'),
        to: day('349'),
        level: textOf(/^HD\*\d+\*\*DEN\*[^*~]*\*(\w+)/m),
      }
    })
}
