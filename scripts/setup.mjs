// Installs what the lockfile names and builds, when either is out of date; run by `npm start` and `npm test`.
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const stamp = 'node_modules/.built'
const built = ['service/dist/main.js', 'service/dist/page/manifest.json', 'client/dist/index.js']
const sources = [
  'contract',
  'service',
  'client',
  'embed',
  'scripts',
  'tsconfig.base.json',
  'package-lock.json',
]
const notSources = new Set(['node_modules', 'dist', 'migrations', 'icons'])

/** When the newest file below a path was changed; built output does not count. */
const newestIn = path => {
  const entry = statSync(path)
  if (!entry.isDirectory()) return entry.mtimeMs
  return readdirSync(path).reduce(
    (newest, name) => (notSources.has(name) ? newest : Math.max(newest, newestIn(join(path, name)))),
    0,
  )
}

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
  const builtAt = built.every(path => modifiedAt(path) > 0) ? modifiedAt(stamp) : 0
  if (sources.some(path => newestIn(join(root, path)) >= builtAt)) {
    const startedAt = new Date()
    run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', root])
    run(process.execPath, [join(root, 'scripts/build-browser.mjs')])
    // As old as the start of the build: what was saved while it ran is built again.
    writeFileSync(join(root, stamp), '')
    utimesSync(join(root, stamp), startedAt, startedAt)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) setUp()
