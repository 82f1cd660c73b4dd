// Reads vitest's JSON report, and how vitest ended: names the files of which nothing ran in any project, and ends with `PASSED FAILED`.
//   count.mjs REPORT.json ENDED
// A file that could not be loaded counts as one failure, and so do a missing report and a run that ended badly without a failed test.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const [report, ended] = process.argv.slice(2)
const files = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : []

function count(file, status) {
  return file.assertionResults.filter(test => test.status === status).length
}
function failuresOf(file) {
  return count(file, 'failed') || (file.status === 'failed' ? 1 : 0)
}
const ran = new Set(files.filter(file => count(file, 'passed') + failuresOf(file) > 0).map(file => file.name))
const silent = new Set(files.map(file => file.name).filter(name => !ran.has(name)))
const passed = files.reduce((total, file) => total + count(file, 'passed'), 0)
const failed = files.reduce((total, file) => total + failuresOf(file), 0)

for (const name of silent) process.stdout.write(`!!!! NOTHING RUN OF ${relative(process.cwd(), name)}\n`)
process.stdout.write(`${passed} ${failed || (ended === '0' && files.length > 0 ? 0 : 1)}\n`)
