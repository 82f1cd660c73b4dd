import { type CellMap, cellNamed, cellsNamed, isCellName, type NodeAddress, readCells } from './cells.ts'
import { failureOf, isUnavailable, Unavailable } from './failure.ts'
import { ask, type Node } from './node.ts'
import type { Query } from './sql.ts'
import type { Place } from './transaction.ts'

/** The nodes and cells of a cluster, as they were when last read. */
export type Cluster = {
  /** The cells, in the order of their numbers. */
  cells(): readonly string[]
  /** The nodes, the coordinator first. */
  nodes(): readonly Node[]
  /** The name of a partner's cell; of a partner that is not known yet, one that it shares with nobody. */
  cellOf(partnerId: string): string
  noteCell(partnerId: string, cell: string): void
  /** Where the statements of a cell run. Throws `Unavailable` while its node does not answer. */
  placeOf(cell: string): Place
  /** Where the statements of a partner run. Rejects with `Unavailable` also where the partner has no cell. */
  placeOfPartner(partnerId: string): Promise<Place>
  /**
   * Where a statement runs: in the cell of the partner that it names, else at the first node that answers. A read is sent to the
   * node that answered last, so that it does not wait for one that hangs.
   */
  placeNamed(query: Query): Place
  /**
   * Where a read runs that names partners of several cells: in each of them, as none has rows of the others' partners. No place
   * for a statement that names none, or writes.
   */
  placesOfRead(query: Pick<Query, 'text' | 'values'>): readonly Place[]
  /** Runs what goes to a place, and learns from it whether the node answers. */
  run<T>(place: Place, work: () => Promise<T>): Promise<T>
  noteFailure(place: Place, error: unknown): void
  /** Reads again which cells there are, and where. */
  renew(): Promise<void>
  /** Reads it no more by itself. */
  close(): void
}

/** For how long a node that did not answer is refused before a statement is tried there again. */
const REFUSED_MS = 5000
/** How often a process asks which cells there are, and where: operators make and move them while it serves. */
const READ_EVERY_MS = 2000

/**
 * Opens what is known of a cluster. A node that hangs, or is cut off, holds each connection until its statement times out. So
 * that its partners are answered 503 at once, and no connection is held for them, they are refused after the first such
 * statement, and one is tried every five seconds.
 */
export function openCluster(first: CellMap, home: Node, open: (address: NodeAddress) => Node): Cluster {
  let map = first
  const nodes = new Map<string, Node>()
  const refusedUntil = new Map<Node, number>()
  let lastAnswered = home
  let renewing: Promise<void> | undefined

  const take = (found: CellMap) => {
    map = found
    for (const address of found.nodes.values()) {
      const name = nameOf(address)
      if (!nodes.has(name)) nodes.set(name, open(address))
    }
  }
  take(first)

  const all = () => [home, ...nodes.values()]
  const isRefused = (node: Node) => performance.now() < (refusedUntil.get(node) ?? 0)
  const refuse = (node: Node) => refusedUntil.set(node, performance.now() + REFUSED_MS)

  const placeOf = (cell: string): Place => {
    const address = map.nodes.get(cell)
    const node = address && nodes.get(nameOf(address))
    if (!node || isRefused(node)) throw new Unavailable('the node of the cell does not answer')
    return { node, cell, isCluster: true }
  }
  const read = async () => {
    let failure: unknown
    const candidates = [lastAnswered, ...all()].sort((a, b) => Number(isRefused(a)) - Number(isRefused(b)))
    for (const node of candidates) {
      try {
        const found = await readCells({ query: query => node.withClient(one => ask(one, query, '')) })
        if (found) take(found)
        return
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }
  const renew = () => {
    renewing ??= read().finally(() => {
      renewing = undefined
    })
    return renewing
  }
  // Where no node answers, the old map stays.
  const reading = setInterval(() => renew().catch(() => {}), READ_EVERY_MS).unref()
  const noteFailure = ({ node }: Place, error: unknown) => {
    const { timedOut, refusedConnection } = failureOf(error)
    if (timedOut || refusedConnection) refuse(node)
    // That nothing answered proves nothing else: a statement may only have waited for a connection.
    if (isUnavailable(error)) void renew().catch(() => {})
    else refusedUntil.delete(node)
  }

  return {
    cells: () => [...map.nodes.keys()],
    nodes: all,
    cellOf: partnerId => map.partners.get(partnerId) ?? partnerId,
    noteCell(partnerId, cell) {
      if (isCellName(cell)) map.partners.set(partnerId, cell)
      else map.partners.delete(partnerId)
    },
    placeOf,
    async placeOfPartner(partnerId) {
      const find = () => cellNamed({ values: [partnerId] }, map)
      if (find() === undefined) await renew()
      return placeOf(find() ?? '')
    },
    placeNamed(query) {
      const cell = cellNamed(query, map)
      if (cell !== undefined) return placeOf(cell)
      const candidates = isRead(query) ? [lastAnswered, ...all()] : all()
      const node = query.isAtCoordinator ? home : (candidates.find(one => !isRefused(one)) ?? home)
      return { node, cell: '', isCluster: true }
    },
    placesOfRead: query => (isRead(query) ? [...cellsNamed(query, map)].map(placeOf) : []),
    async run(place, work) {
      // While one statement is tried, the others are still refused.
      if (refusedUntil.has(place.node)) refuse(place.node)
      try {
        const result = await work()
        refusedUntil.delete(place.node)
        lastAnswered = place.node
        return result
      } catch (error) {
        noteFailure(place, error)
        throw error
      }
    },
    noteFailure,
    renew,
    close: () => clearInterval(reading),
  }
}

function isRead({ text }: Pick<Query, 'text'>): boolean {
  return /^\s*select\b/.test(text)
}

function nameOf({ host, port }: NodeAddress): string {
  return `${host}:${port}`
}
