import { eraseAccount } from '../../accounts/lifecycle.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import type { Installation } from '../../installation.ts'
import type { Log } from '../../log.ts'
import { openCommandExecutor } from '../../membership/commands/executor.ts'
import { applyErasures } from '../../membership/erasure-list/apply.ts'
import { type ErasureList, erasureListPath, openErasureList } from '../../membership/erasure-list/list.ts'
import { openPartners } from '../../partners/open-partners.ts'
import { listPartners } from '../../partners/store.ts'
import type { Keyring } from '../../vault/keyring.ts'
import { memberContext } from './members.ts'

/** The list of erasures; `undefined` when the operator keeps none. Throws OperatorError when it cannot be opened. */
export async function erasureListOf(config: Config, dataDir: string): Promise<ErasureList | undefined> {
  const path = erasureListPath({ ...config, dataDir })
  return path === undefined ? undefined : openErasureList(path)
}

/**
 * Erases listed users who are in the database again, with the listed time and without events; returns how many. Users of a
 * partner whose key cannot be opened cannot be read either; they are erased by the first start that has the key.
 */
export async function eraseListed(context: {
  readonly database: Database
  readonly keyring: Keyring
  readonly installation: Installation
  readonly list: ErasureList
  readonly real: () => number
  readonly log: Log
}): Promise<number> {
  const { database, keyring, list } = context
  const executor = openCommandExecutor(memberContext(context))
  const opened = openPartners(await listPartners(database), keyring, context.log)
  const partners = new Map(opened.map(partner => [partner.partnerId, partner]))
  return applyErasures({ database, executor, partners, list, erase: eraseAccount })
}

/**
 * Erases people again whom a restored database has brought back, before the service serves; returns the list of erasures,
 * if the operator keeps one.
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
): Promise<ErasureList | undefined> {
  const { database, keyring, installation, dataDir, log } = prepared
  const list = await erasureListOf(config, dataDir)
  if (!list) {
    log('erasures_not_listed', { remedy: 'set ENROLMENT_ERASURES to a file outside the database' })
    return undefined
  }
  const count = await eraseListed({ database, keyring, installation, list, real: Date.now, log })
  if (count > 0) log('erased_again', { count })
  return list
}
