import { html } from '../../http/html.ts'
import { isUuid } from '../../vault/uuid.ts'
import { endpointsFor, queueAgain } from '../../webhooks/log/replay.ts'
import { recordAlongside } from '../screen/record.ts'
import { notHere, type OperatorVisit, type Screen } from '../screen/screen.ts'
import { type LivingUser, ofWhom, requiredUser } from '../user-data/living-user.ts'
import { readStories } from '../user-data/stories.ts'
import { counted } from '../views/parts.ts'
import { reasonedScreens } from './reasoned.ts'

type Resent = LivingUser & {
  readonly eventId: string
  readonly eventname: string
  readonly endpoints: readonly string[]
}

/** Sends one event again, with the same key and bytes. */
export const resendScreens: readonly Screen[] = reasonedScreens({
  path: '/users/:serviceid/resend/:eventid',
  right: 'support',
  kind: 'change',
  title: 'Send an event again',
  find,
  whom: ofWhom,
  asked: (_visit, { eventname, endpoints }) => ({
    heading: `To ${counted(endpoints.length, 'endpoint')}`,
    hint: html`<p><code>${eventname}</code></p><p class="hint">${
      endpoints.length === 0
        ? 'No endpoint of the partner asks for this event.'
        : 'Key and bytes are those of the first time, so that the receiver knows a repeat.'
    }</p>`,
    button: 'Send it again',
    isShut: endpoints.length === 0,
  }),
  async answer(visit, { partner, serviceId, eventId, endpoints }, reason) {
    const { partnerId } = partner
    const rows = endpoints.map(endpointId => ({ partnerId, endpointId, eventId }))
    await visit.context.database.transaction(async tx => {
      await queueAgain(tx, rows, visit.context.real())
      await tx.query(recordAlongside(visit, { action: 'resend event', partner, serviceId, reason }))
    })
    return { to: `/users/${serviceId}#event-${eventId}` }
  },
})

async function find(visit: OperatorVisit): Promise<Resent> {
  const of = await requiredUser(visit)
  const { partner, user } = of
  const { database } = visit.context
  const eventId = visit.params['eventid'] ?? ''
  const stories = isUuid(eventId) ? await readStories(database, partner, { user, ids: [eventId] }) : undefined
  const story = stories?.get(eventId)
  if (!story || story.service_id !== user.serviceId) throw notHere('event')
  const rows = await endpointsFor(database, partner.partnerId, eventId)
  return { ...of, eventId, eventname: story.eventname, endpoints: rows.map(row => row.endpoint_id) }
}
