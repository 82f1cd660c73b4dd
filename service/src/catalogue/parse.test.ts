import { describe, expect, test } from 'vitest'
import { problemsIn, problemsOf, valid } from '../../../tests/small-catalogue.ts'
import { readCatalogue } from './document.ts'
import { parseCatalogue } from './parse.ts'

describe('what is no catalogue at all is refused', () => {
  test.each([
    ['', 'line 1: the file is empty; write schema, benefits and offers'],
    ['# nothing yet\n', 'line 1: the file is empty; write schema, benefits and offers'],
    [
      'hello',
      'line 1: must be a group of keys; write schema, benefits, offers, insurers below it, each as "key: value"',
    ],
    [
      'schema: 1\nbenefits: []\noffers: []',
      'line 2: benefits: is an empty list; a catalogue needs at least one',
    ],
    ['schema: 1', 'line 1: benefits is missing; add the list of benefits'],
  ])('%j', (text, problem) => {
    expect(problemsIn(text)).toContain(problem)
  })

  test.each([
    ['benefits:\n\t- name: a', 2, 'a tab cannot indent a line; use spaces'],
    ['a: Pays: a lot', 1, 'a second ": " on the same line; put a text that holds a colon in quotes'],
    ['a: 1\nb: "open', 2, 'something is not closed or lacks its colon'],
    ['a: 1\n---\nb: 2', 2, 'a second document begins here'],
    ['a: !important', 1, 'a text that begins with "!" is read as a tag; put it in quotes'],
    ['a: @home', 1, 'a text cannot begin with this character; put the text in quotes'],
  ])('%j is not valid YAML', (text, line, remedy) => {
    const first = problemsIn(text)[0]
    expect(first).toContain(`line ${line}: not valid YAML: ${remedy}`)
  })
})

describe('a file that would exhaust the reader is refused', () => {
  test('larger than 1 MiB, counted in bytes', () => {
    expect(problemsIn(`# ${'ñ'.repeat(524_288)}`)).toEqual([
      'line 1: the file has 1048578 bytes; shorten it to 1048576 (1 MiB) at most',
    ])
  })

  test.each([
    ['['.repeat(900_000), 'line 1: nested more than 20 deep'],
    ['[\n'.repeat(400_000), 'line 21: nested more than 20 deep'],
    ['- '.repeat(400_000), 'line 1: nested more than 20 deep'],
    ['{a: '.repeat(200_000), 'line 1: nested more than 20 deep'],
    [
      Array.from({ length: 1400 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
      'line 21: nested more than 20 deep',
    ],
  ])('nested too deeply', (text, problem) => {
    const problems = problemsIn(text)
    expect(problems[0]).toContain(problem)
    expect(problems.length).toBeLessThanOrEqual(5)
  })

  test('a hundred thousand keys in one mapping', () => {
    const keys = Array.from({ length: 100_000 }, (_, index) => `k${index}: 1`)
    expect(problemsIn(keys.join('\n')).length).toBeGreaterThanOrEqual(100_000)
  })

  test('more than 200 benefits', () => {
    const benefits = Array.from({ length: 201 }, (_, index) => `  - name: b${index}`)
    expect(problemsIn(`schema: 1\nbenefits:\n${benefits.join('\n')}\noffers: []`)).toContain(
      'line 3: benefits: has 201 elements; 200 are allowed, take some out',
    )
  })

  test('more than 100 aliases', () => {
    const text = `a: &a 1\nb:\n${'  - *a\n'.repeat(101)}`
    expect(problemsIn(text)).toEqual(['line 103: more than 100 aliases; write the values out from here on'])
  })

  test('aliases that multiply', () => {
    const levels = Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(9)}]`)
    expect(problemsIn(`l0: &l0 [a]\n${levels.join('\n')}\n`)).toHaveLength(13)
  })

  test('a mistake in a value that an alias repeats, at the line where it was written', () => {
    const text = valid
      .replace('states: {', 'states: &some\n          notin: [NY, VT]\n          wrong: 1\n        #{')
      .replace('slots: 1', 'slots: 1\n    rules: [{ code: no, text: { en: No, es: No }, states: *some }]')
    const lines = problemsIn(text).filter(one => one.includes('unknown key "wrong"'))
    const line = text.split('\n').findIndex(one => one.includes('wrong: 1')) + 1
    expect(lines).toHaveLength(2)
    for (const one of lines) expect(one).toMatch(new RegExp(`^line ${line}: `))
  })

  test('a repeated key once, although the keys of its two values repeat each other', () => {
    const text = 'schema: 1\na: { b: 1 }\na: { b: 1 }\n"c/d": 1\nc: { d: 1 }\n'
    expect(problemsIn(text)).toEqual(['line 3: the key "a" appears here twice; delete one of the two'])
  })

  test('an alias that stands for nothing, or for what holds it', () => {
    expect(problemsOf('fixed: [accident]', 'fixed: *none')).toEqual([
      'line 31: *none stands for nothing; write &none before the value it repeats, further up',
    ])
    expect(problemsOf('fixed: [accident]', 'fixed: &all [*all]')).toContain(
      'line 31: offers[0].fixed[0]: must be a text; write one',
    )
  })
})

test('a mistake in a repeated value is told where the value is written', () => {
  const text = valid
    .replace('[NY, VT]', '&some [NY, 5]')
    .replace(
      'slots: 1',
      'slots: 1\n    rules: [{ code: no, text: { en: No, es: No }, states: { in: *some } }]',
    )
  const fault = '5 is read as number, not as text; put it in quotes: "5"'
  expect(problemsIn(text)).toEqual([
    `line 15: benefits[0].rules[0].states.notin[1]: ${fault}`,
    `line 15: offers[0].rules[0].states.in[1]: ${fault}`,
  ])
})

describe('a catalogue that is accepted', () => {
  const result = parseCatalogue(valid)

  test('has its benefits and offers by name', () => {
    if (!result.ok) throw new Error('refused')
    expect(result.catalogue.benefits.get('accident')).toEqual({
      name: 'accident',
      displayname: { en: 'Accident coverage', es: 'Cobertura por accidentes' },
      description: { en: 'Money after an accident', es: 'Dinero tras un accidente' },
      icon: 'accident.svg',
      benefittype: 'dollar',
      sortorder: 10,
      amount: { cents: 1000000 },
      cost: { cents: 0, per: 'month' },
      pays: { en: 'Up to $10000', es: 'Hasta $10000' },
      notcovered: { en: 'Illness', es: 'Enfermedades' },
      rules: [
        {
          code: 'not_in_ny',
          kind: 'states',
          notin: ['NY', 'VT'],
          text: { en: 'Not in New York', es: 'No en Nueva York' },
        },
      ],
    })
    expect(result.catalogue.offers.get('starter')).toEqual({
      offer: 'starter',
      displayname: { en: 'Starter', es: 'Inicial' },
      description: { en: 'The first', es: 'La primera' },
      rank: 10,
      fixed: ['accident'],
      selectable: ['legal'],
      slots: 1,
      period: 'calendarmonth',
      cutoffhours: 24,
      rules: [],
    })
  })

  test('says where each name stands', () => {
    if (!result.ok) throw new Error('refused')
    expect(result.positions.get('legal')).toEqual({ line: 17, column: 5, path: 'benefits[1]' })
    expect([...result.positions.keys()]).toEqual(['accident', 'legal', 'starter'])
  })

  test('comes back whole from its document, through JSON', () => {
    if (!result.ok) throw new Error('refused')
    expect(readCatalogue(JSON.parse(JSON.stringify(result.document)))).toEqual(result.catalogue)
  })

  test('gives the same document whatever the order, the comments and the form of writing', () => {
    const [head = '', accident = '', legal = ''] = valid.split(/(?= {2}- name)|(?=offers:)/)
    const rest = valid.slice(valid.indexOf('offers:'))
    const turned = `# turned\n${head}${legal}${accident}${rest}`
      .replace('[NY, VT]', '\n          - VT\n          - "NY"')
      .replace('{ notin:', '\n         notin:')
      .replace('"NY" }', '"NY"')
    const again = parseCatalogue(turned)
    if (!again.ok || !result.ok) throw new Error('refused')
    expect(turned).not.toEqual(valid)
    expect(again.document).toEqual(result.document)
  })

  test('may begin with a byte order mark and end its lines with CRLF', () => {
    const windows = parseCatalogue(`\uFEFF${valid.replaceAll('\n', '\r\n')}`)
    if (!windows.ok || !result.ok) throw new Error('refused')
    expect(windows.document).toEqual(result.document)
  })

  test('may repeat a value by an alias', () => {
    const text = valid
      .replace('states: {', 'states: &some {')
      .replace('slots: 1', 'slots: 1\n    rules: [{ code: no, text: { en: No, es: No }, states: *some }]')
    const aliased = parseCatalogue(text)
    if (!aliased.ok) throw new Error('refused')
    expect(aliased.catalogue.offers.get('starter')?.rules[0]).toMatchObject({
      kind: 'states',
      notin: ['NY', 'VT'],
    })
  })
})

test('a document of a newer release is refused with a sentence', () => {
  expect(() => readCatalogue({ schema: 2, benefits: [], offers: [] })).toThrow('written by a newer release')
})

test('of a hundred thousand faults as many are told as anybody reads', () => {
  expect(problemsIn('a: 1\n'.repeat(50_000))).toHaveLength(100)
})
