import { expect, test } from 'vitest'
import { fittingProcesses } from './count.ts'

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
  ['two of three processors beside the embedded database', { hasDatabase: true }, 5],
  ['one on two processors beside it', { hasDatabase: true, processors: 2 }, 1],
  ['one on one processor', { processors: 1, hasDatabase: true }, 1],
  ['no more than memory holds', { memoryBytes: 2 * gib }, 4],
  ['no more than take half of the connections', { connections: 100 }, 3],
  ['at least one', { memoryBytes: gib / 4, connections: 20 }, 1],
])('%s', (_what, machine, count) => {
  expect(fittingProcesses({ ...large, ...machine })).toBe(count)
})
