import { Gauge, Registry } from 'prom-client'
import { inAllCells } from '../db/by-cell.ts'
import type { Database } from '../db/database.ts'
import { openLastRead } from '../db/last-read.ts'
import { earliestUnscrubbed } from './scrub.ts'

/**
 * The metric of erasures: how long ago the earliest user was erased whose deleted key may still be in the database's files.
 * While the database is away, it is computed from what was read last, so it keeps growing.
 */
export function erasureMetrics({
  database,
  real,
}: {
  database: Database
  real: () => number
}): () => Promise<string> {
  const registry = new Registry()
  const oldest = new Gauge({
    name: 'erased_keys_oldest_seconds',
    help: 'Age of the oldest erasure whose key may still be in the files of the database; 0 when there is none',
    registers: [registry],
  })
  const read = openLastRead(
    async () => {
      const found = await inAllCells(database, async cell => [await earliestUnscrubbed(cell)])
      return found.reduce(
        (a, b) => (a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)),
        undefined,
      )
    },
    undefined as number | undefined,
  )
  return async () => {
    const { value } = await read()
    oldest.set(value === undefined ? 0 : Math.max(0, real() - value) / 1000)
    return registry.metrics()
  }
}
