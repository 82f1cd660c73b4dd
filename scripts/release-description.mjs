// Keeps the present description as that of the last release; a test compares every later one with it. node
// scripts/release-description.mjs, after the changes of contract/src/changes.ts were moved to a version.
import { writeFileSync } from 'node:fs'
import { describeInterface, outlineOf } from '../contract/dist/index.js'

const description = describeInterface({
  baseUrl: 'https://benefits.example.com',
  version: '1.0.2',
  sandbox: true,
})
const outline = outlineOf(description)
writeFileSync(
  new URL('../contract/released.json', import.meta.url),
  `${JSON.stringify(outline, undefined, 1)}\n`,
)
