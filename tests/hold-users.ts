import { onTestFinished, test } from 'vitest'
import type { Database } from '../service/src/db/database.ts'
import type { TestPartner, TestService } from './rig.ts'

type Hold = { readonly since: number; readonly letGo: () => void; lastedMs?: number }

let holds: Hold[] = []
function letGoOfAll() {
  for (const hold of holds) hold.letGo()
}

/**
 * A test whose waiting requests must not give up; after four seconds the service answers them 503. It is repeated only
 * if it failed and this machine had been that slow.
 */
export function testInTime(name: string, scene: () => Promise<void>): void {
  const again = { count: 9, condition: /^Held for too long/ }
  test(name, { retry: again }, async () => {
    holds = []
    try {
      await scene()
    } catch (error) {
      const isTooLate = holds.some(({ since, lastedMs }) => (lastedMs ?? performance.now() - since) > 3000)
      if (isTooLate) throw new Error(`Held for too long, as this machine is slow: ${error}`, { cause: error })
      throw error
    } finally {
      letGoOfAll()
    }
  })
}

/** Locks every user row of a partner, like another process that works on them; they are locked when this resolves. */
export function holdUsers(
  service: TestService,
  { partnerId }: Pick<TestPartner, 'partnerId'>,
): Promise<{ release: () => Promise<void> }> {
  return hold(service, 'select 1 from users where partner_id = $1 for update', [partnerId])
}

/** Locks a table, like a session that alters it; it is locked when this resolves. */
export function holdTable(service: TestService, table: string): Promise<{ release: () => Promise<void> }> {
  return hold(service, `lock table ${table} in access exclusive mode`, [])
}

async function hold(
  service: TestService,
  lock: string,
  values: string[],
): Promise<{ release: () => Promise<void> }> {
  let letGo = () => {}
  const isReleased = new Promise<void>(resolve => {
    letGo = resolve
  })
  let holder: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    holder = service.database.transaction(async tx => {
      // For the duration of the test, on however slow a machine.
      await tx.query({ name: '', text: 'set local idle_in_transaction_session_timeout = 0', values: [] })
      await tx.query({ name: '', text: lock, values })
      resolve()
      await isReleased
    })
    holder.catch(reject)
  })
  const held: Hold = { since: performance.now(), letGo }
  holds.push(held)
  // Also when the test fails half-way.
  onTestFinished(letGoOfAll)
  return {
    release: () => {
      held.lastedMs = performance.now() - held.since
      letGo()
      return holder
    },
  }
}

/** The same database, except that its statements wait for locks without a limit. */
export function patientForLocks(database: Database): Database {
  const transaction: Database['transaction'] = run =>
    database.transaction(async tx => {
      await tx.query({ name: '', text: 'set local lock_timeout = 0', values: [] })
      await tx.query({ name: '', text: 'set local statement_timeout = 0', values: [] })
      return run(tx)
    })
  return { ...database, transaction, query: query => transaction(tx => tx.query(query)) }
}

/**
 * Resolves once another session on the database waits for a lock, on whichever node of a cluster, or when what may come to
 * wait has ended.
 */
export async function waitForLock(
  { database }: Pick<TestService, 'database'>,
  mayWait?: Promise<unknown>,
): Promise<void> {
  const activity = database.cells().some(({ cell }) => cell !== '')
    ? 'citus_stat_activity'
    : 'pg_stat_activity'
  let hasEnded = false
  const end = () => {
    hasEnded = true
  }
  mayWait?.then(end, end)
  while (!hasEnded) {
    const [session] = await database.query({ name: '', text: waitingOn(activity), values: [] })
    if (session) return
  }
}

function waitingOn(activity: string): string {
  // Of a row only: the service's background work may wait for a moment while a table grows.
  return `select from ${activity} where datname = current_database() and wait_event in ('transactionid', 'tuple')`
}
