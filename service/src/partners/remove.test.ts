import { expect, test } from 'vitest'
import { tablesOfCells } from '../db/migrations.ts'
import { removedTables, stayingTables } from './remove.ts'

test('of every table that holds rows of a partner it is decided whether they go with it', async () => {
  const ofPartners = [...(await tablesOfCells()), 'credentials']
  expect([...removedTables.keys(), ...stayingTables].sort()).toEqual(ofPartners.sort())
})
