import { describe, test } from 'vitest'

/** Whether to run the full figures (`npm run test:long`) instead of the short pass of `npm test`. */
export const isLong = process.env['LONG'] === '1'

/** The part of the full figures that a long run tries: TEST_SCALE=0.1 is a tenth of them. */
const scale = Number(process.env['TEST_SCALE'] ?? 1)

/** A long run below this scale takes the everyday pass of whatever has no figure, so that one of a few minutes meets each part. */
const leastScaleOfWhole = 0.05
const asked = process.env['TESTS'] ?? (isLong && scale < leastScaleOfWhole ? 'everyday' : '')

/**
 * Whether the run takes one pass of everything. `npm test` asks for it, and `.ci/run` for all but the browser
 * tests. `npm run test:all`, `WHOLE=1 .ci/run` of every night (both say TESTS=whole) and a file that is run by its name
 * leave nothing out.
 */
export const isEveryday = ['everyday', 'ci'].includes(asked)

/** Whether to run also what needs minutes or downloads each time, and has no figure. */
export const isWholeLong = isLong && !isEveryday

/** A figure of the everyday run, or that of the whole one. */
export function everydayOr<T>(short: T, whole: T): T {
  return isEveryday ? short : whole
}

/** A test that the everyday run leaves out: it is long, and a shorter one beside it sees the same feature. */
export const wholeRunTest = test.skipIf(isEveryday)

/** A figure of `npm test`, or that of every other run: `.ci/run`, too, takes the second. */
export function npmTestOr<T>(short: T, other: T): T {
  return asked === 'everyday' ? short : other
}

/** A test that `npm test` leaves out, and `.ci/run` does not: others in its file see the same feature from another side. */
export const ciTest = test.skipIf(asked === 'everyday')

/** The same, but run wherever the everyday tests are run on another database: `.ci/run` does so on a stock server and on Citus. */
export const otherDatabaseTest = test.skipIf(asked === 'everyday' && !process.env['TEST_DATABASE_URL'])

/** What `ciTest` is, for tests with a common set-up. */
export const describeCi = describe.skipIf(asked === 'everyday')

/** How often something is tried: a few times in the short pass, all times in the long one, or the requested part. */
export function timesOf(short: number, long: number): number {
  return isLong ? Math.max(1, Math.round(long * scale)) : short
}

/** For how many minutes something is kept busy: the full figure in the long one, or the requested part, but at least one. */
export function minutesOf(long: number): number {
  return Math.max(1, long * scale)
}
