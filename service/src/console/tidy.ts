import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { openTasks } from '../db/each-task.ts'
import { deleteOldSignIns } from '../operators/store.ts'
import { lapseRequests } from './requests/store.ts'

/** Deletes sign-ins that ended a month ago, and marks requests that nobody decided in time. */
export async function tidyConsole(db: Executor, now: Instant): Promise<void> {
  const tasks = openTasks()
  for (const task of [deleteOldSignIns, lapseRequests]) await tasks.run(() => task(db, now))
  tasks.end()
}
