import type { EventName } from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../calendar/calendar.ts'
import { type Coalesced, coalesce, type Settled } from '../db/coalesce.ts'
import { CommitUnknown, type Database, type Executor } from '../db/database.ts'
import { failureOf } from '../db/failure.ts'
import { sql } from '../db/sql.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { newKey } from '../vault/seal.ts'
import { uuidv4, uuidv7 } from '../vault/uuid.ts'
import {
  type Claim,
  type ClaimVerdict,
  claimedKey,
  judgeClaim,
  keyName,
  type SeenKey,
  seenKeyOf,
} from './claims.ts'
import {
  type DocumentKind,
  openDataKey,
  openDocument,
  type Person,
  sealAnswer,
  sealDocument,
  wrapDataKey,
} from './documents.ts'
import type { Raised } from './events.ts'
import { type HistoryLine, linesOf, type Who } from './history.ts'
import { loadDocuments, loadKeys, loadUsers, lockUsers } from './load.ts'
import { isRefusal, type Refusal, refuse } from './refusal.ts'
import { userOf } from './rows.ts'
import { type Batch, saveBatch } from './save.ts'
import { plan, type Step, settle } from './settle.ts'
import { type Consent, newUser, type User } from './state.ts'
import type { Terms } from './terms.ts'

/** What a command sees of its user: the state with everything due applied, and the personal data on demand. */
export type Member = { readonly user: User; readonly person: (kind: DocumentKind) => Person | undefined }

/** What a command decides on. */
export type Situation = {
  readonly now: Instant
  /** The user, settled; `undefined` when the partner has none of this name. */
  readonly member: Member | undefined
  /** The user, or a new one of this name. */
  readonly orNew: () => User
  /** The rules that hold, judged on the given personal data or on the account's. */
  readonly terms: (person?: Person) => Terms
}

/** What a command wants to be written. */
export type Change = {
  readonly user: User
  readonly events: readonly Raised[]
  /** Documents to write, or to delete by null. */
  readonly documents?: Partial<Record<DocumentKind, unknown>>
}

/** A decided command: its change where there is one, and its answer, told of the user as it then is. */
export type Decided<Reply> = { readonly answer: (after: User) => Reply; readonly change?: Change }

/** One write on one user. */
export type Command<Reply> = {
  readonly partner: Partner
  readonly userid: string
  readonly who: Who
  readonly why: string
  readonly claim?: Claim | undefined
  /** Decides by the rules alone; run again when the transaction is. */
  readonly decide: (situation: Situation) => Decided<Reply> | Refusal
}

/** How a command went: its answer, or a refusal; `replayed` when an idempotency key had it answered before. */
export type Outcome<Reply> =
  | { readonly reply: Reply; readonly replayed: boolean }
  | (Refusal & { readonly replayed: boolean })

/** The one way in which users change. */
export type Ledger = {
  /** Runs a command; resolves when what it wrote is durable. Rejects with ServiceError `unavailable` or `internal`. */
  submit<Reply>(command: Command<Reply>): Promise<Outcome<Reply>>
  /** Commands that wait or are under way. */
  pending(): number
}

/** What the ledger needs of its surroundings. */
export type LedgerContext = {
  readonly database: Database
  readonly clock: Clock
  readonly sandbox: boolean
  /** Prepares the catalogue versions that these users name; then `terms` is synchronous. */
  readonly prepareTerms: (versions: readonly number[]) => Promise<void>
  readonly terms: (partner: Partner, person: () => Person | undefined) => Terms
  /** The hash of a consent's text, kept with the consent. */
  readonly consentHash: (consent: Consent) => Buffer | undefined
  /** Told after a commit that raised events of these partners. */
  readonly onEvents: (partnerIds: ReadonlySet<string>) => void
}

/**
 * Opens the ledger. Commands that arrive together are decided one after the other in memory and written by one
 * transaction; each sees what those before it did. One that fails does not fail its neighbours.
 */
export const openLedger = (context: LedgerContext): Ledger => {
  const submit: Coalesced<Command<unknown>, Outcome<unknown>> = coalesce({
    maxBatch: 128,
    run: commands => runIsolated(context, commands),
  })
  return {
    submit: <Reply>(command: Command<Reply>) => submit(command) as Promise<Outcome<Reply>>,
    pending: submit.pending,
  }
}

type Result = Settled<Outcome<unknown>>

/** Runs a batch; when the database refuses it for one command's sake, runs the commands one by one. */
const runIsolated = async (context: LedgerContext, commands: Command<unknown>[]): Promise<Result[]> => {
  try {
    return await runBatch(context, commands)
  } catch (error) {
    const failure = failureOf(error)
    if (error instanceof CommitUnknown || failure.unavailable)
      return commands.map(() => failed(unavailable(error)))
    if (commands.length === 1) return [failed(error)]
  }
  const results: Result[] = []
  for (const command of commands) {
    const [result] = await runIsolated(context, [command])
    if (result) results.push(result)
  }
  return results
}

const failed = (error: unknown): Result => ({ ok: false, error })
const unavailable = (cause: unknown) => new ServiceError('unavailable', undefined, { cause })

/** Runs a batch, again when another process wrote first, and finds out what a lost commit did. */
const runBatch = async (context: LedgerContext, commands: Command<unknown>[]): Promise<Result[]> => {
  for (let tries = 1; ; tries += 1) {
    let session: Session | undefined
    try {
      return await context.database
        .transaction(async tx => {
          session = await openSession(context, tx, commands)
          const results = commands.map(command => decideSafely(session as Session, command))
          if (session.wroteAnything()) await saveBatch(tx, session.batch())
          return results
        })
        .then(results => {
          session?.announce()
          return results
        })
    } catch (error) {
      if (error instanceof CommitUnknown && session && (await tookPlace(context.database, session))) {
        session.announce()
        return session.results()
      }
      // Keyed commands can be run again: their own claim tells whether they were applied.
      const mayRunAgain = error instanceof CommitUnknown && commands.every(command => command.claim)
      if (tries === 5 || !(mayRunAgain || failureOf(error).conflict)) throw error
    }
  }
}

const decideSafely = (session: Session, command: Command<unknown>): Result => {
  try {
    return session.note({ ok: true, value: session.decide(command) })
  } catch (error) {
    return session.note(failed(error))
  }
}

/** Whether a batch whose commit was lost took place: one of its rows tells for all. */
const tookPlace = async (database: Database, session: Session): Promise<boolean> => {
  const proof = session.proof()
  if (!proof) return false
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      const rows = await database.query(sql`
        select 1 from history where partner_id = ${proof.partnerId} and service_id = ${proof.serviceId}
          and entry_id = ${proof.entryId}`)
      if (rows.length > 0) return true
      if (tries > 2) return false
    } catch {
      // The database is on its way back; the loop is bounded.
    }
    await new Promise(resolve => setTimeout(resolve, 150))
  }
  return false
}

type Held = {
  user: User
  stored: User | undefined
  dataKey: Buffer | undefined
  wrappedKey: Buffer | undefined
  documents: Map<DocumentKind, Buffer | undefined>
  people: Map<DocumentKind, Person | undefined>
}

type Session = {
  decide(command: Command<unknown>): Outcome<unknown>
  note(result: Result): Result
  results(): Result[]
  wroteAnything(): boolean
  batch(): Batch
  proof(): { partnerId: string; serviceId: string; entryId: string } | undefined
  announce(): void
}

type Writes = {
  renamed: Batch['renamed'][number][]
  changed: Map<string, Held>
  erased: User[]
  documents: Map<string, Batch['documents'][number]>
  history: Batch['history'][number][]
  events: Batch['events'][number][]
  consents: Batch['consents'][number][]
  staleKeys: Batch['staleKeys'][number][]
  keys: Batch['keys'][number][]
}

const nameOf = (name: { partnerId: string; userid: string }) => `${name.partnerId} ${name.userid}`

/** Locks and loads what the commands need, and collects what they write. */
const openSession = async (
  context: LedgerContext,
  tx: Executor,
  commands: Command<unknown>[],
): Promise<Session> => {
  const names = [
    ...new Map(
      commands.map(command => {
        const name = { partnerId: command.partner.partnerId, userid: command.userid }
        return [nameOf(name), name] as const
      }),
    ).values(),
  ]
  await lockUsers(tx, names)
  const rows = await loadUsers(tx, names)
  const documents = rows.length > 0 ? await loadDocuments(tx, rows) : []
  const claims = commands.flatMap(command =>
    command.claim ? [{ partnerId: command.partner.partnerId, ...command.claim }] : [],
  )
  const seen = new Map<string, SeenKey>(
    claims.length > 0
      ? (await loadKeys(tx, claims)).map(row => [
          keyName(row.partner_id, row.operation, row.key_hash),
          seenKeyOf(row),
        ])
      : [],
  )
  await context.prepareTerms(
    rows.flatMap(row => [
      row.offer_version ?? 0,
      ...(row.enrolments ?? []).map(enrolment => enrolment.catalogue_version),
    ]),
  )
  const offsets = context.sandbox ? await loadOffsets(tx, names) : new Map<string, number>()

  const held = new Map<string, Held>()
  for (const row of rows) {
    const user = userOf(row)
    held.set(nameOf(user), {
      user,
      stored: user,
      dataKey: undefined,
      wrappedKey: row.wrapped_key ?? undefined,
      documents: new Map(
        documents
          .filter(
            document => document.partner_id === row.partner_id && document.service_id === row.service_id,
          )
          .map(document => [document.kind, document.sealed]),
      ),
      people: new Map(),
    })
  }
  const writes: Writes = {
    renamed: [],
    changed: new Map(),
    erased: [],
    documents: new Map(),
    history: [],
    events: [],
    consents: [],
    staleKeys: [],
    keys: [],
  }
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
        context.onEvents(new Set(writes.events.map(event => event.user.partnerId)))
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
  held: Map<string, Held>
  seen: Map<string, SeenKey>
  writes: Writes
  offsets: Map<string, number>
}

const decide = (desk: Desk, command: Command<unknown>): Outcome<unknown> => {
  const { context, held, seen, writes, offsets } = desk
  const { partner, claim } = command
  const offset = offsets.get(partner.partnerId) ?? partner.clockOffsetMs
  const now = context.clock.now({ clockOffsetMs: offset })
  const name = nameOf({ partnerId: partner.partnerId, userid: command.userid })
  const found = held.get(name)
  const claimKey = claim && keyName(partner.partnerId, claim.operation, claim.keyHash)
  const known = claimKey === undefined ? undefined : seen.get(claimKey)
  if (claim && known) {
    const verdict = judgeClaim(claim, known, {
      now,
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
  const user = change ? apply(desk, command, { change, steps, found, now, settled }) : settled
  if (!user) throw new Error('a command that neither changed nor found a user')
  const reply = decided.answer(user)
  if (claim) spendKey(desk, { claim, partner, user, now, reply })
  return { reply, replayed: false }
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
  const entry = { ...claimedKey(claim, spent), sealedAnswer: key && sealAnswer(key, reply, place) }
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

const dataKeyOf = (held: Held | undefined, partner: Partner): Buffer | undefined => {
  if (!held?.dataKey && held?.wrappedKey)
    held.dataKey = openDataKey(partner, held.user.serviceId, held.wrappedKey)
  return held?.dataKey
}

const personOf = (held: Held, partner: Partner, kind: DocumentKind): Person | undefined => {
  if (held.people.has(kind)) return held.people.get(kind)
  const sealed = held.documents.get(kind)
  const key = sealed && dataKeyOf(held, partner)
  const person =
    sealed && key
      ? (openDocument(key, sealed, {
          kind,
          partnerId: held.user.partnerId,
          serviceId: held.user.serviceId,
        }) as Person)
      : undefined
  held.people.set(kind, person)
  return person
}

type Applied = {
  change: Change
  steps: readonly Step[]
  found: Held | undefined
  settled: User | undefined
  now: Instant
}

/** Takes a change over into memory and into what the batch will write. */
const apply = (desk: Desk, command: Command<unknown>, applied: Applied): User => {
  const { context, held, writes } = desk
  const { partner } = command
  const { change, steps, found, now, settled } = applied
  const isNew = found === undefined || found.user.serviceId !== change.user.serviceId
  const mine: Held = isNew ? openDossier(partner, change.user) : found
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

  for (const step of steps) noteStep(desk, step, 'schedule', 'due')
  if (ownStep.before !== ownStep.after || change.events.length > 0)
    noteStep(desk, ownStep, command.who, command.why)
  for (const consent of after.consents) {
    if (!before.consents.includes(consent))
      writes.consents.push({ user: after, consent, textHash: context.consentHash(consent) })
  }
  mine.user = after
  held.set(nameOf(after), mine)
  writes.changed.set(`${after.partnerId} ${after.serviceId}`, mine)
  writeDocuments(desk, partner, mine, { change, lapsed: steps.some(step => hasLapsed(step)), now })
  if (after.status === 'erased') {
    writes.erased.push(after)
    mine.dataKey = undefined
    mine.wrappedKey = undefined
    mine.documents.clear()
    mine.people.clear()
  }
  return after
}

const hasLapsed = (step: Step): boolean =>
  step.before.entryExpiresAt !== undefined && step.after.entryExpiresAt === undefined

const openDossier = (partner: Partner, user: User): Held => {
  const dataKey = newKey()
  return {
    user,
    stored: undefined,
    dataKey,
    wrappedKey: wrapDataKey(partner, user.serviceId, dataKey),
    documents: new Map(),
    people: new Map(),
  }
}

const writeDocuments = (
  desk: Desk,
  partner: Partner,
  mine: Held,
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

const noteStep = (desk: Desk, step: Step, who: Who, why: string): void => {
  const { writes, context } = desk
  const real = context.clock.real()
  const user = step.after
  for (const line of linesOf(step, who, why) as HistoryLine[]) {
    writes.history.push({ ...line, id: uuidv7(real), user, recordedAt: real })
  }
  for (const event of step.events) {
    writes.events.push({
      id: uuidv7(real),
      user,
      eventname: event.eventname,
      idempotencyKey: uuidv4(),
      body: bodyOf(user, event),
      data: event.benefit === undefined ? {} : { name: event.benefit },
      createdAt: real,
    })
  }
}

/** The body of an event, in the order of the interface; these bytes are what is sent, on every try. */
const bodyOf = (user: User, event: Raised): Buffer =>
  Buffer.from(
    JSON.stringify({
      userid: user.userid,
      eventname: event.eventname satisfies EventName,
      currentofferdetails: {
        offer: event.offer,
        updatedat: formatTimestamp(event.updatedAt),
        serviceid: user.serviceId,
      },
    }),
  )

const batchOf = (writes: Writes): Batch => {
  const changed = [...writes.changed.values()]
  return {
    renamed: writes.renamed,
    users: changed.map(mine => ({
      user: mine.user,
      isNew: mine.stored === undefined,
      wrappedKey: mine.wrappedKey,
    })),
    erased: writes.erased,
    enrolments: changed.flatMap(mine =>
      mine.user.enrolments
        .filter(enrolment => !mine.stored?.enrolments.includes(enrolment))
        .map(enrolment => ({ user: mine.user, enrolment })),
    ),
    consents: lastOnes(
      writes.consents,
      entry => `${entry.user.serviceId} ${entry.consent.name} ${entry.consent.version}`,
    ),
    documents: [...writes.documents.values()].filter(change => change.user.status !== 'erased'),
    history: writes.history,
    events: writes.events,
    staleKeys: writes.staleKeys,
    keys: writes.keys,
  }
}

const lastOnes = <T>(entries: readonly T[], nameOfEntry: (entry: T) => string): T[] => [
  ...new Map(entries.map(entry => [nameOfEntry(entry), entry])).values(),
]
