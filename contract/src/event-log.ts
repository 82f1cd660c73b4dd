import { eventNames } from './event-names.ts'
import { exampleEvent } from './events.ts'
import { OptionalTimestamp, optionalText, Timestamp, Userid } from './fields.ts'
import { keyErrors, operation, partnerErrors } from './operation.ts'
import { described, orNull, parameters, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'
import { CurrentOfferDetails } from './user.ts'
import { Replayed } from './webhooks.ts'

const Eventid = Type.String({
  minLength: 1,
  maxLength: 64,
  'x-rule': 'must be the id of an event',
  description: 'The id of an event, from `GET /events` or the `Idempotency-Key` of a delivery',
})
const params = parameters({ eventid: Eventid })

/** One event of the log (contract §10). */
export const LoggedEvent = shape('LoggedEvent', {
  eventid: Type.String(),
  eventname: Type.String(),
  userid: Type.String(),
  createdat: Timestamp,
  data: Type.Object(
    {
      name: Type.Optional(Type.String({ description: 'The single benefit that the event is about' })),
      dependantid: Type.Optional(
        Type.String({
          description: 'For what an insurer answered: the dependant whom it is about, if it is not the user',
        }),
      ),
      reason: Type.Optional(
        Type.String({
          description:
            'For `benefit_declined`: `expired` when what the benefit waited for did not arrive in time. For a notice about an endpoint: `endpoint`, `credentials` or `event`, by which its breaker opened; `operator`, `gone` or `failing`, by which it was disabled; `delivered`',
        }),
      ),
      webhookid: Type.Optional(
        Type.String({ description: 'For a notice about an endpoint: which one it is about' }),
      ),
      since: Type.Optional(
        Type.String({
          format: 'date-time',
          description: 'For a notice about an endpoint: since when it has failed or was disabled',
        }),
      ),
    },
    { description: 'Facts for which the delivery itself has no field' },
  ),
  body: shape(
    'EventBody',
    {
      userid: Type.String(),
      eventname: Type.String(),
      currentofferdetails: CurrentOfferDetails,
    },
    { description: 'The body of every delivery of this event' },
  ),
})
/** The shape of {@link LoggedEvent}. */
export type LoggedEvent = Static<typeof LoggedEvent>

const exampleLogged = {
  eventid: '019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00',
  eventname: exampleEvent.eventname,
  userid: exampleEvent.userid,
  createdat: '2026-11-20T15:04:05.123Z',
  data: {},
  body: exampleEvent,
}
const shared = {
  caller: 'partner',
  scope: 'events:read',
  idempotency: 'ignored',
  tag: 'Events',
  section: 'contract §10',
  method: 'GET',
} as const

/** Reads the event log (contract §10). */
export const listEvents = operation({
  ...shared,
  id: 'listEvents',
  path: '/events',
  summary: 'Read the event log, oldest first, 100 a page',
  description:
    'To continue, send `next` as `after`. If you store it, you never miss an event and never get one twice. You are at ' +
    'the end when `events` is empty and `next` is the `after` that you sent; continue from there later. An event is kept ' +
    'for 30 days, and longer while it waits for an endpoint.',
  query: parameters({
    after: optionalText(200, {
      'x-rule': 'must be the `next` of an earlier answer',
      description: 'A cursor',
    }),
    userid: Type.Optional(Userid),
    eventname: Type.Optional(
      Type.Enum(eventNames, {
        title: 'EventName',
        'x-rule': 'must be the name of an event',
        description: 'Every event of the service; `offer_activiation_successful` is spelled so for ever',
      }),
    ),
  }),
  reply: shape('EventPage', {
    events: described(Type.Array(LoggedEvent), 'Oldest first'),
    next: string('The cursor to continue with: send it as `after`'),
  }),
  errors: [...partnerErrors],
  example: {
    reply: { events: [exampleLogged], next: 'NzQyLjAxOWFhMWIyLTBkMTEtN2MwMC04YTNlLTViNmM3ZDhlOWYwMA' },
  },
})

/** Shows one event (contract §10). */
export const getEvent = operation({
  ...shared,
  id: 'getEvent',
  path: '/events/{eventid}',
  summary: 'Show an event, and the deliveries of it that have not succeeded',
  params,
  reply: shape('EventDetails', {
    ...LoggedEvent.properties,
    deliveries: Type.Array(
      shape('OpenDelivery', {
        webhookid: Type.String(),
        status: described(Type.Enum(['waiting', 'dead']), '`waiting`, or `dead`: given up'),
        attempts: Type.Integer({ description: 'How many attempts were made' }),
        dueattimestamp: described(OptionalTimestamp, 'When it is attempted next, or null'),
      }),
      { description: 'Deliveries that wait or were given up; for the others see the attempts' },
    ),
  }),
  errors: [...partnerErrors, 'event_not_found'],
  example: { reply: { ...exampleLogged, deliveries: [] } },
})

/** Lists the attempts to deliver one event (contract §10). */
export const listAttempts = operation({
  ...shared,
  id: 'listAttempts',
  path: '/events/{eventid}/attempts',
  summary: 'List the attempts to deliver an event, oldest first; kept for 30 days',
  params,
  reply: shape('Attempts', {
    attempts: described(
      Type.Array(
        shape('Attempt', {
          webhookid: Type.String(),
          attempt: described(Type.Integer(), 'Which attempt of this delivery it was, from 1'),
          startedat: Timestamp,
          status: described(orNull(Type.Integer()), 'The HTTP status of your answer, or null without one'),
          error: orNull(Type.String(), {
            description: 'What failed when there was no status, else null',
          }),
          credentials: described(
            Type.Enum(['current', 'next']),
            'Which of your credentials were sent, of whichever kind: those in use, or the new ones',
          ),
          address: orNull(Type.String(), {
            description: 'The IP address that was used',
          }),
          dnsms: described(orNull(Type.Integer()), 'Milliseconds until the name was resolved, or null'),
          connectms: described(
            orNull(Type.Integer()),
            'Milliseconds for the connection, or null where an open one was used',
          ),
          tlsms: described(orNull(Type.Integer()), 'Milliseconds for TLS, or null'),
          firstbytems: described(
            orNull(Type.Integer()),
            'Milliseconds until the first byte of your answer, or null',
          ),
          totalms: described(Type.Integer(), 'Milliseconds in all'),
          answer: orNull(Type.String(), {
            description:
              'The first 1 KiB of an answer other than 2xx, until the user is erased; what cannot be printed is escaped',
          }),
        }),
      ),
      'Oldest first',
    ),
  }),
  errors: [...partnerErrors, 'event_not_found'],
  example: {
    reply: {
      attempts: [
        {
          webhookid: '019aa1b2-0c4e-7d3a-9b1f-2c5d7e8f9a0b',
          attempt: 1,
          startedat: '2026-11-20T15:04:05.128Z',
          status: 200,
          error: null,
          credentials: 'current',
          address: '203.0.113.7',
          dnsms: 4,
          connectms: 11,
          tlsms: 25,
          firstbytems: 62,
          totalms: 63,
          answer: null,
        },
      ],
    },
  },
})

/** Sends one event again (contract §10). */
export const replayEvent = operation({
  ...shared,
  id: 'replayEvent',
  method: 'POST',
  path: '/events/{eventid}/replay',
  scope: 'webhooks:write',
  idempotency: 'keyed',
  summary:
    'Send an event again to every endpoint that asks for it; key and bytes are the same as the first time',
  params,
  reply: Replayed,
  errors: [...partnerErrors, ...keyErrors, 'event_not_found'],
  example: { reply: { count: 1, dryrun: false, complete: true, continuefrom: null } },
})
