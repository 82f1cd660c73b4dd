import type { Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'

const DAY_MS = 86_400_000
/** How long the log of tries is kept. */
export const ATTEMPTS_KEPT_MS = 30 * DAY_MS
const DAYS_AHEAD = 7

const nameOf = (day: Instant): string =>
  `delivery_attempts_${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Makes the partitions of today and the days to come; safe to run in several processes at once. */
export const ensureAttemptDays = async (database: Database, now: Instant): Promise<void> => {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const days = Array.from({ length: DAYS_AHEAD + 1 }, (_, index) => today + index * DAY_MS)
  const known = new Set(await listPartitions(database))
  if (days.every(day => known.has(nameOf(day)))) return
  await database.transaction(async tx => {
    await inTurn(tx)
    const made = new Set(await listPartitions(tx))
    for (const day of days) {
      if (made.has(nameOf(day)) || (await hasStrays(tx, day))) continue
      // Names and bounds are made of digits by us; neither can be a bound value.
      await tx.query({
        name: '',
        text: `create table ${nameOf(day)} partition of delivery_attempts
          for values from ('${new Date(day).toISOString()}') to ('${new Date(day + DAY_MS).toISOString()}')`,
        values: [],
      })
    }
  })
}

/** Drops the partitions of days that are past keeping, and what stands in none. */
export const dropOldAttempts = async (database: Database, now: Instant): Promise<number> => {
  const limit = nameOf(now - ATTEMPTS_KEPT_MS - DAY_MS)
  const old = (await listPartitions(database)).filter(name => /_\d{8}$/.test(name) && name <= limit)
  for (const name of old) {
    await database.transaction(async tx => {
      await inTurn(tx)
      await tx.query({ name: '', text: `drop table if exists ${name}`, values: [] })
    })
  }
  await database.query(sql`
    delete from delivery_attempts_rest where started_at < ${new Date(now - ATTEMPTS_KEPT_MS).toISOString()}`)
  return old.length
}

const listPartitions = async (db: Executor): Promise<string[]> => {
  const rows = await db.query<{ name: string }>(sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'delivery_attempts'::regclass`)
  return rows.map(row => row.name)
}

/** A day of which rows stand in the default partition already stays there. */
const hasStrays = async (tx: Executor, day: Instant): Promise<boolean> => {
  const rows = await tx.query(sql`
    select 1 from delivery_attempts_rest where started_at >= ${new Date(day).toISOString()}
      and started_at < ${new Date(day + DAY_MS).toISOString()} limit 1`)
  return rows.length > 0
}

/** Not a hot path: processes that make or drop days at once take turns. */
const inTurn = async (tx: Executor): Promise<void> => {
  await tx.query(sql`select pg_advisory_xact_lock(7236549813)`)
}
