import { openBlockKeys } from '../audit/block-keys.ts'
import { deleteBefore, signBlocks } from '../audit/blocks.ts'
import { DAY_MS, HOUR_MS } from '../calendar/calendar.ts'
import { tidyConsole } from '../console/tidy.ts'
import { describeCause } from '../log.ts'
import { deleteOldRefusedCreates } from '../membership/commands/refused-creates.ts'
import { deleteOldSessions } from '../registration/session/store.ts'
import { every } from '../schedule/every.ts'
import { openSchedule, type Schedule } from '../schedule/schedule.ts'
import { scrubKeys } from '../schedule/scrub.ts'
import { cleanUpWebhooks } from '../webhooks/log/clean-up.ts'
import type { ServiceOptions } from './options.ts'
import type { Shared } from './shared.ts'
import type { Users } from './users.ts'

/** What the service does by itself, without a request. */
type Schedules = {
  /** Applies due changes, and deletes expired data between its rounds. */
  readonly schedule: Schedule
  start(): void
  close(): Promise<void>
}

/** Prepares what the service does by itself: due changes, deletion of expired data, and signing of the audit trail. */
export function openSchedules(
  { options, clock, allPartners }: Shared,
  { memory, dueExecutor }: Users,
  isServing: () => boolean,
): Schedules {
  const { database, deliveryDatabase, keyring, real, log } = options
  const scrub = openScrub(options)
  const schedule = openSchedule({
    database,
    executor: dueExecutor,
    clock,
    partners: allPartners,
    isServing,
    tidy: async () => {
      memory.tidy()
      await cleanUpWebhooks(deliveryDatabase, real())
      await deleteOldSessions(database, real())
      await deleteOldRefusedCreates(database, real())
      await tidyConsole(database, real())
      await scrub()
      await deleteBefore(database, real() - (options.auditKeepMs ?? sixYearsMs))
    },
    onError: error => log('schedule_failed', describeCause(error)),
  })
  const sealing = every(sealEveryMs, () =>
    signBlocks(database, openBlockKeys(database, keyring), real()).catch(error =>
      log('seal_failed', describeCause(error)),
    ),
  )
  return {
    schedule,
    start() {
      schedule.start()
      sealing.start()
    },
    async close() {
      await schedule.close()
      await sealing.close()
    },
  }
}

/** Returns a function that removes the deleted keys of erased users from the database's files, once an hour. */
function openScrub({ database, rewriteKeys, real, log }: ServiceOptions): () => Promise<void> {
  let scrubAt = 0
  return async () => {
    if (!rewriteKeys || real() < scrubAt) return
    scrubAt = real() + scrubEveryMs
    const erasedBefore = real() - scrubAfterMs
    await scrubKeys({ database, rewrite: rewriteKeys, now: real(), erasedBefore }).catch(error =>
      log('scrub_failed', describeCause(error)),
    )
  }
}

/** Together well below the day within which the keys of erased users leave the files. */
const scrubEveryMs = HOUR_MS
const scrubAfterMs = 12 * HOUR_MS
/**
 * How often the audit trail is signed. A block holds rows that are at least two minutes old, because earlier ones may still
 * be written until then; so a row is signed within two and a half minutes.
 */
const sealEveryMs = 30_000
const sixYearsMs = 6 * 366 * DAY_MS
