import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { forAllTests } from '../for-all-tests.ts'
import { patientDatabase } from '../patient-database.ts'
import { freshDatabase } from '../rig.ts'

/**
 * A database of the file's own with a single connection, which therefore knows every plan; `prepare` runs before the first
 * test.
 */
export function oneConnection(prepare?: (database: Database) => Promise<unknown>): Database {
  return forAllTests(async () => {
    const { address, drop } = await freshDatabase()
    const database = openDatabase(address, { max: 1, ...patientDatabase })
    await prepare?.(database)
    return {
      ...database,
      async close() {
        await database.close()
        await drop()
      },
    }
  })
}
