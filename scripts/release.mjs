// Makes what a release consists of, in a new folder, from the commit that is checked out:
//   node scripts/release.mjs DIR
// Tarballs of all packages with the lockfile by which operators install them, the documents, the pages of /docs as files, the
// drop-in script under its version with its integrity hash, what the packages contain (CycloneDX), and checksums. The same
// commit and the same Node.js give the same bytes, so anybody can check a release by making it again.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [given] = process.argv.slice(2)
if (!given) stop('node scripts/release.mjs DIR: the folder to make is missing.')
const dir = resolve(given)

function run(program, ...words) {
  return execFileSync(program, words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function stop(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

/** npm gives each list a number of its own, the time at which it was made, and our packages the names of their folders. */
function writeBill() {
  const bill = JSON.parse(readFileSync(join(root, 'sbom.cdx.json'), 'utf8'))
  delete bill.serialNumber
  bill.metadata.component.name = 'benefit-enrolment'
  for (const component of bill.components) {
    const [, ours] = /^(@benefit-enrolment\/.+)@/.exec(component['bom-ref']) ?? []
    if (ours) component.name = ours
  }
  bill.metadata.timestamp = run('git', 'show', '-s', '--format=%cI', 'HEAD').trim()
  writeFileSync(join(dir, 'sbom.json'), `${JSON.stringify(bill, null, 2)}\n`)
}

function writeEmbed() {
  const built = join(root, 'service/dist/page')
  const { version, file, integrity } = JSON.parse(readFileSync(join(built, 'manifest.json'), 'utf8')).embed
  const name = file.replace('.js', `-${version}.js`)
  copyFileSync(join(built, file), join(dir, name))
  writeFileSync(join(dir, `${name}.integrity`), `${integrity}\n`)
}

/** The pages of /docs for a site of the operator's own, whose samples call an address that is an example's. */
function writePages() {
  const place = mkdtempSync(join(tmpdir(), 'enrolment-pages-'))
  const name = 'benefit-enrolment-pages'
  run(process.execPath, 'scripts/docs-static.mjs', 'https://benefits.example.com', join(place, name))
  const mtime = `--mtime=@${run('git', 'show', '-s', '--format=%ct', 'HEAD').trim()}`
  const sameEverywhere = [
    '--sort=name',
    mtime,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u+rwX,go+rX,go-w',
  ]
  run('tar', ...sameEverywhere, '-C', place, '-czf', join(dir, `${name}.tar.gz`), name)
  rmSync(place, { recursive: true })
}

/** What bundlers, Node.js and TypeScript would stumble over. All but the client are for ES modules alone. */
function judge(name) {
  const tarball = join(dir, name)
  run('npx', '--yes', 'publint@0.3.25', 'run', tarball, '--strict')
  const profile = name.includes('-client-') ? 'strict' : 'esm-only'
  run('npx', '--yes', '@arethetypeswrong/cli@0.18.5', tarball, '--profile', profile)
}

function writeSums() {
  const lines = readdirSync(dir)
    .sort()
    .map(name => {
      const sum = createHash('sha256')
        .update(readFileSync(join(dir, name)))
        .digest('hex')
      return `${sum}  ${name}\n`
    })
  writeFileSync(join(dir, 'SHA256SUMS'), lines.join(''))
}

if (run('git', 'status', '--porcelain') !== '')
  stop('There are changes that are not committed: a release is made from a commit.')
// npm packs the mode of each file, which depends on the umask under which somebody cloned: here each gets the mode that git records.
process.umask(0o022)
for (const entry of run('git', 'ls-files', '--stage', '-z').split('\0')) {
  const [, rights, file] = /^100(\d{3}) \S+ 0\t(.*)$/.exec(entry) ?? []
  if (file) chmodSync(join(root, file), Number.parseInt(rights, 8))
}
// What an earlier build left would be packed, too.
const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
for (const name of workspaces) rmSync(join(root, name, 'dist'), { recursive: true, force: true })
run('npm', 'ci', '--include=dev', '--no-audit', '--no-fund')
run('npm', 'run', 'build')
run(process.execPath, 'scripts/pack.mjs', dir)
run('npm', 'pack', '--ignore-scripts', '--workspace', 'embed', '--pack-destination', dir)
for (const name of readdirSync(dir).filter(one => one.endsWith('.tgz'))) judge(name)
run('npm', 'run', 'sbom')
writeBill()
writeEmbed()
// With the pages to which these lead: a reader of the tarball has no checkout beside it.
const beside = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md', 'client/README.md']
const documents = ['README.md', 'CHANGELOG.md', 'LICENSE', ...beside, 'docs', 'deploy']
const archive = ['--prefix=benefit-enrolment-docs/', `--output=${join(dir, 'benefit-enrolment-docs.tar.gz')}`]
run('git', 'archive', ...archive, 'HEAD', ...documents)
writePages()
writeSums()
process.stdout.write(readFileSync(join(dir, 'SHA256SUMS')))
