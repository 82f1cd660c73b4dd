// Writes the number of the next release wherever a release has one, builds, and keeps the drop-in script of the embed under it:
//   node scripts/version.mjs X.Y.Z
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('..', import.meta.url)
const [version = ''] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(version)) {
  process.stderr.write('node scripts/version.mjs X.Y.Z: the number is missing, or has another form.\n')
  process.exit(1)
}

function read(file) {
  return readFileSync(new URL(file, root), 'utf8')
}

/** Writes the number behind what the pattern matches; fails where that is nowhere. */
function write(file, before) {
  const number = new RegExp(`(${before.source})\\d+\\.\\d+\\.\\d+`, 'g')
  const text = read(file)
  if (!number.test(text)) throw new Error(`${file} has no number after ${before}`)
  writeFileSync(new URL(file, root), text.replace(number, `$1${version}`))
}

function run(...words) {
  execFileSync(words[0], words.slice(1), { cwd: fileURLToPath(root), stdio: 'inherit' })
}

const { workspaces } = JSON.parse(read('package.json'))
const manifests = ['.', 'examples/gig-platform', ...workspaces].map(folder => `${folder}/package.json`)
for (const file of manifests) write(file, /"(?:version|@benefit-enrolment\/[a-z-]+)": "/)
write('embed/src/events.ts', /version = '/)
for (const file of ['cli/README.md', 'docs/tools.md']) write(file, /benefit-enrolment-cli-/)
write('deploy/Dockerfile', /image\.version="/)
write('deploy/kubernetes/kustomization.yaml', /newTag: "/)
write('deploy/kubernetes/migrate.yaml', /benefit-enrolment:/)
run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund')
run('npm', 'run', '--silent', 'build')
run(process.execPath, 'scripts/integrity.mjs', '--release')
