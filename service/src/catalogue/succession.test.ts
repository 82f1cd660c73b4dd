import { describe, expect, test } from 'vitest'
import { type ParsedCatalogue, parseCatalogue } from './parse.ts'
import { describeProblem } from './problem.ts'
import { checkSuccession } from './succession.ts'

function both(text: string) {
  return `{ en: ${text}, es: ${text} }`
}

function benefit(name: string, type = 'service', more = '') {
  return `
  - name: ${name}
    displayname: ${both(name)}
    description: ${both(name)}
    icon: ${name}.svg
    benefittype: ${type}
    sortorder: 1
    cost: { cents: 0, per: month }
    pays: ${both('Pays')}
    notcovered: ${both('Nothing')}
    ${more}`
}

function offer(name: string, rank: number, fixed: string) {
  return `
  - offer: ${name}
    displayname: ${both(name)}
    description: ${both(name)}
    rank: ${rank}
    fixed: [${fixed}]
    selectable: []
    slots: 0`
}

function consent(version: string, text: string) {
  return `consent: { version: ${version}, text: ${both(text)} }`
}

function catalogueOf(benefits: string[], offers: string[]): ParsedCatalogue {
  const result = parseCatalogue(`schema: 1\nbenefits:${benefits.join('')}\noffers:${offers.join('')}`)
  if (!result.ok) throw new Error(result.problems.map(describeProblem).join('\n'))
  return result
}

const first = catalogueOf(
  [benefit('legal'), benefit('dental', 'discount')],
  [offer('starter', 1, 'legal'), offer('plus', 2, 'legal')],
)
function problemsAfter(next: ParsedCatalogue, ...previous: ParsedCatalogue[]) {
  return checkSuccession(
    next,
    previous.map(earlier => earlier.catalogue),
  ).map(describeProblem)
}

describe('a new version may', () => {
  test('be the first', () => expect(checkSuccession(first, [])).toEqual([]))

  test('be the same', () => expect(problemsAfter(first, first)).toEqual([]))

  test('leave names out and bring new ones', () => {
    expect(problemsAfter(catalogueOf([benefit('vision')], [offer('basic', 1, 'vision')]), first)).toEqual([])
  })

  test('give a rank to another offer', () => {
    const turned = catalogueOf([benefit('legal')], [offer('starter', 2, 'legal'), offer('plus', 1, 'legal')])
    expect(problemsAfter(turned, first)).toEqual([])
  })

  test('change a consent text under a new version', () => {
    const before = catalogueOf(
      [benefit('legal', 'service', consent('v1', 'Yes'))],
      [offer('starter', 1, 'legal')],
    )
    const after = catalogueOf(
      [benefit('legal', 'service', consent('v2', 'Yes indeed'))],
      [offer('starter', 1, 'legal')],
    )
    expect(problemsAfter(after, before)).toEqual([])
  })
})

describe('a new version may not', () => {
  test('make another type of a benefit', () => {
    const next = catalogueOf(
      [benefit('vision'), benefit('legal', 'discount')],
      [offer('starter', 1, 'legal')],
    )
    expect(problemsAfter(next, first)).toEqual([
      'line 13: benefits[1]: "legal" was of type service in an earlier version and is discount here; a name is never used again for something else, so choose a new name',
    ])
  })

  test('make an offer of a benefit, even one that was left out meanwhile', () => {
    const between = catalogueOf([benefit('legal')], [offer('starter', 1, 'legal')])
    const next = catalogueOf([benefit('legal')], [offer('dental', 1, 'legal')])
    expect(problemsAfter(next, first, between)).toEqual([
      'line 14: offers[0]: "dental" was a benefit in an earlier version; a name is never used again for something else, so choose a new name',
    ])
  })

  test('make a benefit of an offer', () => {
    const next = catalogueOf([benefit('plus')], [offer('starter', 1, 'plus')])
    expect(problemsAfter(next, first)).toEqual([
      'line 3: benefits[0]: "plus" was an offer in an earlier version; a name is never used again for something else, so choose a new name',
    ])
  })

  test('change a consent text under the same version; said once, however many versions had it', () => {
    const before = catalogueOf(
      [benefit('legal', 'service', consent('v1', 'Yes'))],
      [offer('starter', 1, 'legal')],
    )
    const after = catalogueOf(
      [benefit('legal', 'service', consent('v1', 'Yes indeed'))],
      [offer('starter', 1, 'legal')],
    )
    expect(problemsAfter(after, before, before)).toEqual([
      'line 3: benefits[0]: the consent text of "legal" has changed since version "v1" of it was published; give the new text a new version',
    ])
  })
})
