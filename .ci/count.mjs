// Counts a report of vitest: prints `PASSED FAILED SKIPPED`. A file that could not be loaded or cleaned up, a run that
// ended badly without a failed test, and a report that is missing count as one failure each.
import { readFileSync } from 'node:fs'

const [path, status] = process.argv.slice(2)
function count() {
  const report = JSON.parse(readFileSync(path, 'utf8'))
  const broken = report.testResults.filter(
    file => file.status === 'failed' && file.assertionResults.every(test => test.status !== 'failed'),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}
const counted = (() => {
  try {
    return count()
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
})()
if (status !== '0' && counted.failed === 0) counted.failed = 1
process.stdout.write(`${counted.passed} ${counted.failed} ${counted.skipped}\n`)
