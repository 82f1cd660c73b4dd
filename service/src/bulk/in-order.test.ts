import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { answerInOrder } from './in-order.ts'

/** Items without end, each answered by this text; `begun` counts them. */
function endless(text: string, mostUnderWay = 4) {
  const seen = { begun: 0 }
  const answers = answerInOrder(endlessItems(), {
    mostUnderWay,
    failed: String,
    ending: async () => {},
    begin: async () => {
      seen.begun += 1
      return { answer: turn().then(() => text) }
    },
  })
  return { seen, answers }
}

async function* endlessItems() {
  for (;;) yield [0, 0, 0]
}

async function manyTurns() {
  for (let at = 0; at < 200; at += 1) await turn()
}

test('answers come in the order of the items, whichever is ready first, and a failing source has the last word', async () => {
  const waits = [5, 1, 3, 0]
  async function* source() {
    yield [0, 1]
    yield [2, 3]
    throw new Error('source')
  }
  const answers = answerInOrder(source(), {
    mostUnderWay: 4,
    failed: error => (error as Error).message,
    ending: async () => {},
    begin: async item => ({
      answer: (async () => {
        for (let at = 0; at < (waits[item] ?? 0); at += 1) await turn()
        return `${item} `
      })(),
    }),
  })
  expect((await answers.toArray()).join('')).toBe('0 1 2 3 source')
})

test('nothing is begun while nobody reads the answers', async () => {
  const { seen, answers } = endless('x'.repeat(10_000))
  await manyTurns()
  const { begun } = seen
  await manyTurns()
  expect(seen.begun).toBe(begun)
  answers.read()
  await manyTurns()
  expect(seen.begun).toBeGreaterThan(begun)
  answers.destroy()
})

test('nothing is begun after the reader has left', async () => {
  const { seen, answers } = endless('x')
  await turn()
  answers.destroy()
  await manyTurns()
  const { begun } = seen
  await manyTurns()
  expect(seen.begun).toBe(begun)
})
