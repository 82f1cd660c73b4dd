import pg from 'pg'
import { CommitUnknown, failureOf } from './failure.ts'
import { ask, atOnce, ignore, type Lent, type Pool } from './pool.ts'
import type { Query } from './sql.ts'
import type { Executor } from './types.ts'

/** Chooses the pool of a statement. That of its first one is where a transaction runs. */
type Choose = (query: Query) => Pool | Promise<Pool>

/** What lets the rest of a transaction see the tables of another cell: a feed's run is one transaction about all partners. */
export function enter(cell: string): Query {
  return { name: '', text: `set local search_path to ${cell}, public`, values: [] }
}

/** Runs `work` in one transaction, up to five times when the database asks to run it again. */
export async function repeated<T>(choose: Choose, work: (tx: Executor) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(choose, work)
    } catch (error) {
      if (tries === 5 || !failureOf(error).retryTransaction) throw error
    }
  }
}

/** Runs `work` in one transaction, once. If the answer to the commit was lost, rejects with `CommitUnknown`. */
async function attempt<T>(choose: Choose, work: (tx: Executor) => Promise<T>): Promise<T> {
  const own: { session?: Promise<Session>; firstFailure?: unknown } = {}
  const tx: Executor = {
    async query<Row>(query: Query) {
      const chosen = choose(query)
      const pool = chosen instanceof Promise ? await chosen : chosen
      own.session ??= begin(pool)
      const session = await own.session
      const { client } = session
      if (pool.cell !== '' && pool.cell !== session.cell) {
        session.cell = pool.cell
        client.query(enter(pool.cell)).catch(ignore)
      }
      return ask<Row>(client, query).catch((error: unknown) => {
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
type Session = Lent & { readonly begun: Promise<unknown>; readonly isCluster: boolean; cell: string }

/** `begin` is not awaited, so that the first statements travel with it. If it fails, the first of them fails, too. */
async function begin(pool: Pool): Promise<Session> {
  const { lend, isCluster, cell } = pool
  const lent = await lend()
  const [first, ...others] = beginning(pool)
  const begun = lent.client.query(first)
  begun.catch(ignore)
  for (const statement of others) lent.client.query(statement).catch(ignore)
  return { ...lent, begun, isCluster, cell }
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
  pool: Pool,
  statements: readonly Query[],
  lockMs: number | undefined,
): Promise<void> {
  const { withClient, isCluster } = pool
  await withClient(async client => {
    // The driver sends all of them before it waits for the first answer. After a failure PostgreSQL refuses the rest,
    // and turns the commit into a rollback.
    const all = [...beginning(pool, lockMs), ...statements, commitStatement]
    const answers = await atOnce(client, () =>
      Promise.allSettled(all.map(statement => client.query(statement))),
    )
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

/** The first statements of a transaction. A cluster has to be told how long each may wait for a lock. */
function beginning(
  { isCluster, lockTimeoutMs }: Pool,
  lockMs = isCluster ? lockTimeoutMs : undefined,
): readonly [Statement, ...Statement[]] {
  if (lockMs === undefined) return [beginStatement]
  const limit = Math.ceil(lockMs)
  return [beginStatement, { name: `lock_timeout ${limit}`, text: `set local lock_timeout = ${limit}` }]
}

type Statement = { readonly name: string; readonly text: string }

const beginStatement = { name: 'begin', text: 'begin' }
const commitStatement = { name: 'commit', text: 'commit' }

/**
 * Whether the answer to a commit proves that nothing was committed. It does on a connection that stays open, but not
 * on a cluster, where the commit travels on to other nodes and also fails when one of them does not answer.
 */
function provesNoCommit(error: pg.DatabaseError, isCluster: boolean): boolean {
  return !failureOf(error).connectionIsUnsafe && !isCluster
}
