import { expect, test } from 'vitest'
import { answerInWords } from './answer.ts'

test('what came of an attempt is a status, or words that need no list of our errors', () => {
  expect(answerInWords(422, null)).toBe('HTTP 422')
  expect(answerInWords(null, 'connect')).toBe('no connection')
  expect(answerInWords(null, 'timeout')).toBe('no answer in time')
  expect(answerInWords(null, null)).toBe('no answer')
})
