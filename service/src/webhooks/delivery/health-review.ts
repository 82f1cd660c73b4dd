import { describeCause } from '../../log.ts'
import { type HealthAction, review } from '../endpoint/health.ts'
import type { PartContext } from './context.ts'
import { changeOf, logHealthAction } from './endpoint-change.ts'
import type { OwnedEndpoint } from './endpoint-queues.ts'
import { readOfPartner, tellOthers } from './notices.ts'

/**
 * Reports or disables an endpoint that has failed for long, because that time passes even while nothing is due there.
 * `mayHaveDue` is whether something may be due there now.
 */
export type HealthReview = (owned: OwnedEndpoint, mayHaveDue: boolean) => void

/** Opens the review, which a heartbeat makes; `request` asks for another one, as what was disabled is to be given up. */
export function openHealthReview(
  context: Pick<PartContext, 'endpoints' | 'writer' | 'real' | 'log' | 'wake'> & { request: () => void },
): HealthReview {
  const { endpoints, writer, real, log, wake, request } = context

  const carryOut = async (owned: OwnedEndpoint, action: HealthAction): Promise<void> => {
    const change = changeOf(owned, action, real())
    if (change.disable) endpoints.leave(owned)
    try {
      const { isOwned, isDisabled } = await writer.write({ kind: 'result', change })
      if (change.disable ? isDisabled : isOwned) logHealthAction(log, owned, action)
      if (isDisabled) readOfPartner(endpoints, owned.partnerId)
    } catch (error) {
      log('webhook_result_refused', describeCause(error))
    }
    if (change.disable) request()
    wake()
  }

  return (owned, mayHaveDue) => {
    tellOthers(context, owned, false)
    const { health, action } = review(owned.health, real())
    if (action.kind === 'none' || owned.phase === 'leaving') return
    // Do not disable an endpoint while deliveries are due there: the service may have been down, and the next attempts
    // show whether the endpoint works. While the endpoint itself has asked for a pause, there are no attempts, so it is
    // disabled when its time is over.
    const isPaused = (owned.health.pausedUntil ?? 0) > real()
    if (action.kind === 'disable' && mayHaveDue && !isPaused) return
    owned.health = { ...owned.health, ...health }
    // Not awaited: after an outage of many endpoints this takes long, and the leases must be renewed meanwhile.
    void carryOut(owned, action)
  }
}
