import { describe, test } from 'vitest'

/** Whether to run the full figures (`npm run test:long`) instead of the short pass of `npm test`. */
export const isLong = process.env['LONG'] === '1'

/** The part of the full figures that a long run tries: TEST_SCALE=0.1 is a tenth of them. */
const scale = Number(process.env['TEST_SCALE'] ?? 1)

/** A long run below this scale takes the everyday pass of whatever has no figure, so that one of a few minutes meets each part. */
const LEAST_SCALE_OF_WHOLE = 0.05
const asked = process.env['TESTS'] ?? (isLong && scale < LEAST_SCALE_OF_WHOLE ? 'everyday' : '')

/**
 * Whether the run takes one pass of everything, as `npm test` does, and `.ci/run` where it runs tests on a cluster, too
 * (both say TESTS=everyday). `npm run test:all`, `.ci/run` without a cluster or for tests in a browser (all say TESTS=whole) and
 * a file that is run by its name leave out nothing but what only a long run repeats (`isLong`).
 */
const isEveryday = asked === 'everyday'

/**
 * Whether `enrolment` is run from the one file that was bundled at the start of the run (`one-file.ts`), as runs of all files
 * do. A file that is run by its name runs the built command.
 */
export const runsOneFile = asked !== ''

/** A figure of the everyday run, or that of the whole one. */
export function everydayOr<T>(short: T, whole: T): T {
  return isEveryday ? short : whole
}

/** A test that the everyday run leaves out: others, most in its file, see the same feature from another side. */
export const wholeRunTest = test.skipIf(isEveryday)

/** What `wholeRunTest` is, for tests with a common set-up. */
export const describeWhole = describe.skipIf(isEveryday)

/**
 * The same, but run wherever the everyday tests are run on another database (`.ci/run` does so on Citus), and in every long run,
 * as most of these tests have a figure.
 */
export const otherDatabaseTest = test.skipIf(isEveryday && !isLong && !process.env['TEST_DATABASE_URL'])

/** How often something is tried: a few times in the short pass, all times in the long one, or the requested part. */
export function timesOf(short: number, long: number): number {
  return isLong ? Math.max(1, Math.round(long * scale)) : short
}

/** For how many minutes something is kept busy: the full figure in the long one, or the requested part, but at least one. */
export function minutesOf(long: number): number {
  return Math.max(1, long * scale)
}
