import type { prefillUser } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import { prefillExpiresAt } from '../calendar/calendar.ts'
import type { Handler } from '../http/mount.ts'
import { ServiceError } from '../http/service-error.ts'
import { claimOf, idempotencyKeyOf } from '../idempotency/claim-of.ts'
import { problemOfRefusal } from '../membership/answer.ts'
import type { Change } from '../membership/command.ts'
import { raise } from '../membership/events.ts'
import type { Ledger } from '../membership/ledger.ts'
import { checkBirthDate, personOf } from '../membership/person.ts'
import { isRefusal } from '../membership/refusal.ts'
import type { User } from '../membership/state.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Clock } from '../partners/partner.ts'

const saved = 'prefill saved' as const

/** Stores prefill data (interface §4.1, contract §4 and §5). */
export const prefillHandlers = (context: { ledger: Ledger; clock: Clock }) => {
  const prefill: Handler<typeof prefillUser, Caller> = async request => {
    const { partner } = request.caller
    const version = versionOf(request.headers['version'])
    // Under v1 the key is ignored, so that a malformed one is no fault either.
    const key = version === 'v2' ? idempotencyKeyOf(request.headers) : undefined
    if (version === 'v2' && key === undefined) throw new ServiceError('idempotency_key_missing')
    checkBirthDate(request.body.dob, context.clock.now(partner), partner.timezone)
    const claim = key === undefined ? undefined : claimOf(key, request, { partner, mode: 'prefill' })
    const person = personOf(request.body)
    const outcome = await context.ledger.submit({
      partner,
      userid: request.body.userid,
      who: 'partner',
      why: 'prefill',
      claim,
      decide: situation => ({
        answer: () => saved,
        change: storePrefill(situation.orNew(), person, situation.now),
      }),
    })
    if (!isRefusal(outcome)) return saved
    throw problemOfRefusal(outcome, request.locale, outcome.replayed ? replayed : {})
  }
  return { prefillUser: prefill }
}

/** Tells a client whose first answer was lost that it worked. */
const replayed = { 'Idempotency-Replayed': 'true', 'Idempotency-Original-Status': '200' }

const versionOf = (header: string | string[] | undefined): 'v1' | 'v2' => {
  if (header === undefined || header === 'v1') return 'v1'
  if (header === 'v2') return 'v2'
  throw new ServiceError('unsupported_version')
}

/** The entry replaced whole; of a registered user it is a suggestion, and changes nothing that was confirmed. */
const storePrefill = (user: User, person: ReturnType<typeof personOf>, now: Instant): Change => {
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
