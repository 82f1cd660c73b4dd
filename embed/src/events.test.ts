import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { version } from './events.ts'

test('the version in the frame address is the version of the package', () => {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  )
  expect(version).toBe(manifest.version)
})
