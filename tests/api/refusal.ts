import { type BenefitEnrolmentError, isBenefitEnrolmentError } from '../../client/src/index.ts'

/** The refusal with which a call of the client ends. Throws when the call succeeds, or fails in another way. */
export async function refusalOf(call: Promise<unknown>): Promise<BenefitEnrolmentError> {
  const [outcome] = await Promise.allSettled([call])
  if (outcome.status === 'fulfilled') throw new Error('the call was not refused')
  if (!isBenefitEnrolmentError(outcome.reason)) throw outcome.reason
  return outcome.reason
}

/** The fields that a refusal names. */
export function fieldsOf(refusal: BenefitEnrolmentError): string[] {
  return refusal.errors.map(({ field }) => field)
}

/** The results of calls: 200, or the code of each refusal. */
export async function outcomesOf(calls: readonly Promise<unknown>[]): Promise<(200 | string)[]> {
  const outcomes = await Promise.allSettled(calls)
  return outcomes.map(outcome => {
    if (outcome.status === 'fulfilled') return 200
    if (isBenefitEnrolmentError(outcome.reason)) return outcome.reason.code
    throw outcome.reason
  })
}
