import type { Operation, OperationId } from '@benefit-enrolment/contract'
import { ServiceError } from '../service-error.ts'
import { type Rank, type ShedReason, TIME_REFUSAL_HELD_MS } from './admission.ts'

const neverShed: ReadonlySet<string> = new Set<OperationId>(['getHealth', 'getReadiness'])
const ranks: Readonly<Record<string, Rank>> = {
  issueToken: 'urgent',
  revokeToken: 'urgent',
  cancelUser: 'urgent',
  eraseUser: 'urgent',
  prefillUser: 'prefill',
} satisfies Partial<Record<OperationId, Rank>>

/**
 * In which order operations are refused for load; `undefined` for one that is never refused. The page has no operation
 * id: "".
 */
export function rankOf(operationId: string): Rank | undefined {
  return neverShed.has(operationId) ? undefined : (ranks[operationId] ?? 'ordinary')
}

/**
 * Whether requests of an operation wait for their turn when many are under way. Urgent ones do not, nor those whose path
 * has a parameter, which only the router can tell apart.
 */
export function takesTurns(operation: Operation): boolean {
  const rank = rankOf(operation.id)
  return rank !== undefined && rank !== 'urgent' && !operation.path.includes('{')
}

const shareRefusal =
  'You have more requests in flight than your share while others wait: send fewer at once, and try again after the time in Retry-After.'
const timeRefusal =
  'Your requests take more than your share of the time of this service while others wait: send fewer or smaller ones, and try again after the time in Retry-After.'

/** The error of a refusal, by its reason. */
export const refusals: Readonly<Record<ShedReason, ServiceError>> = {
  full: new ServiceError('unavailable'),
  delay: new ServiceError('unavailable'),
  share: new ServiceError('unavailable', shareRefusal),
  time: new ServiceError('unavailable', timeRefusal),
}

/** The refusal with the seconds that its caller must wait, for Retry-After. */
export function refusalAfter(reason: ShedReason, seconds: number): ServiceError {
  const { code, message } = refusals[reason]
  return new ServiceError(code, message, { headers: { 'Retry-After': String(seconds) } })
}

/** Sends a refusal. A refusal for time is delayed, and with it the connection on which its request came. */
export function sendRefusal(reason: ShedReason, send: () => void): void {
  if (reason === 'time') setTimeout(send, TIME_REFUSAL_HELD_MS)
  else send()
}
