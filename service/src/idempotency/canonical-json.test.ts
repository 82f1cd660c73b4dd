import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from './key-reservation.ts'

test('the example of RFC 8785 becomes the text that stands there', () => {
  const given = `{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
    "literals": [null, true, false]
  }`
  expect(canonicalJson(JSON.parse(given))).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
})

test('members are sorted by their UTF-16 code units, as RFC 8785 shows it', () => {
  const given = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  }
  expect([...canonicalJson(given).matchAll(/:"([^"]+)"/g)].map(([, text]) => text)).toEqual([
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ])
})

test('numbers are written as RFC 8785 lists them', () => {
  expect(canonicalJson([-0, 5e-324, 1.7976931348623157e308, 9007199254740992, 295147905179352830000])).toBe(
    '[0,5e-324,1.7976931348623157e+308,9007199254740992,295147905179352830000]',
  )
})

test('many members are sorted as few are', () => {
  const names = fc.uniqueArray(fc.string({ unit: 'binary' }), { maxLength: 60 })
  fc.assert(
    fc.property(names, names => {
      const value: unknown = JSON.parse(`{${names.map(name => `${JSON.stringify(name)}:0`).join()}}`)
      const expected = names.toSorted().map(name => `${JSON.stringify(name)}:0`)
      expect(canonicalJson(value)).toBe(`{${expected.join()}}`)
    }),
  )
})

/** The same value with the members of each object in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, one]) => [name, turned(one)]),
  )
}

test('the order of members does not matter, and nothing else is lost', () => {
  fc.assert(
    fc.property(fc.json(), text => {
      const value: unknown = JSON.parse(text)
      expect(canonicalJson(turned(value))).toBe(canonicalJson(value))
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('a member that is named like an inherited one is a member', () => {
  expect(canonicalJson(JSON.parse('{"__proto__":1,"constructor":2,"toJSON":"a"}'))).toBe(
    '{"__proto__":1,"constructor":2,"toJSON":"a"}',
  )
})
