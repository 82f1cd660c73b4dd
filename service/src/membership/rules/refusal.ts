import type { ErrorCode } from '@benefit-enrolment/contract'
import type { Reason } from '../../catalogue/eligibility.ts'

/** One reason of a refusal, as the problem's `errors` carry it; `text` when the catalogue has a text for it. */
export type RefusalReason = {
  readonly field: string
  readonly code: string
  readonly text: { readonly en: string; readonly es: string }
  /** The dependant whom it is about. */
  readonly dependantid?: string
}

/** A rule's refusal of a command: it is returned as a value, never thrown. */
export type Refusal = { readonly refused: ErrorCode; readonly reasons: readonly RefusalReason[] }

/** A refusal with an error code of the contract. */
export function refuse(refused: ErrorCode, reasons: readonly RefusalReason[] = []): Refusal {
  return {
    refused,
    reasons,
  }
}

/** A reason in plain words, the same in every language. */
export function because(field: string, code: string, message: string): RefusalReason {
  return {
    field,
    code,
    text: { en: message, es: message },
  }
}

/** A refusal that names one field and its rule. */
export function refuseField(
  field: string,
  code: string,
  rule: string,
  refused: ErrorCode = 'bad_request',
): Refusal {
  return refuse(refused, [because(field, code, `${field} ${rule}`)])
}

/** The refusal of an offer that the partner may not give. */
export const unknownOffer: Refusal = refuseField(
  'offername',
  'offername_unknown',
  'must be the name of one of your offers',
  'offername_unknown',
)

/** Whether a command was refused. */
export function isRefusal(result: object): result is Refusal {
  return 'refused' in result
}

/** The reasons of a verdict, in the form in which a problem carries them. */
export function reasonsFor(field: string, reasons: readonly Reason[]): RefusalReason[] {
  return reasons.map(reason => ({ field, code: reason.code, text: reason.text }))
}
