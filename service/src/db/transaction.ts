import pg from 'pg'
import { CommitUnknown, failureOf } from './failure.ts'
import { ask, enter, ignore, inCell, type Lent, type Node } from './node.ts'
import { atOnce } from './pool.ts'
import type { Query } from './sql.ts'
import type { Executor } from './types.ts'

/** Where a statement runs. */
export type Place = {
  readonly node: Node
  /** The cell whose tables it is about; `''` where there are no cells, or it is about none. */
  readonly cell: string
  /** Whether the node is one of a cluster. */
  readonly isCluster: boolean
}

/** Chooses where a statement runs. */
export type Choose = (query: Query) => Place | Promise<Place>

/**
 * Runs `work` in one transaction, once, on the node of its first statement. If the answer to the commit was lost, rejects with
 * `CommitUnknown`.
 */
export async function attempt<T>(choose: Choose, work: (tx: Executor) => Promise<T>): Promise<T> {
  const own: { session?: Promise<Session>; firstFailure?: unknown } = {}
  const tx: Executor = {
    async query<Row>(query: Query) {
      const chosen = choose(query)
      const place = chosen instanceof Promise ? await chosen : chosen
      own.session ??= begin(place)
      const { client } = await own.session
      return ask<Row>(client, query, place.cell).catch((error: unknown) => {
        own.firstFailure ??= error
        throw error
      })
    },
  }
  let result: T
  try {
    result = await work(tx)
    await (await own.session)?.begun
  } catch (thrown) {
    // The failure of a later statement may be reported first, but it is not the cause.
    const error = failureOf(thrown).followsAnother ? own.firstFailure : thrown
    await giveUp((await own.session?.catch(ignore)) || undefined, error)
    throw error
  }
  if (own.session) await commitSession(await own.session, own)
  return result
}

/** A connection on which a transaction has begun. */
type Session = Lent & { readonly begun: Promise<unknown>; readonly isCluster: boolean }

/** `begin` is not awaited, so that the first statements travel with it. If it fails, the first of them fails, too. */
async function begin({ node, cell, isCluster }: Place): Promise<Session> {
  const lent = await node.lend()
  enter(lent.client, cell)
  const begun = lent.client.query('begin')
  begun.catch(ignore)
  return { ...lent, begun, isCluster }
}

async function giveUp(session: Session | undefined, failure: unknown): Promise<void> {
  if (!session) return
  try {
    if (!failureOf(failure).connectionIsUnsafe) await session.client.query('rollback')
    session.giveBack(failure)
  } catch (error) {
    session.giveBack(error)
    throw error
  }
}

async function commitSession(
  { client, giveBack, isCluster }: Session,
  { firstFailure }: { readonly firstFailure?: unknown },
): Promise<void> {
  let failure: unknown
  try {
    // A transaction that had failed is not committed, and the server says so without an error.
    const { command } = await client.query('commit')
    if (command !== 'COMMIT') failure = firstFailure
  } catch (error) {
    // Only an answer of the server, on a connection that stays open, proves that nothing was committed.
    const isProven = error instanceof pg.DatabaseError && provesNoCommit(error, isCluster)
    failure = isProven ? error : new CommitUnknown('commit', { cause: error })
  }
  giveBack(failure)
  if (failure !== undefined) throw failure
}

/** Sends statements and their commit together as one transaction. */
export async function commitAt(
  { node, cell, isCluster }: Place,
  statements: readonly Query[],
  lockMs: number | undefined,
): Promise<void> {
  await node.withClient(async client => {
    const own = cell === '' ? statements : statements.map(one => inCell(one, cell))
    // The driver sends all of them before it waits for the first answer. After a failure PostgreSQL refuses the rest,
    // and turns the commit into a rollback.
    const all = [...beginning(lockMs), ...own, commitStatement]
    const answers = await atOnce(client, () => {
      enter(client, cell)
      return Promise.allSettled(all.map(statement => client.query(statement)))
    })
    const index = answers.findIndex(answer => answer.status === 'rejected')
    if (index === -1) return
    const failure: unknown = (answers[index] as PromiseRejectedResult).reason
    // Only an answer of the server proves that nothing was committed; for the commit itself, only where
    // `provesNoCommit` says so.
    const isRefused =
      failure instanceof pg.DatabaseError && (index < all.length - 1 || provesNoCommit(failure, isCluster))
    if (!isRefused) throw new CommitUnknown('commit', { cause: failure })
    throw failure
  })
}

function beginning(lockMs: number | undefined): { name: string; text: string }[] {
  if (lockMs === undefined) return [beginStatement]
  const limit = Math.ceil(lockMs)
  return [beginStatement, { name: `lock_timeout ${limit}`, text: `set local lock_timeout = ${limit}` }]
}

const beginStatement = { name: 'begin', text: 'begin' }
const commitStatement = { name: 'commit', text: 'commit' }

/**
 * Whether the answer to a commit proves that nothing was committed. It does on a connection that stays open, but not
 * on a cluster, where a commit that reached a cell by another node also fails when that node does not answer.
 */
function provesNoCommit(error: pg.DatabaseError, isCluster: boolean): boolean {
  return !failureOf(error).connectionIsUnsafe && !isCluster
}
