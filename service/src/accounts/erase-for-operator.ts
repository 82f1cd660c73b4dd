import { formatTimestamp, type Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import type { Command } from '../membership/command.ts'
import type { CommandExecutor } from '../membership/commands/executor.ts'
import { listRetained, type Retained } from '../membership/records/retained-rows.ts'
import { isRefusal, type Refusal, refuse } from '../membership/rules/refusal.ts'
import { isKnown, type User } from '../membership/rules/state.ts'
import type { Terms } from '../membership/rules/terms.ts'
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

/** A certificate in words, one line per element. */
export function wordsOfCertificate(certificate: ErasureCertificate, madeAt: Instant): readonly string[] {
  const { partnerid, serviceid, erasedat, retained } = certificate
  return [
    `Certificate of erasure, made ${formatTimestamp(madeAt)}`,
    `partner    ${partnerid}`,
    `serviceid  ${serviceid}`,
    `erased     ${erasedat}`,
    '',
    'Destroyed: the data key of this person, and with it prefill, profile and drafts; benefits held, consents,',
    'confirmations and beneficiaries; links and sessions; the userid, of which a keyed hash is left.',
    ...(retained.length === 0
      ? ['Nothing of it is kept for any term.']
      : retained.map(one => `Kept, sealed under a key of its own until ${one.keptuntil}: ${one.kind}.`)),
    'Within a day the wrapped key leaves the files of an embedded database;',
    'with your own PostgreSQL after the next `enrolment maintain` and checkpoint. Backups made before live on until you',
    'delete them (docs/privacy.md).',
  ]
}
