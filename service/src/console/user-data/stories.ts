import type { EventName } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { User } from '../../membership/rules/state.ts'
import type { Partner } from '../../partners/partner.ts'
import { openAnswer } from '../../webhooks/log/sealed-answer.ts'
import { answerInWords } from '../views/answer.ts'

/** An event with its results at each endpoint. */
export type EventStory = EventRow & { readonly endpoints: readonly EndpointStory[] }

type EventRow = {
  event_id: string
  service_id: string
  eventname: EventName
  /** `null`: it is about none. */
  benefit: string | null
}

/** The results of an event at one endpoint. */
export type EndpointStory = {
  readonly endpointId: string
  readonly host: string
  readonly state: 'delivered' | 'waiting' | 'given up' | 'failed'
  readonly dueAt: Instant | undefined
  readonly attempts: readonly AttemptStory[]
}

/** One attempt to deliver an event. */
export type AttemptStory = {
  readonly at: Instant
  /** For example `HTTP 422` or `no answer in time`. */
  readonly result: string
  readonly isGood: boolean
  readonly ms: number
  readonly answer: string | undefined
}

type AttemptRow = {
  attempt_id: string
  endpoint_id: string
  event_id: string
  started_at: Instant
  status: number | null
  error_class: string | null
  total_ms: number
  sealed_answer: Buffer | null
}
type EndpointRow = {
  endpoint_id: string
  event_id: string
  /** `null`: the endpoint was deleted. */
  url: string | null
  /** `null`: nothing waits for it, and nothing was given up. */
  state: 'waiting' | 'given up' | null
  due_at: Instant | null
}

/** The events of these ids, with their attempts and waiting deliveries; events that are no longer kept are left out. */
export async function readStories(
  db: Executor,
  partner: Partner,
  { user, ids }: { user: Pick<User, 'serviceId'>; ids: readonly string[] },
): Promise<ReadonlyMap<string, EventStory>> {
  if (ids.length === 0) return new Map()
  const { partnerId } = partner
  const [events, attempts, endpoints, keys] = await Promise.all([
    db.query<EventRow>(sql`
      select event_id, service_id, eventname, data ->> 'name' as benefit from events
      where partner_id = ${partnerId} and event_id = any(${ids}::uuid[])`),
    db.query<AttemptRow>(sql`
      select attempt_id, endpoint_id, event_id, started_at, status, error_class, total_ms, sealed_answer
      from delivery_attempts where partner_id = ${partnerId} and event_id = any(${ids}::uuid[])
      order by started_at, attempt_id limit 2000`),
    db.query<EndpointRow>(sql`
      select reached.endpoint_id, reached.event_id, w.url, reached.state, reached.due_at
      from (
        select endpoint_id, event_id, max(state) as state, max(due_at) as due_at
        from (
          select endpoint_id, event_id, null as state, null::timestamptz as due_at from delivery_attempts
          where partner_id = ${partnerId} and event_id = any(${ids}::uuid[])
          union all
          select endpoint_id, event_id, 'waiting', due_at from deliveries
          where partner_id = ${partnerId} and event_id = any(${ids}::uuid[])
          union all
          select endpoint_id, event_id, 'given up', null from dead_deliveries
          where partner_id = ${partnerId} and event_id = any(${ids}::uuid[])) found
        group by endpoint_id, event_id) reached
      left join webhook_endpoints w on w.partner_id = ${partnerId} and w.endpoint_id = reached.endpoint_id
      order by reached.endpoint_id`),
    db.query<{ wrapped_key: Buffer }>(sql`
      select wrapped_key from data_keys where partner_id = ${partnerId} and service_id = ${user.serviceId}`),
  ])
  const wrappedKey = keys[0]?.wrapped_key ?? null
  const attemptOf = (row: AttemptRow): AttemptStory => ({
    at: row.started_at,
    result: answerInWords(row.status, row.error_class),
    isGood: row.status !== null && row.status >= 200 && row.status < 300,
    ms: row.total_ms,
    answer:
      (row.sealed_answer &&
        openAnswer(partner, row.sealed_answer, {
          serviceId: user.serviceId,
          attemptId: row.attempt_id,
          wrappedKey,
        })) ??
      undefined,
  })
  const endpointOf = ({ endpoint_id, event_id, url, state, due_at }: EndpointRow): EndpointStory => {
    const own = attempts
      .filter(row => row.event_id === event_id && row.endpoint_id === endpoint_id)
      .map(attemptOf)
    return {
      endpointId: endpoint_id,
      host: url === null ? 'a deleted endpoint' : new URL(url).host,
      attempts: own,
      state: state ?? (own.some(one => one.isGood) ? 'delivered' : 'failed'),
      dueAt: due_at ?? undefined,
    }
  }
  const storyOf = (event: EventRow): EventStory => ({
    ...event,
    endpoints: endpoints.filter(row => row.event_id === event.event_id).map(endpointOf),
  })
  return new Map(events.map(event => [event.event_id, storyOf(event)]))
}
