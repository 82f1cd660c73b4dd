import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { patientDatabase } from '../patient-database.ts'
import { freshDatabase } from '../rig.ts'

/** The server process of the connection that a statement gets. */
async function sessionOf(database: Database): Promise<number | undefined> {
  const [row] = await database.query<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  return row?.pid
}

test('an unused connection stays open for as long as its pool is told', async () => {
  const { address, drop } = await freshDatabase()
  const keeping = openDatabase(address, { max: 1, ...patientDatabase, idleTimeoutMs: 3_600_000 })
  const closing = openDatabase(address, { max: 1, ...patientDatabase, idleTimeoutMs: 1 })
  try {
    const kept = await sessionOf(keeping)
    const closed = await sessionOf(closing)
    await expect
      .poll(async () => {
        // Longer than the pool keeps a connection, so that the statement before does not keep it in use.
        await setTimeout(20)
        return sessionOf(closing)
      })
      .not.toBe(closed)
    expect(await sessionOf(keeping)).toBe(kept)
  } finally {
    await keeping.close()
    await closing.close()
    await drop()
  }
})
