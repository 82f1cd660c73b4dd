import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { openSteps } from '../db/each-step.ts'
import { deleteOldSignIns } from './operators/store.ts'
import { lapseRequests } from './requests/store.ts'

/** Deletes sign-ins that ended a month ago, and marks requests that nobody decided in time. */
export async function tidyConsole(db: Executor, now: Instant): Promise<void> {
  const steps = openSteps()
  for (const step of [deleteOldSignIns, lapseRequests]) await steps.run(() => step(db, now))
  steps.end()
}
