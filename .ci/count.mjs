// Reads the reports of vitest's first run and of the second run of the files that failed, as report.mjs writes them.
//   failed-files FIRST.json                                the files that have to run once more, a line each
//   count FIRST.json FIRST.end SECOND.json SECOND.end      prints `PASSED FAILED`. A file that could not be loaded or cleaned up, or
//                                                          in which an error escaped all tests, a run that ended badly without a
//                                                          failed test, and a missing report count as one failure each
//   remarks FIRST.json SECOND.json                         the tests that passed only when run again, and the files of which nothing ran
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const [what, ...paths] = process.argv.slice(2)
const [first, second] = paths
  .filter(path => path.endsWith('.json'))
  .map(path => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).testResults : undefined))
const statuses = paths
  .filter(path => path.endsWith('.end') && existsSync(path))
  .map(path => readFileSync(path, 'utf8').trim())
const again = second ?? []

function print(lines) {
  process.stdout.write([...new Set(lines)].map(line => `${line}\n`).join(''))
}
function nameOf(file) {
  return relative(process.cwd(), file.name)
}
function testsOf(file, ...wanted) {
  return file.assertionResults.filter(test => wanted.includes(test.status))
}
function hasFailed(file) {
  return file.status === 'failed' || testsOf(file, 'failed').length > 0
}
function failuresOf(file) {
  return testsOf(file, 'failed').length || (hasFailed(file) ? 1 : 0)
}
function sum(files, of) {
  return files.reduce((total, file) => total + of(file), 0)
}

function count() {
  if (!first) return [0, 1]
  const names = new Set(again.map(file => file.name))
  const files = [...first.filter(file => !names.has(file.name)), ...again]
  const failed = sum(files, failuresOf)
  // A run may end badly for a reason outside the tests: only a second run that ends well shows that.
  const endedBadly = statuses.at(-1) !== '0' || (statuses.length > 1 && !first.some(hasFailed))
  return [sum(files, file => testsOf(file, 'passed').length), failed === 0 && endedBadly ? 1 : failed]
}

if (what === 'count') print([count().join(' ')])
if (what === 'failed-files') print((first ?? []).filter(hasFailed).map(nameOf))
if (what === 'remarks') {
  const passed = new Set(
    again.flatMap(file => testsOf(file, 'passed').map(test => file.name + test.fullName)),
  )
  const whole = new Set(again.filter(file => !hasFailed(file)).map(file => file.name))
  for (const file of (first ?? []).filter(hasFailed)) {
    const mended = testsOf(file, 'failed').filter(test => passed.has(file.name + test.fullName))
    const outside =
      testsOf(file, 'failed').length === 0 && whole.has(file.name)
        ? [{ fullName: 'an error outside its tests' }]
        : []
    print(
      [...mended, ...outside].map(
        test => `!!!! PASSED ONLY WHEN RUN AGAIN: ${nameOf(file)}: ${test.fullName}`,
      ),
    )
  }
  const ran = new Set(
    (first ?? []).filter(file => testsOf(file, 'passed', 'failed').length > 0 || hasFailed(file)).map(nameOf),
  )
  print(
    (first ?? [])
      .map(nameOf)
      .filter(name => !ran.has(name))
      .map(name => `!!!! NOTHING RUN OF ${name}`),
  )
}
