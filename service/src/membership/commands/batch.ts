import type { Settled } from '../../db/coalesce.ts'
import { type Query, sql } from '../../db/sql.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { Command, CommandContext, CommandResult } from '../command.ts'
import { erasedName } from '../reading/erased-name.ts'
import { nameOf, nameOfUser } from '../reading/load.ts'
import { dataKeyOf, newLoadedUser, personOf } from '../reading/loaded-user.ts'
import type { DocumentKind } from '../records/sealed.ts'
import { type AppliedChange, applyDueChanges, hasLapsed } from '../rules/apply-due.ts'
import { isRefusal, refuse } from '../rules/refusal.ts'
import { newUser, type User } from '../rules/state.ts'
import { bidFarewell } from '../saving/farewells.ts'
import { retain } from '../saving/retain.ts'
import { history, idempotencyKeys } from '../saving/tables.ts'
import { writeSealed } from '../saving/write-sealed.ts'
import { addedTo, type BatchWrites, recordChange } from '../saving/writes.ts'
import {
  type DecidedChange,
  growsTooLarge,
  nothingYet,
  tooManyEnrolments,
  withPendingChanges,
} from './after-change.ts'
import { judgeSeenKey, namedKey, spendKey } from './batch-keys.ts'
import { type BatchContext, type BatchState, ReadTooEarly, readState } from './read-batch.ts'

/** The result of one command in a batch. */
export type Result = Settled<CommandResult<unknown>>

/** The decided commands of a batch, and the writes that they need. */
export type DecidedBatch = {
  /**
   * `undefined`: left out of this batch and run again after it. Its userid is already inserted by another command of the
   * batch, and one statement cannot insert it twice; later commands of that user wait with it.
   */
  readonly results: readonly (Result | undefined)[]
  /** `undefined` when nothing changes. */
  readonly writes: BatchWrites | undefined
  /** Finds a row that exists only if the writes were committed; `undefined` when there is no such row. */
  readonly proof: Query | undefined
  /** Tells the other parts that the writes were committed. */
  readonly announce: () => void
}

/** A command failed after it had begun to add to its batch, so the batch must not be committed; `cause` says why. */
export class PartialDecision extends Error {
  override name = 'PartialDecision'
  readonly command: Command<unknown>

  constructor(command: Command<unknown>, cause: unknown) {
    super('partial decision', { cause })
    this.command = command
  }
}

/**
 * Reads what the commands need, and decides one command after the other in memory; each sees the changes of those
 * before it. Nothing is locked. Nothing is read for the commands that `unread` holds. Throws `PartialDecision` and
 * `ReadTooEarly`.
 */
export async function decideBatch(
  context: BatchContext,
  commands: readonly Command<unknown>[],
  unread: ReadonlySet<Command<unknown>>,
): Promise<DecidedBatch> {
  const state = await readState(context, commands, unread)
  const results = commands.map(command => decideSafely(state, command))
  const { writes } = state
  await retain(context.database, writes)
  await bidFarewell(context.database, writes)
  const isChanged = writes.changed.size > 0 || writes.rows.size > 0
  return {
    results,
    writes: isChanged ? writes : undefined,
    proof: proofOf(writes),
    announce() {
      context.onWritten(writes.changed.values())
      if (writes.events.length === 0) return
      context.onEvents(new Set(writes.events.map(event => event.user.partnerId)), writes.events.length)
    },
  }
}

/**
 * Finds a row that only this batch could have written; `undefined` when there is no such row. All writes are in one
 * transaction, so that one row proves that all were committed.
 */
function proofOf(writes: BatchWrites): Query | undefined {
  const [event] = writes.events
  if (event)
    return sql`select 1 from events where partner_id = ${event.user.partnerId} and event_id = ${event.id}`
  const [key] = addedTo(writes, idempotencyKeys)
  return (
    key &&
    sql`
    select 1 from idempotency_keys where partner_id = ${key.partnerId} and operation = ${key.operation}
      and key_hash = ${key.keyHash} and attempt_id = ${key.attemptId}`
  )
}

function decideSafely(state: BatchState, command: Command<unknown>): Result | undefined {
  const { context, unread, writes } = state
  const recorded = writes.rows.get(history)?.added.size
  let result: Result
  try {
    const value = decide(state, command)
    if (!value) return undefined
    result = { ok: true, value }
  } catch (error) {
    if (error instanceof PartialDecision || error instanceof ReadTooEarly) throw error
    result = { ok: false, error }
  }
  if (unread.has(command) && writes.rows.get(history)?.added.size === recorded) {
    // Nothing was read for this command, and only a write would show whether its user is new. So the batch is decided again
    // with everything read, and the next commands of this kind are read from the start, because each wrong guess delays
    // their neighbors.
    context.newcomers.learn(command, false)
    throw new ReadTooEarly('nothing was read')
  }
  return result
}

/** The result of a command; `undefined` when it must run after its batch. */
function decide(state: BatchState, command: Command<unknown>): CommandResult<unknown> | undefined {
  const { context, users, clockOffsets } = state
  const { partner } = command
  const name = nameOfUser(command)
  if (state.later.has(name)) return undefined
  const loaded = users.get(name)
  const clockOffsetMs = clockOffsets.get(partner.partnerId) ?? partner.clockOffsetMs
  // All commands of a batch share one instant, so that it is sent to PostgreSQL only once. The clocks of two processes
  // differ, but the time of a user never goes back, so that no enrolment ends before it began.
  const now = Math.max(state.real + clockOffsetMs, loaded?.user.updatedAt ?? 0)
  const key = command.reservation && namedKey(partner, command.reservation)
  const known = key && judgeSeenKey(state, key, { command, loaded, now })
  if (known) return known

  const person = (kind: DocumentKind) => (loaded ? personOf(loaded, partner, kind) : undefined)
  const accountTerms = () => context.terms(partner, () => person('profile'))
  const dueChanges: AppliedChange[] = loaded ? applyDueChanges(loaded.user, now, accountTerms()) : []
  const current = dueChanges.at(-1)?.after ?? loaded?.user
  const isErased = current?.status === 'erased'
  const commandContext: CommandContext = {
    now,
    wasDue: dueChanges.length > 0,
    member: current && { user: current, person: isErased ? () => undefined : person },
    orNew: () =>
      current && !isErased
        ? current
        : newUser({
            partnerId: partner.partnerId,
            serviceId: uuidv7(state.real),
            userid: command.userid,
            at: now,
          }),
    terms: given => (given ? context.terms(partner, () => given) : accountTerms()),
  }
  const decided = command.decide(commandContext)
  if (isRefusal(decided)) return { ...decided, replayed: false }
  const change =
    decided.change ?? (dueChanges.length > 0 && current ? { user: current, events: [] } : undefined)
  let applied: AppliedCommand | undefined
  if (change) {
    const own = loaded?.user.serviceId === change.user.serviceId ? loaded : undefined
    const before = own && current ? current : nothingYet(change.user)
    // If only due changes were applied, they have already projected what is pending; projecting it again would look like a
    // change by this command.
    const after = decided.change
      ? withPendingChanges(context, partner, { change, own, before, now })
      : change.user
    // Neither the schedule nor an operator is ever refused for this: what is due has to happen, and mistakes have to be
    // corrected.
    const isAsked = decided.change && command.who !== 'schedule' && command.who !== 'operator'
    if (isAsked && growsTooLarge(after, current))
      return { ...refuse('bad_request', [tooManyEnrolments]), replayed: false }
    // `readVersion` is 0 when this batch itself adds the user of this name.
    if (!own && loaded?.readVersion === 0) {
      state.later.add(name)
      return undefined
    }
    if (!own && loaded) state.writes.renamed.push(loaded.user)
    applied = { change, own, before, after, dueChanges, now }
  }
  try {
    const user = applied ? applyChange(state, command, applied) : current
    if (!user) throw new Error('a command that neither changed nor found a user')
    const reply = decided.answer(user)
    if (key) spendKey(state, key, { partner, user, now, reply })
    return { reply, replayed: false }
  } catch (cause) {
    throw new PartialDecision(command, cause)
  }
}

type AppliedCommand = DecidedChange & { readonly after: User; readonly dueChanges: readonly AppliedChange[] }

/** Applies a change in memory, and adds it to the writes of the batch. */
function applyChange(state: BatchState, command: Command<unknown>, applied: AppliedCommand): User {
  const { context, users, writes } = state
  const { partner } = command
  const { change, own, before, after, dueChanges, now } = applied
  writes.alongside.push(...(command.alongside ?? []))
  const mine = own ?? newLoadedUser(partner, change.user)
  for (const due of dueChanges) recordChange(writes, mine, due, { who: 'schedule', why: 'due' })
  if (dueChanges.length === 0 || before !== after || change.events.length > 0 || change.documents)
    recordChange(writes, mine, { at: now, before, after, events: change.events }, command)
  mine.user = after
  users.set(nameOf(after), mine)
  writes.changed.set(after.serviceId, mine)
  writeSealed({ context, writes, command, mine, before, change, hasLapsed: dueChanges.some(hasLapsed), now })
  if (after.status === 'erased') {
    const key = dataKeyOf(mine, partner)
    writes.erased.push({ user: after, name: erasedName(partner, after.userid), partner, key, toldLines: 0 })
    mine.dataKey = undefined
    mine.wrappedKey = undefined
    mine.documents.clear()
    mine.people.clear()
    // Recorded with the seen keys, because a later command of the batch may give the name to a new user, and then nothing
    // read under this name shows the erasure.
    for (const [name, seen] of state.seenKeys)
      if (seen.serviceId === after.serviceId)
        state.seenKeys.set(name, { ...seen, userErasedAt: after.erasedAt })
  }
  return after
}
