import { eraseAccount } from '../accounts/lifecycle.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Installation } from '../installation.ts'
import { openCommandExecutor } from '../membership/commands/executor.ts'
import { applyErasures } from '../membership/erasure-list/apply.ts'
import { type ErasureList, erasureListPath, openErasureList } from '../membership/erasure-list/list.ts'
import { partnerOf } from '../partners/keys.ts'
import { listPartners } from '../partners/store.ts'
import type { Keyring } from '../vault/keyring.ts'
import { memberContext } from './members.ts'

/** The list of erasures; `undefined` when the operator keeps none. Throws OperatorError when it cannot be opened. */
export async function erasureListOf(config: Config, dataDir: string): Promise<ErasureList | undefined> {
  const path = erasureListPath({ ...config, dataDir })
  return path === undefined ? undefined : openErasureList(path)
}

/** Erases listed users who are in the database again, with the listed time and without events; returns how many. */
export async function eraseListed(context: {
  readonly database: Database
  readonly keyring: Keyring
  readonly installation: Installation
  readonly list: ErasureList
  readonly real: () => number
}): Promise<number> {
  const { database, keyring, list } = context
  const executor = openCommandExecutor(memberContext(context))
  const partners = new Map(
    (await listPartners(database)).map(row => [row.partner_id, partnerOf(row, keyring)]),
  )
  return applyErasures({ database, executor, partners, list, erase: eraseAccount })
}
