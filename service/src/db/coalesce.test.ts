import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { coalesce } from './coalesce.ts'

/** Runs batches that end when they are told to, and records their calls. */
function openBatches(options: { gatherMs?: number; maxBatch?: number }) {
  const batches: { calls: number[]; end: () => void }[] = []
  const call = coalesce<number, number>({
    name: 'test',
    maxBatch: 100,
    ...options,
    run: calls =>
      new Promise(resolve => {
        const end = () => resolve(calls.map(value => ({ ok: true, value })))
        batches.push({ calls, end })
      }),
  })
  return { call, batches, calls: () => batches.map(batch => batch.calls) }
}

/** Longer than any test takes, so that only the calls decide when a batch starts. */
const forever = 3_600_000

test('calls of one turn of the event loop are one batch, and later ones the next', async () => {
  const { call, batches, calls } = openBatches({})
  const answers = [call(1), call(2)]
  await turn()
  answers.push(call(3))
  await turn()
  answers.push(call(4))
  await turn()
  expect(calls()).toEqual([[1, 2]])
  batches[0]?.end()
  await Promise.all(answers.slice(0, 2))
  await turn()
  expect(calls()).toEqual([
    [1, 2],
    [3, 4],
  ])
  batches[1]?.end()
  expect(await Promise.all(answers)).toEqual([1, 2, 3, 4])
})

test('a batch that gathers waits while each turn brings further calls', async () => {
  const { call, calls } = openBatches({ gatherMs: forever })
  for (let at = 1; at <= 5; at += 1) {
    void call(at)
    await turn()
    expect(calls()).toEqual([])
  }
  await turn()
  await turn()
  expect(calls()).toEqual([[1, 2, 3, 4, 5]])
})

test('a batch that is full no longer gathers, nor does one whose time is over', async () => {
  const full = openBatches({ gatherMs: forever, maxBatch: 2 })
  void full.call(1)
  void full.call(2)
  await turn()
  expect(full.calls()).toEqual([[1, 2]])
  const late = openBatches({ gatherMs: Number.MIN_VALUE })
  void late.call(1)
  await turn()
  expect(late.calls()).toEqual([[1]])
})

test('who calls again as soon as the answer is there is in the next batch with those who waited', async () => {
  const { call, batches, calls } = openBatches({ gatherMs: forever })
  const again = call(1).then(() => turn().then(() => call(10)))
  await turn()
  await turn()
  expect(calls()).toEqual([[1]])
  const waiting = [call(2), call(3)]
  batches[0]?.end()
  await turn()
  await turn()
  await turn()
  await turn()
  expect(calls()).toEqual([[1], [2, 3, 10]])
  batches[1]?.end()
  expect(await Promise.all([again, ...waiting])).toEqual([10, 2, 3])
})
