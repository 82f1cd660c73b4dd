import { openBlockKeys } from '../audit/block-keys.ts'
import { deleteBefore } from '../audit/blocks.ts'
import { type Searched, signBlocks } from '../audit/sign-blocks.ts'
import { HOUR_MS, MINUTE_MS, YEAR_MS } from '../calendar/calendar.ts'
import { tidyConsole } from '../console/tidy.ts'
import { inEachCell } from '../db/by-cell.ts'
import { openTasks } from '../db/each-task.ts'
import { describeCause } from '../log.ts'
import { deleteOldRefusedCreates } from '../membership/records/refused-creates.ts'
import { deleteOldSessions } from '../registration/session/old-sessions.ts'
import { openCleanUp } from '../schedule/clean-up.ts'
import { erasureMetrics } from '../schedule/erasure-metrics.ts'
import { deleteLapsed } from '../schedule/housekeeping.ts'
import { repeatedly } from '../schedule/repeatedly.ts'
import { openSchedule, type Schedule } from '../schedule/schedule.ts'
import { scrubKeys } from '../schedule/scrub.ts'
import { finalizeMonths } from '../statements/finalize.ts'
import { cleanUpWebhooks } from '../webhooks/log/clean-up.ts'
import { openFeeds } from './feeds.ts'
import type { ServiceOptions } from './options.ts'
import type { Shared } from './shared.ts'
import type { Users } from './users.ts'

/** What the service does by itself, without a request. */
type Schedules = {
  /** Applies due changes, and deletes expired data between its rounds. */
  readonly schedule: Schedule
  /** The metrics of the clean-up and of erasures, as Prometheus reads them. */
  readonly metrics: readonly (() => Promise<string>)[]
  start(): void
  close(): Promise<void>
}

/** Prepares what the service does by itself: due changes, deletion of expired data, signing of the audit trail, and feeds. */
export function openSchedules(
  shared: Shared,
  { memory, dueExecutor, terms, prepareTerms }: Users,
  isServing: () => boolean,
): Schedules {
  const { options, clock, allPartners } = shared
  const { database, deliveryDatabase, keyring, real, log } = options
  const feeds = openFeeds(shared)
  const cleanUp = openCleanUp(
    {
      memory: async () => memory.tidy(),
      // First, because it has a deadline.
      'erased keys': openScrub(options),
      expired: partners => deleteLapsed(database, partners, clock),
      webhooks: () => inEachCell(deliveryDatabase, cell => cleanUpWebhooks(cell, real())),
      sessions: () => inEachCell(database, cell => deleteOldSessions(cell, real())),
      'refused creates': () => inEachCell(database, cell => deleteOldRefusedCreates(cell, real())),
      console: () => tidyConsole(database, real()),
      'audit log': () =>
        inEachCell(database, cell => deleteBefore(cell, real() - (options.auditKeepMs ?? SIX_YEARS_MS))),
    },
    (task, error) => log('clean_up_failed', { task, ...describeCause(error) }),
  )
  const schedule = openSchedule({
    database,
    executor: dueExecutor,
    clock,
    partners: allPartners,
    isServing,
    tidy: cleanUp.run,
    onError: error => log('schedule_failed', describeCause(error)),
  })
  let isClosed = false
  const counting = { database, clock, sandbox: options.installation.sandbox, terms, prepareTerms }
  const finalizing = repeatedly(FINALIZE_EVERY_MS, async () => {
    const tasks = openTasks()
    try {
      for (const partner of await allPartners())
        await tasks.run(() => finalizeMonths(counting, partner, { which: 'due', mayGoOn: () => !isClosed }))
      tasks.end()
    } catch (error) {
      log('finalize_failed', describeCause(error))
    }
    return FINALIZE_EVERY_MS
  })
  const searched = new Map<string, Searched>()
  const signing = repeatedly(SIGN_EVERY_MS, async () => {
    await inEachCell(database, cell => {
      const until = searched.get(cell.cell) ?? new Map()
      searched.set(cell.cell, until)
      return signBlocks(cell, openBlockKeys(database, keyring), real(), until)
    }).catch(error => log('seal_failed', describeCause(error)))
    return SIGN_EVERY_MS
  })
  return {
    schedule: {
      ...schedule,
      // The clock of a sandbox makes months final, too.
      async runPartner(partner) {
        const count = await schedule.runPartner(partner)
        await finalizeMonths(counting, partner, { which: 'due', mayGoOn: () => !isClosed })
        return count
      },
    },
    metrics: [cleanUp.metrics, erasureMetrics({ database, real })],
    start() {
      schedule.start()
      signing.start()
      finalizing.start()
      feeds?.start()
    },
    async close() {
      isClosed = true
      cleanUp.close()
      await schedule.close()
      await signing.close()
      await finalizing.close()
      await feeds?.close()
    },
  }
}

/**
 * Returns a function that removes the deleted keys of erased users from the database's files, once an hour. What fails, or
 * finds the keys still visible to an open transaction, is tried again an hour later.
 */
function openScrub({ database, rewriteKeys, real, log }: ServiceOptions): () => Promise<void> {
  let scrubAt = 0
  return async () => {
    if (!rewriteKeys || real() < scrubAt) return
    scrubAt = real() + SCRUB_EVERY_MS
    const erasedBefore = real() - SCRUB_AFTER_MS
    for (const cell of database.cells()) {
      const context = { database: cell, rewrite: () => rewriteKeys(cell.cell), now: real(), erasedBefore }
      try {
        const { isDone } = await scrubKeys(context)
        if (!isDone)
          log('scrub_failed', { cause: 'a transaction was open that could still see deleted keys' })
      } catch (error) {
        log('scrub_failed', describeCause(error))
      }
    }
  }
}

/** Together well below the day within which the keys of erased users leave the files. */
const SCRUB_EVERY_MS = HOUR_MS
const SCRUB_AFTER_MS = 12 * HOUR_MS
/** How often it is looked for months that are to become final. */
const FINALIZE_EVERY_MS = 10 * MINUTE_MS
/**
 * How often the audit trail is signed. A block holds rows that are at least two minutes old, because earlier ones may still
 * be written until then; so a row is signed within three minutes.
 */
const SIGN_EVERY_MS = 30_000
const SIX_YEARS_MS = 6 * YEAR_MS
