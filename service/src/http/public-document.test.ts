import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodingFor, isKnownToCaller } from './public-document.ts'

const forms = new Set(['br', 'gzip', 'identity'] as const)

describe('the encoding of an answer', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['br;q=0, gzip;q=0.0', 'identity'],
    ['identity', 'identity'],
    ['GZIP;q=0.5', 'gzip'],
    ['zstd', 'identity'],
  ] as const)('%j gets %s', (accept, encoding) => expect(encodingFor(accept, forms)).toBe(encoding))

  test('is one that exists, whatever is asked for', () => {
    fc.assert(
      fc.property(fc.string(), accept => {
        expect(forms.has(encodingFor(accept, forms))).toBe(true)
      }),
    )
    expect(encodingFor('br', new Set(['identity'] as const))).toBe('identity')
  })
})

test.each([
  [undefined, false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", W/"a-br"', true],
  ['*', true],
  ['a', false],
  ['"c"', false],
] as const)('If-None-Match %j: %s', (sent, isKnown) =>
  expect(isKnownToCaller(sent, ['"a"', '"a-br"'])).toBe(isKnown),
)
