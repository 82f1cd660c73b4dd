import { readFileSync } from 'node:fs'
import { states } from '@benefit-enrolment/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Facts, factClassesOf, judgeBenefit, judgeHeldOffer, judgeOffer } from './eligibility.ts'
import type { Benefit, Catalogue, Offer, OfferRule, Rule, RuleOf } from './model.ts'
import { parseCatalogue } from './parse.ts'

const text = { en: 'Not for you', es: 'No es para usted' }
function both(word: string) {
  return { en: word, es: word }
}

function benefitWith(rules: readonly Rule[]): Benefit {
  return {
    name: 'accident',
    displayname: both('Accident'),
    description: both('Accident'),
    icon: 'accident.svg',
    benefittype: 'service',
    sortorder: 1,
    pays: both('Pays'),
    notcovered: both('Not'),
    cost: { cents: 0, per: 'month' },
    rules,
  }
}

function offerWith(parts: Partial<Offer>): Offer {
  return {
    offer: 'starter',
    displayname: both('Starter'),
    description: both('Starter'),
    rank: 1,
    fixed: ['accident'],
    selectable: [],
    slots: 0,
    period: 'calendarmonth',
    cutoffhours: 24,
    rules: [],
    ...parts,
  }
}

const someone: Facts = { age: 34, state: 'FL', zipcode: '33101' }
function admits(rule: Rule, facts: Partial<Facts>) {
  return judgeBenefit(benefitWith([rule]), { ...someone, ...facts }).admitted
}

const age: RuleOf<'age'> = { kind: 'age', code: 'age', text, min: 18, max: 64 }
function zips(parts: Partial<RuleOf<'zips'>>): RuleOf<'zips'> {
  return { kind: 'zips', code: 'zips', text, ...parts }
}
const premier: RuleOf<'offers'> = { kind: 'offers', code: 'premier', text, in: ['premier'] }

describe('a rule admits', () => {
  test.each([
    [17, false],
    [18, true],
    [64, true],
    [65, false],
  ])('from its youngest to its oldest age, both included: %i → %s', (years, admitted) => {
    expect(admits(age, { age: years })).toBe(admitted)
  })

  test('every age on the side of a missing bound', () => {
    expect(admits({ kind: 'age', code: 'age', text, min: 18 }, { age: 120 })).toBe(true)
    expect(admits({ kind: 'age', code: 'age', text, max: 64 }, { age: 0 })).toBe(true)
  })

  test('the states it names, or all but those', () => {
    const within: RuleOf<'states'> = { kind: 'states', code: 'in', text, in: ['FL', 'GA'] }
    const without: RuleOf<'states'> = { kind: 'states', code: 'notin', text, notin: ['NY'] }
    expect([admits(within, { state: 'GA' }), admits(within, { state: 'NY' })]).toEqual([true, false])
    expect([admits(without, { state: 'GA' }), admits(without, { state: 'NY' })]).toEqual([true, false])
  })

  test.each([
    [{ in: ['33101'] }, '33101', true],
    [{ in: ['33101'] }, '33102', false],
    [{ in: ['33101'] }, '331011234', true],
    [{ in: ['33101'] }, '333101000', false],
    [{ prefixes: ['331'] }, '33199', true],
    [{ prefixes: ['331'] }, '33200', false],
    [{ prefixes: ['331'] }, '10331', false],
    [{ in: ['10001'], prefixes: ['331'] }, '33101', true],
    [{ in: ['10001'], prefixes: ['331'] }, '10001', true],
    [{ in: ['10001'], prefixes: ['331'] }, '10002', false],
    [{ notin: ['33101'] }, '33102', true],
    [{ notin: ['33101'] }, '331019999', false],
    [{ notprefixes: ['967', '9'] }, '96701', false],
    [{ notprefixes: ['967'] }, '33101', true],
    [{ prefixes: ['331'], notin: ['33109'] }, '33109', false],
    [{ in: ['33109'], notprefixes: ['331'] }, '33109', false],
  ] satisfies [Partial<RuleOf<'zips'>>, string, boolean][])(
    'the ZIP codes of %j: %s → %s',
    (parts, zipcode, admitted) => {
      expect(admits(zips(parts), { zipcode })).toBe(admitted)
    },
  )

  test('the offers it names, and nobody without an offer', () => {
    expect(admits(premier, { offer: 'premier' })).toBe(true)
    expect(admits(premier, { offer: 'plus' })).toBe(false)
    expect(admits(premier, {})).toBe(false)
  })
})

describe('a verdict', () => {
  const verdict = judgeBenefit(benefitWith([age, zips({ in: ['33101'] }), premier]), { ...someone, age: 70 })

  test('decides every rule, also after one has failed', () => {
    expect(verdict.trace.map(({ code, kind, passed }) => [code, kind, passed])).toEqual([
      ['age', 'age', false],
      ['zips', 'zips', true],
      ['premier', 'offers', false],
    ])
  })

  test('gives the code and text of each rule that failed', () => {
    expect(verdict.admitted).toBe(false)
    expect(verdict.reasons).toEqual([
      { code: 'age', text },
      { code: 'premier', text },
    ])
  })

  test('admits everyone where there is no rule', () => {
    expect(judgeBenefit(benefitWith([]), someone)).toEqual({ admitted: true, reasons: [], trace: [] })
  })
})

describe('an offer', () => {
  const offer = offerWith({ availability: { from: '2026-03-01', until: '2026-03-31' }, rules: [age] })

  test.each([
    ['2026-02-28', 'not_yet_available'],
    ['2026-03-01', undefined],
    ['2026-03-31', undefined],
    ['2026-04-01', 'no_longer_available'],
  ] as const)('is open to newcomers on the days of its availability: %s', (date, code) => {
    expect(judgeOffer(offer, someone, date).reasons[0]?.code).toBe(code)
  })

  test('looks at its rules too, outside its availability as well', () => {
    const codes = judgeOffer(offer, { ...someone, age: 12 }, '2026-04-01').reasons.map(reason => reason.code)
    expect(codes).toEqual(['no_longer_available', 'age'])
  })

  test('stays with those who have it when it is closed to newcomers', () => {
    expect(judgeHeldOffer(offer, someone).admitted).toBe(true)
    expect(judgeHeldOffer(offer, { ...someone, age: 70 }).admitted).toBe(false)
  })

  test('without an availability is always open', () => {
    expect(judgeOffer(offerWith({}), someone, '1999-12-31')).toEqual({
      admitted: true,
      reasons: [],
      trace: [],
    })
  })
})

const state = fc.constantFrom(...states)
const zip = fc.integer({ min: 0, max: 99_999 }).map(number => String(number).padStart(5, '0'))
const prefix = fc.tuple(zip, fc.integer({ min: 1, max: 4 })).map(([code, length]) => code.slice(0, length))
const offerName = fc.constantFrom('starter', 'plus', 'premier')
const head = { code: fc.constantFrom('one', 'two', 'three'), text: fc.constant(text) }
const years = fc.integer({ min: 0, max: 120 })
const optional = { requiredKeys: ['kind', 'code', 'text'] as ['kind', 'code', 'text'] }

const ageRule: fc.Arbitrary<RuleOf<'age'>> = fc.record(
  { kind: fc.constant('age'), ...head, min: years, max: years },
  optional,
)
const statesRule: fc.Arbitrary<RuleOf<'states'>> = fc.oneof(
  fc.record({ kind: fc.constant('states'), ...head, in: fc.array(state) }),
  fc.record({ kind: fc.constant('states'), ...head, notin: fc.array(state) }),
)
const zipsRule: fc.Arbitrary<RuleOf<'zips'>> = fc.record(
  {
    kind: fc.constant('zips'),
    ...head,
    in: fc.array(zip),
    prefixes: fc.array(prefix),
    notin: fc.array(zip),
    notprefixes: fc.array(prefix),
  },
  optional,
)
const offersRule: fc.Arbitrary<RuleOf<'offers'>> = fc.record({
  kind: fc.constant('offers'),
  ...head,
  in: fc.array(offerName),
})
const rule: fc.Arbitrary<Rule> = fc.oneof(ageRule, statesRule, zipsRule, offersRule)
const zipcode = fc.oneof(
  zip,
  fc.tuple(zip, fc.constantFrom('0001', '1234')).map(parts => parts.join('')),
)
const anyone: fc.Arbitrary<Facts> = fc.record(
  { age: years, state, zipcode, offer: offerName },
  { requiredKeys: ['age', 'state', 'zipcode'] },
)

describe('whatever the rules and the person', () => {
  test('admitted is the same as satisfying each rule alone, and a reason stands for each that is not', () => {
    fc.assert(
      fc.property(fc.array(rule), anyone, (rules, facts) => {
        const verdict = judgeBenefit(benefitWith(rules), facts)
        const failed = rules.filter(each => !judgeBenefit(benefitWith([each]), facts).admitted)
        expect(verdict.admitted).toBe(failed.length === 0)
        expect(verdict.reasons.map(reason => reason.code)).toEqual(failed.map(each => each.code))
        expect(verdict.trace).toHaveLength(rules.length)
      }),
    )
  })

  test('another rule never admits more', () => {
    fc.assert(
      fc.property(fc.array(rule), rule, anyone, (rules, another, facts) => {
        const before = judgeBenefit(benefitWith(rules), facts).admitted
        const after = judgeBenefit(benefitWith([...rules, another]), facts).admitted
        expect(after && !before).toBe(false)
      }),
    )
  })

  test('narrowing a rule never admits more', () => {
    fc.assert(
      fc.property(
        rule.chain(wide => fc.tuple(fc.constant(wide), narrower(wide))),
        anyone,
        ([wide, narrow], facts) => {
          if (admits(narrow, facts)) expect(admits(wide, facts)).toBe(true)
        },
      ),
    )
  })

  test('all nine digits of a ZIP code decide as its first five', () => {
    fc.assert(
      fc.property(zipsRule, anyone, zip, (one, facts, five) => {
        expect(admits(one, { ...facts, zipcode: `${five}6789` })).toBe(
          admits(one, { ...facts, zipcode: five }),
        )
      }),
    )
  })

  test('states in and not in the same list are opposites', () => {
    fc.assert(
      fc.property(fc.array(state), anyone, (list, facts) => {
        const within = admits({ kind: 'states', code: 'a', text, in: list }, facts)
        expect(admits({ kind: 'states', code: 'a', text, notin: list }, facts)).toBe(!within)
      }),
    )
  })

  test('the trace repeats neither state nor ZIP code of the person who passed', () => {
    const notin: RuleOf<'states'> = { kind: 'states', code: 'a', text, notin: ['NY'] }
    const verdict = judgeBenefit(benefitWith([notin, zips({ prefixes: ['331'] })]), someone)
    expect(JSON.stringify(verdict.trace)).not.toMatch(/FL|33101/)
  })
})

/** The rule with narrower bounds, fewer admitted values, or more refused ones. */
function narrower(wide: Rule): fc.Arbitrary<Rule> {
  switch (wide.kind) {
    case 'age':
      return fc.tuple(years, years).map(([up, down]) => ({
        ...wide,
        min: (wide.min ?? 0) + up,
        max: (wide.max ?? 120) - down,
      }))
    case 'states':
      return wide.in
        ? fc.subarray([...wide.in]).map(list => ({ ...wide, in: list }))
        : fc.array(state).map(more => ({ ...wide, notin: [...(wide.notin ?? []), ...more] }))
    case 'zips':
      return fc
        .record({ kept: fc.subarray([...(wide.in ?? [])]), more: fc.array(zip), cut: fc.array(prefix) })
        .map(parts => ({
          ...wide,
          ...(wide.in && { in: parts.kept }),
          notin: [...(wide.notin ?? []), ...parts.more],
          notprefixes: [...(wide.notprefixes ?? []), ...parts.cut],
        }))
    case 'offers':
      return fc.subarray([...wide.in]).map(list => ({ ...wide, in: list }))
  }
}

// Few values, so that two people are often of one class.
const parsed = parseCatalogue(
  readFileSync(new URL('../../assets/demo-catalogue.yaml', import.meta.url), 'utf8'),
)
if (!parsed.ok) throw new Error('the demo catalogue is broken')
const demo = parsed.catalogue

const same = { code: 'c', text }
const fewStates = ['FL', 'CA', 'NY']
const fewZips = ['33101', '33109', '90001', '9000']
const alikeRule: fc.Arbitrary<OfferRule> = fc.oneof(
  fc
    .record({ min: fc.nat(4), max: fc.integer({ min: 2, max: 6 }) })
    .map(ages => ({ ...same, kind: 'age', ...ages }) as const),
  fc.subarray(fewStates).map(some => ({ ...same, kind: 'states', in: some }) as const),
  fc.subarray(fewStates).map(some => ({ ...same, kind: 'states', notin: some }) as const),
  fc.subarray(fewZips).map(some => ({ ...same, kind: 'zips', in: some }) as const),
  fc.constantFrom('3', '331', '9').map(prefix => ({ ...same, kind: 'zips', notprefixes: [prefix] }) as const),
)
const alikeFacts = fc.record({
  age: fc.nat(7),
  state: fc.constantFrom(...fewStates),
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
    fc.property(fc.array(alikeRule, { maxLength: 3 }), alikeFacts, alikeFacts, (rules, one, other) => {
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
  const classOf = factClassesOf(catalogueWith([{ ...same, kind: 'age', min: 18, max: 64 }]))
  expect(classOf({ age: 18, state: 'FL', zipcode: '33101' })).toBe(
    classOf({ age: 64, state: 'CA', zipcode: '90001' }),
  )
  expect(classOf({ age: 65, state: 'FL', zipcode: '33101' })).not.toBe(
    classOf({ age: 64, state: 'FL', zipcode: '33101' }),
  )
})
