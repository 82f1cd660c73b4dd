import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Builds the packages whose source has changed, where a file of tests is run by its name: tests run what was built. `npm test`
 * and `.ci/run`, which set TESTS, have built everything already.
 */
export default function buildFirst(project: TestProject): void {
  if (process.env['TESTS'] !== undefined) return
  build()
  project.onTestsRerun(async () => build())
}

function build(): void {
  process.stderr.write('Building what has changed (`npm run build:modules`)…\n')
  const { status } = spawnSync('npm', ['run', '--silent', 'build:modules'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error('The build failed, so no test was run: correct what it names above.')
}
