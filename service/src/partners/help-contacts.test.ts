import { describe, expect, test } from 'vitest'
import { withHelp } from './help-contacts.ts'

const harbor = { phone: '1-800-555-0142', email: 'help@harbor.example', url: 'https://harbor.example/help' }

test('help contacts are set one by one, stay when nothing is said, and an empty text takes one away', () => {
  expect(withHelp({}, {})).toEqual({})
  expect(withHelp({}, harbor)).toEqual(harbor)
  expect(withHelp(harbor, { phone: '+52 (55) 5555-0100' })).toEqual({
    ...harbor,
    phone: '+52 (55) 5555-0100',
  })
  expect(withHelp(harbor, { email: '', url: '' })).toEqual({ phone: harbor.phone })
})

describe('what no page could show is refused', () => {
  test.each(['12', '1'.repeat(16), 'call us', '555;ext=1', '<b>5550142</b>'])('as a phone: %s', phone => {
    expect(() => withHelp({}, { phone })).toThrow(/--help-phone/)
  })
  test.each([
    'help',
    'help@harbor',
    'a b@harbor.example',
    'help@harbor.example?bcc=x@y.example',
    'a@b@c.example',
  ])('as an email address: %s', email => {
    expect(() => withHelp({}, { email })).toThrow(/--help-email/)
  })
  test.each([
    'http://harbor.example',
    'javascript:alert(1)',
    'harbor.example',
    'https://me:x@harbor.example',
  ])('as a web address: %s', url => {
    expect(() => withHelp({}, { url })).toThrow(/--help-url/)
  })
})
