import { availableParallelism, totalmem } from 'node:os'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

/** What the number of processes depends on. */
export type Machine = {
  readonly processors: number
  readonly memoryBytes: number
  /** Whether PostgreSQL runs on the same processors. */
  readonly hasDatabase: boolean
  /** How many connections the database allows, and how many of them a process opens at most. */
  readonly connections: number
  readonly connectionsEach: number
}

/** A process needs less than that with its default limits. */
const MEMORY_EACH = 512 * 1024 * 1024
/**
 * A first prefill takes PostgreSQL a third of the processor time that it takes in all. On two cores with PostgreSQL beside them, two
 * processes answered no more prefills than one on one day and a fifth more on another, at 0.29 ms of Node's processor time each
 * instead of 0.19 and 0.23 (2026-11-29, 2026-12-01: `npm run bench -- --only processes`).
 */
const SHARE_BESIDE_DATABASE = 2 / 3

/**
 * How many processes `auto` means: one a processor, two for three processors where PostgreSQL is beside them; fewer where
 * memory ends, or where they would open more than half of the database's connections; at least one.
 */
export function fittingProcesses(machine: Machine): number {
  const share = machine.hasDatabase ? SHARE_BESIDE_DATABASE : 1
  const most = Math.min(
    machine.processors * share,
    machine.memoryBytes / MEMORY_EACH,
    machine.connections / 2 / machine.connectionsEach,
  )
  return Math.max(1, Math.floor(most))
}

/** How many processes serve: the number that is set, or what fits this machine and this database. */
export async function countProcesses(
  { processes, databaseConnections }: Config,
  database: Database,
  deliveryConnections: number,
): Promise<number> {
  if (processes !== 'auto') return processes
  const [row] = await database.query<{ connections: number; is_here: boolean }>(sql`
    select current_setting('max_connections')::int as connections,
      coalesce(inet_client_addr() <<= '127.0.0.0/8' or inet_client_addr() = '::1', true) as is_here`)
  return fittingProcesses({
    processors: availableParallelism(),
    // Node.js tells a number beyond any machine, or 0, where nothing limits the memory of a container.
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
    // It says from where it is reached: without an address by a socket.
    hasDatabase: row?.is_here ?? false,
    connections: row?.connections ?? 0,
    connectionsEach: databaseConnections + deliveryConnections,
  })
}
