import { expect, test } from 'vitest'
import { readMigrations, tablesOf } from '../db/migrations.ts'
import { removedTables, stayingTables } from './remove.ts'

test('of every table that holds rows of a partner it is decided whether they go with it', async () => {
  const ofPartners = [...tablesOf(await readMigrations())]
    .filter(([, place]) => place === 'in each cell')
    .map(([table]) => table)
  expect([...removedTables.keys(), ...stayingTables].sort()).toEqual([...ofPartners, 'credentials'].sort())
})
