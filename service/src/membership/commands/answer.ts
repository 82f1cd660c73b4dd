import type { Locale } from '@benefit-enrolment/contract'
import { ServiceError } from '../../http/service-error.ts'
import { isRefusal, type Refusal } from '../rules/refusal.ts'
import type { CommandResult } from './command.ts'

/** The problem for a refusal, with its reasons in the caller's language. */
export function problemOfRefusal(
  refusal: Refusal,
  locale: Locale,
  headers: Readonly<Record<string, string>> = {},
): ServiceError {
  return new ServiceError(refusal.refused, undefined, {
    headers,
    errors: refusal.reasons.map(reason => ({
      field: reason.field,
      code: reason.code,
      message: reason.text[locale],
    })),
  })
}

/** The reply of a command, marked as a replay if it is one; throws the problem of a refusal. */
export function replyOf<Reply>(
  outcome: CommandResult<Reply>,
  request: { readonly locale: Locale; readonly setHeader: (name: string, value: string) => void },
): Reply {
  if (isRefusal(outcome)) throw problemOfRefusal(outcome, request.locale)
  if (outcome.replayed) request.setHeader('Idempotency-Replayed', 'true')
  return outcome.reply
}
