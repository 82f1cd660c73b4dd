import { eraseAccount } from '../../accounts/lifecycle.ts'
import type { Config } from '../../config.ts'
import { silentNodes } from '../../db/by-cell.ts'
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
 * Erases listed users who are in the database again, with the listed time and without events; returns how many. Users of a
 * partner whose key cannot be opened cannot be read either; they are erased by the first start that has the key. Those in a cell
 * whose node does not answer are left out.
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
  const silent = (await silentNodes(database)).flatMap(({ cells }) => cells)
  const rows = (await listPartners(database)).filter(({ cell }) => !silent.includes(cell))
  const opened = openPartners(rows, keyring, context.log)
  const partners = new Map(opened.map(partner => [partner.partnerId, partner]))
  return applyErasures({ database, executor, partners, list, erase: eraseAccount })
}

/**
 * Erases people again whom a restored database has brought back, before the service serves, and those of a node of a cluster that
 * does not answer once it does; returns the list of erasures, if the operator keeps one.
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
    const count = await eraseListed({ database, keyring, installation, list, real: Date.now, log })
    if (count > 0) log('erased_again', { count })
    const nodes = database.silent().map(({ node }) => node)
    if (nodes.length > 0) log('erasures_wait', { nodes })
    return nodes.length === 0
  }
  const again = repeatedly(ERASE_AGAIN_MS, async () => {
    const isDone = await erase().catch(error => log('erasures_failed', describeCause(error)))
    if (isDone) void again.close()
    return ERASE_AGAIN_MS
  })
  if (!(await erase())) again.start()
  return { list, close: again.close }
}

/** How soon it is tried again to erase the users of a node that did not answer. */
const ERASE_AGAIN_MS = 10_000
