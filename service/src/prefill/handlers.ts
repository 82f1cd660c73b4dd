import type { prefillUser } from '@benefit-enrolment/contract'
import type { Handler } from '../http/mount.ts'
import { ServiceError } from '../http/service-error.ts'
import { traceparentOf } from '../http/trace-context.ts'
import { idempotencyKeyOf, reservationOf } from '../idempotency/key-reservation.ts'
import type { CommandExecutor } from '../membership/commands/executor.ts'
import { accepted, problemOfRefusal } from '../membership/requests/answer.ts'
import { refuseBirthDate } from '../membership/requests/birth-date.ts'
import { personOf } from '../membership/rules/person.ts'
import { isRefusal } from '../membership/rules/refusal.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Clock } from '../partners/partner.ts'
import { replaceEntry } from './replace-entry.ts'

const saved = 'prefill saved' as const

/** Stores prefill data (interface §4.1, contract §4 and §5). */
export function prefillHandlers(context: { executor: CommandExecutor; clock: Clock }) {
  const prefill: Handler<typeof prefillUser, Caller> = async request => {
    const { partner } = request.caller
    const version = versionOf(request.headers['version'])
    // With v1 the key is ignored, so a malformed one is no error either.
    const key = version === 'v2' ? idempotencyKeyOf(request.headers) : undefined
    if (version === 'v2' && key === undefined) throw new ServiceError('idempotency_key_missing')
    const now = context.clock.now(partner)
    accepted(refuseBirthDate(request.body.dob, { now, zone: partner.timezone }), request)
    const reservation =
      key === undefined ? undefined : reservationOf(key, request, { partner, mode: 'prefill' })
    const person = personOf(request.body)
    const result = await context.executor.submit({
      partner,
      userid: request.body.userid,
      who: 'partner',
      why: 'prefill',
      actor: request.caller.credentialId,
      requestId: request.requestId,
      traceparent: traceparentOf(request.headers),
      reservation,
      startsAnew: true,
      decide: commandContext => ({
        answer: () => saved,
        change: replaceEntry(commandContext.orNew(), person, commandContext.now),
      }),
    })
    if (!isRefusal(result)) return saved
    throw problemOfRefusal(result, request.locale, result.replayed ? replayed : {})
  }
  return { prefillUser: prefill }
}

/** Tells a client whose first answer was lost that its request succeeded. */
const replayed = { 'Idempotency-Replayed': 'true', 'Idempotency-Original-Status': '200' }

function versionOf(header: string | string[] | undefined): 'v1' | 'v2' {
  if (header === undefined || header === 'v1') return 'v1'
  if (header === 'v2') return 'v2'
  throw new ServiceError('unsupported_version')
}
