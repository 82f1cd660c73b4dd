import { expect, test } from 'vitest'
import { drain } from './pace.ts'

const items = Array.from({ length: 600 }, (_, index) => index)

/** The slices in which the items were handed over, while requests were served or not. */
async function slicesWhile(isServing: () => boolean): Promise<number[][]> {
  const slices: number[][] = []
  await drain(items, isServing, async slice => {
    slices.push(slice)
  })
  return slices
}

test('every item is handed over once, in order', async () => {
  expect((await slicesWhile(() => false)).flat()).toEqual(items)
  expect((await slicesWhile(() => true)).flat()).toEqual(items)
})

test('beside requests the slices are small, and large again when nobody asks any more', async () => {
  let asked = 0
  const slices = await slicesWhile(() => {
    asked += 1
    return asked < 6
  })
  const sizes = slices.map(slice => slice.length)
  expect(sizes[0]).toBe(16)
  expect(Math.max(...sizes)).toBe(256)
  expect(slices.flat()).toEqual(items)
})
