import { expect, test } from 'vitest'
import { checkOrigin, checkRedirect } from './addresses.ts'

test.each([
  'https://app.example.com',
  'https://app.example.com:8443',
  'https://192.0.2.7',
  'https://[2001:db8::7]',
])('%s is an origin, and with a path a redirect address', text => {
  expect(checkOrigin(text, false)).toBe(text)
  expect(checkRedirect(`${text}/done?a=1`, false)).toBe(`${text}/done?a=1`)
})

// Each of these would have another meaning in a Content-Security-Policy, or names more than one site.
test.each([
  'https://*',
  'https://*.example.com',
  'https://a;script-src.example.com',
  'https://a,b.example.com',
  "https://a.com'",
  'https://App.example.com',
  'https://user@app.example.com',
  'http://app.example.com',
  'http://127.0.0.1',
  'null',
])('%s is no origin', text => {
  expect(() => checkOrigin(text, false)).toThrow(/is not an origin/)
  expect(() => checkRedirect(text, false)).toThrow(/is not a redirect address/)
})

test('a sandbox takes http on loopback', () => {
  expect(checkOrigin('http://127.0.0.1:9000', true)).toBe('http://127.0.0.1:9000')
  expect(() => checkOrigin('http://app.example.com', true)).toThrow(/is not an origin/)
})
