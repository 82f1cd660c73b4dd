import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import { ownMigrations } from '../../service/src/db/migrations.ts'

/** A folder with the migrations of a later version: this version's files and these, by their names. */
export async function laterMigrations(files: Readonly<Record<string, string>>): Promise<URL> {
  const path = await mkdtemp(join(tmpdir(), 'enrolment-migrations-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  await cp(ownMigrations, path, { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
  return pathToFileURL(`${path}/`)
}

/** Does not wait long: the test releases its lock when it has seen the migration wait. */
export const brief = { lockTimeoutMs: 50, tries: 100_000, pauseMs: 10 }
