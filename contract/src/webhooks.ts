import { type Static, Type } from 'typebox'
import { type EventName, eventNames } from './event-names.ts'
import { OptionalTimestamp, Timestamp } from './fields.ts'
import { keyErrors, operation, partnerErrors } from './operation.ts'

// An id that no endpoint can have is answered like an unknown one.
const Webhookid = Type.String({
  minLength: 1,
  maxLength: 64,
  'x-rule': 'must be the id of an endpoint',
  description: 'The id of an endpoint, from `POST /webhooks` or `GET /webhooks`',
})
const params = Type.Object({ webhookid: Webhookid }, { additionalProperties: false })

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
export const NewWebhook = Type.Object(
  {
    url: Url,
    username: Username,
    password: Password,
    events: Type.Optional(WantedEvents),
    ordering: Type.Optional(Ordering),
  },
  { additionalProperties: false, title: 'NewWebhook' },
)
/** The shape of {@link NewWebhook}. */
export type NewWebhook = Static<typeof NewWebhook>

/** An endpoint and its health (contract §10). */
export const Webhook = Type.Object(
  {
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
    disabledreason: Type.Union([Type.Enum(['operator', 'gone', 'failing']), Type.Null()], {
      description: '`gone`: it answered 410; `failing`: 72 h without a success',
    }),
    disabledattimestamp: OptionalTimestamp,
    failingsincetimestamp: Type.Union([Timestamp, Type.Null()], {
      description: 'When the first attempt after the last success failed',
    }),
    disablesattimestamp: Type.Union([Timestamp, Type.Null()], {
      description: 'When it will be disabled unless an attempt succeeds before',
    }),
    breaker: Type.Enum(['closed', 'open', 'probing'], {
      description: '`open`: nothing is sent until `nextprobeattimestamp`; `probing`: one attempt decides',
    }),
    nextprobeattimestamp: OptionalTimestamp,
    pauseduntiltimestamp: Type.Union([Timestamp, Type.Null()], {
      description: 'Until when nothing is sent, because its Retry-After asked for it',
    }),
    credentialsrejected: Type.Boolean({ description: 'The last attempts were answered 401 or 403' }),
    nextusername: Type.Union([Type.String(), Type.Null()], {
      description: 'User name of the credentials that will replace the present ones; they are sent first',
    }),
    acceptedcredentials: Type.Union([Type.Enum(['current', 'next']), Type.Null()], {
      description: 'Which pair of credentials the last success had; null before the first',
    }),
    oldsecretuntiltimestamp: Type.Union([Timestamp, Type.Null()], {
      description: 'Until when the previous secret also signs',
    }),
    waiting: Type.Integer({ description: 'Deliveries that wait; 10000 means 10,000 or more' }),
    dead: Type.Integer({ description: 'Deliveries that were given up; 10000 means 10,000 or more' }),
    createdat: Timestamp,
    updatedat: Timestamp,
  },
  { additionalProperties: false, title: 'Webhook' },
)
/** The shape of {@link Webhook}. */
export type Webhook = Static<typeof Webhook>

/** An endpoint with its secret, if a new one was made; the secret is shown only this once. */
export const WebhookWithSecret = Type.Object(
  {
    ...Webhook.properties,
    webhooksecret: Type.Optional(Type.String({ description: '`whsec_` and base64' })),
  },
  { additionalProperties: false, title: 'WebhookWithSecret' },
)
/** The shape of {@link WebhookWithSecret}. */
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

const exampleWebhook: Webhook = {
  webhookid: '019aa1b2-0c4e-7d3a-9b1f-2c5d7e8f9a0b',
  url: 'https://partner.example.com/hooks/benefits',
  username: 'benefits',
  events: ['offer_activiation_successful'],
  ordering: 'none',
  status: 'enabled',
  disabledreason: null,
  disabledattimestamp: null,
  failingsincetimestamp: null,
  disablesattimestamp: null,
  breaker: 'closed',
  nextprobeattimestamp: null,
  pauseduntiltimestamp: null,
  credentialsrejected: false,
  nextusername: null,
  acceptedcredentials: null,
  oldsecretuntiltimestamp: null,
  waiting: 0,
  dead: 0,
  createdat: '2026-11-20T15:04:05.123Z',
  updatedat: '2026-11-20T15:04:05.123Z',
}
const exampleSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw3bA7o0Zb2Xk='
const shared = { caller: 'partner', tag: 'Webhooks', section: 'contract §10' } as const

/** Lists the partner's endpoints (contract §10). */
export const listWebhooks = operation({
  ...shared,
  id: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  scope: 'webhooks:write',
  idempotency: 'ignored',
  summary: 'List your endpoints and their state',
  reply: Type.Object({ webhooks: Type.Array(Webhook) }, { additionalProperties: false, title: 'Webhooks' }),
  errors: [...partnerErrors],
  example: { reply: { webhooks: [exampleWebhook] } },
})

/** Makes an endpoint; its secret is shown once (contract §10). */
export const createWebhook = operation({
  ...shared,
  id: 'createWebhook',
  method: 'POST',
  path: '/webhooks',
  scope: 'webhooks:write',
  idempotency: 'keyed',
  summary: 'Add an endpoint; it gets events from now on',
  description:
    'Without `events` it gets only `offer_activiation_successful`. The signing secret is in this answer and nowhere ' +
    'else; a repeat of the request under the same key gives the same answer without it.',
  body: NewWebhook,
  reply: WebhookWithSecret,
  errors: [...partnerErrors, ...keyErrors],
  example: {
    body: {
      url: exampleWebhook.url,
      username: exampleWebhook.username,
      password: 'correct horse battery staple',
      events: ['offer_activiation_successful'],
    },
    reply: { ...exampleWebhook, webhooksecret: exampleSecret },
  },
})

/** Shows one endpoint (contract §10). */
export const getWebhook = operation({
  ...shared,
  id: 'getWebhook',
  method: 'GET',
  path: '/webhooks/{webhookid}',
  scope: 'webhooks:write',
  idempotency: 'ignored',
  summary: 'Show an endpoint and its state',
  params,
  reply: Webhook,
  errors: [...partnerErrors, 'webhook_not_found'],
  example: { reply: exampleWebhook },
})

/** Changes an endpoint (contract §10). */
export const updateWebhook = operation({
  ...shared,
  id: 'updateWebhook',
  method: 'PATCH',
  path: '/webhooks/{webhookid}',
  scope: 'webhooks:write',
  idempotency: 'keyed',
  summary: 'Change an endpoint: address, events, order, credentials, secret',
  description:
    'Absent fields do not change. New credentials are sent first from then on; when your endpoint answers 401, the ' +
    'present ones follow at once, until 24 h after the new ones were first accepted. `rotatesecret` makes a new ' +
    'secret, which is in this answer and nowhere else; both sign for 24 h.',
  params,
  body: Type.Object(
    {
      url: Type.Optional(Url),
      events: Type.Optional(WantedEvents),
      ordering: Type.Optional(Ordering),
      username: Type.Optional(Username),
      password: Type.Optional(Password),
      rotatesecret: Type.Optional(Type.Boolean({ 'x-rule': 'must be true or false' })),
    },
    { additionalProperties: false, title: 'UpdateWebhook' },
  ),
  reply: WebhookWithSecret,
  errors: [...partnerErrors, ...keyErrors, 'webhook_not_found'],
  example: {
    body: { rotatesecret: true },
    reply: {
      ...exampleWebhook,
      oldsecretuntiltimestamp: '2026-11-21T15:04:05.123Z',
      webhooksecret: exampleSecret,
    },
  },
})

/** Deletes an endpoint (contract §10). */
export const deleteWebhook = operation({
  ...shared,
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/webhooks/{webhookid}',
  scope: 'webhooks:write',
  idempotency: 'keyed',
  summary: 'Delete an endpoint and all that waits for it',
  params,
  reply: Type.Object(
    { webhookid: Type.String(), status: Type.Literal('deleted') },
    { additionalProperties: false, title: 'DeletedWebhook' },
  ),
  errors: [...partnerErrors, ...keyErrors, 'webhook_not_found'],
  example: { reply: { webhookid: exampleWebhook.webhookid, status: 'deleted' } },
})

/** Sends a `webhook_test` to one endpoint (contract §10). */
export const testWebhook = operation({
  ...shared,
  id: 'testWebhook',
  method: 'POST',
  path: '/webhooks/{webhookid}/test',
  scope: 'webhooks:write',
  idempotency: 'keyed',
  summary: 'Send a webhook_test to an endpoint, whatever its filter',
  description: 'The event is delivered like any other; `GET /events/{eventid}/attempts` shows the result.',
  params,
  reply: Type.Object({ eventid: Type.String() }, { additionalProperties: false, title: 'TestedWebhook' }),
  errors: [...partnerErrors, ...keyErrors, 'webhook_not_found'],
  example: { reply: { eventid: '019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00' } },
})

/** Enables an endpoint (contract §10). */
export const enableWebhook = operation({
  ...shared,
  id: 'enableWebhook',
  method: 'POST',
  path: '/webhooks/{webhookid}/enable',
  scope: 'webhooks:write',
  idempotency: 'keyed',
  summary: 'Enable an endpoint; what it missed is sent, oldest first',
  description:
    'Whatever disabled it: a 410, 72 hours of failures, or the operator. Attempts begin at once, even if its ' +
    'Retry-After asked for a longer pause.',
  params,
  reply: Webhook,
  errors: [...partnerErrors, ...keyErrors, 'webhook_not_found'],
  example: { reply: exampleWebhook },
})

/** The answer of a replay (contract §10). */
export const Replayed = Type.Object(
  {
    count: Type.Integer({ description: 'How many deliveries were queued, or would be' }),
    dryrun: Type.Boolean(),
    complete: Type.Boolean({
      description:
        'False when there are more than one request takes: send a range again with `from` set to `continuefrom`, a status as it is',
    }),
    continuefrom: OptionalTimestamp,
  },
  { additionalProperties: false, title: 'Replayed' },
)
/** The shape of {@link Replayed}. */
export type Replayed = Static<typeof Replayed>

const timestampRule = 'must be a timestamp YYYY-MM-DDTHH:mm:ss.sssZ'
const Moment = Type.String({ format: 'timestamp', 'x-rule': timestampRule })

/** Sends past events to an endpoint again (contract §10). */
export const replayWebhook = operation({
  ...shared,
  id: 'replayWebhook',
  method: 'POST',
  path: '/webhooks/{webhookid}/replay',
  scope: 'webhooks:write',
  idempotency: 'keyed',
  summary: 'Send past events to an endpoint again: a range, a status, or a list',
  description:
    'One of: `from` and `to` (events raised between these instants that the endpoint asks for), `status` (`dead`: all ' +
    'that was given up there; `waiting`: all that waits, at once), or `ids` (at most 1,000 events, whatever the endpoint ' +
    'asks for; ids that are not yours are skipped and not counted). Key and bytes are the same as the first time. At most 10,000 ' +
    'a request: `complete` tells. With `dryrun` nothing is sent.',
  params,
  body: Type.Object(
    {
      from: Type.Optional(Moment),
      to: Type.Optional(Moment),
      status: Type.Optional(Type.Enum(['dead', 'waiting', ''], { 'x-rule': 'must be dead or waiting' })),
      ids: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64, 'x-rule': 'must be the id of an event' }), {
          minItems: 1,
          maxItems: 1000,
          'x-rule': 'must be a list of 1 to 1,000 event ids',
        }),
      ),
      dryrun: Type.Optional(Type.Boolean({ 'x-rule': 'must be true or false' })),
    },
    { additionalProperties: false, title: 'ReplayWebhook' },
  ),
  reply: Replayed,
  errors: [...partnerErrors, ...keyErrors, 'webhook_not_found'],
  example: {
    body: { status: 'dead' },
    reply: { count: 17, dryrun: false, complete: true, continuefrom: null },
  },
})
