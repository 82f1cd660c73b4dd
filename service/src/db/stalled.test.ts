import { beforeEach, expect, test } from 'vitest'
import { Unavailable } from './failure.ts'
import { openStalledPartners, type StalledPartners } from './stalled.ts'

const timedOut = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
const silent = new Error('Query read timeout')
const refused = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' })

let now = 0
let stalled: StalledPartners
beforeEach(() => {
  now = 0
  stalled = openStalledPartners({ isSpread: true }, () => now)
})

async function fail(partnerId: string, error: Error): Promise<unknown> {
  return stalled.run(partnerId, () => Promise.reject(error)).catch((thrown: unknown) => thrown)
}

function succeed(partnerId: string): Promise<unknown> {
  return stalled.run(partnerId, () => Promise.resolve('done')).catch((thrown: unknown) => thrown)
}

test.each([
  ['the server cancels its statement', timedOut],
  ['no answer comes', silent],
])('a partner is refused for five seconds after %s, and nobody else is', async (_name, error) => {
  expect(await fail('A', error)).toBe(error)
  expect(() => stalled.refuse('A')).toThrow(Unavailable)
  let asked = 0
  await stalled.run('A', async () => (asked += 1)).catch(() => undefined)
  expect(asked).toBe(0)
  expect(await succeed('A')).toBeInstanceOf(Unavailable)
  expect(await succeed('B')).toBe('done')
  now = 5000
  expect(() => stalled.refuse('A')).not.toThrow()
  expect(await succeed('A')).toBe('done')
  expect(await succeed('A')).toBe('done')
})

test('after five seconds one statement of a partner is tried, of all partners at most two at once', async () => {
  for (const partner of ['A', 'B', 'C']) await fail(partner, timedOut)
  now = 5000
  const ends: ((error?: Error) => void)[] = []
  const trial = (partner: string) =>
    stalled
      .run(
        partner,
        () =>
          new Promise<string>((resolve, reject) => {
            ends.push(error => (error ? reject(error) : resolve('done')))
          }),
      )
      .catch((thrown: unknown) => thrown)
  const trials = [trial('A'), trial('B')]
  expect(ends).toHaveLength(2)
  for (const partner of ['A', 'B', 'C']) expect(await succeed(partner)).toBeInstanceOf(Unavailable)
  ends[0]?.(silent)
  ends[1]?.()
  expect(await Promise.all(trials)).toEqual([silent, 'done'])
  expect(await succeed('A')).toBeInstanceOf(Unavailable)
  expect(await succeed('B')).toBe('done')
  expect(await succeed('C')).toBe('done')
})

test('a node that refuses connections refuses nobody in advance: that costs no connection', async () => {
  await fail('A', refused)
  expect(await succeed('A')).toBe('done')
  await fail('A', timedOut)
  now = 5000
  await fail('A', refused)
  expect(await succeed('A')).toBe('done')
})

test('on plain PostgreSQL nobody is refused', async () => {
  stalled = openStalledPartners({ isSpread: false }, () => now)
  expect(await fail('A', timedOut)).toBe(timedOut)
  expect(await succeed('A')).toBe('done')
})
