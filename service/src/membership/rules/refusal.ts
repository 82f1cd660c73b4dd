import type { ErrorCode } from '@benefit-enrolment/contract'
import type { Reason } from '../../catalogue/eligibility.ts'

/** A reason of a refusal, as the problem's `errors` carry it; `text` where the catalogue has words for it. */
export type RefusalReason = {
  readonly field: string
  readonly code: string
  readonly text: { readonly en: string; readonly es: string }
}

/** A command that a rule refuses: a value, never an exception. */
export type Refusal = { readonly refused: ErrorCode; readonly reasons: readonly RefusalReason[] }

/** A refusal with a code of the contract's table. */
export function refuse(refused: ErrorCode, reasons: readonly RefusalReason[] = []): Refusal {
  return {
    refused,
    reasons,
  }
}

/** A reason in plain words that are the same in all languages' problem documents. */
export function because(field: string, code: string, message: string): RefusalReason {
  return {
    field,
    code,
    text: { en: message, es: message },
  }
}

/** Whether a command was refused. */
export function isRefusal(result: object): result is Refusal {
  return 'refused' in result
}

/** The reasons of a verdict, as a problem carries them. */
export function reasonsFor(field: string, reasons: readonly Reason[]): RefusalReason[] {
  return reasons.map(reason => ({ field, code: reason.code, text: reason.text }))
}
