import { beforeAll, describe, expect, test } from 'vitest'
import { forAllTests, forEachTest } from './for-all-tests.ts'

const seen: string[] = []

function openPart(name: string) {
  return () =>
    Promise.resolve({
      name,
      uses: 0,
      get isUsed() {
        return this.uses > 0
      },
      use() {
        this.uses += 1
      },
      close: () => seen.push(`${name} closed`),
    })
}

function catchError(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}

describe('what is made for all tests', () => {
  const first = forAllTests(openPart('first'))
  beforeAll(() => {
    seen.push(`${first.name} made`)
  })
  const readEarly = catchError(() => first.name)
  const second = forAllTests(() => openPart(`second after ${first.name}`)())

  test('cannot be read before the tests begin', () => {
    expect(readEarly).toMatchObject({ message: expect.stringContaining('made before the first test') })
  })

  test('is made once, each after those before it, and used like itself', () => {
    second.use()
    expect(second.isUsed).toBe(true)
    second.uses = 7
    expect({ ...second, close: undefined, use: undefined }).toEqual({
      name: 'second after first',
      uses: 7,
      isUsed: true,
    })
  })
})

test('is closed after them, the last one first', () => {
  expect(seen.splice(0)).toEqual(['first made', 'second after first closed', 'first closed'])
})

describe('what is made for each test', () => {
  const own = forEachTest(openPart('own'))

  test('is made for one', () => {
    own.use()
  })

  test('is made anew for the next, when that of the one before is closed', () => {
    expect([own.uses, seen]).toEqual([0, ['own closed']])
  })
})
