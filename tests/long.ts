import { test } from 'vitest'

/** Whether to run the full figures (`npm run test:long`) instead of the short pass of `npm test`. */
export const isLong = process.env['LONG'] === '1'

/**
 * Whether this is the everyday run: one pass of everything in about five minutes on two cores. `npm test` asks for it, and
 * `.ci/run` for all but the browser tests. `npm run test:all`, `WHOLE=1 .ci/run` of every night and a file that is run by its
 * name leave nothing out.
 */
export const isEveryday = process.env['TESTS'] === 'everyday'

/** A figure of the everyday run, or that of the whole one. */
export function everydayOr<T>(short: T, whole: T): T {
  return isEveryday ? short : whole
}

/** A test that the everyday run leaves out: it is long, and a shorter one beside it sees the same feature. */
export const wholeRunTest = test.skipIf(isEveryday)

/** The part of the full figures that a long run tries: TEST_SCALE=0.1 is a tenth of them. */
const scale = Number(process.env['TEST_SCALE'] ?? 1)

/** How often something is tried: a few times in the short pass, all times in the long one, or the requested part. */
export function timesOf(short: number, long: number): number {
  return isLong ? Math.max(1, Math.round(long * scale)) : short
}
