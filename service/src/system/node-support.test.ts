import { expect, test } from 'vitest'
import { nodeEndedOn } from './node-support.ts'

test('a major gets fixes until its last day; of one that is not known yet nothing is said', () => {
  expect(nodeEndedOn('v20.19.0', Date.parse('2026-04-29'))).toBeUndefined()
  expect(nodeEndedOn('v20.19.0', Date.parse('2026-11-27'))).toBe('2026-04-30')
  expect(nodeEndedOn('v24.4.1', Date.parse('2026-11-27'))).toBeUndefined()
  expect(nodeEndedOn('v99.0.0', Date.parse('2099-01-01'))).toBeUndefined()
})
