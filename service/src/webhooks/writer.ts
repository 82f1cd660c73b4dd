import { coalesce, type Settled } from '../db/coalesce.ts'
import { CommitUnknown, type Database } from '../db/database.ts'
import { failureOf } from '../db/failure.ts'
import { describeCause, type Log } from '../log.ts'
import { lockLease, type Outage, releaseTried } from './release.ts'
import {
  type Behind,
  type Claim,
  type EndpointChange,
  parkDeliveries,
  type Result,
  type Written,
  writeResults,
} from './results.ts'

/** One thing that the owner of an endpoint writes about it. */
export type Entry =
  | { readonly kind: 'result'; readonly result?: Result; readonly change?: EndpointChange | undefined }
  | { readonly kind: 'park'; readonly rows: readonly Behind[] }
  /** The endpoint has recovered from an outage. */
  | { readonly kind: 'release'; readonly claim: Claim; readonly outage: Outage }

/** Whether the endpoint is still owned, without which nothing was written; and whether it was disabled. */
export type Receipt = { readonly isOwned: boolean; readonly isDisabled: boolean }

/**
 * Writes what the owner learnt. Rejects when the database refuses the entry for its own sake, or has gone while the writer stops.
 */
export type Writer = {
  write(entry: Entry): Promise<Receipt>
  /** The same without a promise, for results: nothing is written as often. `settled` must not throw. */
  handIn(entry: Entry, settled: (receipt: Settled<Receipt>) => void): void
  /** Entries that wait or are under way. */
  pending(): number
  /** Tries no more when the database fails. */
  stop(): void
}

const RETRY_MS = 250
/** Under load a statement for a hundred results costs hardly more than one for ten. */
const PACE_MS = 10

/**
 * Opens the one lane by which a process writes results: in batches, one after the other, and again for as long as the
 * database does not answer. A repeat changes nothing that the first one wrote.
 */
export const openWriter = (context: { database: Database; owner: string; log: Log }): Writer => {
  const { database, owner, log } = context
  let isStopped = false

  const run = async (entries: Entry[], isRepeat: boolean): Promise<Written> => {
    const results = entries.flatMap(entry => (entry.kind === 'result' && entry.result ? [entry.result] : []))
    // Only the newest state of an endpoint counts, of each claim to it: one of them may hold no more.
    const changes = new Map<Claim, EndpointChange>()
    for (const entry of entries) {
      if (entry.kind !== 'result' || !entry.change) continue
      const { claim } = entry.change
      const disable = entry.change.disable ?? changes.get(claim)?.disable
      changes.set(claim, { ...entry.change, ...(disable && { disable }) })
    }
    for (const entry of entries) if (entry.kind === 'release') await release(entry)
    const behind = entries.flatMap(entry => (entry.kind === 'park' ? entry.rows : []))
    const written =
      results.length + changes.size > 0
        ? await writeResults(database, owner, { results, changes: [...changes.values()], isRepeat })
        : NOTHING
    if (behind.length > 0) await parkDeliveries(database, owner, behind)
    return written
  }

  const release = ({ claim, outage }: Extract<Entry, { kind: 'release' }>): Promise<void> =>
    database.transaction(async tx => {
      if (await lockLease(tx, owner, claim)) await releaseTried(tx, claim, outage)
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
  /** One entry that the database refuses must not hold back its neighbours. */
  const runOneByOne = async (entries: Entry[]): Promise<Settled<Receipt>[]> => {
    const settled: Settled<Receipt>[] = []
    for (const entry of entries) settled.push(...(await runSafely([entry], true)))
    return settled
  }
  const write = coalesce<Entry, Receipt>({
    maxBatch: 500,
    paceMs: PACE_MS,
    run: entries => runSafely(entries),
  })
  return {
    write,
    handIn: write.handIn,
    pending: write.pending,
    stop: () => {
      isStopped = true
    },
  }
}

const NOTHING: Written = { owned: new Set(), disabled: new Set() }

const receiptOf = (entry: Entry, { owned, disabled }: Written): Receipt => {
  if (entry.kind !== 'result') return { isOwned: true, isDisabled: false }
  const claim = (entry.result ?? entry.change)?.claim
  return {
    isOwned: claim !== undefined && owned.has(claim),
    isDisabled: claim !== undefined && disabled.has(claim),
  }
}
