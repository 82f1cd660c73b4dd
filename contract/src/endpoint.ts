import { type Static, Type } from 'typebox'
import { type EventName, eventNames } from './event-names.ts'
import { OptionalTimestamp, Timestamp } from './fields.ts'
import { orNull, shape } from './shape.ts'

const eventsRule = 'must be "all" by itself, or a list of different event names; GET /docs lists them'
const WantedEvents = Type.Unsafe<EventName[] | 'all' | ''>({
  anyOf: [
    {
      type: 'array',
      items: { type: 'string', enum: eventNames, 'x-rule': 'must be the name of an event' },
      minItems: 1,
      uniqueItems: true,
      'x-rule': eventsRule,
    },
    { type: 'string', enum: ['all', ''], 'x-rule': eventsRule },
  ],
  'x-rule': eventsRule,
  description: 'The events that it gets; `all` includes names that are added later',
})
const Ordering = Type.Enum(['none', 'user', ''], {
  'x-rule': 'must be none or user',
  description: '`user`: the events of one user arrive in their order; a change applies to later events',
})
const Url = Type.String({
  maxLength: 4096,
  'x-rule': 'must be an https address',
  description: 'A public https address of at most 2,048 characters, without user info and fragment',
})
const Username = Type.String({
  maxLength: 1024,
  'x-rule': 'must be 1 to 255 characters without a colon and control characters',
  description: 'User name of the Basic credentials that we send',
})
const Password = Type.String({
  maxLength: 1024,
  'x-rule': 'must be 1 to 255 characters without control characters',
  description: 'Password of the Basic credentials that we send; never shown',
})

/** The request of a new endpoint (contract §10). */
export const NewWebhook = shape('NewWebhook', {
  url: Url,
  username: Username,
  password: Password,
  events: Type.Optional(WantedEvents),
  ordering: Type.Optional(Ordering),
})
/** The shape of {@link NewWebhook}. */
export type NewWebhook = Static<typeof NewWebhook>

/** The changes of an endpoint; absent fields do not change (contract §10). */
export const UpdateWebhook = shape('UpdateWebhook', {
  url: Type.Optional(Url),
  events: Type.Optional(WantedEvents),
  ordering: Type.Optional(Ordering),
  username: Type.Optional(Username),
  password: Type.Optional(Password),
  rotatesecret: Type.Optional(Type.Boolean({ 'x-rule': 'must be true or false' })),
})

/** An endpoint and its health (contract §10). */
export const Webhook = shape('Webhook', {
  webhookid: Type.String(),
  url: Type.String(),
  username: Type.String(),
  events: Type.Unsafe<string[] | 'all'>({
    anyOf: [
      { type: 'array', items: { type: 'string' } },
      { type: 'string', const: 'all' },
    ],
  }),
  ordering: Type.Enum(['none', 'user']),
  status: Type.Enum(['enabled', 'disabled']),
  disabledreason: orNull(Type.Enum(['operator', 'gone', 'failing']), {
    description: '`gone`: it answered 410; `failing`: 72 h without a success',
  }),
  disabledattimestamp: OptionalTimestamp,
  failingsincetimestamp: orNull(Timestamp, {
    description: 'When the first attempt after the last success failed',
  }),
  disablesattimestamp: orNull(Timestamp, {
    description: 'When it will be disabled unless an attempt succeeds before',
  }),
  breaker: Type.Enum(['closed', 'open', 'probing'], {
    description: '`open`: nothing is sent until `nextprobeattimestamp`; `probing`: one attempt decides',
  }),
  nextprobeattimestamp: OptionalTimestamp,
  pauseduntiltimestamp: orNull(Timestamp, {
    description: 'Until when nothing is sent, because its Retry-After asked for it',
  }),
  credentialsrejected: Type.Boolean({ description: 'The last attempts were answered 401 or 403' }),
  nextusername: orNull(Type.String(), {
    description: 'User name of the credentials that will replace the present ones; they are sent first',
  }),
  acceptedcredentials: orNull(Type.Enum(['current', 'next']), {
    description: 'Which pair of credentials the last success had; null before the first',
  }),
  oldsecretuntiltimestamp: orNull(Timestamp, {
    description: 'Until when the previous secret also signs',
  }),
  waiting: Type.Integer({ description: 'Deliveries that wait; 10000 means 10,000 or more' }),
  dead: Type.Integer({ description: 'Deliveries that were given up; 10000 means 10,000 or more' }),
  createdat: Timestamp,
  updatedat: Timestamp,
})
/** The shape of {@link Webhook}. */
export type Webhook = Static<typeof Webhook>

/** An endpoint with its secret, if a new one was made; the secret is shown only this once. */
export const WebhookWithSecret = shape('WebhookWithSecret', {
  ...Webhook.properties,
  webhooksecret: Type.Optional(Type.String({ description: '`whsec_` and base64' })),
})
/** The shape of {@link WebhookWithSecret}. */
export type WebhookWithSecret = Static<typeof WebhookWithSecret>
