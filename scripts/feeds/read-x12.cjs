// Reads X12 files by node-x12, strictly, and counts their people: node read-x12.cjs NODE_MODULES FILES…
const { readFileSync } = require('node:fs')
const { basename, join } = require('node:path')

const [modules, ...paths] = process.argv.slice(2)
const { X12Parser } = require(join(modules, 'node-x12'))
for (const path of paths) {
  const parsed = new X12Parser(true).parse(readFileSync(path, 'latin1'))
  const segments = parsed.functionalGroups.flatMap(group => group.transactions.flatMap(set => set.segments))
  const people = segments.filter(({ tag }) => tag === 'INS').length
  if (people !== Number.parseInt(basename(path), 10)) throw new Error(`${people} people in ${path}`)
  process.stdout.write(`node-x12 reads ${people} people of our 834\n`)
}
