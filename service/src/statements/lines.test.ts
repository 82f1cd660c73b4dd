import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addDays, HOUR_MS, type PlainDate, startOfDate } from '../calendar/calendar.ts'
import { monthNamed, nextMonth } from '../calendar/month.ts'
import type { Benefit, Catalogue, MonthMode, Offer } from '../catalogue/model.ts'
import { adjustments } from './adjustments.ts'
import { centsOf } from './amounts.ts'
import { type Line, lines, type Period } from './lines.ts'

const zone = 'America/New_York'

function at(day: PlainDate, hours = 0) {
  return startOfDate(day, zone) + hours * HOUR_MS
}
const november = monthNamed('2026-11', zone)

/** A catalogue in which benefits cost 3,000 cents a month, of which the insurer gets 2,000, and offers 900. */
function catalogueOf({
  first,
  last,
  per = 'month',
  cents = 3000,
}: {
  first?: MonthMode
  last?: MonthMode
  per?: 'week' | 'month'
  cents?: number
} = {}): Catalogue {
  const benefit = {
    cost: { cents, per, taken: { by: 'partner', how: { en: '', es: '' } } },
    premium: { cents: 2000, per },
  } as unknown as Benefit
  const offer = {
    fee: { cents: 900, per },
    ...(first && { firstmonth: first }),
    ...(last && { lastmonth: last }),
  } as unknown as Offer
  const all = <T>(one: T, names: readonly string[]) => new Map(names.map(name => [name, one]))
  return { benefits: all(benefit, ['a', 'b', 'c']), offers: all(offer, ['x', 'y']), insurers: new Map() }
}

function period(name: string, from: number, to?: number, version = 1): Period {
  return { name, version, startsAt: from, endsAt: to }
}
const always = [period('x', at('2026-01-01'))]

function cents(benefits: Period[], catalogue: Catalogue, month = november, offers = always): number[] {
  return lines(benefits, offers, () => catalogue, month)
    .filter(({ kind }) => kind === 'benefit')
    .map(({ personcents }) => personcents)
}

describe('a month', () => {
  test('has a line for each benefit and offer in force at any time of it, also where it costs nothing', () => {
    const benefits = [period('b', at('2026-10-05'), at('2026-11-01')), period('a', at('2026-11-30', 23))]
    expect(lines(benefits, always, () => catalogueOf({ cents: 0 }), november)).toMatchObject([
      { kind: 'benefit', name: 'a', offer: 'x', fromdate: '2026-11-30', todate: '2026-11-30', takenby: '' },
      {
        kind: 'offer',
        name: '',
        offer: 'x',
        fromdate: '2026-11-01',
        todate: '2026-11-30',
        partnercents: 900,
      },
    ])
  })

  test('counts two windows of one benefit once when it is full, and the days of both when it is daily', () => {
    const gap = [period('a', at('2026-11-01'), at('2026-11-04', 5)), period('a', at('2026-11-21', 3))]
    expect(cents(gap, catalogueOf())).toEqual([3000])
    expect(cents(gap, catalogueOf({ first: 'daily', last: 'daily' }))).toEqual([1400])
  })

  test('counts a swap at the boundary on neither side twice', () => {
    const swap = [period('a', at('2026-01-01'), at('2026-12-01')), period('b', at('2026-12-01'))]
    expect(lines(swap, always, () => catalogueOf(), november).map(({ name }) => name)).toEqual(['a', ''])
    expect(
      lines(swap, always, () => catalogueOf(), monthNamed('2026-12', zone)).map(({ name }) => name),
    ).toEqual(['b', ''])
  })

  test('has no line of a first offer and its benefits before the day on which they begin', () => {
    const [benefits, offers] = [[period('a', at('2026-12-05'))], [period('x', at('2026-12-05'))]]
    expect(lines(benefits, offers, () => catalogueOf(), november)).toEqual([])
    const december = lines(benefits, offers, () => catalogueOf(), monthNamed('2026-12', zone))
    expect(december.map(({ kind, fromdate }) => [kind, fromdate])).toEqual([
      ['benefit', '2026-12-05'],
      ['offer', '2026-12-05'],
    ])
  })

  test('counts a create and a cancel on one day as that day', () => {
    const day = [period('a', at('2026-11-10', 9), at('2026-11-10', 11))]
    expect(cents(day, catalogueOf())).toEqual([3000])
    expect(cents(day, catalogueOf({ first: 'daily' }))).toEqual([100])
    expect(cents([period('a', at('2026-11-10', 9), at('2026-11-10', 9))], catalogueOf())).toEqual([])
  })

  test.each([
    ['free', 'daily', 0],
    ['daily', 'free', 0],
    ['daily', 'full', 1000],
    ['full', 'daily', 1000],
    ['full', 'full', 3000],
  ] as const)('that is first (%s) and last (%s) charges %d', (first, last, charged) => {
    expect(cents([period('a', at('2026-11-11'), at('2026-11-21'))], catalogueOf({ first, last }))).toEqual([
      charged,
    ])
  })

  test('is no first month of a benefit that goes on from another window of its own', () => {
    const on = [period('a', at('2026-10-01'), at('2026-11-10')), period('a', at('2026-11-10'))]
    expect(cents(on, catalogueOf({ first: 'free', last: 'free' }))).toEqual([3000])
  })

  test('is a first one, whole, of a benefit whose window was cut within it', () => {
    const cuts = [at('2026-11-11'), at('2026-11-16'), at('2026-11-26'), undefined] as const
    const on = cuts.slice(0, 3).map((from, nth) => period('a', from as number, cuts[nth + 1]))
    expect(cents(on, catalogueOf({ first: 'daily' }))).toEqual([2000])
    expect(cents(on, catalogueOf({ first: 'free' }))).toEqual([0])
    expect(cents(on, catalogueOf({ last: 'free' }))).toEqual([3000])
  })

  test('counts the Mondays of a weekly cost, whatever the first month says', () => {
    const weekly = catalogueOf({ per: 'week', first: 'free', cents: 100 })
    expect(cents([period('a', at('2026-01-01'))], weekly)).toEqual([500])
    // From the last minutes of a Monday on.
    expect(cents([period('a', at('2026-11-16', 23.9))], weekly)).toEqual([300])
    expect(cents([period('a', at('2026-11-01'), at('2026-11-02'))], weekly)).toEqual([0])
  })

  test('has each of its days once where clocks change in it', () => {
    const daily = catalogueOf({ first: 'daily' })
    expect(cents([period('a', at('2026-11-01'))], daily)).toEqual([3000])
    expect(cents([period('a', at('2027-03-14', 12))], daily, monthNamed('2027-03', zone))).toEqual([
      Math.round((3000 * 18) / 31),
    ])
  })

  test('charges what the catalogue said when it began', () => {
    const versions = [catalogueOf(), catalogueOf({ cents: 5000 })]
    const both = [period('a', at('2026-01-01'), undefined, 0), period('b', at('2026-11-01'), undefined, 1)]
    const found = lines(both, always, version => versions[version] ?? catalogueOf(), november)
    expect(found.map(({ personcents }) => personcents)).toEqual([3000, 5000, 0])
  })

  test('names the offer under which a benefit was held, by which its first month is charged', () => {
    const offers = [period('x', at('2026-10-10'), at('2026-11-20')), period('y', at('2026-11-20'))]
    expect(lines([period('a', at('2026-10-10'))], offers, () => catalogueOf(), november)).toMatchObject([
      { name: 'a', offer: 'y' },
      { offer: 'x', todate: '2026-11-19' },
      { offer: 'y', fromdate: '2026-11-20' },
    ])
  })
})

const start = at('2026-08-01')
const instants = fc.integer({ min: 0, max: 24 * 150 }).map(hours => start + hours * HOUR_MS)

/** Periods of each name that do not overlap, as the database guarantees. */
function periodsOf(names: readonly string[]) {
  return fc
    .tuple(
      ...names.map(name =>
        fc.tuple(fc.uniqueArray(instants, { minLength: 0, maxLength: 5 }), fc.boolean(), fc.constant(name)),
      ),
    )
    .map(all =>
      all.flatMap(([edges, isOpen, name]) => {
        const sorted = edges.toSorted((a, b) => a - b)
        const found: Period[] = []
        for (let index = 0; index < sorted.length; index += 2) {
          const [from = start, to] = sorted.slice(index, index + 2)
          if (to !== undefined || isOpen) found.push(period(name, from, to, index % 3))
        }
        return found
      }),
    )
}
const states = fc.record({ benefits: periodsOf(['a', 'b', 'c']), offers: periodsOf(['x', 'y']) })
const catalogues = [
  catalogueOf({ first: 'daily', last: 'free' }),
  catalogueOf({ per: 'week', cents: 333 }),
  catalogueOf({ first: 'daily', last: 'daily', cents: 1001 }),
]

function catalogue(version: number): Catalogue {
  return catalogues[version] ?? catalogueOf()
}

/** The amounts by thing. */
function sums(all: readonly Line[]): Record<string, number[]> {
  const found: Record<string, number[]> = {}
  for (const { name, offer, takenby, personcents, partnercents, insurercents } of all) {
    const key = `${name || offer} ${takenby}`
    const before = found[key] ?? [0, 0, 0]
    const added = [personcents, partnercents, insurercents].map(
      (amount, index) => amount + (before[index] ?? 0),
    )
    if (added.some(amount => amount !== 0)) found[key] = added
    else delete found[key]
  }
  return found
}

test('whatever is corrected and made final in whatever order, all lines about a month add up to a count from scratch', () => {
  const act = fc.oneof(
    { arbitrary: states.map(state => ({ state })), weight: 2 },
    fc.constant('finalize' as const),
  )
  fc.assert(
    fc.property(states, fc.array(act, { maxLength: 12 }), (initial, acts) => {
      let state = initial
      const about = (name: string) => lines(state.benefits, state.offers, catalogue, monthNamed(name, zone))
      const final: { month: string; line: Line }[] = []
      const known = (name: string) =>
        final.filter(({ month, line }) => (line.about || month) === name).map(({ line }) => line)
      let open = '2026-08'
      const finals: string[] = []
      const statement = () => [
        ...about(open),
        ...finals.flatMap(name => adjustments(about(name), known(name), name)),
      ]
      for (const one of acts) {
        if (one !== 'finalize') state = one.state
        else {
          for (const line of statement()) final.push({ month: open, line })
          finals.push(open)
          open = nextMonth(open)
        }
      }
      const shown = statement()
      for (const line of shown)
        if (line.kind === 'adjustment')
          expect(line.personcents || line.partnercents || line.insurercents).not.toBe(0)
      for (const name of finals) {
        const told = [...known(name), ...shown.filter(line => line.about === name)]
        expect(sums(told)).toEqual(sums(about(name)))
      }
      // What nobody has changed since gives nothing more.
      for (const line of shown) final.push({ month: open, line })
      for (const name of finals) expect(adjustments(about(name), known(name), name)).toEqual([])
    }),
  )
})

test('an adjustment has the days and the tier that are counted now, also of what nobody takes any more', () => {
  const taken = { by: 'partner', how: { en: '', es: '' } } as const
  const costs = (cents: number) => ({ cost: { cents, per: 'month', taken } }) as const
  const tiers = [
    { tier: 'me', who: [], ...costs(0) },
    { tier: 'mespouse', who: ['spouse'], ...costs(300) },
  ] as const
  const family = { ...catalogueOf(), benefits: new Map([['a', { tiers } as unknown as Benefit]]) }
  const of = (held: Period) => lines([held], always, () => family, november)
  const held = period('a', at('2026-01-01'))
  const covered = [{ relationship: 'spouse', startsAt: held.startsAt, endsAt: undefined }] as const
  const final = of({ ...held, covered })
  const less = { kind: 'adjustment', name: 'a', takenby: 'partner', personcents: -300, about: '2026-11' }
  const shorter = { ...held, startsAt: at('2026-11-11') }
  expect(adjustments(of(shorter), final, '2026-11')).toMatchObject([
    { ...less, fromdate: '2026-11-11', todate: '2026-11-30', days: 20, tier: 'me' },
  ])
  const nothing = lines([], always, () => family, november)
  expect(adjustments(nothing, final, '2026-11')).toMatchObject([
    { ...less, fromdate: '2026-11-01', todate: '2026-11-30', days: 0, tier: 'mespouse' },
  ])
})

test('daily and weekly amounts agree with a walk from day to day', () => {
  const daily = catalogueOf({ first: 'daily', last: 'daily', cents: 3100 })
  const weekly = catalogueOf({ per: 'week', cents: 100 })
  fc.assert(
    fc.property(instants, fc.integer({ min: 1, max: 24 * 40 }), (from, hours) => {
      const held = period('a', from, from + hours * HOUR_MS)
      for (let name = '2026-08'; name < '2027-02'; name = nextMonth(name)) {
        const month = monthNamed(name, zone)
        let [days, mondays, inForce] = [0, 0, 0]
        for (let date = `${name}-01` as PlainDate; date.startsWith(name); date = addDays(date, 1)) {
          days += 1
          const [begins, ends] = [startOfDate(date, zone), startOfDate(addDays(date, 1), zone)]
          if (!(from < ends && from + hours * HOUR_MS > begins)) continue
          inForce += 1
          if (new Date(Date.parse(date)).getUTCDay() === 1) mondays += 1
        }
        const isWhole = from < month.startsAt && from + hours * HOUR_MS > month.endsAt
        const expected = inForce === 0 ? [] : [isWhole ? 3100 : Math.floor((3100 * inForce) / days + 0.5)]
        expect(cents([held], daily, month)).toEqual(expected)
        expect(cents([held], weekly, month)).toEqual(inForce === 0 ? [] : [100 * mondays])
      }
    }),
  )
})

test('a day on which one price follows another is charged once, at the first', () => {
  const daily = (cents: number, firstDay: number, lastDay: number) =>
    ({ price: { cents, per: 'month' }, mode: 'daily', firstDay, lastDay }) as const
  expect(centsOf([daily(3000, 1, 10), daily(6000, 10, 20)], 30)).toBe(1000 + 2000)
})
