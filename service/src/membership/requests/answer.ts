/** Turns refusals into errors of the API, for all handlers of users. */
import type { Locale } from '@benefit-enrolment/contract'
import { ServiceError } from '../../http/service-error.ts'
import type { CommandResult } from '../command.ts'
import { isRefusal, type Refusal, type RefusalReason } from '../rules/refusal.ts'

/** The problem for a refusal, with its reasons in the caller's language. */
export function problemOfRefusal(
  refusal: Refusal,
  locale: Locale,
  headers: Readonly<Record<string, string>> = {},
): ServiceError {
  return new ServiceError(refusal.refused, undefined, {
    headers,
    errors: reasonsIn(refusal.reasons, locale),
  })
}

/** Reasons of a refusal in the caller's language. */
export function reasonsIn(reasons: readonly RefusalReason[], locale: Locale) {
  return reasons.map(({ field, code, text }) => ({ field, code, message: text[locale] }))
}

/** What a rule decided; throws the problem of a refusal. */
export function accepted<T>(
  decided: T | Refusal,
  { locale }: { readonly locale: Locale },
): Exclude<T, Refusal> {
  if (typeof decided === 'object' && decided !== null && isRefusal(decided))
    throw problemOfRefusal(decided, locale)
  return decided as Exclude<T, Refusal>
}

/** Tells a client whose first answer was lost that its request succeeded. */
const succeeded = { 'Idempotency-Replayed': 'true', 'Idempotency-Original-Status': '200' }

/** The reply of a command, marked as a replay if it is one; throws the problem of a refusal. */
export function replyOf<Reply>(
  result: CommandResult<Reply>,
  request: { readonly locale: Locale; readonly setHeader: (name: string, value: string) => void },
): Reply {
  if (isRefusal(result)) throw problemOfRefusal(result, request.locale, result.replayed ? succeeded : {})
  const { reply, replayed } = result
  if (replayed) request.setHeader('Idempotency-Replayed', 'true')
  return reply
}
