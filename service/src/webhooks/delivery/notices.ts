import { describeCause } from '../../log.ts'
import { noticeFor } from '../endpoint/health.ts'
import type { PartContext } from './context.ts'
import type { OwnedEndpoint } from './endpoint-queues.ts'

/** Tells the partner's other endpoints about one that has failed for long, or works again after that was told. */
export function tellOthers(
  { endpoints, writer, real, log }: Pick<PartContext, 'endpoints' | 'writer' | 'real' | 'log'>,
  owned: OwnedEndpoint,
  isDelivered: boolean,
): void {
  const at = real()
  const notice = noticeFor(owned.health, { wasReported: owned.isReported, isDelivered, now: at })
  if (!notice) return
  owned.isReported = notice.eventname === 'webhook_failing'
  void writer.write({ kind: 'notice', lease: owned.lease, notice, at }).then(
    () => readOfPartner(endpoints, owned.partnerId),
    error => log('webhook_result_refused', describeCause(error)),
  )
}

/** Reads what is due at the endpoints of one partner, as a notice may be due there now. */
export function readOfPartner(endpoints: PartContext['endpoints'], partnerId: string): void {
  for (const owned of endpoints.all()) if (owned.partnerId === partnerId) endpoints.requestRead(owned)
}
