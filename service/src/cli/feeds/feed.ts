import { type Command, flag, type Input, readGiven, UsageError, writeBytes } from '@benefit-enrolment/command'
import { timestampOrNull } from '../../calendar/calendar.ts'
import { describeProblem } from '../../catalogue/problem.ts'
import { listPublications, readVersion } from '../../catalogue/published.ts'
import type { Executor } from '../../db/database.ts'
import { nextDue } from '../../feeds/every.ts'
import type { FeedDocument } from '../../feeds/feed.ts'
import { writeFeedFile, writeRun } from '../../feeds/hand-over.ts'
import { parseFeeds } from '../../feeds/parse.ts'
import { refusedOf } from '../../feeds/refused.ts'
import { runFeed, tryRun } from '../../feeds/run.ts'
import { FEED_SCHEMA } from '../../feeds/schema.ts'
import { listFeedStates, newestFeeds, newestRun, publishFeeds, type Run, readRun } from '../../feeds/store.ts'
import { lineOfRun, viewRun, viewRunWithTimes } from '../../feeds/view.ts'
import { OperatorError } from '../../operator-error.ts'
import { EmptyDatabase } from '../reach.ts'
import { hasDatabase, inWorkspace, systemUser } from '../workspace.ts'
import { answer } from './feed-answer.ts'
import { compare } from './feed-compare.ts'
import { placesOf, runContext, runNumber } from './run-context.ts'

const MOST_SHOWN = 50

async function readFeedFile(path: string, db: Executor | undefined): Promise<FeedDocument> {
  const text = readGiven(path, `The file ${path}`).toString('utf8')
  const [newest] = db ? await listPublications(db) : []
  const parsed = parseFeeds(text, db && newest && (await readVersion(db, newest.version)))
  if (parsed.ok) return parsed.document
  const { problems } = parsed
  const more = problems.length > MOST_SHOWN ? [`… and ${problems.length - MOST_SHOWN} more`] : []
  const count = `${problems.length} problem${problems.length === 1 ? '' : 's'} in the feeds:`
  throw new OperatorError([count, ...problems.slice(0, MOST_SHOWN).map(describeProblem), ...more].join('\n'))
}

const check: Command = {
  name: 'feed check',
  arguments: ['FILE'],
  summary: 'Check a file of feeds, and its names against the published catalogue.',
  run: async input => {
    const [path = ''] = input.positionals
    let document: FeedDocument | undefined
    if (await hasDatabase(input)) {
      document = await inWorkspace(input, ({ database }) => readFeedFile(path, database)).catch(error => {
        if (error instanceof EmptyDatabase) return undefined
        throw error
      })
    }
    document ??= await readFeedFile(path, undefined)
    const feeds = document.feeds.map(({ feed }) => feed)
    input.print({ ok: true, feeds }, [`The feeds are right: ${feeds.join(', ') || 'none'}.`])
  },
}

const publish: Command = {
  name: 'feed publish',
  arguments: ['FILE'],
  summary: 'Publish a file of feeds as the next version; the next run of each feed uses it.',
  run: input =>
    inWorkspace(input, async ({ database, real, alongside }) => {
      const document = await readFeedFile(input.positionals[0] ?? '', database)
      const fresh = { document, at: real(), by: systemUser() }
      const { version, isNew } = await publishFeeds(database, fresh, [alongside()])
      input.print({ version, published: isNew }, [
        isNew
          ? `Version ${version} of the feeds is published.`
          : `Version ${version} has this content already; nothing was published.`,
      ])
    }),
}

const schema: Command = {
  name: 'feed schema',
  summary: 'Print the JSON Schema of files of feeds, by which an editor completes and checks them.',
  run: async input => input.print(FEED_SCHEMA, [JSON.stringify(FEED_SCHEMA, null, 2)]),
}

const list: Command = {
  name: 'feed list',
  summary: 'List the feeds, when each runs next, and its last run.',
  run: input =>
    inWorkspace(input, async ({ database, real }) => {
      const published = (await newestFeeds(database))?.feeds ?? []
      const states = await listFeedStates(database)
      const feeds = published.map(({ feed, insurer, every }) => {
        const state = states.get(feed)
        const since = Math.max(state?.publishedAt ?? real(), state?.lastRun?.madeAt ?? 0)
        return {
          feed,
          insurer,
          nextrunat: timestampOrNull(every && nextDue(every, since)),
          lastrun: state?.lastRun ? viewRunWithTimes(state.lastRun, undefined) : null,
        }
      })
      input.print(
        { feeds },
        feeds.map(one => {
          const last = one.lastrun ? lineOfRun(one.lastrun) : 'never run'
          return `${one.feed}  ${one.insurer}  next ${one.nextrunat ?? 'by hand'}  ${last}`
        }),
      )
    }),
}

const run: Command = {
  name: 'feed run',
  arguments: ['FEED'],
  summary: 'Make the file that tells an insurer what changed, or give one again that was not taken.',
  options: {
    'dry-run': flag('only count what would be told; with --stdout, show it'),
    full: flag('tell everybody who is covered, and not only what changed'),
    stdout: flag('write the file to standard output instead of into the folder ENROLMENT_FEEDS'),
  },
  run: input => {
    checkOutput(input)
    return inWorkspace(input, async workspace => {
      const [name = ''] = input.positionals
      const context = runContext(workspace)
      const write = input.flag('stdout') ? writeBytes : undefined
      const full = input.flag('full')
      // Recorded before anything is made or shown, so that nobody is told anything without a record of it.
      await workspace.begin()
      if (input.flag('dry-run')) {
        const tried = viewRun(await tryRun(context, name, { full, write }), undefined)
        if (!write) input.print({ ...tried, dryrun: true }, [`It would be: ${lineOfRun(tried)}`])
        return
      }
      const asked = { by: systemUser(), full, write }
      const { run: done, file } = await runFeed(context, name, { asked, places: placesOf(workspace) })
      if (write && done.status === 'held')
        throw new OperatorError(
          `Run ${done.run} of ${name} is held: nothing of it is sent until a second person lets it go at the console.`,
        )
      const view = viewRun(done, file)
      if (!write) input.print(view, [lineOfRun(view), ...(file === undefined ? [] : [file])])
      else if (done.lines === 0)
        process.stderr.write(`Run ${done.run} of ${name} has no lines, and so no file.\n`)
    })
  },
}

const show: Command = {
  name: 'feed show',
  arguments: ['FEED', '[RUN]'],
  summary: 'Show a run of a feed (default: the last one), with the lines that were refused.',
  run: input =>
    inWorkspace(input, async workspace => {
      const { database, alongside } = workspace
      const found = await requireRun(database, input)
      const view = viewRunWithTimes(found, undefined)
      // What an insurer wrote may name the person.
      await database.query(alongside())
      const refused = await refusedOf(runContext(workspace), found)
      input.print({ ...view, refused }, [
        lineOfRun(view),
        `made ${view.madeat}, taken ${view.takenat ?? 'not yet'}`,
        ...refused.map(
          one =>
            `  refused: line ${one.line}  ${one.userid}  ${one.serviceid}  ${one.benefit}${one.dependantid ? ` of ${one.dependantid}` : ''}  ${one.code}  ${one.text}`,
        ),
      ])
    }),
}

const resend: Command = {
  name: 'feed resend',
  arguments: ['FEED', 'RUN'],
  summary: 'Make the file of an earlier run again, with the same bytes, where it was.',
  options: { stdout: flag('write it to standard output instead') },
  run: input => {
    checkOutput(input)
    return inWorkspace(input, async workspace => {
      const { database, begin } = workspace
      const { folder } = placesOf(workspace)
      const sent = await requireRun(database, input)
      if (sent.status === 'held' || sent.status === 'dropped')
        throw new OperatorError(`Run ${sent.run} is ${sent.status}: it was never sent.`)
      await begin()
      const context = runContext(workspace)
      const isOut = input.flag('stdout')
      if (!isOut && folder === undefined)
        throw new OperatorError('Set ENROLMENT_FEEDS to the folder for the files, or give --stdout.')
      const { path, lines } = isOut
        ? { path: undefined, lines: await writeRun(database, context, sent, writeBytes) }
        : await writeFeedFile(database, context, { run: sent, folder: folder ?? '' })
      const missing = sent.lines - lines
      const view = { ...viewRun(sent, path), missing }
      const erased =
        missing > 0
          ? `${missing} of its ${sent.lines} lines are missing: these people were erased since.`
          : undefined
      if (isOut) {
        if (erased) process.stderr.write(`${erased}\n`)
      } else input.print(view, [lineOfRun(view), path ?? '', ...(erased ? [erased] : [])])
    })
  },
}

/** The commands about feeds. */
export const feedCommands: readonly Command[] = [
  check,
  publish,
  schema,
  list,
  run,
  show,
  resend,
  answer,
  compare,
]

/** A file and an object cannot share standard output. */
function checkOutput(input: Input): void {
  if (input.flag('stdout') && input.flag('json'))
    throw new UsageError('Give --stdout or --json, not both; see --help.')
}

async function requireRun(db: Executor, input: Input): Promise<Run> {
  const [feed = '', number] = input.positionals
  const found = number === undefined ? await newestRun(db, feed) : await readRun(db, feed, runNumber(number))
  if (!found)
    throw new OperatorError(
      number === undefined ? `The feed "${feed}" was never run.` : `The feed "${feed}" has no run ${number}.`,
    )
  return found
}
