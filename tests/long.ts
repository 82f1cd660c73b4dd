import { test } from 'vitest'

/** Whether to run the full figures (`npm run test:long`) instead of the short pass of `npm test`. */
export const isLong = process.env['LONG'] === '1'

/** How much of the full figures a long run tries: TEST_SCALE=0.1 is a tenth of them, 10 ten times as many. */
const scale = Number(process.env['TEST_SCALE'] ?? 1)

/** Whether a run of all files, with its database, takes the short pass of `npm test` (`vitest.config.ts` says where). */
const isEveryday = process.env['TESTS'] === 'everyday'

/** A figure of the everyday run, or that of the whole one. */
export function everydayOr<T>(short: T, whole: T): T {
  return isEveryday ? short : whole
}

/** A test that the everyday run leaves out: others, most in its file, see the same feature from another side. */
export const wholeRunTest = test.skipIf(isEveryday)

/** A test that the everyday run leaves out on the embedded database only; a long run has it everywhere. */
export const otherDatabaseTest = test.skipIf(isEveryday && !isLong && !process.env['TEST_DATABASE_URL'])

/** How often something is tried: a few times in the short pass, all times in the long one, or the requested part. */
export function timesOf(short: number, long: number): number {
  return isLong ? Math.max(1, Math.round(long * scale)) : short
}

/** For how many minutes something is kept busy: the full figure in the long one, or the requested part, but at least one. */
export function minutesOf(long: number): number {
  return Math.max(1, long * scale)
}
