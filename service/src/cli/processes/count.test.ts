import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { freshDatabase } from '../../../../tests/rig.ts'
import { readConfig } from '../../config.ts'
import { openDatabase } from '../../db/database.ts'
import { countProcesses, fittingProcesses } from './count.ts'

const gib = 2 ** 30
const large = {
  processors: 8,
  memoryBytes: 32 * gib,
  hasDatabase: false,
  connections: 300,
  connectionsEach: 14,
}

test.each([
  ['one for each processor', {}, 8],
  ['two of three processors beside a database on the same machine', { hasDatabase: true }, 5],
  ['one on two processors beside it', { hasDatabase: true, processors: 2 }, 1],
  ['one on one processor', { processors: 1, hasDatabase: true }, 1],
  ['no more than memory holds', { memoryBytes: 2 * gib }, 4],
  ['no more than take half of the connections', { connections: 100 }, 3],
  ['at least one', { memoryBytes: gib / 4, connections: 20 }, 1],
])('%s', (_what, machine, count) => {
  expect(fittingProcesses({ ...large, ...machine })).toBe(count)
})

test('a database that is reached by a socket or loopback is on the same machine, whoever runs it', async () => {
  const { address, drop } = await freshDatabase()
  const database = openDatabase(address, { max: 1, onError: () => {} })
  const ask = (hasDatabase: boolean) =>
    fittingProcesses({ ...large, processors: availableParallelism(), connections: 100, hasDatabase })
  const config = readConfig({ DATABASE_URL: 'postgres://elsewhere/one' })
  expect(await countProcesses(config, database, 4)).toBe(ask(true))
  expect(ask(true)).toBeLessThanOrEqual(Math.max(1, availableParallelism() - 1))
  await database.close()
  await drop()
})
