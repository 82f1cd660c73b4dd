import { randomInt } from 'node:crypto'
import { isLong } from './long.ts'

// What a test draws at random comes from a seed, which is in the test's name as it is given to repeat the run: TEST_SEED=5.

/** The seed of a run that nobody gave one, outside the long run: so `npm test` does the same each time. */
const EVERYDAY_SEED = 20_261_122

/**
 * The seed in TEST_SEED, or undefined where there is none. It repeats what a test drew, not the order in which processes came to
 * their turn. Throws for what is no seed.
 */
export const givenSeed = seedIn(process.env['TEST_SEED'])

function seedIn(given: string | undefined): number | undefined {
  if (given === undefined || given === '') return undefined
  const seed = Number(given)
  if (!/^\d+$/.test(given) || seed >= 2 ** 32)
    throw new Error(`TEST_SEED must be a whole number below 2^32, as a test's name gives it; it is ${given}.`)
  return seed
}

/** The seeds of so many runs, one after the other: from TEST_SEED, which is one run; in a long run from any; else always the same. */
export function seedsOf(runs: number): readonly number[] {
  if (givenSeed !== undefined) return [givenSeed]
  const first = isLong ? randomInt(2 ** 31) : EVERYDAY_SEED
  return Array.from({ length: runs }, (_, index) => first + index)
}

/** Draws numbers from 0 to below a limit. */
export type Random = (limit: number) => number

/** What draws the same numbers for the same seed. */
export function openRandom(seed: number): Random {
  let state = seed >>> 0
  return limit => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}
