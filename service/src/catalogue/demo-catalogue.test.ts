import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Facts, judgeBenefit, judgeOffer } from './eligibility.ts'
import type { Catalogue } from './model.ts'
import { parseCatalogue } from './parse.ts'
import { describeProblem } from './problem.ts'

const assets = new URL('../../assets/', import.meta.url)
const catalogue = readDemo()

function readDemo(): Catalogue {
  const result = parseCatalogue(readFileSync(new URL('demo-catalogue.yaml', assets), 'utf8'))
  if (!result.ok) throw new Error(result.problems.map(describeProblem).join('\n'))
  return result.catalogue
}

const adult: Facts = { age: 34, state: 'FL', zipcode: '33101' }
function offersFor(facts: Facts) {
  return [...catalogue.offers.values()]
    .filter(offer => judgeOffer(offer, facts, '2026-06-15').admitted)
    .map(offer => offer.offer)
}
function refusedTo(facts: Facts) {
  return [...catalogue.benefits.values()]
    .filter(benefit => !judgeBenefit(benefit, facts).admitted)
    .map(benefit => benefit.name)
}

describe('the demo catalogue', () => {
  test('has every type of benefit, three ranked offers, consents, an age limit and every kind of rule', () => {
    const benefits = [...catalogue.benefits.values()]
    expect(new Set(benefits.map(benefit => benefit.benefittype))).toEqual(
      new Set(['dollar', 'service', 'discount', 'account']),
    )
    expect([...catalogue.offers.values()].map(offer => [offer.offer, offer.rank, offer.slots])).toEqual([
      ['starter', 10, 2],
      ['plus', 20, 3],
      ['premier', 30, 5],
    ])
    expect(benefits.filter(benefit => benefit.consent).map(benefit => benefit.name)).toEqual([
      'identity',
      'life',
      'savings',
    ])
    expect(benefits.filter(benefit => benefit.endsatage).map(benefit => benefit.name)).toEqual([
      'critical',
      'income',
      'life',
    ])
    expect(new Set(benefits.flatMap(benefit => benefit.rules.map(rule => rule.kind)))).toEqual(
      new Set(['age', 'states', 'zips', 'offers']),
    )
  })

  test('admits a plain adult to every offer and, on Premier, to every benefit', () => {
    expect(offersFor(adult)).toEqual(['starter', 'plus', 'premier'])
    expect(refusedTo({ ...adult, offer: 'premier' })).toEqual([])
    expect(refusedTo({ ...adult, offer: 'starter' })).toEqual(['savings'])
  })

  test('offers less to a person of 70', () => {
    const elder = { ...adult, age: 70 }
    expect(offersFor(elder)).toEqual(['starter', 'plus'])
    expect(refusedTo({ ...elder, offer: 'plus' })).toEqual(['critical', 'income', 'life'])
  })

  test('offers less in New York', () => {
    const newYorker = { ...adult, state: 'NY', zipcode: '10001' }
    expect(offersFor(newYorker)).toEqual(['starter', 'plus'])
    expect(refusedTo({ ...newYorker, offer: 'plus' })).toEqual(['critical', 'hospital', 'income'])
  })

  test('has no vision shops in Hawaii', () => {
    expect(refusedTo({ ...adult, state: 'HI', zipcode: '967011234', offer: 'plus' })).toEqual([
      'income',
      'vision',
    ])
  })

  test('offers nothing to a child', () => {
    const child = { ...adult, age: 17, offer: 'premier' }
    expect(offersFor(child)).toEqual([])
    expect(refusedTo(child)).toEqual([...catalogue.benefits.keys()])
  })
})

describe('the icons', () => {
  test('are one for each benefit, and no other', () => {
    const wanted = [...catalogue.benefits.values()].map(benefit => benefit.icon)
    expect(wanted.filter(icon => !existsSync(new URL(`icons/${icon}`, assets)))).toEqual([])
    expect(readdirSync(new URL('icons/', assets)).sort()).toEqual(wanted.sort())
  })

  test.each([...catalogue.benefits.values()].map(benefit => benefit.icon))(
    '%s is a drawing and nothing else',
    icon => {
      const svg = readFileSync(new URL(`icons/${icon}`, assets), 'utf8')
      expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 48 48"/)
      expect(svg).not.toMatch(/script|style|foreignObject|href|url\(|<!|<\?|\bon\w+=/i)
      expect(svg.length).toBeLessThan(2048)
    },
  )
})
