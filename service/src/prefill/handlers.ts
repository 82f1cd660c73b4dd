import type { prefillUser } from '@benefit-enrolment/contract'
import { type Instant, prefillExpiresAt } from '../calendar/calendar.ts'
import type { Handler } from '../http/mount.ts'
import { ServiceError } from '../http/service-error.ts'
import { idempotencyKeyOf } from '../idempotency/key-reservation.ts'
import type { Change } from '../membership/command.ts'
import { type AccountCommands, accepted } from '../membership/requests/account-command.ts'
import { refuseBirthDate } from '../membership/requests/given.ts'
import { type Person, personSent } from '../membership/rules/person.ts'
import { raise, type User } from '../membership/rules/state.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Clock } from '../partners/partner.ts'

/** Stores prefill data (interface §4.1, contract §4 and §5). */
export function prefillHandlers({ commands, clock }: { commands: AccountCommands; clock: Clock }) {
  const prefill: Handler<typeof prefillUser, Caller> = async request => {
    const { partner } = request.caller
    const { body } = request
    const version = versionOf(request.headers['version'])
    if (version === 'v2' && idempotencyKeyOf(request.headers) === undefined)
      throw new ServiceError('idempotency_key_missing')
    accepted(refuseBirthDate(body.dob, { now: clock.now(partner), zone: partner.timezone }), request)
    const person = personSent(body)
    // With v1 the key is ignored, so a malformed one is no error either.
    const mode = version === 'v2' ? 'prefill' : 'ignored'
    const command = { userid: body.userid, why: 'prefill', mode, startsAnew: true } as const
    return commands.run(request, command, ({ orNew, now }) => ({
      answer: () => 'prefill saved' as const,
      change: replaceEntry(orNew(), person, now),
    }))
  }
  return { prefillUser: prefill }
}

function versionOf(header: string | string[] | undefined): 'v1' | 'v2' {
  if (header === undefined || header === 'v1') return 'v1'
  if (header === 'v2') return 'v2'
  throw new ServiceError('unsupported_version')
}

/**
 * The change of a prefill: it replaces the entry whole. For a registered user it is only a suggestion, and changes no
 * confirmed data.
 */
function replaceEntry(user: User, person: Person, now: Instant): Change {
  const stored: User = {
    ...user,
    status: user.status === 'none' ? 'prefilled' : user.status,
    updatedAt: now,
    prefillCount: user.prefillCount + 1,
    prefillWrittenAt: now,
    entryExpiresAt: prefillExpiresAt(now),
  }
  return {
    user: stored,
    events: [raise(stored, 'enrollment_request_received', now)],
    documents: { prefill: person },
  }
}
