import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { factClassesOf, judgeBenefit, judgeHeldOffer } from './eligibility.ts'
import type { Catalogue, OfferRule } from './model.ts'
import { parseCatalogue } from './parse.ts'

const parsed = parseCatalogue(
  readFileSync(new URL('../../assets/demo-catalogue.yaml', import.meta.url), 'utf8'),
)
if (!parsed.ok) throw new Error('the demo catalogue is broken')
const demo = parsed.catalogue

const head = { code: 'c', text: { en: 'no', es: 'no' } }
const states = ['FL', 'CA', 'NY']
const zips = ['33101', '33109', '90001', '9000']
const rule: fc.Arbitrary<OfferRule> = fc.oneof(
  fc
    .record({ min: fc.nat(4), max: fc.integer({ min: 2, max: 6 }) })
    .map(ages => ({ ...head, kind: 'age', ...ages }) as const),
  fc.subarray(states).map(some => ({ ...head, kind: 'states', in: some }) as const),
  fc.subarray(states).map(some => ({ ...head, kind: 'states', notin: some }) as const),
  fc.subarray(zips).map(some => ({ ...head, kind: 'zips', in: some }) as const),
  fc.constantFrom('3', '331', '9').map(prefix => ({ ...head, kind: 'zips', notprefixes: [prefix] }) as const),
)
const facts = fc.record({
  age: fc.nat(7),
  state: fc.constantFrom(...states),
  zipcode: fc.constantFrom('33101', '33101-2345', '33109', '90001', '10001'),
})

/** The demo catalogue with only these rules on each benefit and offer. */
function catalogueWith(rules: OfferRule[]): Catalogue {
  const withRules = <T>(all: ReadonlyMap<string, T>) =>
    new Map([...all].map(([name, one]) => [name, { ...one, rules }]))
  return { ...demo, benefits: withRules(demo.benefits), offers: withRules(demo.offers) }
}

test('no rule tells two people of one class apart', () => {
  let alike = 0
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 3 }), facts, facts, (rules, one, other) => {
      const catalogue = catalogueWith(rules)
      const classOf = factClassesOf(catalogue)
      if (classOf(one) !== classOf(other)) return
      alike += 1
      for (const benefit of catalogue.benefits.values())
        expect(judgeBenefit(benefit, one)).toMatchObject({ admitted: judgeBenefit(benefit, other).admitted })
      for (const offer of catalogue.offers.values())
        expect(judgeHeldOffer(offer, one).admitted).toBe(judgeHeldOffer(offer, other).admitted)
    }),
    { numRuns: 1000 },
  )
  expect(alike).toBeGreaterThan(50)
})

test('what no rule asks for tells nobody apart', () => {
  const classOf = factClassesOf(catalogueWith([{ ...head, kind: 'age', min: 18, max: 64 }]))
  expect(classOf({ age: 18, state: 'FL', zipcode: '33101' })).toBe(
    classOf({ age: 64, state: 'CA', zipcode: '90001' }),
  )
  expect(classOf({ age: 65, state: 'FL', zipcode: '33101' })).not.toBe(
    classOf({ age: 64, state: 'FL', zipcode: '33101' }),
  )
})
