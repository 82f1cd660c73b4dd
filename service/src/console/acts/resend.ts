import { html } from '../../http/html.ts'
import { isUuid } from '../../vault/uuid.ts'
import { endpointsFor, queueAgain } from '../../webhooks/log/replay.ts'
import { recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  notHere,
  type OperatorVisit,
  onChange,
  onGet,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { readStories } from '../user-data/stories.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import { actionForm, section } from '../views/parts.ts'
import { lookAtUser, ofWhom, requiredUser } from './screens.ts'

/** Sends one event again, with the same key and bytes. */
export const resendScreens: readonly Screen[] = [
  onGet('/users/:serviceid/resend/:eventid', 'support', choose),
  onChange('/users/:serviceid/resend/:eventid', 'support', resend),
]

async function choose(visit: OperatorVisit): Promise<Answer> {
  const details = await lookAtUser(visit)
  const { eventId, eventname, endpoints } = await find(visit, details)
  return {
    title: 'Send an event again',
    body: html`${ofWhom(details)}
<p><code>${eventname}</code></p>
${
  endpoints.length === 0
    ? html`<p class="notice">No endpoint of the partner asks for this event.</p>`
    : section(
        `To ${endpoints.length} ${endpoints.length === 1 ? 'endpoint' : 'endpoints'}`,
        html`<p class="hint">Key and bytes are those of the first time, so that the receiver knows a repeat.</p>
${actionForm(visit, {
  action: `/users/${details.serviceId}/resend/${eventId}`,
  button: 'Send it again',
  color: 'primary',
  why: 'why-resend',
})}`,
      )
}`,
  }
}

async function resend(visit: OperatorVisit): Promise<Answer> {
  const details = await requiredUser(visit)
  const reason = reasonOf(visit)
  const { eventId, endpoints } = await find(visit, details)
  const { partner, serviceId } = details
  const { partnerId } = partner
  const rows = endpoints.map(endpointId => ({ partnerId, endpointId, eventId }))
  await visit.context.database.transaction(async tx => {
    await queueAgain(tx, rows, visit.context.real())
    await tx.query(recordAlongside(visit, { action: 'resend event', partner, serviceId, reason }))
  })
  return { to: `/users/${serviceId}#event-${eventId}` }
}

async function find(
  visit: OperatorVisit,
  { partner, user }: UserDetails,
): Promise<{ eventId: string; eventname: string; endpoints: readonly string[] }> {
  const { database } = visit.context
  const eventId = visit.params['eventid'] ?? ''
  const stories = isUuid(eventId) ? await readStories(database, partner, { user, ids: [eventId] }) : undefined
  const story = stories?.get(eventId)
  if (!story || story.service_id !== user.serviceId) throw notHere('event')
  const rows = await endpointsFor(database, partner.partnerId, eventId)
  return { eventId, eventname: story.eventname, endpoints: rows.map(row => row.endpoint_id) }
}
