import { expect, test } from 'vitest'
import { openSteps } from './each-step.ts'

const first = new Error('first')

test('a step that fails hinders no other, and its failure is thrown at the end', async () => {
  const steps = openSteps()
  expect(await steps.run(async () => 1)).toBe(1)
  expect(await steps.run(() => Promise.reject(first))).toBe(0)
  expect(await steps.run(() => Promise.reject(new Error('second')))).toBe(0)
  expect(await steps.run(async () => 4)).toBe(4)
  expect(() => steps.end()).toThrow(first)
})

test('after five seconds of failures no further step is tried', async () => {
  let clock = 0
  const steps = openSteps(() => clock)
  let tries = 0
  for (let count = 0; count < 10; count += 1)
    await steps.run(async () => {
      tries += 1
      clock += 2000
      throw first
    })
  expect(tries).toBe(3)
  expect(() => steps.end()).toThrow(first)
})
