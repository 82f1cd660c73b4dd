import type { Database } from '../db/database.ts'
import { OperatorError } from '../operator-error.ts'
import type { Feed } from './feed.ts'
import { runFeedCommand, type Write, writeFeedFile, writeRun } from './hand-over.ts'
import { type Making, makeRun, type RunContext } from './make-run.ts'
import { moveRun, newestFeeds, newestRun, type Run, withFeed } from './store.ts'

/** Where the files of runs go, and how they travel on. */
export type FeedPlaces = {
  /** The folder of the feeds' folders; `undefined`: only to a writer. */
  readonly folder: string | undefined
  /** The operator's command, which takes a file's path. */
  readonly command: string | undefined
}

/** A run, and the path of its file if it was put somewhere. */
export type Outcome = { readonly run: Run; readonly file: string | undefined }

/** How a run is asked for. */
export type RunRequest = {
  readonly by: string
  readonly full: boolean
  /** Takes the bytes instead of the folder. */
  readonly write?: Write | undefined
}

/** The feed of this name in the newest version. Throws OperatorError when there is none. */
export async function requireFeed(
  database: Database,
  name: string,
): Promise<{ readonly feed: Feed; readonly version: number }> {
  const newest = await newestFeeds(database)
  const feed = newest?.feeds.find(one => one.feed === name)
  if (newest && feed) return { feed, version: newest.version }
  const names = newest?.feeds.map(one => one.feed).join(', ')
  throw new OperatorError(
    names
      ? `There is no feed "${name}": the feeds are ${names}.`
      : 'No feeds have been published yet: see `enrolment feed publish`.',
  )
}

/**
 * Makes the next run of a feed and hands it over; or, while the last one is not taken, hands that over again, the same bytes.
 * A held run stays as it is. Throws OperatorError when another process is at work on the feed, or the file cannot be handed over.
 */
export async function runFeed(
  context: RunContext,
  name: string,
  { asked, places }: { readonly asked: RunRequest; readonly places: FeedPlaces },
): Promise<Outcome> {
  const { database } = context
  const { feed, version } = await requireFeed(database, name)
  if (!asked.write && places.folder === undefined)
    throw new OperatorError('Set ENROLMENT_FEEDS to the folder for the files, or give --stdout.')
  return withFeed(database, name, async () => {
    const making: Making = { feed, version, by: asked.by, ...(asked.full && { full: true }) }
    const open = await openRun(database, name)
    const run = open ?? (await database.transaction(tx => makeRun(tx, context, making)))
    return run.status === 'made'
      ? handOver(context, run, { write: asked.write, places })
      : { run, file: undefined }
  })
}

/** The newest run of a feed while it is not taken: no other is made until it is, or was dropped. */
async function openRun(database: Database, name: string): Promise<Run | undefined> {
  const last = await newestRun(database, name)
  return last?.status === 'made' || last?.status === 'held' ? last : undefined
}

async function handOver(
  context: RunContext,
  run: Run,
  { write, places }: { readonly write: Write | undefined; readonly places: FeedPlaces },
): Promise<Outcome> {
  const { database, clock } = context
  let file: string | undefined
  if (write) await writeRun(database, context, run, write)
  else if (places.folder !== undefined) {
    file = (await writeFeedFile(database, context, { run, folder: places.folder })).path
    if (places.command !== undefined) await runFeedCommand(places.command, file)
  }
  const takenAt = clock.real()
  await moveRun(database, run, { from: 'made', status: 'taken', takenAt })
  return { run: { ...run, status: 'taken', takenAt }, file }
}

/** Ends the transaction in which a run was only tried. */
class OnlyTried extends Error {}

/**
 * What the next run would be, or the one that is not taken yet; nothing is stored or handed over. With `write`, its bytes are
 * written.
 */
export async function tryRun(context: RunContext, name: string, asked: Omit<RunRequest, 'by'>): Promise<Run> {
  const { database } = context
  const { feed, version } = await requireFeed(database, name)
  const open = await openRun(database, name)
  if (open) {
    if (asked.write) await writeRun(database, context, open, asked.write)
    return open
  }
  let tried: Run | undefined
  const making: Making = { feed, version, by: '', ...(asked.full && { full: true }) }
  await database
    .transaction(async tx => {
      tried = await makeRun(tx, context, making)
      if (asked.write) await writeRun(tx, context, tried, asked.write)
      throw new OnlyTried()
    })
    .catch(error => {
      if (!(error instanceof OnlyTried)) throw error
    })
  if (!tried) throw new Error('a run that was not tried')
  return tried
}
