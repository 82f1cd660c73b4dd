import { existsSync } from 'node:fs'
import { addEntries, noPartner } from '../audit/entries.ts'
import type { Config } from '../config.ts'
import { type DatabaseAddress, openDatabase } from '../db/database.ts'
import { erasureListPath } from '../membership/erasure-list/list.ts'
import { keyringPath } from '../vault/keyring.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { systemUser } from './workspace.ts'

/**
 * Puts on record that a backup or a copy of this database begins, and how it ended. The copy itself has the first entry,
 * but never the second.
 */
export async function noteMaking(
  address: DatabaseAddress,
  { action, result, at }: { action: 'backup' | 'copy'; result: string; at: number },
): Promise<void> {
  const database = openDatabase(address, { max: 1, onError: () => {}, statementTimeoutMs: 60_000 })
  const entry = { partnerId: noPartner, entryId: uuidv7(at), at, times: 1, action, result }
  try {
    await database.learnCells()
    await addEntries(database, [{ ...entry, actorKind: 'command', actor: systemUser() }])
  } catch {
    // A full disk, where nothing can be recorded, is when a backup is needed most; so this is no failure.
    process.stderr.write(`The audit log does not say that the ${action} has the result "${result}".\n`)
  } finally {
    await database.close()
  }
}

/** What the operator still has to put beside a restored or copied embedded database, because no copy holds it. */
export function lackingBeside(config: Config, dataDir: string): string[] {
  const keys = keyringPath(dataDir)
  const list = erasureListPath({ ...config, dataDir })
  return [
    ...(config.rootKey !== undefined || existsSync(keys)
      ? []
      : [`Before you serve it, put its keys there: ${keys}, or set ENROLMENT_ROOT_KEY.`]),
    ...(list === undefined || existsSync(list)
      ? []
      : [
          `Before you serve it, put the newest list of erasures there: ${list}. Without it, whoever was erased since is back.`,
        ]),
  ]
}
