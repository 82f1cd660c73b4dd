import { JsonReporter } from 'vitest/node'

/**
 * The JSON report of vitest, in which a file during which an error escaped all tests has failed. Vitest's own leaves those
 * errors out, so nothing would say which file has to run once more.
 */
export default class Report extends JsonReporter {
  #files = new Set()

  onTestRunEnd(modules, errors) {
    this.#files = new Set(errors.map(error => error.VITEST_TEST_PATH))
    return super.onTestRunEnd(modules)
  }

  writeReport(text) {
    const report = JSON.parse(text)
    for (const file of report.testResults) if (this.#files.has(file.name)) file.status = 'failed'
    return super.writeReport(JSON.stringify(report))
  }
}
