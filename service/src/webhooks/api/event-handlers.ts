import type { OperationId } from '@benefit-enrolment/contract'
import { noteRead, type Trail } from '../../audit/trail.ts'
import type { Executor } from '../../db/database.ts'
import type { Handlers } from '../../http/mount.ts'
import { badField, ServiceError } from '../../http/service-error.ts'
import { runKeyed } from '../../idempotency/keyed.ts'
import type { Caller } from '../../partners/authenticate.ts'
import type { Partner } from '../../partners/partner.ts'
import { isUuid, NIL_UUID } from '../../vault/uuid.ts'
import { findAttempts } from '../log/attempts.ts'
import { readCursor, writeCursor } from '../log/cursor.ts'
import { findOpenDeliveries } from '../log/deliveries.ts'
import { findEvent, readLog } from '../log/event-log.ts'
import { endpointsFor, queueAgain } from '../log/replay.ts'
import type { WebhookContext } from './handlers.ts'
import { eventOf, optional, partnerAttemptOf, replayedOf } from './view.ts'

type EventOperation = Extract<OperationId, 'listEvents' | 'getEvent' | 'listAttempts' | 'replayEvent'>

type EventContext = WebhookContext & {
  /** Applies what is due for a partner, so that the log has its events, too. */
  readonly catchUp: (partner: Partner) => Promise<void>
  /** Records who was shown what an endpoint answered, since an answer may repeat a user's data. */
  readonly trail: Pick<Trail, 'note'>
}

/** The operations by which a partner reads and replays its event log (contract §10). */
export function eventHandlers(context: EventContext): Handlers<Caller, EventOperation> {
  const { database, real, trail } = context
  return {
    async listEvents({ caller, query }) {
      const after = query.after === undefined ? undefined : readCursor(query.after)
      if (query.after !== undefined && !after)
        throw badField('after', 'format', 'must be the `next` of an earlier answer')
      // A late job is never visible (contract §2). Elsewhere due changes are applied in memory; an event needs its place in the log.
      await context.catchUp(caller.partner)
      const { events, next } = await readLog(database, {
        partnerId: caller.partner.partnerId,
        after,
        userid: query.userid,
        eventname: query.eventname,
        now: real(),
      })
      return { events: events.map(eventOf), next: writeCursor(next) }
    },
    async getEvent({ caller, params }) {
      const { partnerId } = caller.partner
      const event = await find(database, partnerId, params)
      const deliveries = await findOpenDeliveries(database, partnerId, event.event_id)
      return {
        ...eventOf(event),
        deliveries: deliveries.map(({ endpoint_id, status, attempts, due_at }) => ({
          webhookid: endpoint_id,
          status,
          attempts,
          dueattimestamp: optional(due_at),
        })),
      }
    },
    async listAttempts(request) {
      const { partner } = request.caller
      const event = await find(database, partner.partnerId, request.params)
      const rows = await findAttempts(database, partner, event.event_id)
      const serviceId = event.service_id === NIL_UUID ? undefined : event.service_id
      if (rows.some(({ answer }) => answer !== null)) noteRead(trail, 'listAttempts', request, serviceId)
      return { attempts: rows.map(partnerAttemptOf) }
    },
    async replayEvent(request) {
      const { partnerId } = request.caller.partner
      const effect = async (tx: Executor) => {
        const { event_id: eventId } = await find(tx, partnerId, request.params)
        const endpoints = await endpointsFor(tx, partnerId, eventId)
        const rows = endpoints.map(({ endpoint_id }) => ({ partnerId, endpointId: endpoint_id, eventId }))
        const count = await queueAgain(tx, rows, real())
        return replayedOf({ count, isComplete: true, continueFrom: null }, false)
      }
      const reply = await runKeyed({ request, effect }, context)
      context.onChange()
      return reply
    },
  }
}

async function find(db: Executor, partnerId: string, params: { eventid: string }) {
  const event = isUuid(params.eventid) ? await findEvent(db, partnerId, params.eventid) : undefined
  if (!event) throw new ServiceError('event_not_found')
  return event
}
