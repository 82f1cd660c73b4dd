import { eraseAccount } from '../../accounts/lifecycle.ts'
import type { Config } from '../../config.ts'
import { byCell, groupsByCell } from '../../db/by-cell.ts'
import type { Database } from '../../db/database.ts'
import type { Installation } from '../../installation.ts'
import { describeCause, type Log } from '../../log.ts'
import { openCommandExecutor } from '../../membership/commands/executor.ts'
import { applyErasures } from '../../membership/erasure-list/apply.ts'
import { type ErasureList, erasureListPath, openErasureList } from '../../membership/erasure-list/list.ts'
import { openPartners } from '../../partners/open-partners.ts'
import { listPartners } from '../../partners/store.ts'
import { repeatedly } from '../../schedule/repeatedly.ts'
import type { Keyring } from '../../vault/keyring.ts'
import { memberContext } from './members.ts'

/** The list of erasures; `undefined` when the operator keeps none. Throws OperatorError when it cannot be opened. */
export async function erasureListOf(config: Config, dataDir: string): Promise<ErasureList | undefined> {
  const path = erasureListPath({ ...config, dataDir })
  return path === undefined ? undefined : openErasureList(path)
}

/**
 * Erases listed users who are in the database again, with the listed time and without events; returns how many, and whether all
 * cells could serve: the users of one that cannot are left out. Users of a partner whose key cannot be opened cannot be read
 * either; they are erased by the first start that has the key.
 */
export async function eraseListed(context: {
  readonly database: Database
  readonly keyring: Keyring
  readonly installation: Installation
  readonly list: ErasureList
  readonly real: () => number
  readonly log: Log
}): Promise<{ readonly count: number; readonly isDone: boolean }> {
  const { database, keyring, list } = context
  const executor = openCommandExecutor(memberContext(context))
  const opened = openPartners(await listPartners(database), keyring, context.log)
  const counts = await byCell(database, opened, async (cell, some) => {
    const partners = new Map(some.map(partner => [partner.partnerId, partner]))
    return [await applyErasures({ database: cell, executor, partners, list, erase: eraseAccount })]
  })
  return {
    count: counts.reduce((sum, count) => sum + count, 0),
    isDone: counts.length === groupsByCell(database, opened).length,
  }
}

/**
 * Erases people again whom a restored database has brought back, before the service serves, and those of a cell that cannot serve
 * once it can; returns the list of erasures, if the operator keeps one.
 */
export async function bringErasures(
  config: Config,
  prepared: {
    readonly database: Database
    readonly keyring: Keyring
    readonly installation: Installation
    readonly dataDir: string
    readonly log: Log
  },
): Promise<{ readonly list: ErasureList | undefined; close(): Promise<void> }> {
  const { database, keyring, installation, dataDir, log } = prepared
  const list = await erasureListOf(config, dataDir)
  if (!list) {
    log('erasures_not_listed', { remedy: 'set ENROLMENT_ERASURES to a file outside the database' })
    return { list, close: async () => {} }
  }
  const erase = async () => {
    const { count, isDone } = await eraseListed({
      database,
      keyring,
      installation,
      list,
      real: Date.now,
      log,
    })
    if (count > 0) log('erased_again', { count })
    if (!isDone) log('erasures_wait')
    return isDone
  }
  const again = repeatedly(ERASE_AGAIN_MS, async () => {
    const isDone = await erase().catch(error => log('erasures_failed', describeCause(error)))
    if (isDone) void again.close()
    return ERASE_AGAIN_MS
  })
  if (!(await erase())) again.start()
  return { list, close: again.close }
}

/** How soon it is tried again to erase the users of a cell that could not serve. */
const ERASE_AGAIN_MS = 10_000
