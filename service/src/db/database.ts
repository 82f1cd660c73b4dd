import { addressAt, addressesOf } from './address.ts'
import { type CellMap, readCells } from './cells.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { isUnavailable } from './failure.ts'
import { ask, type Node, openNode } from './node.ts'
import { statementsAt } from './statements.ts'
import type { Choose, Place } from './transaction.ts'
import type { Database, DatabaseAddress } from './types.ts'

export { CommitUnknown } from './failure.ts'
export type { Database, DatabaseAddress, Executor } from './types.ts'

/** How long a statement waits for a lock. */
export const LOCK_TIMEOUT_MS = 2000

/** How a database is used. */
type PoolOptions = {
  readonly max: number
  readonly onError: (error: Error) => void
  /** Called when a node of a cluster does not answer, and when it answers again. */
  readonly onNode?: (node: string, answers: boolean) => void
  readonly statementTimeoutMs?: number
  /** How long a caller waits for a connection, a new one or one in use. */
  readonly connectTimeoutMs?: number
  /** How long an unused connection stays open; half a minute unless it is given. */
  readonly idleTimeoutMs?: number
  /** What `pg_stat_activity` calls its sessions; `enrolment` unless it is given. */
  readonly sessionName?: string
}

/** Opens a pool whose statements and waits for locks are limited; it connects only with the first query. */
export function openDatabase(address: DatabaseAddress, options: PoolOptions): Database {
  const { statementTimeoutMs = 5000, connectTimeoutMs = 2000, idleTimeoutMs = 30_000, max } = options
  const times = { statementTimeoutMs, connectTimeoutMs, idleTimeoutMs, lockTimeoutMs: LOCK_TIMEOUT_MS }
  const limits = { max, sessionName: options.sessionName, ...times }
  const [own, ...others] = addressesOf(address)
  const open = (at: DatabaseAddress) => openNode(at, limits, options.onError)
  const home = open(own)
  const here: Place = { node: home, cell: '', isCluster: false }
  let cluster: Cluster | undefined
  const nodes = () => cluster?.nodes() ?? [home]
  const shared = {
    async close() {
      cluster?.close()
      await Promise.all(nodes().map(node => node.close()))
    },
    use: () => ({
      busy: sum(nodes().map(({ pool }) => pool.totalCount - pool.idleCount)),
      waiting: sum(nodes().map(({ pool }) => pool.waitingCount)),
      most: max * nodes().length,
    }),
    lostConnections: () => sum(nodes().map(node => node.lostConnections())),
    cellOf: (partnerId: string) => cluster?.cellOf(partnerId) ?? '',
    noteCell: (partnerId: string, cell: string) => cluster?.noteCell(partnerId, cell),
    inCellOf: (partnerId: string) => {
      const known = cluster
      if (!known) return database
      return within(known.cellOf(partnerId), { known, choose: () => known.placeOfPartner(partnerId) })
    },
    cells: () => {
      const known = cluster
      return known?.cells().map(cell => within(cell, { known, choose: () => known.placeOf(cell) })) ?? []
    },
    silent: () => cluster?.silent() ?? [],
    async learnCells() {
      if (cluster) return cluster.renew()
      const learn = (found: CellMap | undefined) => {
        const onNode = options.onNode ?? (() => {})
        return found && openCluster(found, home, { open: node => open(addressAt(own, node)), onNode })
      }
      try {
        cluster = learn(await readCells(database))
      } catch (error) {
        const learned = learn(await readAt(others.map(open), error))
        learned?.noteFailure(here, error)
        cluster = learned
      }
    },
  }
  const within = (cell: string, { known, choose }: { known: Cluster; choose: Choose }): Database => ({
    ...statementsAt({ choose, home, cluster: () => known, isCell: true }),
    ...shared,
    cells: () => [],
    cell,
  })
  const database: Database = {
    ...statementsAt({
      choose: query => cluster?.placeNamed(query) ?? here,
      home,
      cluster: () => cluster,
      isCell: false,
    }),
    ...shared,
    cell: '',
  }
  return database
}

/** Reads from the first of these nodes that answers where the cells are. Rejects with the failure of the coordinator where none does. */
async function readAt(nodes: readonly Node[], failure: unknown): Promise<CellMap | undefined> {
  for (const node of nodes) {
    try {
      const found = isUnavailable(failure)
        ? await readCells({ query: query => node.withClient(client => ask(client, query, '')) })
        : undefined
      if (found) return found
    } catch (error) {
      if (!isUnavailable(error)) throw error
    } finally {
      await node.close()
    }
  }
  throw failure
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
