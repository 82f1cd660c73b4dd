// Installs the packages of the lockfile and builds, when either is out of date; run by `npm start` and `npm test`.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const packages = ['contract', 'command', 'embedded-postgres', 'service', 'client', 'cli', 'embed']
/** The parts of `dist` that other steps write, which have no source file of their own. */
const assembled = /^(page|gig-platform|docs|cjs)[/\\]|^benefit-enrolment\.js$/
const stamp = 'node_modules/.built'
const built = [
  'service/dist/main.js',
  'service/dist/page/manifest.json',
  'service/dist/docs/site.json',
  'client/src/generated.ts',
  'client/dist/index.js',
  'client/dist/cjs/index.js',
  'cli/dist/benefit-enrolment.js',
]
const sources = [
  'contract',
  'command',
  'embedded-postgres',
  'service',
  'client',
  'cli',
  'embed',
  'examples',
  'scripts',
  'docs',
  'tsconfig.base.json',
  'package-lock.json',
]
/** Built output, with the sources that the build itself writes, and what is read where it is. */
const notSources = new Set([
  'node_modules',
  'dist',
  'migrations',
  'icons',
  'generated.ts',
  'generated-routes.ts',
])

/** When the newest file below a path was changed, without built output. */
function newestIn(path) {
  const entry = statSync(path)
  if (!entry.isDirectory()) return entry.mtimeMs
  return readdirSync(path).reduce(
    (newest, name) => (notSources.has(name) ? newest : Math.max(newest, newestIn(join(path, name)))),
    0,
  )
}

function modifiedAt(path) {
  try {
    return statSync(join(root, path)).mtimeMs
  } catch {
    return 0
  }
}

function run(command, args) {
  // Progress goes to standard error, because standard output belongs to the program that is started afterwards.
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

/** Removes built files whose source was deleted; otherwise they would be packed and published. */
function removeLeftovers() {
  for (const name of packages) {
    const dist = join(root, name, 'dist')
    if (!existsSync(dist)) continue
    for (const path of readdirSync(dist, { recursive: true })) {
      const source = /^(.*?)\.(?:d\.ts|js|js\.map)$/.exec(path)?.[1]
      if (!source || assembled.test(path)) continue
      if (!['.ts', '.tsx'].some(ending => existsSync(join(root, name, 'src', source + ending))))
        rmSync(join(dist, path))
    }
  }
}

/** Brings node_modules and the built output up to date. */
export function setUp() {
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
    removeLeftovers()
    run('npm', ['run', '--silent', 'build'])
    // The mark is as old as the start of the build, so that a file saved during the build is built again.
    writeFileSync(join(root, stamp), '')
    utimesSync(join(root, stamp), startedAt, startedAt)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  setUp()
  if (process.env.npm_lifecycle_event === 'setup')
    process.stderr.write(
      'Ready: `npm start` runs a sandbox, `npm run watch` does so while you change the code, `npm test` tests it all, and\n`npx enrolment --help` lists the commands. CONTRIBUTING.md leads to a first change.\n',
    )
}
