import type { Instant } from '../../calendar/calendar.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { Change, Command, ExecutorContext } from '../command.ts'
import { dataKeyOf, type LoadedUser } from '../reading/loaded-user.ts'
import { type ConsentWrite, sealEvidence } from '../records/consents.ts'
import { sealDesignation } from '../records/designations.ts'
import { type DocumentKind, sealJson } from '../records/documents.ts'
import { importedRows } from '../records/insurer-lines.ts'
import type { Person } from '../rules/person.ts'
import type { Consent, User } from '../rules/state.ts'
import type { BatchWrites } from './batch-writes.ts'
import { searchHashesOf } from './search-hashes.ts'
import { versionName } from './writes.ts'

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
  const { writes, mine, before } = sealing
  for (const consent of mine.user.consents)
    if (!before.consents.includes(consent))
      writes.consents.set(versionName(mine.user, consent.name, consent.version), consentOf(consent, sealing))
}

function consentOf(consent: Consent, { context, command, mine, change }: Sealing): ConsentWrite {
  const { user } = mine
  const written = { user, consent, textHash: context.consentHash(consent) }
  if (consent.channel === undefined) {
    const channel = command.who === 'user' || command.who === 'operatorlink' ? 'page' : 'partner'
    return { ...written, channel, recordedBy: undefined, sealedEvidence: undefined }
  }
  const key = dataKeyOf(mine, command.partner)
  if (!key || change.evidence === undefined) throw new Error('a consent without its evidence')
  return {
    ...written,
    channel: consent.channel,
    recordedBy: command.actor,
    sealedEvidence: sealEvidence(
      key,
      typeof change.evidence === 'string' ? change.evidence : change.evidence(consent),
      user,
    ),
  }
}

function writeDocuments({ writes, command, mine, change, hasLapsed, now }: Sealing): void {
  const { user } = mine
  const { partner } = command
  const changes = hasLapsed ? { prefill: null, draft: null, ...change.documents } : (change.documents ?? {})
  for (const kind of Object.keys(changes) as DocumentKind[]) {
    const content: unknown = changes[kind]
    const key = content === null || content === undefined ? undefined : dataKeyOf(mine, partner)
    const sealed = key && sealJson(key, content, `documents.${kind}`, user)
    if (!sealed && !mine.documents.has(kind)) continue
    const found = kind !== 'draft' && sealed ? searchHashesOf(partner, content as Person) : undefined
    writes.documents.set(`${user.serviceId} ${kind}`, { user, kind, sealed, writtenAt: now, found })
    mine.documents.set(kind, sealed)
    mine.people.set(kind, (content ?? undefined) as Person | undefined)
  }
}

function writeDesignations({ writes, command, mine, change }: Sealing): void {
  const { user } = mine
  for (const designation of change.designations ?? []) {
    const key = dataKeyOf(mine, command.partner)
    if (!key) return
    const sealed = sealDesignation(key, designation.beneficiaries, user)
    writes.named.set(versionName(user, designation.benefit, designation.version), sealed)
  }
}

function writeConfirmation({ context, writes, command, mine, change }: Sealing): void {
  const { user } = mine
  const confirmation = change.confirmation?.(user)
  const key = confirmation && dataKeyOf(mine, command.partner)
  if (!confirmation || !key) return
  const createdAt = context.clock.real()
  const { content, ...named } = confirmation
  const sealed = sealJson(key, content, 'confirmations', user)
  writes.confirmations.push({ ...named, user, id: uuidv7(createdAt), sealed, createdAt })
}

function writeTold({ writes, command, mine, change, now }: Sealing): void {
  const key = change.told && dataKeyOf(mine, command.partner)
  if (change.chargedFrom) writes.chargedFrom.push({ user: mine.user, month: change.chargedFrom })
  if (key && change.told) writes.told.push(...importedRows(key, mine.user, { covers: change.told, at: now }))
}
