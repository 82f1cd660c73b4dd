import { optionalText } from './fields.ts'
import { Type } from './typebox.ts'

/** How deliveries are authorized (contract §10). */
export const kinds = ['basic', 'bearer', 'oauth2'] as const

/** Credentials, and what a gateway may want besides (contract §10). */
export const gatewayFields = {
  authorization: Type.Optional(
    Type.Enum([...kinds, ''], {
      'x-rule': 'must be basic, bearer or oauth2',
      description:
        '`basic` (default) with `username` and `password`; `bearer` with `token`; `oauth2` with `tokenurl`, `clientid`, `clientsecret` and perhaps `scope`: client credentials, whose token we fetch and keep until it expires',
    }),
  ),
  username: optionalText(255, {
    'x-rule': 'must be 1 to 255 characters without a colon and control characters',
    description: 'User name of the Basic credentials that we send',
  }),
  password: optionalText(255, {
    'x-rule': 'must be 1 to 255 characters without control characters',
    description: 'Password of the Basic credentials that we send; never shown',
  }),
  token: optionalText(4096, {
    'x-rule': 'must be 1 to 4,096 visible ASCII characters',
    description: 'The bearer token that we send; never shown',
  }),
  tokenurl: optionalText(2048, {
    'x-rule': 'must be an https address of at most 2,048 characters',
    description: 'The token endpoint, by the rules of `url`; we ask it as RFC 6749 §4.4 says, by HTTP Basic',
  }),
  clientid: optionalText(1024, {
    'x-rule': 'must be 1 to 1,024 ASCII characters',
    description: 'Our client id there',
  }),
  clientsecret: optionalText(1024, {
    'x-rule': 'must be 1 to 1,024 ASCII characters',
    description: 'Our client secret there; never shown',
  }),
  scope: optionalText(1024, {
    'x-rule': 'must be scopes separated by spaces',
    description: 'The scopes to ask for there',
  }),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      title: 'OwnHeaders',
      maxProperties: 10,
      'x-rule': 'must be an object of at most 10 texts by name',
      additionalProperties: {
        type: 'string',
        maxLength: 4096,
        'x-rule': 'must be text of at most 4,096 characters',
      },
      description:
        'At most 10 headers of your own, such as the key of a gateway: none that a delivery has itself, none of the connection, no `Host`. Values are never shown. They replace all that were set before',
    }),
  ),
  clientcertificate: optionalText(16384, {
    'x-rule': 'must be a certificate in PEM',
    description:
      'The certificate that we present where the endpoint asks for one (mTLS): PEM, its intermediates after it; with `clientkey`. `none`, alone, takes it away',
  }),
  clientkey: optionalText(16384, {
    'x-rule': 'must be a private key in PEM',
    description: 'The key of `clientcertificate`, without a passphrase; never shown',
  }),
  ratelimit: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1000,
      'x-rule': 'must be a number from 0 to 1,000',
      description:
        'The most deliveries a second, such as 5 or 0.5; more wait in the order in which they fall due. 0: no limit',
    }),
  ),
}

/** The fields of each kind of authorization: one of another kind is refused. */
const fieldsOfKind = {
  basic: ['username', 'password'],
  bearer: ['token'],
  oauth2: ['tokenurl', 'clientid', 'clientsecret', 'scope'],
} as const satisfies Record<(typeof kinds)[number], readonly (keyof typeof gatewayFields)[]>

/** What both requests are refused with: `all` beside other names, and credentials of another kind. */
export const REFUSED_WITH = {
  events: [{ events: { contains: { const: 'all' }, minItems: 2 } }],
  ...Object.fromEntries(
    Object.entries(fieldsOfKind).flatMap(([kind, fields]) => {
      const others = kinds.filter(other => other !== kind)
      return fields.map(field => [field, [{ authorization: { enum: others } }]])
    }),
  ),
}
