import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { problemsIn, problemsOf, valid } from '../../../tests/small-catalogue.ts'

/** The wrong text, the right text, and the one expected problem. */
const mistakes: [written: string, instead: string, problem: string][] = [
  [
    '[NY, VT]',
    '[XX]',
    'line 15: benefits[0].rules[0].states.notin[0]: "XX" is not a USPS state code; use two capital letters such as NY',
  ],
  [
    '[NY, VT]',
    '[ny]',
    'line 15: benefits[0].rules[0].states.notin[0]: "ny" is not a USPS state code; use two capital letters such as NY',
  ],
  [
    '[NY, VT]',
    '[]',
    'line 15: benefits[0].rules[0].states.notin: is an empty list; name at least one, or delete the key',
  ],
  [
    '[NY, VT]',
    '[NY, NY]',
    'line 15: benefits[0].rules[0].states.notin[1]: "NY" stands in this list twice; delete one of the two',
  ],
  [
    '[NY, VT]',
    'NY',
    'line 15: benefits[0].rules[0].states.notin: must be a list; write it as [a, b], or one element a line with "- " before it',
  ],
  [
    '{ notin: [NY, VT] }',
    '{ notin: [NY], in: [FL] }',
    'line 15: benefits[0].rules[0].states: has in and notin; keep one of the two',
  ],
  [
    '{ notin: [NY, VT] }',
    '{}',
    'line 15: benefits[0].rules[0].states: names no state; add in or notin with a list of state codes',
  ],
  [
    'states: { notin: [NY, VT] }',
    'zips: { in: [33101] }',
    'line 15: benefits[0].rules[0].zips.in[0]: 33101 is read as number, not as text; put it in quotes: "33101"',
  ],
  [
    'states: { notin: [NY, VT] }',
    'zips: { notin: [01001] }',
    'line 15: benefits[0].rules[0].zips.notin[0]: 01001 is read as number, not as text; put it in quotes: "01001"',
  ],
  [
    'states: { notin: [NY, VT] }',
    'zips: { prefixes: ["33101"] }',
    'line 15: benefits[0].rules[0].zips.prefixes[0]: "33101" is not a ZIP prefix; write 1 to 4 digits in quotes, such as "331"',
  ],
  [
    'states: { notin: [NY, VT] }',
    'zips: { in: ["331"] }',
    'line 15: benefits[0].rules[0].zips.in[0]: "331" is not a ZIP code; write 5 digits in quotes, such as "33101"',
  ],
  [
    'states: { notin: [NY, VT] }',
    'zips: {}',
    'line 15: benefits[0].rules[0].zips: names no ZIP code; add in, prefixes, notin or notprefixes with a list',
  ],
  [
    'states: { notin: [NY, VT] }',
    'age: { min: 65, max: 18 }',
    'line 15: benefits[0].rules[0].age: min 65 is above max 18, so that nobody is admitted; exchange the two',
  ],
  [
    'states: { notin: [NY, VT] }',
    'age: {}',
    'line 15: benefits[0].rules[0].age: admits every age; add min, max or both',
  ],
  [
    'states: { notin: [NY, VT] }',
    'age: { min: "18" }',
    'line 15: benefits[0].rules[0].age.min: must be a whole number; write one from 0 to 120, without quotes, instead of "18"',
  ],
  [
    'states: { notin: [NY, VT] }',
    'offers: { in: [gold] }',
    'line 15: benefits[0].rules[0].offers.in[0]: there is no offer "gold" in this file; correct the name or add the offer',
  ],
  [
    'states: { notin: [NY, VT] }',
    'offers: { in: [] }',
    'line 15: benefits[0].rules[0].offers.in: is empty, so that nobody is admitted; name an offer',
  ],
  [
    '        states: { notin: [NY, VT] }\n',
    '',
    'line 14: benefits[0].rules[0]: has no condition; add one of age, states, zips, offers',
  ],
  [
    'states: { notin: [NY, VT] }',
    'states: { in: [FL] }\n        age: { min: 18 }',
    'line 14: benefits[0].rules[0]: has age and states; make a rule of its own of each',
  ],
  [
    'code: not_in_ny',
    'code: Not-in-NY',
    'line 14: benefits[0].rules[0].code: "Not-in-NY" is not a rule code; use up to 64 lower-case letters, digits and _, such as not_in_ny',
  ],
  [
    'code: not_in_ny',
    'code: not_yet_available',
    'line 14: benefits[0].rules[0].code: "not_yet_available" is a code of the service itself; choose another',
  ],
  [
    '{ en: Calls, es: Llamadas }',
    '{ en: Calls }',
    'line 24: benefits[1].pays: es is missing; add the Spanish text',
  ],
  [
    '{ en: Calls, es: Llamadas }',
    '{ en: Calls, es: "" }',
    'line 24: benefits[1].pays.es: is empty; write the text',
  ],
  [
    '{ en: Calls, es: Llamadas }',
    '{ en: Calls, es: }',
    'line 24: benefits[1].pays.es: has no value; write one or delete the key',
  ],
  [
    '{ en: Calls, es: Llamadas }',
    '{ en: "a\\0b", es: Llamadas }',
    'line 24: benefits[1].pays.en: holds a control character or half a character; delete it',
  ],
  [
    '{ en: Calls, es: Llamadas }',
    '{ en: "\\ud83d", es: Llamadas }',
    'line 24: benefits[1].pays.en: holds a control character or half a character; delete it',
  ],
  [
    'Legal helpline',
    'Legal '.repeat(20),
    'line 18: benefits[1].displayname.en: has 119 characters; shorten it to 80 at most',
  ],
  [
    '    sortorder: 20\n',
    '    sortOrder: 20\n    sortorder: 20\n',
    'line 22: benefits[1]: unknown key "sortOrder"; correct it or delete it: the keys here are name, displayname, description, icon, benefittype, sortorder, pays, notcovered, cost, amount, covers, tiers, rules, consent, endsatage, insurer, howtouse, policy, plancode, documents, waitingperiod, beneficiaries, premium',
  ],
  [
    '    sortorder: 20\n',
    '    sortorder: 20\n    premium: { cents: 100, per: month }\n',
    'line 23: benefits[1].premium: needs an insurer who gets it; add one to the benefit',
  ],
  [
    '    slots: 1\n',
    '    slots: 1\n    firstmonth: half\n',
    'line 34: offers[0].firstmonth: "half" is not allowed here; use one of full, daily, free',
  ],
  [
    '    sortorder: 20\n',
    '    sortorder: 20\n    insurer: seaview\n',
    'line 23: benefits[1].insurer: there is no insurer "seaview" in this file; correct the code or add the insurer',
  ],
  [
    '    sortorder: 20\n',
    '    sortorder: 20\n    insurer: [seaview]\n',
    'line 23: benefits[1].insurer: must be a code, or a group of keys; write a code, or name, licence, howtouse below it, each as "key: value"',
  ],
  [
    '    sortorder: 20\n',
    '    sortorder: 20\n    howtouse: { text: { en: Call, es: Llame } }\n',
    'line 23: benefits[1].howtouse: names nobody to reach; add phone, url or email',
  ],
  [
    '    sortorder: 20\n',
    '    sortorder: 20\n    howtouse: { text: { en: Call, es: Llame }, url: http://example.com }\n',
    'line 23: benefits[1].howtouse.url: "http://example.com" is not a web address; write one that begins with https://, such as https://example.com/claims',
  ],
  [
    '    sortorder: 20\n',
    '    sortorder: 20\n    sortorder: 30\n',
    'line 23: benefits[1]: the key "sortorder" appears here twice; delete one of the two',
  ],
  [
    '    sortorder: 20\n',
    '',
    'line 17: benefits[1]: sortorder is missing; add a whole number; lower ones are listed first',
  ],
  [
    'name: legal',
    'name: Legal-1',
    'line 17: benefits[1].name: "Legal-1" is not a name; use 2 to 32 lower-case letters and digits, such as accident',
  ],
  [
    'offer: starter',
    'offer: legal',
    'line 27: offers[0]: the name "legal" is taken by benefits[1] in line 17; benefits and offers share one set of names, choose another',
  ],
  [
    'icon: legal.svg',
    'icon: ../legal.svg',
    'line 20: benefits[1].icon: "../legal.svg" is not an icon; write the name of one that ships with us such as accident.svg, or the path of a PNG or WebP file',
  ],
  [
    'benefittype: service',
    'benefittype: services',
    'line 21: benefits[1].benefittype: "services" is not allowed here; use one of dollar, service, discount, account',
  ],
  [
    'sortorder: 20\n',
    'sortorder: 20\n    amount: { cents: 100 }\n',
    'line 23: benefits[1].amount: belongs to benefits of type dollar only; delete it, as this one is of type service',
  ],
  [
    '    amount: { cents: 1000000 }\n',
    '',
    'line 3: benefits[0]: amount is missing; a benefit of type dollar needs what it pays, such as amount: { cents: 1000000 }',
  ],
  [
    'amount: { cents: 1000000 }',
    'amount: { cents: 10000.50 }',
    'line 9: benefits[0].amount.cents: must be a whole number; write one from 1 to 1000000000, without quotes, instead of "10000.50"',
  ],
  [
    'amount: { cents: 1000000 }',
    'amount: { cents: 1000000, per: year }',
    'line 9: benefits[0].amount.per: "year" is not allowed here; use one of day, week, month',
  ],
  [
    'cost: { cents: 0, per: month }\n    pays: { en: Calls',
    'cost: { cents: 0, per: year }\n    pays: { en: Calls',
    'line 23: benefits[1].cost.per: "year" is not allowed here; use one of week, month',
  ],
  [
    'sortorder: 20\n',
    'sortorder: 20\n    endsatage: 70\n',
    'line 23: benefits[1].endsatage: people of 70 can still enroll; add an age rule with max: 69 or less, or raise endsatage',
  ],
  [
    'sortorder: 20\n',
    'sortorder: 20\n    consent: { version: 1.0, text: { en: Yes, es: Sí } }\n',
    'line 23: benefits[1].consent.version: 1.0 is read as number, not as text; put it in quotes: "1.0"',
  ],
  [
    'fixed: [accident]',
    'fixed: [acident]',
    'line 31: offers[0].fixed[0]: there is no benefit "acident" in this file; correct the name or add the benefit',
  ],
  [
    'fixed: [accident]',
    'fixed: [accident, legal]',
    'line 32: offers[0].selectable[0]: "legal" is fixed in this offer too; take it out of one of the two lists',
  ],
  [
    'fixed: [accident]',
    'fixed: [accident, accident]',
    'line 31: offers[0].fixed[1]: "accident" stands in this list twice; delete one of the two',
  ],
  [
    'slots: 1',
    'slots: 2',
    'line 33: offers[0].slots: 2 slots for 1 selectable benefits; write 1 or less, or add benefits',
  ],
  [
    'slots: 1',
    'slots: -1',
    'line 33: offers[0].slots: must be a whole number; write one from 0 to 200, without quotes, instead of "-1"',
  ],
  [
    'slots: 1',
    'slots: 1\n    period: year',
    'line 34: offers[0].period: "year" is not allowed here; write calendarmonth',
  ],
  [
    'slots: 1',
    'slots: 1\n    cutoffhours: 337',
    'line 34: offers[0].cutoffhours: must be a whole number; write one from 0 to 336, without quotes, instead of "337"',
  ],
  [
    'slots: 1',
    'slots: 1\n    availability: { from: 2026-02-30 }',
    'line 34: offers[0].availability.from: "2026-02-30" is not a date; write one that exists as YYYY-MM-DD, such as 2026-01-31',
  ],
  [
    'slots: 1',
    'slots: 1\n    availability: { from: 2026-02-02, until: 2026-02-01 }',
    'line 34: offers[0].availability: from 2026-02-02 is after until 2026-02-01; exchange the two',
  ],
  [
    'slots: 1',
    'slots: 1\n    availability: {}',
    'line 34: offers[0].availability: says nothing; add from, until or both',
  ],
  [
    'slots: 1',
    'slots: 1\n    rules:\n      - { code: only_plus, text: { en: No, es: No }, offers: { in: [starter] } }',
    'line 35: offers[0].rules[0]: unknown key "offers"; correct it or delete it: the keys here are code, text, age, states, zips',
  ],
  [
    'schema: 1',
    'schema: 2',
    'line 1: schema: must be a whole number; write 1, without quotes, instead of "2"',
  ],
]

describe('a mistake is refused with line, path and remedy', () => {
  test.each(mistakes)('%j → %j', (written, instead, problem) => {
    expect(problemsOf(written, instead)).toContain(problem)
  })
})

test('a mistake brings no further complaints but those of what depends on it', () => {
  const brings = mistakes.filter(([written, instead]) => problemsOf(written, instead).length > 1)
  expect(brings.map(([, instead]) => instead.split('\n').at(-1)?.trim())).toEqual([
    'offers: { in: [gold] }',
    'offers: { in: [] }',
    'name: Legal-1',
    '- { code: only_plus, text: { en: No, es: No }, offers: { in: [starter] } }',
  ])
})

describe('two things that exclude each other are refused', () => {
  const second = valid.slice(valid.indexOf('  - offer')).replace('offer: starter', 'offer: plus')

  test('one rank for two offers', () => {
    const message =
      'line 34: offers[1]: rank 10 is the rank of "starter" too; give each offer a rank of its own'
    expect(problemsIn(valid + second)).toEqual([message])
  })

  test('one name for two benefits', () => {
    expect(problemsOf('name: legal', 'name: accident')).toContain(
      'line 17: benefits[1]: the name "accident" is taken by benefits[0] in line 3; benefits and offers share one set of names, choose another',
    )
  })

  test('one code for two rules of a benefit', () => {
    const again =
      '      - { code: not_in_ny, age: { min: 18 }, text: { en: Adults, es: Adultos } }\n  - name: legal'
    expect(problemsOf('  - name: legal', again)).toEqual([
      'line 17: benefits[0].rules[1].code: "not_in_ny" stands in this list twice; delete one of the two',
    ])
  })

  test('a fixed benefit whose rule does not admit the offer', () => {
    const text = valid.replace('states: { notin: [NY, VT] }', 'offers: { in: [plus] }')
    const other = second.replace('rank: 10', 'rank: 20')
    expect(problemsIn(text + other)).toEqual([
      'line 31: offers[0].fixed[0]: the rule not_in_ny of "accident" does not admit the offer "starter"; add the offer to the rule or take the benefit out',
    ])
  })

  test('an offer without any benefit', () => {
    const text = valid.replace('[accident]', '[]').replace('[legal]', '[]').replace('slots: 1', 'slots: 0')
    expect(problemsIn(text)).toEqual([
      'line 27: offers[0]: has no benefits; name some in fixed or selectable',
    ])
  })
})

test('all problems come at once, from top to bottom', () => {
  const text = valid
    .replace('sortorder: 10', 'sortorder: ten')
    .replace('es: Enfermedades', 'es: 5')
    .replace('slots: 1', 'slots: 9')
  expect(problemsIn(text).map(line => line.split(':')[0])).toEqual(['line 8', 'line 12', 'line 33'])
})

describe('docs/catalogue.md', () => {
  const docs = readFileSync(new URL('../../../docs/catalogue.md', import.meta.url), 'utf8')

  test('shows an example that can be published', () => {
    const example = /```yaml\n(schema: 1\n[\s\S]*?)```/.exec(docs)?.[1]
    expect(problemsIn(example ?? '')).toEqual([])
  })

  test('lists messages that are really given', () => {
    const given = new Set(mistakes.map(([, , problem]) => problem.replace(/^line \d+: [^ ]+: /, '')))
    const listed = [...docs.matchAll(/^\| [^|]+ \| `([^|]+)` \|$/gm)].map(row => row[1] ?? '')
    expect(listed.length).toBeGreaterThan(10)
    expect(listed.filter(message => !given.has(message))).toEqual([])
  })
})
