import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { deleteOldSignIns } from './operators/store.ts'
import { lapseRequests } from './requests/store.ts'

/** Closes what time has closed: sign-ins that ended a month ago are deleted, requests that nobody decided have lapsed. */
export async function tidyConsole(db: Executor, now: Instant): Promise<void> {
  await deleteOldSignIns(db, now)
  await lapseRequests(db, now)
}
