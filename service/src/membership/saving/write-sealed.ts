import type { Instant } from '../../calendar/calendar.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { Change, Command, ExecutorContext } from '../command.ts'
import { dataKeyOf, type LoadedUser } from '../reading/loaded-user.ts'
import { factsOf } from '../records/confirmations.ts'
import { importedRows, insurerLines } from '../records/insurer-lines.ts'
import {
  type DocumentKind,
  type SealedRecord,
  sealedRecords,
  sealRecord,
  searchHashesOf,
} from '../records/sealed.ts'
import type { Person } from '../rules/person.ts'
import type { Consent, User } from '../rules/state.ts'
import { chargedFrom, consents } from './tables.ts'
import { addRow, type BatchWrites, removeRow } from './writes.ts'

/** A decided change, with all that its sealed records depend on. */
type Sealing = {
  readonly context: Pick<ExecutorContext, 'clock' | 'consentHash'>
  readonly writes: BatchWrites
  readonly command: Pick<Command<unknown>, 'partner' | 'who' | 'actor'>
  /** The user after the change. */
  readonly mine: LoadedUser
  /** The user before the change. */
  readonly before: User
  readonly change: Change
  /** Whether prefilled data and a draft have expired, so that they are deleted. */
  readonly hasLapsed: boolean
  readonly now: Instant
}

/**
 * Adds to the writes of a batch what a change writes beside the user's state, sealed with the user's data key: consents,
 * documents, beneficiaries, the confirmation, and what insurers were told before. Throws when a consent that an operator puts on record has no evidence,
 * because it must not be stored without.
 */
export function writeSealed(sealing: Sealing): void {
  writeConsents(sealing)
  writeDocuments(sealing)
  writeDesignations(sealing)
  writeConfirmation(sealing)
  writeTold(sealing)
}

function writeConsents(sealing: Sealing): void {
  const { context, writes, command, mine, before } = sealing
  const { user } = mine
  for (const consent of user.consents) {
    if (before.consents.includes(consent)) continue
    const isGiven = consent.channel === undefined
    const isOnPage = command.who === 'user' || command.who === 'operatorlink'
    addRow(writes, consents, {
      user,
      consent,
      textHash: context.consentHash(consent),
      channel: consent.channel ?? (isOnPage ? 'page' : 'partner'),
      recordedBy: isGiven ? undefined : command.actor,
    })
    if (!isGiven) writeEvidence(sealing, consent)
  }
}

function writeEvidence(sealing: Sealing, consent: Consent): void {
  const { evidence } = sealing.change
  if (evidence === undefined) throw new Error('a consent without its evidence')
  const content = typeof evidence === 'string' ? evidence : evidence(consent)
  const { name, version, agreedAt: at } = consent
  if (!addSealed(sealing, { kind: 'evidence', name, version, at }, content))
    throw new Error('a consent without its evidence')
}

function writeDocuments(sealing: Sealing): void {
  const { writes, command, mine, change, hasLapsed, now } = sealing
  const { user } = mine
  const changes = hasLapsed ? { prefill: null, draft: null, ...change.documents } : (change.documents ?? {})
  for (const kind of Object.keys(changes) as DocumentKind[]) {
    const content: unknown = changes[kind] ?? undefined
    const found = kind !== 'draft' && content ? searchHashesOf(command.partner, content as Person) : undefined
    const name = { kind, name: '', version: '', at: now, found }
    const sealed = content === undefined ? undefined : addSealed(sealing, name, content)
    if (!sealed && !mine.documents.has(kind)) continue
    if (!sealed) removeRow(writes, sealedRecords, { ...name, user })
    mine.documents.set(kind, sealed)
    mine.people.set(kind, content as Person | undefined)
  }
}

function writeDesignations(sealing: Sealing): void {
  const { mine, before, change } = sealing
  for (const designation of mine.user.designations) {
    if (before.designations.includes(designation)) continue
    const { benefit, version, who, writtenAt: at } = designation
    const given = change.designations?.find(one => one.benefit === benefit && one.version === version)
    if (!given) throw new Error('a designation that names nobody')
    const name = { kind: 'beneficiaries', name: benefit, version: `${version}`, at, facts: { who } } as const
    addSealed(sealing, name, given.beneficiaries)
  }
}

function writeConfirmation(sealing: Sealing): void {
  const { context, mine, change } = sealing
  const confirmation = change.confirmation?.(mine.user)
  if (!confirmation) return
  const at = context.clock.real()
  const facts = factsOf(confirmation)
  const name = { kind: 'confirmation', name: confirmation.reference, version: uuidv7(at), at, facts } as const
  addSealed(sealing, name, confirmation.content)
}

/** Seals a record and adds it to the writes; `undefined` for a user without a key, who was just erased. */
function addSealed(
  { writes, command, mine }: Sealing,
  name: Omit<SealedRecord, 'user' | 'sealed' | 'isFirst'>,
  content: unknown,
): Buffer | undefined {
  const { user } = mine
  const key = dataKeyOf(mine, command.partner)
  const sealed = key && sealRecord(key, name.kind, content, user)
  if (sealed) addRow(writes, sealedRecords, { ...name, user, sealed, isFirst: mine.readVersion === 0 })
  return sealed
}

function writeTold({ writes, command, mine, change, now }: Sealing): void {
  const { user } = mine
  if (change.chargedFrom) addRow(writes, chargedFrom, { ...user, month: change.chargedFrom })
  const key = change.told && dataKeyOf(mine, command.partner)
  if (!key || !change.told) return
  for (const row of importedRows(key, user, { covers: change.told, at: now }))
    addRow(writes, insurerLines, row)
}
