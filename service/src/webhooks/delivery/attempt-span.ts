import type { Tracing } from '../../tracing.ts'
import type { AttemptOutcome } from '../egress/outcome.ts'
import type { Item } from './endpoint-queues.ts'

/** The span of an attempt at a delivery, in the trace of the request that raised its event. */
export function spanOf({ body, attempts, traceparent }: Item) {
  const { eventname } = JSON.parse(body.toString('utf8')) as { eventname: string }
  return {
    name: `webhook ${eventname}`,
    kind: 'PRODUCER',
    attributes: { 'webhook.event': eventname, 'webhook.attempt': attempts + 1 },
    under: traceparent ?? undefined,
  } as const
}

/** Adds to it how the attempt has ended. */
export function noteOutcome(tracing: Tracing, { status, errorClass }: AttemptOutcome): void {
  const isTaken = status !== undefined && status >= 200 && status < 300
  const answer = status === undefined ? {} : { 'http.response.status_code': status }
  tracing.note(answer, isTaken ? undefined : (errorClass ?? `${status}`))
}
