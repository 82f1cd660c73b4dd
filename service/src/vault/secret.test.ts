import { expect, test } from 'vitest'
import { makeSecret, parseSecret, type SecretKind, type SecretMode } from './secret.ts'

const known = `enr_at_live_abc123_${'Z'.repeat(43)}38Evz1`
const kinds: SecretKind[] = ['at', 'cs', 'ak', 'lt', 'rt', 'sh']
const modes: SecretMode[] = ['sandbox', 'live']

test('a known secret is read', () => {
  expect(parseSecret(known)).toEqual({ kind: 'at', mode: 'live', id: 'abc123' })
})

test('every kind and mode is made in the scannable form and read back', () => {
  for (const kind of kinds)
    for (const mode of modes)
      for (const id of ['1', 'x'.repeat(44)]) {
        const { text } = makeSecret(kind, mode, id)
        expect(text).toMatch(new RegExp(`^enr_${kind}_${mode}_${id}_[0-9A-Za-z]{49}$`))
        expect(parseSecret(text)).toEqual({ kind, mode, id })
      }
})

test('no two secrets are the same', () => {
  const texts = Array.from({ length: 500 }, () => makeSecret('at', 'live', 'a').text)
  expect(new Set(texts).size).toBe(500)
})

test('a single wrong character anywhere is refused', () => {
  for (let index = 0; index < known.length; index++)
    for (const char of ['0', 'A', 'a', '_', '-', ' ', 'é']) {
      const changed = known.slice(0, index) + char + known.slice(index + 1)
      if (changed !== known) expect(parseSecret(changed), changed).toBeUndefined()
    }
})

test('every neighbouring pair swapped is refused', () => {
  for (let index = 1; index < known.length; index++) {
    const swapped = `${known.slice(0, index - 1)}${known[index]}${known[index - 1]}${known.slice(index + 1)}`
    if (swapped !== known) expect(parseSecret(swapped), swapped).toBeUndefined()
  }
})

test.each([
  '',
  'enr',
  known.slice(1),
  known.slice(0, -1),
  `${known}0`,
  ` ${known}`,
  `${known}\n`,
  known.toUpperCase(),
])('%j is no secret', text => expect(parseSecret(text)).toBeUndefined())

test.each(['', 'a_b', 'a-b', 'é', 'x'.repeat(45)])('%j cannot be the id of a secret', id => {
  expect(() => makeSecret('at', 'live', id)).toThrow(RangeError)
})
