import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ownPath } from './own-path.ts'

test.each([
  ['/users/1?a=b', '/users/1?a=b'],
  ['/./users', '/users'],
  ['/.//evil.example/x', '/'],
  ['/..//evil.example/x', '/'],
  ['/a/..//evil.example/x', '/'],
  ['//evil.example/x', '/'],
  ['/\\evil.example/x', '/'],
  ['/./\\evil.example/x', '/'],
  ['/\t/evil.example/x', '/'],
  ['/%2e//evil.example', '/'],
  ['https://evil.example/', '/'],
  ['evil', '/'],
])('%j leads to %s', (text, path) => {
  expect(ownPath(text)).toBe(path)
})
test('whatever the text, a browser that follows it stays', () => {
  const piece = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    '%2e',
    '\t',
    '\n',
    '@',
    ':',
    'evil.example',
    'https:',
    '?',
    '#',
  )
  fc.assert(
    fc.property(fc.array(piece), pieces => {
      expect(new URL(ownPath(pieces.join('')), 'https://console.example').host).toBe('console.example')
    }),
  )
})
