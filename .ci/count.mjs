// Reads reports of vitest, as report.mjs writes them.
//   count REPORT STATUS [SECOND STATUS]  prints `PASSED FAILED SKIPPED`. A file that could not be loaded or cleaned up, or in
//                                        which an error escaped all tests, a run that ended badly without a failed test, and
//                                        a report that is missing count as one failure each. Files that are in the second
//                                        report count as they stand there.
//   failed-files REPORT                  the files that have to run once more, a line each
//   only-second FIRST SECOND             the tests that failed first and passed then, a line each; and the files in which an
//                                        error escaped all tests at first
//   ran-nowhere REPORT...                the files of which no run ran a test, a line each
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const [what, first, firstStatus, second, secondStatus] = process.argv.slice(2)

function print(lines) {
  process.stdout.write(lines.map(line => `${line}\n`).join(''))
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).testResults
  } catch {
    return undefined
  }
}
function testsOf(file, ...statuses) {
  return file.assertionResults.filter(test => statuses.includes(test.status))
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
  const once = read(first)
  const again = second === undefined ? [] : read(second)
  if (!once || !again) return [0, 1, 0]
  const names = new Set(again.map(file => file.name))
  const files = [...once.filter(file => !names.has(file.name)), ...again]
  const failed = sum(files, failuresOf)
  // A run may end badly for a reason outside the tests: only a second run that ends well shows that.
  const endedBadly =
    second === undefined ? firstStatus !== '0' : secondStatus !== '0' || !once.some(hasFailed)
  return [
    sum(files, file => testsOf(file, 'passed').length),
    failed === 0 && endedBadly ? 1 : failed,
    sum(files, file => testsOf(file, 'pending', 'skipped', 'todo').length),
  ]
}

if (what === 'count') print([count().join(' ')])
if (what === 'failed-files')
  print((read(first) ?? []).filter(hasFailed).map(file => relative(process.cwd(), file.name)))
if (what === 'ran-nowhere') {
  const files = process.argv.slice(3).flatMap(report => read(report) ?? [])
  const ran = new Set(
    files
      .filter(file => testsOf(file, 'passed', 'failed').length > 0 || hasFailed(file))
      .map(one => one.name),
  )
  const nowhere = new Set(files.map(file => file.name).filter(name => !ran.has(name)))
  print([...nowhere].map(name => relative(process.cwd(), name)))
}
if (what === 'only-second') {
  const passed = new Set(
    (read(firstStatus) ?? []).flatMap(file => testsOf(file, 'passed').map(test => file.name + test.fullName)),
  )
  const hasPassed = new Set((read(firstStatus) ?? []).filter(file => !hasFailed(file)).map(file => file.name))
  for (const file of (read(first) ?? []).filter(hasFailed)) {
    const broken = testsOf(file, 'failed')
    const mended = broken.filter(test => passed.has(file.name + test.fullName)).map(test => test.fullName)
    const outside = broken.length === 0 && hasPassed.has(file.name) ? ['an error outside its tests'] : []
    print([...mended, ...outside].map(what => `${relative(process.cwd(), file.name)}: ${what}`))
  }
}
