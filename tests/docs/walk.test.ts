// @nightly

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'vitest'

const walk = fileURLToPath(new URL('../../scripts/walk.mjs', import.meta.url))

test('the files that ARCHITECTURE.md lists are those that run, by the coverage of a service', () => {
  execFileSync(process.execPath, [walk, '--check', 'prefill', 'benefits'], { stdio: 'pipe' })
})
