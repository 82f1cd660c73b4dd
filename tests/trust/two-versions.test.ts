import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { type Created, clientOf } from '../command/place.ts'
import { runJson } from '../command/process.ts'
import { laterMigrations } from '../database/made-up.ts'
import { everydayOr, runsOneFile } from '../long.ts'
import { buildOneFile, type Change } from '../one-file.ts'
import { ada } from '../rig.ts'
import type { Journal } from './journal.ts'
import { type FaultStage, openFaultStage } from './stage.ts'

// Nothing is released yet, so there is no earlier version. The later one is made up: this service with one more
// migration, and with statements that write and read what the migration adds.

let stage: FaultStage | undefined
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'enrolment-versions-'))
})
afterEach(async () => {
  await stage?.close()
  stage = undefined
  await rm(folder, { recursive: true, force: true })
})

/** The build of this version, which a run of all files has already, or of this version with changes. */
async function build(name: string, changes: readonly Change[] = []): Promise<string> {
  await mkdir(join(folder, name))
  return buildOneFile(join(folder, name), changes)
}

function changesOf(migrations: URL): Change[] {
  return [
    {
      module: '/db/migrations.js',
      from: "new URL('../../migrations/', import.meta.url)",
      to: `new URL(${JSON.stringify(migrations.href)})`,
    },
    {
      module: '/membership/records/tables.js',
      from: "erasedAt: stored.instant('erased_at'),",
      to: "erasedAt: stored.instant('erased_at'), madeUp: together({ kind: { name: 'made_up', kind: 'text', absent: 'later' } }),",
    },
  ]
}

async function more(journal: Journal, count: number): Promise<void> {
  const wanted = journal.acknowledged() + count
  await expect.poll(journal.acknowledged, { timeout: 180_000, interval: 20 }).toBeGreaterThan(wanted)
}

test('this version and a made-up later one serve one database under load: all books agree', async () => {
  const later = await build(
    'later',
    changesOf(
      await laterMigrations({
        '900_later.sql': [
          "alter table users add column made_up text default 'before';",
          'alter table users add constraint made_up_known check (length(made_up) < 10) not valid;',
        ].join('\n'),
      }),
    ),
  )
  const on = await openFaultStage({ oneFile: runsOneFile ? inject('command') : await build('this') })
  stage = on
  const start = async (process: number, oneFile?: string) => {
    const started = await on.start({ process, ...(oneFile === undefined ? {} : { oneFile }) })
    if (started === 'killed') throw new Error('it did not start')
    return started
  }
  const first = await start(0)
  const beside = await runJson<Created>(['partner', 'create', '--name', 'Beside'], on.place)
  const journal = on.openJournal({ writers: 6, name: 'versions', processes: 2 })
  await more(journal, everydayOr(15, 30))
  // The later version adds its column while the first serves, and then both write the same users.
  const upgraded = await start(1, later)
  await more(journal, everydayOr(30, 60))
  const [old, young] = [clientOf(first, beside), clientOf(upgraded, beside)]
  const kindOf = async (userid: string) => {
    const [row] = await on.database.query<{ kind: string; version: number }>(
      sql`select made_up as kind, version from users where userid = ${userid}`,
    )
    return row
  }
  // Data written by the later version survives a write of this version, which does not know it.
  await young.createUser({ userid: 'young', ...ada, offername: 'starter' })
  await old.updateUser({ userid: 'young', phone: '3055550199' })
  expect(await kindOf('young')).toEqual({ kind: 'later', version: 2 })
  await old.createUser({ userid: 'old', ...ada, offername: 'starter' })
  expect(await kindOf('old')).toEqual({ kind: 'before', version: 1 })
  await young.updateUser({ userid: 'old', phone: '3055550199' })
  expect(await kindOf('old')).toEqual({ kind: 'before', version: 2 })
  // This version continues beside the later one's schema; once ended it does not start there, and the later one takes
  // over.
  await first.stop('SIGKILL')
  await expect(start(0)).rejects.toThrow(/newer than this version of the service/)
  await start(0, later)
  await more(journal, everydayOr(20, 40))
  await journal.stop()
  await on.check(journal)
})
