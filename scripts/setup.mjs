// Installs what the lockfile names and builds, when either is out of date; run by `npm start` and `npm test`.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const modifiedAt = path => {
  try {
    return statSync(join(root, path)).mtimeMs
  } catch {
    return 0
  }
}

const run = (command, args) => {
  // Progress goes to standard error: standard output belongs to what is started afterwards.
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (error || status !== 0) {
    process.stderr.write(`\`${command} ${args.join(' ')}\` failed${error ? `: ${error.message}` : ''}.\n`)
    process.exit(1)
  }
}

/** Brings node_modules and the built output up to date. */
export const setUp = () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    process.stderr.write(`This needs Node 20.19 or later; here is ${process.versions.node}.\n`)
    process.exit(1)
  }
  if (modifiedAt('node_modules/.package-lock.json') < modifiedAt('package-lock.json')) {
    process.stderr.write('Installing what the lockfile names…\n')
    run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])
  }
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', root])
  run(process.execPath, [join(root, 'scripts/build-browser.mjs')])
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) setUp()
