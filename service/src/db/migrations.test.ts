import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ownMigrations, readMigrations, runsBeside } from './migrations.ts'

/** The files that were released, each with the SHA-256 of its bytes; `node scripts/freeze.mjs` adds to them. */
const released = JSON.parse(readFileSync(new URL('released.json', ownMigrations), 'utf8')) as Readonly<
  Record<string, string>
>
const isReleased = Object.keys(released).length > 0

test('a released migration keeps its bytes: databases that have applied it do not apply it again', () => {
  for (const [name, sum] of Object.entries(released)) {
    const bytes = readFileSync(new URL(name, ownMigrations))
    expect(
      createHash('sha256').update(bytes).digest('hex'),
      `${name} was released: put it back as it was, and make the change in a new file (CONTRIBUTING.md, "How a migration is written")`,
    ).toBe(sum)
  }
})

test.runIf(isReleased)(
  'a file that takes something away names the first version that does without it',
  async () => {
    const later = (await readMigrations()).filter(({ name }) => !(name in released))
    const taking = later.filter(({ parts }) =>
      parts
        .flatMap(({ statements }) => statements)
        .some(one => /\b(drop (?!index)|rename|alter column \S+ (set data )?type)/i.test(one)),
    )
    expect(taking.map(({ name }) => name).filter(name => !/\.from-\d+\.\d+\.sql$/.test(name))).toEqual([])
  },
)

test('a version serves on what later files added, and not on what they took away from it', () => {
  expect(runsBeside('002_added.sql', '1.0.0')).toBe(true)
  expect(runsBeside('003_without_fax.from-1.2.sql', '1.1.9')).toBe(false)
  expect(runsBeside('003_without_fax.from-1.2.sql', '1.2.0')).toBe(true)
  expect(runsBeside('003_without_fax.from-1.9.sql', '1.10.0')).toBe(true)
  expect(runsBeside('004_other.from-2.0.sql', '1.10.0')).toBe(false)
})
