/** The days of the log of attempts: one partition a day, so that dropping an old day costs nothing. */
import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

/** How long the log of attempts is kept. */
const ATTEMPTS_KEPT_MS = 30 * DAY_MS
/** How many days ahead a service creates partitions by itself. */
const DAYS_AHEAD = 7

function nameOf(day: Instant): string {
  return `delivery_attempts_${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`
}

/**
 * Creates the partitions of today and the coming days, and returns how many were new; safe in several processes at
 * once. A role that may not create partitions creates none: its rows then go to the days that `enrolment maintain` has
 * created, or else to the default partition.
 */
export async function ensureAttemptDays(
  database: Database,
  now: Instant,
  ahead = DAYS_AHEAD,
): Promise<number> {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const days = Array.from({ length: ahead + 1 }, (_, index) => today + index * DAY_MS)
  const known = new Set(await listPartitions(database))
  if (days.every(day => known.has(nameOf(day))) || !(await ownsAttempts(database))) return 0
  return database.transaction(async tx => {
    let count = 0
    await inTurn(tx)
    const made = new Set(await listPartitions(tx))
    for (const day of days) {
      if (made.has(nameOf(day)) || (await hasStrays(tx, day))) continue
      // Names and bounds consist of digits made here, and PostgreSQL accepts neither as a bound value.
      await tx.query({
        name: '',
        text: `create table ${nameOf(day)} partition of delivery_attempts
          for values from ('${new Date(day).toISOString()}') to ('${new Date(day + DAY_MS).toISOString()}')`,
        values: [],
      })
      count += 1
    }
    return count
  })
}

/**
 * Drops the partitions of days that need no longer be kept, where the role may, and deletes such rows from the default
 * partition. Returns how many partitions were dropped.
 */
export async function dropOldAttempts(database: Database, now: Instant): Promise<number> {
  const limit = nameOf(now - ATTEMPTS_KEPT_MS - DAY_MS)
  const past = (await listPartitions(database)).filter(name => /_\d{8}$/.test(name) && name <= limit)
  const old = past.length > 0 && (await ownsAttempts(database)) ? past : []
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

async function listPartitions(db: Executor): Promise<string[]> {
  const rows = await db.query<{ name: string }>(sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'delivery_attempts'::regclass`)
  return rows.map(row => row.name)
}

/** Whether this role may create and drop partitions, which only the table's owner may. */
async function ownsAttempts(db: Executor): Promise<boolean> {
  const [row] = await db.query<{ is_owner: boolean }>(sql`
    select pg_has_role(relowner, 'usage') as is_owner from pg_class where oid = 'delivery_attempts'::regclass`)
  return row?.is_owner === true
}

/** Whether the default partition already holds rows of a day; then the day's other rows must go there too. */
async function hasStrays(tx: Executor, day: Instant): Promise<boolean> {
  const rows = await tx.query(sql`
    select 1 from delivery_attempts_rest where started_at >= ${new Date(day).toISOString()}
      and started_at < ${new Date(day + DAY_MS).toISOString()} limit 1`)
  return rows.length > 0
}

/** Processes that create or drop days of a cell take turns; this happens rarely enough for one lock. */
async function inTurn(tx: Executor): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended(current_schema(), 7236549813))`)
}
