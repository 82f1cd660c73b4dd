import { expect, test } from 'vitest'
import { tableDistribution } from '../db/table-distribution.ts'
import { removedTables, stayingTables } from './remove.ts'

test('of every table that holds rows of a partner it is decided whether they go with it', () => {
  const ofPartners = [...tableDistribution]
    .filter(([, place]) => place === 'by partner')
    .map(([table]) => table)
  expect([...removedTables.keys(), ...stayingTables].sort()).toEqual([...ofPartners, 'credentials'].sort())
})
