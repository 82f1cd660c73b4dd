import { expect, test } from 'vitest'
import { openTasks } from './each-task.ts'

const first = new Error('first')

test('a task that fails hinders no other, and its failure is thrown at the end', async () => {
  const tasks = openTasks()
  expect(await tasks.run(async () => 1)).toBe(1)
  expect(await tasks.run(() => Promise.reject(first))).toBe(0)
  expect(await tasks.run(() => Promise.reject(new Error('second')))).toBe(0)
  expect(await tasks.run(async () => 4)).toBe(4)
  expect(() => tasks.end()).toThrow(first)
})

test('after five seconds of failures no further task is tried', async () => {
  let clock = 0
  const tasks = openTasks(() => clock)
  let tries = 0
  for (let count = 0; count < 10; count += 1)
    await tasks.run(async () => {
      tries += 1
      clock += 2000
      throw first
    })
  expect(tries).toBe(3)
  expect(() => tasks.end()).toThrow(first)
})
