import type { Instant } from '../calendar/calendar.ts'
import { inEachCell } from '../db/by-cell.ts'
import type { Database } from '../db/database.ts'
import { openTasks } from '../db/each-task.ts'
import { deleteOldSignIns } from '../operators/store.ts'
import { lapseRequests } from './requests/store.ts'

/** Deletes sign-ins that ended a month ago, and marks requests that nobody decided in time. */
export async function tidyConsole(database: Database, now: Instant): Promise<void> {
  const tasks = openTasks()
  await tasks.run(() => deleteOldSignIns(database, now))
  await tasks.run(() => inEachCell(database, cell => lapseRequests(cell, now)))
  tasks.end()
}
