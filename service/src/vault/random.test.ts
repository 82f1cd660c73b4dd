import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seal, unseal } from './seal.ts'
import { randomBytes, randomNonce } from './uuid.ts'

test('random bytes have the length that was asked for, and none of what is given out is given out again', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 12, max: 3000 }), { minLength: 20, maxLength: 200 }), counts => {
      const drawn = counts.map(randomBytes)
      expect(drawn.map(bytes => bytes.length)).toEqual(counts)
      expect(new Set(drawn.map(bytes => bytes.toString('hex', 0, 12))).size).toBe(counts.length)
    }),
    { numRuns: 20 },
  )
})

test('nonces and keys are drawn from the same bytes, and none is drawn twice', () => {
  const drawn = Array.from({ length: 3000 }, (_, at) => (at % 2 === 0 ? randomNonce(12) : randomBytes(32)))
  expect(drawn.every((bytes, at) => bytes.length === (at % 2 === 0 ? 12 : 32))).toBe(true)
  expect(new Set(drawn.map(bytes => bytes.toString('hex', 0, 12))).size).toBe(drawn.length)
})

test('what one caller does to its bytes does not reach those of another', () => {
  const first = randomBytes(32)
  const second = randomBytes(32)
  const before = second.toString('hex')
  first.fill(0)
  expect(second.toString('hex')).toBe(before)
})

test('threads and processes that run at once never draw the same nonce', async () => {
  const built = new URL('../../dist/vault/uuid.js', import.meta.url).href
  const drawAndSend = (send: string) =>
    `import('${built}').then(({ randomNonce }) =>
      ${send}(Array.from({ length: 20_000 }, () => randomNonce(12).toString('hex'))))`
  // The other threads and processes begin after this thread has drawn a block and used a part of it.
  randomNonce(12)
  const thread = () =>
    new Worker(drawAndSend("require('worker_threads').parentPort.postMessage"), { eval: true })
  const program = () =>
    spawn(process.execPath, ['-e', drawAndSend('process.send')], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
  const others = await Promise.all(
    [thread(), thread(), program(), program()].map(async one => {
      const [drawn] = (await once(one, 'message')) as [string[]]
      return drawn
    }),
  )
  const own = Array.from({ length: 20_000 }, () => randomNonce(12).toString('hex'))
  const all = [own, ...others].flat()
  expect(all).toHaveLength(100_000)
  expect(new Set(all).size).toBe(all.length)
})

test('no bytes that were given out change while others are drawn, and each sealed value keeps its nonce', () => {
  const key = randomBytes(32)
  const binding = { purpose: 'test', partnerId: 'p' }
  const nonces = Array.from({ length: 5000 }, () => randomNonce(12))
  const before = nonces.map(nonce => nonce.toString('hex'))
  const sealed = Array.from({ length: 5000 }, (_, at) => seal(key, `value ${at}`, binding))
  for (let times = 0; times < 5000; times += 1) {
    randomNonce(12)
    // The memory that small buffers share is written by everybody else, too.
    Buffer.from('other small texts').fill(0)
  }
  expect(nonces.map(nonce => nonce.toString('hex'))).toEqual(before)
  expect(sealed.map(one => unseal(key, one, binding).toString())).toEqual(
    sealed.map((_, at) => `value ${at}`),
  )
  const used = sealed.map(one => one.toString('hex', 1, 13))
  expect(new Set([...before, ...used]).size).toBe(10_000)
})
