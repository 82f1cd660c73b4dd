import type { ErrorCode } from '@benefit-enrolment/contract'
import type { Reason } from '../catalogue/eligibility.ts'

/** A reason of a refusal, as the problem's `errors` carry it; `text` where the catalogue has words for it. */
export type RefusalReason = {
  readonly field: string
  readonly code: string
  readonly text: { readonly en: string; readonly es: string }
}

/** A command that a rule refuses: a value, never an exception. */
export type Refusal = { readonly refused: ErrorCode; readonly reasons: readonly RefusalReason[] }

/** A refusal with a code of the contract's table. */
export const refuse = (refused: ErrorCode, reasons: readonly RefusalReason[] = []): Refusal => ({
  refused,
  reasons,
})

/** A reason in plain words that are the same in all languages' problem documents. */
export const because = (field: string, code: string, message: string): RefusalReason => ({
  field,
  code,
  text: { en: message, es: message },
})

/** Why nothing can be planned for a boundary at which a cancel takes effect. */
export const cancelPending = (field: string): RefusalReason => ({
  field,
  code: 'cancel_pending',
  text: {
    en: 'A cancel takes effect then; reinstate the user first.',
    es: 'Entonces entra en vigor una cancelación; primero hay que restablecer al usuario.',
  },
})

/** Whether a command was refused. */
export const isRefusal = (result: object): result is Refusal => 'refused' in result

/** The reasons of a verdict, as a problem carries them. */
export const reasonsFor = (field: string, reasons: readonly Reason[]): RefusalReason[] =>
  reasons.map(reason => ({ field, code: reason.code, text: reason.text }))
