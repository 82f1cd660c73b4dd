import type { Instant } from '../calendar/calendar.ts'
import type { Settled } from '../db/coalesce.ts'
import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Claim } from '../idempotency/claim-of.ts'
import type { Partner } from '../partners/partner.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { type ClaimVerdict, claimedKey, judgeClaim, keyName, type SeenKey, seenKeyOf } from './claims.ts'
import type { Change, Command, LedgerContext, Outcome, Situation } from './command.ts'
import { type DocumentKind, type Person, sealAnswer, sealDocument } from './documents.ts'
import { type Dossier, dataKeyOf, dossierOf, newDossier, personOf } from './dossier.ts'
import { loadDocuments, loadKeys, loadUsers, lockUsers } from './load.ts'
import { isRefusal, refuse } from './refusal.ts'
import type { Batch } from './save.ts'
import { plan, type Step, settle } from './settle.ts'
import { newUser, type User, versionsOf } from './state.ts'
import { batchOf, noteStep, noWrites, type Writes } from './writes.ts'

/** How one command of a batch went. */
export type Result = Settled<Outcome<unknown>>

/** One batch of commands on locked users. */
export type Session = {
  decide(command: Command<unknown>): Outcome<unknown>
  note(result: Result): Result
  results(): Result[]
  wroteAnything(): boolean
  batch(): Batch
  proof(): { partnerId: string; serviceId: string; entryId: string } | undefined
  announce(): void
}

/** A command broke after it had begun to write into its batch, which must not be committed; its `cause` says why. */
export class HalfDecided extends Error {
  override name = 'HalfDecided'
}

/** Names a user within a batch. */
export const nameOf = (name: { partnerId: string; userid: string }) => `${name.partnerId} ${name.userid}`

/** Another process changed who a name stands for while it was being looked up: the batch is run again. */
export class UserMoved extends Error {
  override name = 'UserMoved'
}

/** Locks and loads what the commands need, and collects what they write. */
export const openSession = async (
  context: LedgerContext,
  tx: Executor,
  commands: Command<unknown>[],
  lockTimeoutMs: number,
): Promise<Session> => {
  const names = [
    ...new Map(
      commands.map(command => {
        const name = { partnerId: command.partner.partnerId, userid: command.userid }
        return [nameOf(name), name] as const
      }),
    ).values(),
  ]
  const claims = commands.flatMap(command =>
    command.claim ? [{ partnerId: command.partner.partnerId, ...command.claim }] : [],
  )
  // They travel together, and run in this order: what is loaded is as it is once the lock is had.
  const [, locked, rows, documents, keys, offsets] = await Promise.all([
    tx.query({ name: '', text: `set local lock_timeout = ${lockTimeoutMs}`, values: [] }),
    lockUsers(tx, names),
    loadUsers(tx, names),
    loadDocuments(tx, names),
    claims.length > 0 ? loadKeys(tx, claims) : [],
    context.sandbox ? loadOffsets(tx, names) : new Map<string, number>(),
  ])
  // A user who appeared between the two statements is not locked: what was loaded may change under our hands.
  if (rows.some(row => !locked.has(row.service_id))) throw new UserMoved('a user was loaded without its lock')
  const seen = new Map<string, SeenKey>(
    keys.map(row => [keyName(row.partner_id, row.operation, row.key_hash), seenKeyOf(row)]),
  )
  const held = new Map<string, Dossier>()
  const byService = new Map<string, Dossier>()
  for (const row of rows) {
    const dossier = dossierOf(row)
    held.set(nameOf(dossier.user), dossier)
    byService.set(`${row.partner_id} ${row.service_id}`, dossier)
  }
  for (const document of documents) {
    const dossier = byService.get(`${document.partner_id} ${document.service_id}`)
    dossier?.documents.set(document.kind, document.sealed)
  }
  await context.prepareTerms([...held.values()].flatMap(({ user }) => versionsOf(user)))
  const writes = noWrites()
  const results: Result[] = []
  return {
    decide: command => decide({ context, held, seen, writes, offsets }, command),
    note: result => {
      results.push(result)
      return result
    },
    results: () => results,
    wroteAnything: () => writes.changed.size > 0 || writes.keys.length > 0,
    batch: () => batchOf(writes),
    proof: () => {
      const line = writes.history[0]
      return line && { partnerId: line.user.partnerId, serviceId: line.user.serviceId, entryId: line.id }
    },
    announce: () => {
      if (writes.events.length > 0)
        context.onEvents(new Set(writes.events.map(event => event.user.partnerId)), writes.events.length)
    },
  }
}

const loadOffsets = async (
  tx: Executor,
  names: readonly { partnerId: string }[],
): Promise<Map<string, number>> => {
  const rows = await tx.query<{ partner_id: string; clock_offset_ms: number }>(sql`
    select partner_id, clock_offset_ms from partners where partner_id = any(${names.map(name => name.partnerId)}::uuid[])`)
  return new Map(rows.map(row => [row.partner_id, row.clock_offset_ms]))
}

type Desk = {
  context: LedgerContext
  held: Map<string, Dossier>
  seen: Map<string, SeenKey>
  writes: Writes
  offsets: Map<string, number>
}

/** Decides one command on what those before it in the batch have left. */
const decide = (desk: Desk, command: Command<unknown>): Outcome<unknown> => {
  const { context, held, seen, writes, offsets } = desk
  const { partner, claim } = command
  const offset = offsets.get(partner.partnerId) ?? partner.clockOffsetMs
  const name = nameOf({ partnerId: partner.partnerId, userid: command.userid })
  const found = held.get(name)
  // The clocks of two processes differ: the time of one user never goes back, so that no window ends before it began.
  const now = Math.max(context.clock.now({ clockOffsetMs: offset }), found?.user.updatedAt ?? 0)
  const claimKey = claim && keyName(partner.partnerId, claim.operation, claim.keyHash)
  const known = claimKey === undefined ? undefined : seen.get(claimKey)
  if (claim && known) {
    const verdict = judgeClaim(claim, known, {
      now,
      real: context.clock.real(),
      userid: command.userid,
      held: found?.user,
      dataKey: () => dataKeyOf(found, partner),
    })
    if (verdict.kind === 'answered') return answered(verdict)
    writes.staleKeys.push({
      partnerId: partner.partnerId,
      operation: claim.operation,
      keyHash: claim.keyHash,
    })
  }

  const dossier = found ?? undefined
  const person = (kind: DocumentKind) => (dossier ? personOf(dossier, partner, kind) : undefined)
  const accountTerms = context.terms(partner, () => person('profile'))
  const steps: Step[] = dossier ? settle(dossier.user, now, accountTerms) : []
  const settled = steps.at(-1)?.after ?? dossier?.user
  const situation: Situation = {
    now,
    wasDue: steps.length > 0,
    member:
      settled && settled.status !== 'erased'
        ? { user: settled, person }
        : settled && { user: settled, person: () => undefined },
    orNew: () =>
      settled && settled.status !== 'erased'
        ? settled
        : newUser({
            partnerId: partner.partnerId,
            serviceId: uuidv7(context.clock.real()),
            userid: command.userid,
            at: now,
          }),
    terms: given => (given ? context.terms(partner, () => given) : accountTerms),
  }
  const decided = command.decide(situation)
  if (isRefusal(decided)) return { ...decided, replayed: false }
  const change = decided.change ?? (steps.length > 0 && settled ? { user: settled, events: [] } : undefined)
  try {
    const user = change ? apply(desk, command, { change, steps, found, now, settled }) : settled
    if (!user) throw new Error('a command that neither changed nor found a user')
    const reply = decided.answer(user)
    if (claim) spendKey(desk, { claim, partner, user, now, reply })
    return { reply, replayed: false }
  } catch (cause) {
    throw new HalfDecided('half decided', { cause })
  }
}

/** Only what was answered 2xx spends a key; the answer is kept sealed with the user's data key. */
const spendKey = (
  desk: Desk,
  spent: { claim: Claim; partner: Partner; user: User; now: Instant; reply: unknown },
): void => {
  const { claim, partner, user, reply } = spent
  const mine = desk.held.get(nameOf(user))
  const key =
    claim.mode === 'keyed' && mine && user.status !== 'erased' ? dataKeyOf(mine, partner) : undefined
  const place = { partnerId: user.partnerId, serviceId: user.serviceId }
  const entry = {
    ...claimedKey(claim, { ...spent, real: desk.context.clock.real() }),
    sealedAnswer: key && sealAnswer(key, reply, place),
  }
  desk.writes.keys.push(entry)
  desk.seen.set(keyName(partner.partnerId, claim.operation, claim.keyHash), {
    ...entry,
    answer: () => reply,
    userErasedAt: undefined,
    userWrittenAt: undefined,
  })
}

const answered = (verdict: Extract<ClaimVerdict, { kind: 'answered' }>): Outcome<unknown> =>
  'code' in verdict
    ? { ...refuse(verdict.code), replayed: verdict.replayed }
    : { reply: verdict.reply, replayed: verdict.replayed }

type Applied = {
  change: Change
  steps: readonly Step[]
  found: Dossier | undefined
  settled: User | undefined
  now: Instant
}

/** Takes a change over into memory and into what the batch will write. */
const apply = (desk: Desk, command: Command<unknown>, applied: Applied): User => {
  const { context, held, writes } = desk
  const { partner } = command
  const { change, steps, found, now, settled } = applied
  const isNew = found === undefined || found.user.serviceId !== change.user.serviceId
  const mine: Dossier = isNew ? newDossier(partner, change.user) : found
  if (isNew && found)
    writes.renamed.push({ partnerId: found.user.partnerId, serviceId: found.user.serviceId })
  const before = isNew
    ? {
        ...change.user,
        status: 'none' as const,
        enrolments: [],
        consents: [],
        prefillCount: 0,
        offer: undefined,
        cancel: undefined,
        pendingOffer: undefined,
        swap: undefined,
      }
    : (settled ?? change.user)
  const person =
    change.documents && 'profile' in change.documents ? (change.documents.profile as Person) : undefined
  const terms = context.terms(partner, () => person ?? personOf(mine, partner, 'profile'))
  const after =
    change.user.status === 'active' ? plan(change.user, terms, { user: before, at: now }) : change.user
  const ownStep: Step = { at: now, before, after, events: change.events }

  const real = context.clock.real()
  for (const step of steps) noteStep(writes, step, { who: 'schedule', why: 'due', real })
  if (ownStep.before !== ownStep.after || change.events.length > 0)
    noteStep(writes, ownStep, { who: command.who, why: command.why, real })
  for (const consent of after.consents) {
    if (!before.consents.includes(consent))
      writes.consents.push({ user: after, consent, textHash: context.consentHash(consent) })
  }
  mine.user = after
  held.set(nameOf(after), mine)
  writes.changed.set(`${after.partnerId} ${after.serviceId}`, mine)
  writeDocuments(desk, partner, mine, { change, lapsed: steps.some(step => hasLapsed(step)), now })
  if (after.status === 'erased') {
    writes.erased.push({ user: after, at: real })
    mine.dataKey = undefined
    mine.wrappedKey = undefined
    mine.documents.clear()
    mine.people.clear()
  }
  return after
}

const hasLapsed = (step: Step): boolean =>
  step.before.entryExpiresAt !== undefined && step.after.entryExpiresAt === undefined

const writeDocuments = (
  desk: Desk,
  partner: Partner,
  mine: Dossier,
  context: { change: Change; lapsed: boolean; now: Instant },
): void => {
  const { change, lapsed, now } = context
  const { user } = mine
  const changes: Partial<Record<DocumentKind, unknown>> = {
    ...(lapsed ? { prefill: null, draft: null } : {}),
    ...change.documents,
  }
  for (const [kind, content] of Object.entries(changes) as [DocumentKind, unknown][]) {
    const key = content === null || content === undefined ? undefined : dataKeyOf(mine, partner)
    const sealed =
      key && sealDocument(key, content, { kind, partnerId: user.partnerId, serviceId: user.serviceId })
    if (!sealed && !mine.documents.has(kind)) continue
    desk.writes.documents.set(`${user.serviceId} ${kind}`, { user, kind, sealed, writtenAt: now })
    mine.documents.set(kind, sealed)
    mine.people.set(kind, (content ?? undefined) as Person | undefined)
  }
}
