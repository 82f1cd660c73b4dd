// @databases citus stock
// @slow

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { urlOf } from '../command/database-url.ts'
import { newWorkplace } from '../command/place.ts'
import { run, runJson, runRefused, startKeptProcess } from '../command/process.ts'
import { everydayOr } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { checkReadable } from './readable.ts'
import { openFaultStage } from './stage.ts'

const preload = new URL('faults.mjs', import.meta.url)

/** Each table is compared twice, here and there. */
const killedAt = everydayOr([50], [1, 20, 50, 89])

test('a database in use moves into an embedded one and back to an own one, killed on its way: all books agree', async () => {
  const stage = await openFaultStage({ keyring: 'file', refuses: false })
  onTestFinished(() => stage.close())
  const { place, partner } = stage
  const service = await stage.start()
  const journal = stage.openJournal({ writers: 6, name: 'house' })
  await expect
    .poll(journal.acknowledged, { timeout: 180_000, interval: 20 })
    .toBeGreaterThan(everydayOr(80, 400))
  await journal.stop()
  if (service !== 'killed') await service.stop()

  const house = join(place.cwd ?? '', 'house')
  for (const pass of killedAt) {
    const fault = { NODE_OPTIONS: `--import=${preload}`, TEST_FAULT: `copy after ${pass}` }
    const env = { ...place.env, ...fault }
    expect((await run(['copy', '--to', house], { ...place, env })).code).toBeNull()
  }
  const first = await runJson<{ rows: number; quiet: boolean }>(['copy', '--to', house], place)
  expect(first).toMatchObject({ quiet: true })

  const { place: next, address, remove } = await newWorkplace({}, { empty: true })
  onTestFinished(remove)
  const { DATABASE_URL: _, ...env } = place.env ?? {}
  const back = ['copy', '--data', house, '--to', urlOf(address)]
  expect(await runJson(back, { ...place, env })).toMatchObject({ quiet: true })
  expect(await runRefused(back, { ...place, env })).toMatch(/^The destination holds a database/)

  const moved = { ...place, env: { ...place.env, DATABASE_URL: next.env['DATABASE_URL'] ?? '' } }
  await runJson(['resume'], moved)
  const [port = 0] = stage.ports
  const again = await startKeptProcess(['serve', '--port', String(port)], moved)
  onTestFinished(async () => {
    await again.stop('SIGKILL')
  })
  const database = openDatabase(address, { max: 2, ...patientDatabase })
  onTestFinished(() => database.close())
  await database.learnCells()
  await stage.check(journal, database)
  await checkReadable(stage.clientOf(port), { place: moved, partner, entries: journal.entries })
})
