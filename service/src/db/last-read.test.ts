import { expect, test, vi } from 'vitest'
import { openLastRead } from './last-read.ts'

test('what was read last is given while reading fails, and is said not to be fresh', async () => {
  let answer: () => Promise<number> = async () => 1
  const read = openLastRead(() => answer(), 0)
  expect(await read()).toEqual({ value: 1, isFresh: true })
  answer = () => Promise.reject(new Error('away on purpose'))
  expect(await read()).toEqual({ value: 1, isFresh: false })
  answer = async () => 2
  expect(await read()).toEqual({ value: 2, isFresh: true })
})

test('a read that does not end is waited for no longer than Prometheus waits, and no second one begins beside it', async () => {
  vi.useFakeTimers()
  let begun = 0
  let end = (_value: number) => {}
  const read = openLastRead(() => {
    begun += 1
    return new Promise<number>(resolve => {
      end = resolve
    })
  }, 7)
  const both = Promise.all([read(), read()])
  await vi.advanceTimersByTimeAsync(5000)
  expect(await both).toEqual([
    { value: 7, isFresh: false },
    { value: 7, isFresh: false },
  ])
  const third = read()
  end(8)
  expect(await third).toEqual({ value: 8, isFresh: true })
  expect(begun).toBe(1)
  vi.useRealTimers()
})
