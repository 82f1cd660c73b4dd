import { readFileSync } from 'node:fs'

// Loaded first into a service process: its clock stands at the instant that a file holds, and SIGUSR2 makes it read the
// file again.
const RealDate = Date
let now = 0
function read() {
  now = RealDate.parse(readFileSync(process.env.TEST_CLOCK_FILE ?? '', 'utf8'))
}
read()
process.on('SIGUSR2', read)

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now] : given))
  }
  static now() {
    return now
  }
}
