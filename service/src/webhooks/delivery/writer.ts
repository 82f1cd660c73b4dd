import type { Instant } from '../../calendar/calendar.ts'
import { coalesce, type Settled } from '../../db/coalesce.ts'
import { CommitUnknown, type Database } from '../../db/database.ts'
import { failureOf } from '../../db/failure.ts'
import { describeCause, type Log } from '../../log.ts'
import type { Directory } from '../../partners/directory.ts'
import { type Notice, raiseNotice } from '../endpoint/notices.ts'
import { type Outage, releaseAttempted } from '../endpoint/release.ts'
import { sealAnswers } from './answers.ts'
import { lockLease } from './lease.ts'
import type { Behind, EndpointChange, EndpointLease, Result, Written } from './result.ts'
import { parkDeliveries } from './save-parked.ts'
import { writeResults } from './save-results.ts'

/** One entry that the owner of an endpoint writes about it. */
export type Entry =
  | { readonly kind: 'result'; readonly result?: Result; readonly change?: EndpointChange | undefined }
  | { readonly kind: 'park'; readonly rows: readonly Behind[] }
  /** The endpoint has recovered from an outage. */
  | { readonly kind: 'release'; readonly lease: EndpointLease; readonly outage: Outage }
  /** The partner's other endpoints are told about this one. */
  | { readonly kind: 'notice'; readonly lease: EndpointLease; readonly notice: Notice; readonly at: Instant }

/** Whether the endpoint is still owned (if not, nothing was written), and whether it was disabled. */
export type Receipt = { readonly isOwned: boolean; readonly isDisabled: boolean }

/** Writes entries. Rejects when the database refuses the entry itself, or is unreachable while the writer stops. */
export type Writer = {
  write(entry: Entry): Promise<Receipt>
  /** The same with a callback, for results: they are written so often that a promise for each costs too much. `settled` must not throw. */
  enqueue(entry: Entry, settled: (receipt: Settled<Receipt>) => void): void
  /** How many entries wait or are being written. */
  pending(): number
  /** From now on a batch at which the database fails is not repeated. */
  stop(): void
}

const RETRY_MS = 250
/** How long entries gather before a batch is written: a statement for a hundred results costs hardly more than for ten. */
const PACE_MS = 10

/**
 * Opens the writer of this process. It writes batches one after the other, and repeats each until the database
 * answers; a repeat changes nothing that the first write did.
 */
export function openWriter(context: {
  database: Database
  directory: Pick<Directory, 'partner'>
  owner: string
  log: Log
}): Writer {
  const { database, owner, log } = context
  let isStopped = false

  const run = async (entries: Entry[], isRepeat: boolean): Promise<Written> => {
    const results = entries.flatMap(entry => (entry.kind === 'result' && entry.result ? [entry.result] : []))
    // Only the newest state under each lease is written. A batch may contain two leases of one endpoint, if the process
    // lost it and took it again.
    const changes = new Map<EndpointLease, EndpointChange>()
    for (const entry of entries) {
      if (entry.kind !== 'result' || !entry.change) continue
      const { lease } = entry.change
      const disable = entry.change.disable ?? changes.get(lease)?.disable
      changes.set(lease, { ...entry.change, ...(disable && { disable }) })
    }
    for (const entry of entries) {
      if (entry.kind === 'release') await release(entry)
      if (entry.kind === 'notice') await tell(entry)
    }
    const behind = entries.flatMap(entry => (entry.kind === 'park' ? entry.rows : []))
    const answers = await sealAnswers(context, results)
    const written =
      results.length + changes.size > 0
        ? await writeAll({ results, changes: [...changes.values()], answers, isRepeat })
        : NOTHING
    if (behind.length > 0) await parkDeliveries(database, owner, behind)
    return written
  }

  const release = ({ lease, outage }: Extract<Entry, { kind: 'release' }>): Promise<void> =>
    database.transaction(async tx => {
      if (await lockLease(tx, owner, lease)) await releaseAttempted(tx, lease, outage)
    })

  const tell = ({ lease, notice, at }: Extract<Entry, { kind: 'notice' }>): Promise<void> =>
    database.transaction(async tx => {
      if (await lockLease(tx, owner, lease)) await raiseNotice(tx, lease, notice, at)
    })

  /** Who is disabled is told in the same transaction. */
  const writeAll = (batch: Parameters<typeof writeResults>[2]): Promise<Written> =>
    database.transaction(async tx => {
      const written = await writeResults(tx, owner, batch)
      for (const { lease, disable } of batch.changes) {
        if (!disable || !written.disabled.has(lease)) continue
        const { reason, since, at } = disable
        await raiseNotice(tx, lease, { eventname: 'webhook_disabled', since, reason }, at)
      }
      return written
    })

  const runSafely = async (entries: Entry[], isSecond = false): Promise<Settled<Receipt>[]> => {
    for (let isRepeat = isSecond; ; isRepeat = true) {
      try {
        const written = await run(entries, isRepeat)
        return entries.map(entry => ({ ok: true, value: receiptOf(entry, written) }))
      } catch (error) {
        log('webhook_results_not_written', { entries: entries.length, ...describeCause(error) })
        if (isStopped) return entries.map(() => ({ ok: false, error }))
        const mayBeDone = error instanceof CommitUnknown
        if (mayBeDone || failureOf(error).unavailable)
          await new Promise(resolve => setTimeout(resolve, RETRY_MS))
        else if (entries.length === 1) return [{ ok: false, error }]
        else return runOneByOne(entries)
      }
    }
  }
  /** One entry that the database refuses must not hold back its neighbors. */
  const runOneByOne = async (entries: Entry[]): Promise<Settled<Receipt>[]> => {
    const settled: Settled<Receipt>[] = []
    for (const entry of entries) settled.push(...(await runSafely([entry], true)))
    return settled
  }
  const write = coalesce<Entry, Receipt>({
    name: 'write results of webhooks',
    maxBatch: 500,
    paceMs: PACE_MS,
    run: entries => runSafely(entries),
  })
  return {
    write,
    enqueue: write.enqueue,
    pending: write.pending,
    stop: () => {
      isStopped = true
    },
  }
}

const NOTHING: Written = { owned: new Set(), disabled: new Set() }

function receiptOf(entry: Entry, { owned, disabled }: Written): Receipt {
  if (entry.kind !== 'result') return { isOwned: true, isDisabled: false }
  const lease = (entry.result ?? entry.change)?.lease
  return {
    isOwned: lease !== undefined && owned.has(lease),
    isDisabled: lease !== undefined && disabled.has(lease),
  }
}
