import {
  type CellMap,
  cellNamed,
  cellsNamed,
  hasEmptyList,
  isCellName,
  type NodeAddress,
  readCells,
} from './cells.ts'
import { CommitUnknown, failureOf, isUnavailable, SilentNode, Unavailable } from './failure.ts'
import { ask, ignore, type Node } from './node.ts'
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
  /** The nodes that do not answer, and the cells that each has. */
  silent(): readonly SilentCells[]
  /** Where the statements of a cell run. Throws `SilentNode` while its node does not answer. */
  placeOf(cell: string): Place
  /** Where the statements of a partner run. Rejects with `Unavailable` also where the partner has no cell. */
  placeOfPartner(partnerId: string): Promise<Place>
  /**
   * Where a statement runs: in the cell of the partner that it names, else at the first node that answers; where it names none in
   * an empty list, in a cell that answers.
   */
  placeNamed(query: Query): Place
  /**
   * Where a read may run that every node can answer, as it names no partner: at the node that answered last, or at the one after
   * it; where it names none in an empty list, in a cell of each. No place for any other statement.
   */
  placesForAny(query: Query): readonly Place[]
  /**
   * Where a read runs that names partners of several cells: in each of them, as none has rows of the others' partners. No place
   * for a statement that names none, or writes.
   */
  placesOfRead(query: Pick<Query, 'text' | 'values'>): readonly Place[]
  /** Runs what goes to a place, and learns from it whether the node answers. Rejects with `SilentNode` when it does not. */
  run<T>(place: Place, work: () => Promise<T>): Promise<T>
  /** Learns from a failure whether the node answers; returns the failure, as `SilentNode` when it does not. */
  noteFailure(place: Place, error: unknown): unknown
  /** Reads again which cells there are, and where. */
  renew(): Promise<void>
  /** Asks nothing more by itself. */
  close(): void
}

/** The cells of a node that does not answer. */
export type SilentCells = { readonly node: string; readonly cells: readonly string[] }

/** How often a node that does not answer is asked whether it does. */
const ASK_EVERY_MS = 1000
/** How often a process asks which cells there are, and where: operators make and move them while it serves. */
const READ_EVERY_MS = 2000

/**
 * Opens what is known of a cluster. A node that hangs, or is cut off, holds each connection until its statement times out. So
 * that its partners are answered 503 at once, and no connection is held for them, nothing is sent there after the first such
 * statement, until the node answers a connection of its own.
 */
export function openCluster(
  first: CellMap,
  home: Node,
  {
    open,
    onNode,
  }: { open: (address: NodeAddress) => Node; onNode: (node: string, answers: boolean) => void },
): Cluster {
  let map = first
  const nodes = new Map<string, Node>()
  const silent = new Set<Node>()
  const asked = new Set<Node>()
  let isClosed = false
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
  const nodeOf = (cell: string) => {
    const address = map.nodes.get(cell)
    return address && nodes.get(nameOf(address))
  }
  const fallSilent = (node: Node) => {
    if (silent.has(node)) return
    silent.add(node)
    onNode(node.name, false)
  }
  /** Asks a node until it answers. */
  const askAgain = async (node: Node) => {
    if (asked.has(node)) return
    asked.add(node)
    while (!isClosed && !(await node.answers())) {
      fallSilent(node)
      await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS).unref())
    }
    asked.delete(node)
    if (!silent.delete(node) || isClosed) return
    onNode(node.name, true)
    await renew().catch(ignore)
  }

  const placeOf = (cell: string): Place => {
    const node = nodeOf(cell)
    if (!node) throw new Unavailable('the partner has no cell')
    if (silent.has(node)) throw new SilentNode(node.name)
    return { node, cell, isCluster: true }
  }
  const answering = () => [...new Set([lastAnswered, ...all()])].filter(node => !silent.has(node))
  /** A cell of each node that answers and has some. */
  const answeringCells = (): Place[] =>
    answering().flatMap(node => {
      const cell = [...map.nodes.keys()].find(one => nodeOf(one) === node)
      return cell === undefined ? [] : [{ node, cell, isCluster: true }]
    })
  const read = async () => {
    let failure: unknown
    const candidates = [lastAnswered, ...all()].sort((a, b) => Number(silent.has(a)) - Number(silent.has(b)))
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
    const { noAnswer, lockTimedOut } = failureOf(error instanceof CommitUnknown ? error.cause : error)
    if (noAnswer) fallSilent(node)
    // That nothing answered proves nothing else: a statement may only have waited for a connection.
    if (isUnavailable(error) && !lockTimedOut) {
      void askAgain(node)
      void renew().catch(ignore)
    }
    return noAnswer && !(error instanceof CommitUnknown) ? new SilentNode(node.name, { cause: error }) : error
  }

  return {
    cells: () => [...map.nodes.keys()],
    nodes: all,
    silent: () =>
      [...silent].map(node => ({
        node: node.name,
        cells: [...map.nodes.keys()].filter(cell => nodeOf(cell) === node),
      })),
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
      if (!query.isAtCoordinator && hasEmptyList(query))
        return answeringCells()[0] ?? placeOf([...map.nodes.keys()][0] ?? '')
      const node = query.isAtCoordinator ? home : (all().find(one => !silent.has(one)) ?? home)
      return { node, cell: '', isCluster: true }
    },
    placesForAny(query) {
      if (!isRead(query) || query.isAtCoordinator || cellsNamed(query, map).size > 0) return []
      if (hasEmptyList(query)) return answeringCells().slice(0, 2)
      const some = answering()
      return (some.length > 0 ? some : [home]).slice(0, 2).map(node => ({ node, cell: '', isCluster: true }))
    },
    placesOfRead: query => (isRead(query) ? [...cellsNamed(query, map)].map(placeOf) : []),
    async run(place, work) {
      try {
        const result = await work()
        lastAnswered = place.node
        return result
      } catch (error) {
        throw noteFailure(place, error)
      }
    },
    noteFailure,
    renew,
    close() {
      isClosed = true
      clearInterval(reading)
    },
  }
}

function isRead({ text }: Pick<Query, 'text'>): boolean {
  return /^\s*select\b/.test(text)
}

function nameOf({ host, port }: NodeAddress): string {
  return `${host}:${port}`
}
