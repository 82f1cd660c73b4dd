// Takes the pictures of docs/support.md while the tests perform its steps: npm run screenshots:console
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { status } = spawnSync(
  'npx',
  ['--no-install', 'vitest', 'run', 'tests/console/support-questions.test.ts'],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CONSOLE_PICTURES: fileURLToPath(new URL('../docs/pictures', import.meta.url)) },
  },
)
process.exitCode = status ?? 1
