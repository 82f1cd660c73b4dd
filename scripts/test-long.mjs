// Every test, and what is random or deadly many times: `npm run test:long`, 40 minutes on two cores. TEST_SCALE=0.1 takes a tenth
// of the figures, 10 ten times as many. All parts run, also after one has failed; the last lines say how each ended, and how long
// it took.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const scale = Number(process.env.TEST_SCALE ?? 1)
if (!(scale > 0 && scale <= 10)) {
  process.stderr.write(
    `TEST_SCALE must be above 0 and at most 10, such as 0.1; it is ${process.env.TEST_SCALE}.\n`,
  )
  process.exit(2)
}
/** Below this scale the short pass of whatever has no figure, so that a run of a few minutes meets each part. */
const LEAST_SCALE_OF_WHOLE = 0.05
const pass = scale < LEAST_SCALE_OF_WHOLE ? 'ci' : 'whole'
function secondsOf(full) {
  return ['--seconds', String(Math.max(3, Math.round(full * scale)))]
}
const parts = [
  ['tests', 'node_modules/vitest/vitest.mjs', 'run'],
  ['overload', 'bench/overload.mjs', ...secondsOf(20)],
  ['fair', 'bench/fair.mjs', ...secondsOf(6)],
]

const lines = parts.map(([name, file, ...words]) => {
  const startedAt = Date.now()
  const { status } = spawnSync(process.execPath, [join(root, file), ...words], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, LONG: '1', TESTS: pass },
  })
  if (status !== 0) process.exitCode = 1
  const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1)
  return `${name.padEnd(10)}${status === 0 ? 'passed' : 'FAILED'} after ${minutes} min\n`
})
process.stdout.write(lines.join(''))
