import type pg from 'pg'
import { tracing } from '../tracing.ts'
import type { Cluster } from './cluster.ts'
import { failureOf, Unavailable } from './failure.ts'
import { ask, enter, type Node } from './node.ts'
import { atOnce } from './pool.ts'
import type { Query } from './sql.ts'
import { attempt, type Choose, commitAt, type Place } from './transaction.ts'
import type { Database, Executor } from './types.ts'

/** What a database does with statements. */
type Statements = Pick<
  Database,
  'query' | 'transaction' | 'define' | 'commit' | 'together' | 'script' | 'alone'
>

/** How statements find their place. */
type Reach = {
  readonly choose: Choose
  /** Where what is about tables and not about rows runs: on a cluster, the coordinator. */
  readonly home: Node
  readonly cluster: () => Cluster | undefined
  /** Whether it is the database of one cell. */
  readonly isCell: boolean
}

/** Sends each statement to its place; on plain PostgreSQL there is one. */
export function statementsAt({ choose, home, cluster, isCell }: Reach): Statements {
  /** Runs work at a place, and once more where the place was wrong. */
  const run = async <T>(query: Query, work: (place: Place) => Promise<T>): Promise<T> => {
    const place = await choose(query)
    const known = cluster()
    if (!known) return work(place)
    try {
      return await known.run(place, () => work(place))
    } catch (error) {
      const other = await placeAfter(error, known, query)
      if (!other || (other.node === place.node && other.cell === place.cell)) throw meant(error)
      return known.run(other, () => work(other))
    }
  }
  const placeAfter = async (error: unknown, known: Cluster, query: Query): Promise<Place | undefined> => {
    const { isElsewhere, refusedConnection } = failureOf(error)
    if (isElsewhere) await known.renew()
    return isElsewhere || refusedConnection ? choose(query) : undefined
  }
  /** Nothing for a statement that not every node can answer. */
  const readAnywhere = <T>(statement: Query, send: (place: Place) => Promise<T>, known: Cluster) => {
    const [first, second] = isCell ? [] : known.placesForAny(statement)
    if (!first || !second) return undefined
    const ask = (place: Place) => () => known.run(place, () => send(place))
    return earlierOf(ask(first), ask(second)).catch(async (error: unknown) => {
      if (!failureOf(error).isElsewhere) throw error
      await known.renew()
      return run(statement, send)
    })
  }
  const query = <Row>(statement: Query): Promise<Row[]> => {
    const known = cluster()
    if (known) {
      const send = ({ node, cell }: Place) => node.withClient(client => ask<Row>(client, statement, cell))
      const places = known.placesOfRead(statement)
      if (places.length < 2) return readAnywhere(statement, send, known) ?? run(statement, send)
      return Promise.all(places.map(place => known.run(place, () => send(place)))).then(rows => rows.flat())
    }
    // The pool may begin a statement within the span of the statement for whose connection it waited.
    if (tracing) return home.withClient(client => ask<Row>(client, statement, ''))
    return home.pool.query(statement as pg.QueryConfig).then(({ rows }) => rows as Row[])
  }
  /** One transaction on the node of its first statement, up to five times when the database asks to run it again. */
  const repeated = async <T>(chooseNode: Choose, work: (tx: Executor) => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries += 1) {
      const begun: { first?: Place } = {}
      const chosen: Choose = async statement => {
        const place = await chooseNode(statement)
        begun.first ??= place
        return place
      }
      try {
        return await attempt(cluster() ? chosen : chooseNode, work)
      } catch (error) {
        const known = cluster()
        const failure = known && begun.first ? known.noteFailure(begun.first, error) : error
        const { retryTransaction, isElsewhere } = failureOf(error)
        if (known && isElsewhere && tries === 1) await known.renew()
        else if (tries === 5 || !retryTransaction) throw known ? meant(failure) : failure
      }
    }
  }
  return {
    query,
    transaction: work => repeated(choose, work),
    async define(work) {
      const { cell } = await choose(EMPTY)
      return repeated(() => ({ node: home, cell, isCluster: cluster() !== undefined }), work)
    },
    commit(statements, lockMs) {
      const named = statements[0] ?? EMPTY
      return run(named, place => commitAt(place, statements, lockMs))
    },
    together: work =>
      cluster() ? work({ query }) : home.withClient(client => atOnce(client, () => work(on(client, '')))),
    async script(text) {
      const { cell } = await choose(EMPTY)
      await home.withClient(async client => {
        enter(client, cell)
        await client.query(text)
      })
    },
    async alone(work) {
      const { cell } = await choose(EMPTY)
      return home.alone(client => work(on(client, cell)))
    },
  }
}

/** A statement of a partner that is on its way to another cell finds no table: its caller is to come again. */
function meant(error: unknown): unknown {
  return failureOf(error).isElsewhere ? new Unavailable('the partner is in no cell', { cause: error }) : error
}

/** How long a read waits for one node before it asks another, too: longer than nearly every statement takes. */
const PATIENCE_MS = 500

/** The answer of the first, or of the second, which is asked when the first has failed or takes long. */
async function earlierOf<T>(first: () => Promise<T>, second: () => Promise<T>): Promise<T> {
  let isTime = () => {}
  const time = new Promise<void>(resolve => {
    isTime = resolve
  })
  const timer = setTimeout(isTime, PATIENCE_MS)
  const answer = first()
  answer.catch(isTime)
  try {
    return await Promise.any([answer, time.then(second)])
  } catch {
    return answer
  } finally {
    clearTimeout(timer)
  }
}

function on(client: Parameters<typeof ask>[0], cell: string): Executor {
  return { query: query => ask(client, query, cell) }
}

const EMPTY: Query = { name: '', text: '', values: [] }
