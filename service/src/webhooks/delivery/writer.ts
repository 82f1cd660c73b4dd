import type { Instant } from '../../calendar/calendar.ts'
import { coalesceApart, type Settled } from '../../db/coalesce.ts'
import { CommitUnknown, type Database, type Executor } from '../../db/database.ts'
import { failureOf } from '../../db/failure.ts'
import { describeCause, type Log } from '../../log.ts'
import type { Directory } from '../../partners/directory.ts'
import type { EndpointRow, NamedEndpoint } from '../endpoint/endpoint.ts'
import { raiseNotice } from '../endpoint/notices.ts'
import { releaseAttempted } from '../endpoint/release.ts'
import { type LockedEndpoint, lockEndpoints, markDisabled, saveHealth } from '../endpoint/store.ts'
import {
  type HealthAction,
  type HealthRecord,
  judge,
  type Notice,
  noticeFor,
  type Outage,
  reviewHealth,
} from '../endpoint/verdict.ts'
import { giveBack } from './claim.ts'
import type { Result } from './result.ts'
import { resultStatements, sealAnswers, standingClaims } from './save-results.ts'
import type { StoredState, Target } from './target.ts'

/** What is written about an endpoint. */
export type Entry =
  | { readonly kind: 'result'; readonly result: Result }
  /** Time has passed while it fails. `mayDisable`: the time in which nothing was sent to it was not ours. */
  | { readonly kind: 'review'; readonly target: Target; readonly mayDisable: boolean; readonly at: Instant }

/** What is stored of the endpoint now; absent where the entry says nothing about it. */
export type Receipt = { readonly stored?: (StoredState & { readonly isDisabled: boolean }) | undefined }

/** Writes entries. Refuses an entry that the database refuses, and all while it is unreachable when the writer stops. */
export type Writer = {
  /** `settled` must not throw. A callback, because results are written so often that a promise for each costs too much. */
  enqueue(entry: Entry, settled: (receipt: Settled<Receipt>) => void): void
  /** How many entries wait or are being written. */
  pending(): number
  /** From now on a batch at which the database fails is not repeated. */
  stop(): void
}

/** An entry, with the cell of its partner when it was queued, and whether a write of it may have committed. */
type Queued = { readonly entry: Entry; readonly cell: string; readonly isRepeat: boolean }

/** Its receipt, at once or later. */
type Written = Settled<Receipt> | Promise<Settled<Receipt>>

const RETRY_MS = 250
/** How long entries gather before a batch is written: a statement for a hundred results costs hardly more than for ten. */
const PACE_MS = 10

/**
 * Opens the writer of this process. It writes batches one after the other, each in one transaction, and repeats a batch
 * until the database answers; a repeat changes nothing that the first write did. An endpoint is judged by its health as it
 * is stored then, so that what several processes learn of it adds up. `onTold` is called with a partner whose endpoints
 * may have got a notice.
 */
export function openWriter(context: {
  database: Database
  directory: Pick<Directory, 'partner'>
  endpointSlots: number
  log: Log
  onTold: (partnerId: string) => void
}): Writer {
  const { endpointSlots, log, onTold } = context
  let isStopped = false

  const targetIn = (entry: Entry) => (entry.kind === 'result' ? entry.result.target : entry.target)
  const cellOf = (entry: Entry) => context.database.cellOf(targetIn(entry).partnerId)
  const run = async (entries: readonly Entry[], isRepeat: boolean): Promise<Settled<Receipt>[]> => {
    const results = entries.flatMap(entry => (entry.kind === 'result' ? [entry.result] : []))
    const database = entries[0] ? context.database.of(targetIn(entries[0]).partnerId) : context.database
    const answers = await sealAnswers({ ...context, database }, results)
    const statements = resultStatements(results, answers, isRepeat)
    if (entries.every(entry => entry.kind === 'result' && !entry.result.ended)) {
      await database.commit(statements)
      return entries.map(() => ({ ok: true, value: {} }))
    }
    const cases = await database.transaction(async tx => {
      const judged = await judgeAll(tx, entries, endpointSlots)
      await Promise.all(statements.map(statement => tx.query(statement)))
      await carryOut(tx, [...judged.values()])
      return judged
    })
    for (const each of cases.values()) {
      for (const action of each.actions) logHealthAction(log, each.named, action)
      if (each.notices.length > 0 || each.isDisabled) onTold(each.named.partnerId)
    }
    return entries.map(entry => ({ ok: true, value: { stored: cases.get(targetIn(entry).endpointId) } }))
  }

  const runSafely = async (queued: readonly Queued[]): Promise<Written[]> => {
    const entries = queued.map(({ entry }) => entry)
    for (let isRepeat = queued.some(one => one.isRepeat); ; isRepeat = true) {
      // Whoever was moved to another cell meanwhile is written there, and delays nobody here.
      if (queued.some(({ entry, cell }) => cellOf(entry) !== cell))
        return entries.map(entry => writeAgain(entry, isRepeat))
      try {
        return await run(entries, isRepeat)
      } catch (error) {
        log('webhook_results_not_written', { entries: entries.length, ...describeCause(error) })
        const [entry, ...others] = entries
        if (isStopped || !entry) return entries.map(() => ({ ok: false, error }))
        if (error instanceof CommitUnknown || failureOf(error).unavailable)
          await new Promise(resolve => setTimeout(resolve, RETRY_MS))
        else if (others.length > 0) return runOneByOne(queued)
        else {
          if (entry.kind === 'result') await letGo(entry.result)
          return [{ ok: false, error }]
        }
      }
    }
  }
  /** One entry that the database refuses must not hold back its neighbors. */
  const runOneByOne = async (queued: readonly Queued[]): Promise<Written[]> => {
    const written: Written[] = []
    for (const one of queued) written.push(...(await runSafely([{ ...one, isRepeat: true }])))
    return written
  }
  /** So that the delivery is attempted again after a pause, and not when its claim ends. */
  const letGo = ({ target, item }: Result) =>
    giveBack(context.database.of(target.partnerId), [{ partnerId: target.partnerId, item }]).catch(error =>
      log('webhook_claims_not_given_back', describeCause(error)),
    )
  // Each cell of a cluster has batches of its own, so that one that does not answer holds up no other.
  const write = coalesceApart<Queued, Receipt>(({ cell }) => cell, {
    name: 'write results of webhooks',
    maxBatch: 500,
    paceMs: PACE_MS,
    run: runSafely,
  })
  const writeAgain = (entry: Entry, isRepeat: boolean) =>
    new Promise<Settled<Receipt>>(settled => write.enqueue({ entry, isRepeat, cell: cellOf(entry) }, settled))
  return {
    enqueue: (entry, settled) => write.enqueue({ entry, isRepeat: false, cell: cellOf(entry) }, settled),
    pending: write.pending,
    stop: () => {
      isStopped = true
    },
  }
}

/** What a batch means for one endpoint. */
type Case = {
  readonly named: NamedEndpoint
  health: HealthRecord
  isChanged: boolean
  /** Whether the one probe of it has ended, whatever it has shown: another may follow. */
  isProbed: boolean
  reported: EndpointRow['reported']
  isDisabled: boolean
  outage?: Outage | undefined
  readonly actions: HealthAction[]
  readonly notices: { readonly notice: Notice; readonly at: Instant }[]
}

/**
 * Judges the endpoints of these entries, one entry after the other, and keeps them locked. An attempt counts if its claim
 * still stands and the partner has not changed the endpoint since it began.
 */
async function judgeAll(
  tx: Executor,
  entries: readonly Entry[],
  limit: number,
): Promise<ReadonlyMap<string, Case>> {
  const results = entries.flatMap(entry =>
    entry.kind === 'result' && entry.result.ended ? [entry.result] : [],
  )
  const reviewed = entries.flatMap(entry => (entry.kind === 'review' ? [entry.target] : []))
  const named = new Map(
    [...results.map(({ target }) => target), ...reviewed].map(one => [one.endpointId, one]),
  )
  const rows = new Map((await lockEndpoints(tx, [...named.values()])).map(row => [row.endpoint_id, row]))
  const standing = results.length > 0 ? await standingClaims(tx, results) : new Set()
  const cases = new Map<string, Case>()
  const caseOf = (target: Target, row: LockedEndpoint): Case => {
    const known = cases.get(target.endpointId)
    if (known) return known
    const made = {
      named: { partnerId: target.partnerId, endpointId: target.endpointId },
      health: row.health,
      isChanged: false,
      isProbed: false,
      reported: row.reported,
      isDisabled: false,
      actions: [],
      notices: [],
    }
    cases.set(target.endpointId, made)
    return made
  }
  for (const entry of entries) {
    const target = entry.kind === 'result' ? entry.result.target : entry.target
    const row = rows.get(target.endpointId)
    if (!row || row.disabled_at !== null) continue
    if (entry.kind === 'review') reviewOne(caseOf(target, row), entry)
    else {
      const { ended, item } = entry.result
      const counts = ended?.version === row.version && standing.has(`${item.endpoint_id} ${item.event_id}`)
      if (ended && counts) judgeOne(caseOf(target, row), ended, limit)
    }
  }
  return cases
}

function judgeOne(each: Case, ended: NonNullable<Result['ended']>, limit: number): void {
  const { open } = each.health.breaker
  // Attempts that began before the breaker was due for a probe may end beside the probe.
  const wasProbe = open !== null && ended.startedAt >= open.until
  const { health, isChanged, outage, action } = judge(each.health, ended, limit)
  each.health = health
  each.isChanged ||= isChanged || wasProbe
  each.isProbed ||= wasProbe
  each.outage ??= outage
  note(each, action, ended.endedAt)
  if (ended.assessment.kind === 'delivered') tell(each, true, ended.endedAt)
}

function reviewOne(each: Case, { mayDisable, at }: Extract<Entry, { kind: 'review' }>): void {
  tell(each, false, at)
  const { health, action } = reviewHealth(each.health, at)
  if (action.kind === 'none' || (action.kind === 'disable' && !mayDisable)) return
  each.health = { ...each.health, ...health }
  each.isChanged = true
  note(each, action, at)
}

/** What the partner's other endpoints are to be told. */
function tell(each: Case, isDelivered: boolean, at: Instant): void {
  const notice = noticeFor(each.health, { wasReported: each.reported !== null, isDelivered, now: at })
  if (!notice) return
  each.reported = notice.eventname === 'webhook_failing' ? 'failing' : null
  each.isChanged = true
  each.notices.push({ notice, at })
}

function note(each: Case, action: HealthAction, at: Instant): void {
  if (action.kind === 'none' || each.isDisabled) return
  each.actions.push(action)
  if (action.kind !== 'disable') return
  each.isDisabled = true
  const since = each.health.failingSince ?? at
  each.notices.push({ notice: { eventname: 'webhook_disabled', since, reason: action.because }, at })
}

/** Writes what the entries mean for their endpoints. */
async function carryOut(tx: Executor, cases: readonly Case[]): Promise<void> {
  const changed = cases.filter(each => each.isChanged)
  for (const each of changed) each.health = { ...each.health, revision: each.health.revision + 1 }
  if (changed.length > 0) await saveHealth(tx, changed)
  for (const { named, outage, actions, notices } of cases) {
    if (outage) await releaseAttempted(tx, named, outage)
    for (const { notice, at } of notices) {
      const disabling = actions.find(action => action.kind === 'disable')
      if (notice.eventname === 'webhook_disabled' && disabling)
        await markDisabled(tx, named, { reason: disabling.because, at })
      await raiseNotice(tx, named, notice, at)
    }
  }
}

/** Logs that an endpoint has failed for long, or was disabled. */
function logHealthAction(log: Log, { partnerId, endpointId }: NamedEndpoint, action: HealthAction): void {
  const about = { partnerid: partnerId, webhookid: endpointId }
  if (action.kind === 'notice') {
    log('webhook.failing', {
      ...about,
      failingsince: new Date(action.failingSince).toISOString(),
      disablesat: new Date(action.disablesAt).toISOString(),
    })
  } else if (action.kind === 'disable') log('webhook.disabled', { ...about, reason: action.because })
}
