import { dateAt, formatTimestamp, type Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import type { Command } from '../membership/command.ts'
import type { CommandExecutor } from '../membership/commands/executor.ts'
import { listRetained, type Retained } from '../membership/records/retained-rows.ts'
import { isRefusal, type Refusal, refuse } from '../membership/rules/refusal.ts'
import { isKnown, type User } from '../membership/rules/state.ts'
import type { Terms } from '../membership/rules/terms.ts'
import type { Partner } from '../partners/partner.ts'
import { eraseAccount } from './lifecycle.ts'

/** Which user was erased, and when. */
export type Erasure = { readonly serviceId: string; readonly erasedAt: Instant }

/** An erasure that an operator requests. */
type AskedErasure = Pick<Command<Erasure>, 'partner' | 'userid' | 'requestId' | 'alongside'> & {
  readonly actor: string
  /**
   * Whether the user found at that moment must not be erased, for example because it is not the one that the operator saw;
   * absent: any user with that userid is erased.
   */
  readonly isRefused?: (user: User, now: Instant, terms: Terms) => boolean
}

/**
 * Erases a user for an operator, by the rules of the API. For a user who is already erased it returns when that
 * happened. Refuses `user_not_found`, also for a user that `isRefused` refuses.
 */
export async function eraseForOperator(
  executor: CommandExecutor,
  { isRefused, actor, ...command }: AskedErasure,
): Promise<Erasure | Refusal> {
  const result = await executor.submit<Erasure>({
    ...command,
    who: 'operator',
    why: 'erase',
    actor,
    decide: ({ member, now, terms }) => {
      const answer = (after: User) => ({ serviceId: after.serviceId, erasedAt: after.erasedAt ?? now })
      const user = member?.user
      if (user && isRefused?.(user, now, terms())) return refuse('user_not_found')
      if (user?.status === 'erased') return { answer }
      if (!isKnown(user)) return refuse('user_not_found')
      return { change: eraseAccount(user, now, terms()), answer }
    },
  })
  return isRefusal(result) ? result : result.reply
}

/** The facts that prove an erasure; they name nobody. */
type ErasureCertificate = {
  readonly partnerid: string
  readonly serviceid: string
  readonly status: 'erased'
  readonly erasedat: string
  readonly retained: readonly Omit<Retained, 'records'>[]
}

/** The certificate of an erasure, with the records that must be kept for a time. */
export async function certificateOf(
  db: Executor,
  { partnerId, serviceId, erasedAt }: Erasure & { readonly partnerId: string },
): Promise<ErasureCertificate> {
  const retained = await listRetained(db, partnerId, serviceId)
  const erasedat = formatTimestamp(erasedAt)
  return { partnerid: partnerId, serviceid: serviceId, status: 'erased', erasedat, retained }
}

/** A certificate in words, one line per element, first for the person who was erased and then for whoever keeps it. */
export function wordsOfCertificate(
  { partnerid, serviceid, erasedat, retained }: ErasureCertificate,
  { partner, madeAt }: { readonly partner: Pick<Partner, 'name' | 'timezone'>; readonly madeAt: Instant },
): readonly string[] {
  const day = (timestamp: string) => dateAt(Date.parse(timestamp), partner.timezone)
  return [
    'Certificate of erasure',
    '',
    `Your personal data at ${partner.name} was erased on ${day(erasedat)}.`,
    '',
    'What is gone: your name, birth date, address and contact details; your benefits and what you chose; what you agreed',
    'to and whom you named; every link and session of yours. The key that made this data readable was destroyed, so nobody',
    'can read it again. Copies in backups end when the backups are deleted.',
    ...(retained.length === 0
      ? ['Nothing of it is kept.']
      : retained.map(
          one => `What the law requires is kept, sealed, until ${day(one.keptuntil)}: ${RETAINED[one.kind]}.`,
        )),
    'What stays: the days on which something was changed, without your name.',
    '',
    `For reference: partner ${partnerid}, service id ${serviceid}, erased ${erasedat}, made ${formatTimestamp(madeAt)}.`,
  ]
}

const RETAINED: Readonly<Record<Retained['kind'], string>> = {
  consents: 'the texts that you agreed to, and when',
  confirmations: 'the confirmations that you got',
  coverage: 'which benefits covered you, and when',
  beneficiaries: 'whom you named to receive a benefit',
}
