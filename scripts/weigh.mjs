// What the house weighs, at a commit or as it is saved: lines of code without blanks and comments by folder, tests, files of each path
// of ARCHITECTURE.md, packages in production by deploy/packages.md: `npm run weigh [-- COMMIT]`.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const [commit] = process.argv.slice(2)
function git(...words) {
  return execFileSync('git', ['-c', 'safe.directory=*', ...words], { encoding: 'utf8', maxBuffer: 2 ** 28 })
}
function read(file) {
  return commit ? git('show', `${commit}:${file}`) : readFileSync(file, 'utf8')
}
const files = git(...(commit ? ['ls-tree', '-r', '--name-only', commit] : ['ls-files']))
  .split('\n')
  .filter(name => /\.(ts|tsx|mjs|cjs|js|css|html|sql|sh)$|^\.ci\/run$/.test(name))
  .filter(name => !/^embed\/released\/|^docs\/schema\.sql$|fixtures\/.*\.html$/.test(name))

/** Lines that are neither blank nor only a comment. */
function linesOf(file) {
  const remark = /\.sql$/.test(file) ? '--' : /\.sh$|^\.ci/.test(file) ? '#' : '//'
  let within = false
  return read(file)
    .split('\n')
    .map(line => line.trim())
    .filter(line => {
      const begins = !within && /^(\/\*|<!--)/.test(line)
      const skipped = line === '' || within || begins || line.startsWith(remark)
      if (begins || within) within = !/(\*\/|-->)/.test(line)
      return !skipped
    }).length
}

function isTest(file) {
  return file.startsWith('tests/') || /\.test\.tsx?$/.test(file)
}
const folders = new Map()
function add(name, file) {
  const sum = folders.get(name) ?? { files: 0, lines: 0 }
  folders.set(name, { files: sum.files + 1, lines: sum.lines + linesOf(file) })
}
for (const file of files) {
  const [top, src, room] = file.split('/')
  if (isTest(file)) add('tests', file)
  else {
    add(file.includes('/') ? top : '.', file)
    if (top === 'service' && src === 'src') add(`service/${room.includes('.') ? '*.ts' : room}`, file)
  }
}
const rows = [...folders].toSorted(([one], [other]) => (one < other ? -1 : 1))
process.stdout.write(`${commit ?? 'as saved'}\n\nlines of code, files\n`)
for (const [name, { files, lines }] of rows)
  process.stdout.write(`${String(lines).padStart(7)} ${String(files).padStart(5)}  ${name}\n`)

process.stdout.write('\nfiles of each path of ARCHITECTURE.md\n')
const paths = read('ARCHITECTURE.md').split('## The paths')[1].split('\n## ')[0].split(/^\*\*/m).slice(1)
for (const path of paths) {
  let folder = ''
  const named = [...path.matchAll(/`([\w/-]+\.ts)`/g)].map(([, name]) => {
    if (name.includes('/')) folder = name.slice(0, name.lastIndexOf('/') + 1)
    return name.includes('/') ? name : folder + name
  })
  process.stdout.write(`${String(new Set(named).size).padStart(7)}  ${path.split('**')[0]}\n`)
}
const production = read('deploy/packages.md')
  .split(/^## /m)[0]
  .split('\n')
  .filter(line => line.startsWith('| `'))
const names = production.flatMap(row => row.match(/`[^`]+`/g))
process.stdout.write(`\n${String(new Set(names).size).padStart(7)}  packages in production\n`)
