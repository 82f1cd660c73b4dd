import { NewWebhook, UpdateWebhook, WebhookEndpoint, WebhookWithSecret } from './endpoint.ts'
import { OptionalTimestamp, SentTimestamp } from './fields.ts'
import { keyErrors, operation, partnerErrors } from './operation.ts'
import { ABSENT, described, parameters, refusedWith, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'

// An id that no endpoint can have is answered like an unknown one.
const Webhookid = Type.String({
  minLength: 1,
  maxLength: 64,
  'x-rule': 'must be the id of an endpoint',
  description: 'The id of an endpoint, from `POST /webhooks` or `GET /webhooks`',
})
const params = parameters({ webhookid: Webhookid })

const exampleWebhook: WebhookEndpoint = {
  webhookid: '019aa1b2-0c4e-7d3a-9b1f-2c5d7e8f9a0b',
  url: 'https://partner.example.com/hooks/benefits',
  authorization: 'basic',
  username: 'benefits',
  tokenurl: null,
  clientid: null,
  scope: null,
  headers: [],
  clientcertificateendsattimestamp: null,
  ratelimit: 0,
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
  nextauthorization: null,
  nextusername: null,
  acceptedcredentials: null,
  oldsecretuntiltimestamp: null,
  waiting: 0,
  dead: 0,
  createdat: '2026-11-20T15:04:05.123Z',
  updatedat: '2026-11-20T15:04:05.123Z',
}
const exampleSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw3bA7o0Zb2Xk='
const shared = {
  method: 'POST',
  caller: 'partner',
  scope: 'webhooks:write',
  idempotency: 'keyed',
  tag: 'Webhooks',
  section: 'contract §10',
  errors: [...partnerErrors, ...keyErrors, 'webhook_not_found'],
} as const

/** Lists the partner's endpoints (contract §10). */
export const listWebhooks = operation({
  ...shared,
  id: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  idempotency: 'ignored',
  summary: 'List your endpoints and their state',
  reply: shape('Webhooks', { webhooks: described(Type.Array(WebhookEndpoint), 'All your endpoints') }),
  errors: [...partnerErrors],
  example: { reply: { webhooks: [exampleWebhook] } },
})

/** Makes an endpoint; its secret is shown once (contract §10). */
export const createWebhook = operation({
  ...shared,
  id: 'createWebhook',
  path: '/webhooks',
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
  idempotency: 'ignored',
  summary: 'Show an endpoint and its state',
  params,
  reply: WebhookEndpoint,
  errors: [...partnerErrors, 'webhook_not_found'],
  example: { reply: exampleWebhook },
})

/** Changes an endpoint (contract §10). */
export const updateWebhook = operation({
  ...shared,
  id: 'updateWebhook',
  method: 'PATCH',
  path: '/webhooks/{webhookid}',
  summary: 'Change an endpoint: address, events, order, credentials, secret',
  description:
    'Absent fields do not change. New credentials, of whichever kind, are sent first from then on; when your endpoint ' +
    'answers 401, the present ones follow at once, until 24 h after the new ones were first accepted. `rotatesecret` makes a new ' +
    'secret, which is in this answer and nowhere else; both sign for 24 h.',
  params,
  body: UpdateWebhook,
  reply: WebhookWithSecret,
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
  summary: 'Delete an endpoint and all that waits for it',
  params,
  reply: shape('DeletedWebhook', {
    webhookid: Type.String(),
    status: described(Type.Literal('deleted'), 'Always `deleted`'),
  }),
  example: { reply: { webhookid: exampleWebhook.webhookid, status: 'deleted' } },
})

/** Sends a `webhook_test` to one endpoint (contract §10). */
export const testWebhook = operation({
  ...shared,
  id: 'testWebhook',
  path: '/webhooks/{webhookid}/test',
  summary: 'Send a webhook_test to an endpoint, whatever its filter',
  description: 'The event is delivered like any other; `GET /events/{eventid}/attempts` shows the result.',
  params,
  reply: shape('TestedWebhook', {
    eventid: string('The id of the event that is sent, to look up its attempts'),
  }),
  example: { reply: { eventid: '019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00' } },
})

/** Enables an endpoint (contract §10). */
export const enableWebhook = operation({
  ...shared,
  id: 'enableWebhook',
  path: '/webhooks/{webhookid}/enable',
  summary: 'Enable an endpoint; what it missed is sent, oldest first',
  description:
    'Whatever disabled it: a 410, 72 hours of failures, or the operator. Attempts begin at once, even if its ' +
    'Retry-After asked for a longer pause.',
  params,
  reply: WebhookEndpoint,
  example: { reply: exampleWebhook },
})

/** The answer of a replay (contract §10). */
export const Replayed = shape('Replayed', {
  count: Type.Integer({ description: 'How many deliveries were queued, or would be' }),
  dryrun: described(Type.Boolean(), 'Whether deliveries were only counted'),
  complete: Type.Boolean({
    description:
      'False when there are more than one request takes: send a range again with `from` set to `continuefrom`, a status as it is',
  }),
  continuefrom: described(
    OptionalTimestamp,
    'The `from` of the next request while `complete` is false; else null',
  ),
})
/** The shape of {@link Replayed}. */
export type Replayed = Static<typeof Replayed>

/** Sends past events to an endpoint again (contract §10). */
export const replayWebhook = operation({
  ...shared,
  id: 'replayWebhook',
  path: '/webhooks/{webhookid}/replay',
  summary: 'Send past events to an endpoint again: a range, a status, or a list',
  description:
    'One of: `from` and `to` (events raised between these instants that the endpoint asks for), `status` (`dead`: all ' +
    'that was given up there; `waiting`: all that waits, at once), or `ids` (at most 1,000 events, whatever the endpoint ' +
    'asks for; ids that are not yours are skipped and not counted). Key and bytes are the same as the first time. At most 10,000 ' +
    'a request: `complete` tells. With `dryrun` nothing is sent.',
  params,
  body: shape(
    'ReplayWebhook',
    {
      from: Type.Optional(SentTimestamp),
      to: Type.Optional(SentTimestamp),
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
    {
      dependentRequired: { from: ['to'], to: ['from'] },
      minProperties: 1,
      ...refusedWith({
        from: [{ status: {} }, { ids: {} }],
        status: [{ ids: {} }],
        dryrun: [{ from: ABSENT, status: ABSENT, ids: ABSENT }],
      }),
    },
  ),
  reply: Replayed,
  example: {
    body: { status: 'dead' },
    reply: { count: 17, dryrun: false, complete: true, continuefrom: null },
  },
})
