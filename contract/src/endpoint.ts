import { eventNames } from './event-names.ts'
import { OptionalTimestamp, Timestamp } from './fields.ts'
import { gatewayFields, kinds, REFUSED_WITH } from './gateway-fields.ts'
import { ABSENT, described, orNull, refusedWith, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'

const WantedEvents = Type.Array(
  Type.Enum([...eventNames, 'all'], {
    title: 'WantedEvent',
    'x-rule': 'must be the name of an event, or all',
  }),
  {
    title: 'WantedEvents',
    minItems: 1,
    uniqueItems: true,
    'x-rule': 'must be a list of different event names, or ["all"]; GET /docs lists them',
    description: 'The events that it gets; `all`, always by itself, includes names that are added later',
  },
)
const Ordering = Type.Enum(['none', 'user', ''], {
  'x-rule': 'must be none or user',
  description: '`user`: the events of one user arrive in their order; a change applies to later events',
})
const Url = Type.String({
  maxLength: 2048,
  'x-rule': 'must be an https address of at most 2,048 characters',
  description: 'A public https address of at most 2,048 characters, without user info and fragment',
})
/** The request of a new endpoint (contract §10). */
export const NewWebhook = shape(
  'NewWebhook',
  {
    url: Url,
    events: Type.Optional(WantedEvents),
    ordering: Type.Optional(Ordering),
    ...gatewayFields,
  },
  {
    dependentRequired: {
      username: ['password'],
      password: ['username'],
      token: ['authorization'],
      tokenurl: ['authorization', 'clientid', 'clientsecret'],
      clientid: ['authorization', 'tokenurl', 'clientsecret'],
      clientsecret: ['authorization', 'tokenurl', 'clientid'],
      scope: ['authorization', 'tokenurl', 'clientid', 'clientsecret'],
      clientcertificate: ['clientkey'],
      clientkey: ['clientcertificate'],
    },
    ...refusedWith({
      ...REFUSED_WITH,
      url: [{ username: ABSENT, token: ABSENT, tokenurl: ABSENT }],
    }),
  },
)
/** The shape of {@link NewWebhook}. */
export type NewWebhook = Static<typeof NewWebhook>

/** The changes of an endpoint; absent fields do not change (contract §10). */
export const UpdateWebhook = shape(
  'UpdateWebhook',
  {
    url: Type.Optional(Url),
    events: Type.Optional(WantedEvents),
    ordering: Type.Optional(Ordering),
    ...gatewayFields,
    rotatesecret: Type.Optional(Type.Boolean({ 'x-rule': 'must be true or false' })),
  },
  {
    // A secret that was given before is never sent to an address that is new.
    dependentRequired: {
      username: ['password'],
      tokenurl: ['clientsecret'],
      clientid: ['clientsecret'],
      scope: ['clientsecret'],
      clientkey: ['clientcertificate'],
    },
    ...refusedWith({
      ...REFUSED_WITH,
      authorization: [{ password: ABSENT, token: ABSENT, clientsecret: ABSENT }],
    }),
  },
)

/** An endpoint and its health (contract §10). */
export const WebhookEndpoint = shape('WebhookEndpoint', {
  webhookid: Type.String(),
  url: string('Where deliveries are sent'),
  authorization: Type.Enum(kinds, { description: 'How deliveries are authorized' }),
  username: string(
    'The user name of the Basic credentials, `""` where there are none; the password is never shown',
  ),
  tokenurl: orNull(Type.String(), { description: 'The token endpoint of `oauth2`' }),
  clientid: orNull(Type.String(), { description: 'Our client id at the token endpoint' }),
  scope: orNull(Type.String(), { description: 'The scopes that we ask for there' }),
  headers: Type.Array(Type.String(), {
    description: 'The names of your own headers; their values are never shown',
  }),
  clientcertificateendsattimestamp: orNull(Timestamp, {
    description: 'When the client certificate expires; null: none is set',
  }),
  ratelimit: Type.Number({ description: 'The most deliveries a second; 0: no limit' }),
  events: Type.Array(Type.String(), { description: 'The names of the events that it gets, or `["all"]`' }),
  ordering: described(
    Type.Enum(['none', 'user']),
    '`user`: the events of one user are sent one after the other, in their order',
  ),
  status: described(Type.Enum(['enabled', 'disabled']), 'Whether anything is sent there'),
  disabledreason: orNull(Type.Enum(['operator', 'gone', 'failing']), {
    description: '`gone`: it answered 410; `failing`: 72 h without a success',
  }),
  disabledattimestamp: described(OptionalTimestamp, 'Since when it is disabled, or null'),
  failingsincetimestamp: orNull(Timestamp, {
    description: 'When the first attempt after the last success failed',
  }),
  disablesattimestamp: orNull(Timestamp, {
    description: 'When it will be disabled unless an attempt succeeds before',
  }),
  breaker: Type.Enum(['closed', 'open', 'probing'], {
    description: '`open`: nothing is sent until `nextprobeattimestamp`; `probing`: one attempt decides',
  }),
  nextprobeattimestamp: described(OptionalTimestamp, 'When an endpoint that fails is tried again, or null'),
  pauseduntiltimestamp: orNull(Timestamp, {
    description: 'Until when nothing is sent, because its Retry-After asked for it',
  }),
  credentialsrejected: Type.Boolean({ description: 'The last attempts were answered 401 or 403' }),
  nextauthorization: orNull(Type.Enum(kinds), {
    description: 'The kind of the credentials that will replace the present ones',
  }),
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
/** The shape of {@link WebhookEndpoint}. */
export type WebhookEndpoint = Static<typeof WebhookEndpoint>

/** An endpoint with its secret, if a new one was made; the secret is shown only this once. */
export const WebhookWithSecret = shape('WebhookWithSecret', {
  ...WebhookEndpoint.properties,
  webhooksecret: Type.Optional(Type.String({ description: '`whsec_` and base64' })),
})
/** The shape of {@link WebhookWithSecret}. */
export type WebhookWithSecret = Static<typeof WebhookWithSecret>
