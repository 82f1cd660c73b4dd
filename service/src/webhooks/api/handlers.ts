/**
 * The operations on webhooks and events, between the wire and the folders beside this one. Refusals become errors of the
 * API here and nowhere below.
 */
import type {
  BodyOf,
  EventName,
  OperationId,
  Operations,
  WebhookEndpoint,
  WebhookWithSecret,
} from '@benefit-enrolment/contract'
import { type Instant, parseTimestamp } from '../../calendar/calendar.ts'
import type { Database, Executor } from '../../db/database.ts'
import type { Handlers } from '../../http/mount.ts'
import { badField, badFields, ServiceError } from '../../http/service-error.ts'
import { withoutEmpty } from '../../http/validation.ts'
import { runKeyed } from '../../idempotency/keyed.ts'
import type { Caller } from '../../partners/authenticate.ts'
import type { Partner } from '../../partners/partner.ts'
import { isUuid } from '../../vault/uuid.ts'
import type { AddressRules } from '../egress/address.ts'
import {
  addEndpoint,
  changeEndpoint,
  type EndpointChanges,
  type EndpointInput,
  type EndpointRefusal,
  enableEndpoint,
  getEndpoint,
  removeEndpoint,
} from '../endpoint/endpoints.ts'
import { listEndpoints } from '../endpoint/store.ts'
import { replayTo, type Selection } from '../log/replay.ts'
import { raiseTest } from './test-event.ts'
import { replayedOf, webhookOf } from './view.ts'

/** What the operations on webhooks need. */
export type WebhookContext = {
  readonly database: Database
  readonly rules: AddressRules
  /** Real time. */
  readonly real: () => Instant
  /** Called after a change that the dispatcher must act on. */
  readonly onChange: () => void
}

type WebhookOperation = Extract<OperationId, `${string}Webhook` | 'listWebhooks'>

/** The operations by which a partner manages its endpoints (contract §10). */
export function webhookHandlers(context: WebhookContext): Handlers<Caller, WebhookOperation> {
  const { database, real, rules } = context
  const view = async (db: Executor, partner: Partner, id: string): Promise<WebhookEndpoint> => {
    const row = await getEndpoint(db, partner.partnerId, id)
    if (!row) throw new ServiceError('webhook_not_found')
    return webhookOf(row, partner, real())
  }
  /** Runs a write with its idempotency key, and then wakes the dispatcher. */
  const write = async <Reply>(
    request: Parameters<typeof runKeyed<Reply>>[0]['request'],
    effect: (tx: Executor) => Promise<Reply>,
    stored?: (reply: Reply) => Reply,
  ): Promise<Reply> => {
    const reply = await runKeyed({ request, effect, ...(stored && { stored }) }, context)
    context.onChange()
    return reply
  }

  return {
    async listWebhooks({ caller: { partner } }) {
      const rows = await listEndpoints(database, partner.partnerId)
      return { webhooks: rows.map(row => webhookOf(row, partner, real())) }
    },
    getWebhook(request) {
      const { partner, endpointId } = targetOf(request)
      return view(database, partner, endpointId)
    },
    createWebhook(request) {
      const { partner } = request.caller
      const { events, ...given } = withoutEmpty(request.body)
      const input = {
        ...given,
        url: request.body.url,
        partner,
        events: events ? wantedOf(events) : (['offer_activiation_successful'] as const),
      }
      return write<WebhookWithSecret>(
        request,
        async tx => {
          const made = accepted(await addEndpoint(tx, input, { rules, real }))
          return { ...(await view(tx, partner, made.webhookid)), webhooksecret: made.webhooksecret }
        },
        withoutSecret,
      )
    },
    updateWebhook(request) {
      const { partner, endpointId } = targetOf(request)
      return write<WebhookWithSecret>(
        request,
        async tx => {
          const changes = changesOf(request.body)
          const changed = await changeEndpoint(tx, { partner, endpointId, changes }, { rules, real })
          if (!changed) throw new ServiceError('webhook_not_found')
          return { ...(await view(tx, partner, endpointId)), ...accepted(changed) }
        },
        withoutSecret,
      )
    },
    deleteWebhook(request) {
      const { partnerId, endpointId } = targetOf(request)
      return write(request, async tx => {
        if (!(await removeEndpoint(tx, { partnerId, endpointId }, real())))
          throw new ServiceError('webhook_not_found')
        return { webhookid: endpointId, status: 'deleted' as const }
      })
    },
    enableWebhook(request) {
      const { partner, partnerId, endpointId } = targetOf(request)
      return write(request, async tx => {
        await enableEndpoint(tx, { partnerId, endpointId }, real())
        return view(tx, partner, endpointId)
      })
    },
    testWebhook(request) {
      const { partner, partnerId, endpointId } = targetOf(request)
      return write(request, async tx => {
        await view(tx, partner, endpointId)
        return { eventid: await raiseTest(tx, { partnerId, endpointId, now: real() }) }
      })
    },
    async replayWebhook(request) {
      const { partner, partnerId, endpointId } = targetOf(request)
      const selection = selectionOf(request.body)
      const dryRun = request.body.dryrun ?? false
      const effect = async (tx: Executor) => {
        await view(tx, partner, endpointId)
        const done = await replayTo(tx, { partnerId, endpointId }, { selection, now: real(), dryRun })
        return replayedOf(done, dryRun)
      }
      // A dry run is a read, so it ignores the key.
      return dryRun ? database.transaction(effect) : write(request, effect)
    },
  }
}

/** The partner, and the endpoint that the request names; text that cannot be an id is answered like an unknown one. */
function targetOf({ caller, params }: { caller: Caller; params: { webhookid: string } }) {
  if (!isUuid(params.webhookid)) throw new ServiceError('webhook_not_found')
  const { partner } = caller
  return { partner, partnerId: partner.partnerId, endpointId: params.webhookid.toLowerCase() }
}

/** The result of adding or changing an endpoint; a refusal becomes a 400. */
function accepted<T extends object>(made: T | EndpointRefusal): T {
  if ('refused' in made) throw badFields(made.refused)
  return made
}

function withoutSecret({ webhooksecret: _, ...reply }: WebhookWithSecret): WebhookWithSecret {
  return reply
}

/** The changes in a request. */
function changesOf(body: BodyOf<Operations['updateWebhook']>): EndpointChanges {
  const {
    rotatesecret,
    events,
    url,
    ordering,
    headers,
    clientcertificate,
    clientkey,
    ratelimit,
    ...credentials
  } = withoutEmpty(body)
  return {
    headers,
    clientcertificate,
    clientkey,
    ratelimit,
    ordering,
    ...(url !== undefined && { url }),
    ...(events ? { events: wantedOf(events) } : {}),
    ...(rotatesecret ? { rotateSecret: true } : {}),
    ...(Object.keys(credentials).length > 0 && { credentials }),
  }
}

/** The events that a request names. Refuses `all` beside other names: nobody could tell which of the two was meant. */
function wantedOf(events: readonly (EventName | 'all')[]): EndpointInput['events'] {
  const names = events.filter(name => name !== 'all')
  if (names.length === events.length) return names
  if (names.length > 0) throw badField('events', 'choice', 'must have "all" by itself, or names without it')
  return 'all'
}

function selectionOf(body: {
  from?: string
  to?: string
  status?: 'dead' | 'waiting' | ''
  ids?: string[]
}): Selection {
  const { from, to, ids } = body
  const status = body.status || undefined
  const isRange = Boolean(from || to)
  if (Number(isRange) + Number(status !== undefined) + Number(ids !== undefined) !== 1)
    throw badField('body', 'choice', 'must have one of: from and to, status, ids')
  if (status !== undefined) return { kind: 'status', status }
  if (ids !== undefined) return { kind: 'ids', ids: [...new Set(ids.filter(isUuid))] }
  const start = parseTimestamp(from ?? '')
  const end = parseTimestamp(to ?? '')
  if (start === undefined) throw badField('from', 'required', 'is required together with to')
  if (end === undefined) throw badField('to', 'required', 'is required together with from')
  if (end <= start) throw badField('to', 'order', 'must be after from')
  return { kind: 'range', from: start, to: end }
}
