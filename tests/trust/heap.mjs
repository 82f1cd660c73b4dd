// Loaded first into a process of the built service: on SIGUSR2 it collects all garbage and logs how much memory is still in use.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
process.on('SIGUSR2', () => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  process.stderr.write(`${JSON.stringify({ event: 'heap', bytes: heapUsed + external })}\n`)
})
