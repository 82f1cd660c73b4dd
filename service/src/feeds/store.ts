import type { Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { failureOf } from '../db/failure.ts'
import { type Query, sql, timestamp } from '../db/sql.ts'
import type { LineAction } from '../membership/rules/insurer-lines.ts'
import { OperatorError } from '../operator-error.ts'
import type { Feed, FeedDocument } from './feed.ts'

/** `made`: its file is still to be taken; `held`: waits for a second person; `dropped`: that person let nothing go. */
export type RunStatus = 'made' | 'held' | 'taken' | 'dropped'

/** How many lines of each action a run has. */
export type Counts = Readonly<Partial<Record<LineAction, number>>>

/** One run of a feed. */
export type Run = {
  readonly feed: string
  readonly run: number
  readonly version: number
  readonly catalogueVersion: number
  readonly status: RunStatus
  readonly isFull: boolean
  readonly lines: number
  readonly counts: Counts
  readonly madeAt: Instant
  readonly madeBy: string
  readonly decidedBy: string | undefined
  readonly takenAt: Instant | undefined
  /** The insurer's name in an 834; runs that were made before it was kept have the code there. */
  readonly insurerName: string | undefined
}

type RunRow = {
  feed: string
  run: number
  version: number
  catalogue_version: number
  status: RunStatus
  is_full: boolean
  lines: number
  counts: Counts
  made_at: Instant
  made_by: string
  decided_by: string | null
  taken_at: Instant | null
  insurer_name: string | null
}

/** The newest version of the feeds, and who published it; `undefined` while none is published. */
export async function newestFeeds(
  db: Executor,
): Promise<{ readonly version: number; readonly by: string; readonly feeds: readonly Feed[] } | undefined> {
  const [row] = await db.query<{ version: number; published_by: string; document: FeedDocument }>(
    sql`select version, published_by, document from feed_versions order by version desc limit 1`,
  )
  return row && { version: row.version, by: row.published_by, feeds: row.document.feeds }
}

/** A feed as a version had it; `undefined` when it had none of this name. */
export async function feedOfVersion(db: Executor, name: string, version: number): Promise<Feed | undefined> {
  const [row] = await db.query<{ document: FeedDocument }>(
    sql`select document from feed_versions where version = ${version}`,
  )
  return row?.document.feeds.find(({ feed }) => feed === name)
}

/** Publishes feeds as the next version, unless the newest has the same content; returns its number. */
export async function publishFeeds(
  database: Database,
  fresh: { readonly document: FeedDocument; readonly at: Instant; readonly by: string },
  also: readonly Query[],
): Promise<{ readonly version: number; readonly isNew: boolean }> {
  const { document, at, by } = fresh
  return database.transaction(async tx => {
    await tx.query(sql`lock table feed_versions in share row exclusive mode`)
    const text = JSON.stringify(document)
    const [newest = { version: 0, same: false }] = await tx.query<{ version: number; same: boolean }>(sql`
      select version, document = ${text}::jsonb as same from feed_versions order by version desc limit 1`)
    if (newest.same) return { version: newest.version, isNew: false }
    const version = newest.version + 1
    await tx.query(sql`
      insert into feed_versions (version, document, published_at, published_by)
      values (${version}, ${text}::jsonb, ${timestamp(at)}, ${by})`)
    await tx.query(sql`
      insert into feeds (feed, published_at)
      select name, ${timestamp(at)} from unnest(${document.feeds.map(({ feed }) => feed)}::text[]) as name
      on conflict (feed) do nothing`)
    for (const query of also) await tx.query(query)
    return { version, isNew: true }
  })
}

/** When each feed was first published, and its newest run. */
export async function listFeedStates(
  db: Executor,
): Promise<ReadonlyMap<string, { readonly publishedAt: Instant; readonly lastRun: Run | undefined }>> {
  const feeds = await db.query<{ feed: string; published_at: Instant }>(
    sql`select feed, published_at from feeds`,
  )
  const runs = await db.query<RunRow>(
    sql`
    select distinct on (feed) * from feed_runs order by feed, run desc`,
  )
  const newest = new Map(runs.map(row => [row.feed, runOf(row)]))
  return new Map(
    feeds.map(({ feed, published_at: publishedAt }) => [feed, { publishedAt, lastRun: newest.get(feed) }]),
  )
}

/** A run; `undefined`: there is none of this number. */
export async function readRun(db: Executor, feed: string, run: number): Promise<Run | undefined> {
  const [row] = await db.query<RunRow>(sql`select * from feed_runs where feed = ${feed} and run = ${run}`)
  return row && runOf(row)
}

/** The newest run of a feed. */
export async function newestRun(db: Executor, feed: string): Promise<Run | undefined> {
  const [row] = await db.query<RunRow>(
    sql`select * from feed_runs where feed = ${feed} order by run desc limit 1`,
  )
  return row && runOf(row)
}

/** The newest run of a feed that was sent and had lines: the one that an insurer answers next. */
export async function newestSentRun(db: Executor, feed: string): Promise<Run | undefined> {
  const [row] = await db.query<RunRow>(
    sql`
    select * from feed_runs where feed = ${feed} and status = 'taken' and lines > 0 order by run desc limit 1`,
  )
  return row && runOf(row)
}

/** The newest runs of a feed, the newest first. */
export async function listRuns(db: Executor, feed: string, atMost: number): Promise<Run[]> {
  const rows = await db.query<RunRow>(
    sql`select * from feed_runs where feed = ${feed} order by run desc limit ${atMost}`,
  )
  return rows.map(runOf)
}

/** Stores a new run. */
export function insertRun(run: Run): Query {
  return sql`
    insert into feed_runs (feed, run, version, catalogue_version, status, is_full, lines, counts, made_at, made_by, taken_at, insurer_name)
    values (${run.feed}, ${run.run}, ${run.version}, ${run.catalogueVersion}, ${run.status}, ${run.isFull}, ${run.lines},
      ${JSON.stringify(run.counts)}::jsonb, ${timestamp(run.madeAt)}, ${run.madeBy}, ${timestamp(run.takenAt)}, ${run.insurerName ?? null})`
}

/** Moves a run to another status; false when it does not have the one that it must have. */
export async function moveRun(
  db: Executor,
  { feed, run }: Pick<Run, 'feed' | 'run'>,
  to: {
    readonly from: RunStatus
    readonly status: RunStatus
    readonly by?: string
    readonly takenAt?: Instant
  },
): Promise<boolean> {
  const rows = await db.query(sql`
    update feed_runs set status = ${to.status}, decided_by = coalesce(${to.by ?? null}, decided_by),
      taken_at = ${timestamp(to.takenAt)}
    where feed = ${feed} and run = ${run} and status = ${to.from} returning 1`)
  return rows.length > 0
}

const BEAT_MS = 3000

/**
 * Runs work while no other process makes or hands over a run of the feed. Throws OperatorError when another does, or when the
 * feed was never published. The lock ends with this process.
 */
export function withFeed<T>(database: Database, feed: string, work: () => Promise<T>): Promise<T> {
  return database.transaction(async tx => {
    let rows: unknown[]
    try {
      rows = await tx.query(sql`select from feeds where feed = ${feed} for no key update`)
    } catch (error) {
      if (!failureOf(error).lockTimedOut) throw error
      throw new OperatorError(
        `Another process is at work on the feed ${feed}: see \`enrolment feed show ${feed}\`.`,
      )
    }
    if (rows.length === 0)
      throw new OperatorError(`No feed ${feed} is published: see \`enrolment feed list\`.`)
    // PostgreSQL ends a transaction in which nothing happens.
    const beat = setInterval(() => void tx.query(sql`select 1`).catch(() => {}), BEAT_MS)
    try {
      return await work()
    } finally {
      clearInterval(beat)
    }
  })
}

function runOf(row: RunRow): Run {
  return {
    feed: row.feed,
    run: row.run,
    version: row.version,
    catalogueVersion: row.catalogue_version,
    status: row.status,
    isFull: row.is_full,
    lines: row.lines,
    counts: row.counts,
    madeAt: row.made_at,
    madeBy: row.made_by,
    decidedBy: row.decided_by ?? undefined,
    takenAt: row.taken_at ?? undefined,
    insurerName: row.insurer_name ?? undefined,
  }
}
