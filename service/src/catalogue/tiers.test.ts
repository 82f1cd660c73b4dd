import { describe, expect, test } from 'vitest'
import { problemsOf } from '../../../tests/small-catalogue.ts'
import type { Benefit, Relationship, Tier } from './model.ts'
import { worthOf } from './tiers.ts'

const price = (cents: number) => ({ cents, per: 'month' as const })
const tiers = [
  { tier: 'me', who: [], cost: price(1000) },
  { tier: 'mespouse', who: ['spouse'], cost: price(1900) },
  { tier: 'mechildren', who: ['child'], cost: price(2100) },
  { tier: 'family', who: ['spouse', 'child'], cost: price(3000) },
] as const satisfies readonly Tier[]
const covers = { spouse: {}, domesticpartner: {}, child: { maxage: 26, most: 2 } }

test.each([
  [[], 'me', 1000],
  [['spouse'], 'mespouse', 1900],
  [['domesticpartner'], 'mespouse', 1900],
  [['child', 'child'], 'mechildren', 2100],
  [['child', 'domesticpartner'], 'family', 3000],
] as [Relationship[], string, number][])('%j is tier %s', (who, tier, cents) => {
  expect(worthOf({ covers, tiers } as unknown as Benefit, who)).toMatchObject({ tier, cost: { cents } })
})

test('a benefit without tiers costs the same whoever is asked about', () => {
  expect(worthOf({ cost: price(700) } as Benefit, ['spouse'])).toEqual({ tier: '', cost: price(700) })
})

describe('catalogue check', () => {
  /** The problems of the small catalogue with these members in place of the cost of its second benefit; `undefined`: none. */
  function problems(change: object): string[] {
    const cost = '    cost: { cents: 0, per: month }\n    pays: { en: Calls'
    const members = Object.entries({ covers, tiers, ...change }).flatMap(([name, value]) =>
      value === undefined ? [] : [`    ${name}: ${JSON.stringify(value)}\n`],
    )
    return problemsOf(cost, `${members.join('')}    pays: { en: Calls`)
  }

  test('takes a benefit for families', () => {
    expect(problems({})).toEqual([])
  })

  test.each([
    ['covers without tiers', { tiers: undefined }, 'needs tiers with prices'],
    ['tiers without covers', { covers: undefined }, 'needs covers, which says who may be covered'],
    [
      'a combination without a tier',
      { tiers: tiers.slice(0, 3) },
      'no tier covers the holder and spouse and child',
    ],
    [
      'a tier that covers lets nobody reach',
      { covers: { spouse: {} }, tiers: [tiers[0], tiers[1], tiers[3]] },
      'nobody reaches this tier',
    ],
    [
      'a tier behind a wider one',
      { tiers: [tiers[0], { ...tiers[3], tier: 'all' }, tiers[1]] },
      'nobody reaches this tier',
    ],
    [
      'a first tier that is not the holder alone',
      { tiers: tiers.slice(1) },
      'the first tier is that of the holder alone',
    ],
    ['a price outside', { cost: price(1) }, 'stands in each tier; delete it here'],
    [
      'two kinds of per',
      { tiers: [tiers[0], { ...tiers[1], cost: { cents: 1, per: 'week' } }, tiers[2], tiers[3]] },
      'the tiers of a benefit have one per; the first has month',
    ],
    [
      'two kinds of taken',
      {
        tiers: [
          { ...tiers[0], cost: { ...price(5), taken: { by: 'partner', how: { en: 'a', es: 'b' } } } },
          ...tiers.slice(1),
        ],
      },
      'the tiers of a benefit have one taken',
    ],
    [
      'a premium in some tiers',
      {
        insurer: { name: 'I', licence: { en: 'a', es: 'b' } },
        tiers: [{ ...tiers[0], premium: price(1) }, ...tiers.slice(1)],
      },
      'premium stands in all tiers or in none',
    ],
    [
      'one code twice',
      { tiers: [tiers[0], { ...tiers[1], tier: 'me' }, tiers[2], tiers[3]] },
      '"me" stands in this list twice',
    ],
    [
      'a domestic partner in who',
      { tiers: [tiers[0], { ...tiers[3], who: ['domesticpartner'] }] },
      'is not allowed here',
    ],
    [
      'an amount where none belongs',
      { tiers: tiers.map(one => ({ ...one, amount: { cents: 5 } })) },
      'amount belongs to',
    ],
    ['nobody to cover', { covers: {} }, 'covers nobody'],
  ])('refuses %s', (_, change, problem) => {
    expect(problems(change).join('\n')).toContain(problem)
  })
})
