import type { Instant } from '../../calendar/calendar.ts'
import type { Log } from '../../log.ts'
import type { HealthAction } from '../endpoint/health.ts'
import type { OwnedEndpoint } from './endpoint-queues.ts'
import type { EndpointChange } from './result.ts'

/** What is written about an endpoint: its health, and that it is disabled if this is the action. */
export function changeOf(owned: OwnedEndpoint, action: HealthAction, at: Instant): EndpointChange {
  const { lease, health, endpoint } = owned
  const change = { lease, health }
  if (action.kind !== 'disable') return change
  const since = health.failingSince ?? at
  return { ...change, disable: { version: endpoint.version, reason: action.because, at, since } }
}

/** Logs that an endpoint has failed for long, or was disabled. */
export function logHealthAction(log: Log, owned: OwnedEndpoint, action: HealthAction): void {
  const about = { partnerid: owned.partnerId, webhookid: owned.endpointId }
  if (action.kind === 'notice') {
    log('webhook.failing', {
      ...about,
      failingsince: new Date(action.failingSince).toISOString(),
      disablesat: new Date(action.disablesAt).toISOString(),
    })
  } else if (action.kind === 'disable') log('webhook.disabled', { ...about, reason: action.because })
}
