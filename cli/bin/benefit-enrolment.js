#!/usr/bin/env node
// Asked before anything is loaded: an older Node cannot load the rest, and would only say where it gave up.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`This needs Node 20.19 or later; here is ${process.versions.node}.\n`)
  process.exit(1)
}
await import('../dist/benefit-enrolment.js')
