import { openErrors, operation } from './operation.ts'
import { described, shape, string } from './shape.ts'
import { Type } from './typebox.ts'

/** The answer of the token endpoint (RFC 6749 §5.1, contract §3). */
export const AccessToken = shape('AccessToken', {
  access_token: string('Send it as `Authorization: Bearer …`'),
  token_type: described(Type.Literal('Bearer'), 'Always `Bearer`'),
  expires_in: Type.Integer({ description: 'Seconds' }),
  scope: Type.String({ description: 'Space-separated' }),
})

const shared = {
  method: 'POST',
  caller: 'client',
  idempotency: 'ignored',
  tag: 'Authentication',
  section: 'contract §3',
  errors: [],
} as const

/** Issues an access token (contract §3). The body is form-encoded; all errors have the form of RFC 6749. */
export const issueToken = operation({
  ...shared,
  id: 'issueToken',
  path: '/oauth2/token',
  summary: 'Get an access token for client credentials (RFC 6749 §4.4)',
  description:
    'Every error has the form of RFC 6749 §5.2. Where that RFC has no code for it (405, 413, 429, 500, 503), `error` is ' +
    'the code that other operations answer with.',
  body: Type.Object(
    {
      grant_type: described(Type.Literal('client_credentials'), 'Always `client_credentials`'),
      scope: Type.Optional(
        string('The scopes to ask for, separated by spaces; absent: all that you were given'),
      ),
      client_id: Type.Optional(Type.String()),
      client_secret: Type.Optional(Type.String()),
    },
    { title: 'TokenRequest' },
  ),
  reply: AccessToken,
  example: {
    body: { grant_type: 'client_credentials', scope: 'prefill:write benefits:read' },
    reply: {
      access_token: 'enr_at_sandbox_…',
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'prefill:write benefits:read',
    },
  },
})

/** Revokes an access token (RFC 7009, contract §3); an unknown token is answered 200 as well. */
export const revokeToken = operation({
  ...shared,
  id: 'revokeToken',
  path: '/oauth2/revoke',
  summary: 'Revoke an access token (RFC 7009)',
  body: Type.Object(
    {
      token: string('The access token to end'),
      token_type_hint: Type.Optional(string('Ignored: there is only one kind')),
      client_id: Type.Optional(Type.String()),
      client_secret: Type.Optional(Type.String()),
    },
    { title: 'RevokeRequest' },
  ),
  reply: shape('Revoked', {}),
  example: { body: { token: 'enr_at_sandbox_…' }, reply: {} },
})

/** Authorization server metadata (RFC 8414, contract §3). */
export const getMetadata = operation({
  ...shared,
  id: 'getMetadata',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  caller: 'open',
  summary: 'Where and how tokens are issued (RFC 8414)',
  reply: shape('AuthorizationServerMetadata', {
    issuer: string('The base address of the service'),
    token_endpoint: string('Where access tokens are issued'),
    token_endpoint_auth_methods_supported: described(
      Type.Array(Type.String()),
      'How a client may send its secret there',
    ),
    revocation_endpoint: string('Where access tokens are ended'),
    revocation_endpoint_auth_methods_supported: described(
      Type.Array(Type.String()),
      'How a client may send its secret there',
    ),
    grant_types_supported: described(Type.Array(Type.String()), 'The grants that the token endpoint knows'),
    response_types_supported: described(
      Type.Array(Type.String()),
      'Empty: nobody signs in here by a browser',
    ),
    scopes_supported: described(Type.Array(Type.String()), 'Every scope'),
    service_documentation: string('The address of these docs'),
  }),
  errors: openErrors,
  example: {
    reply: {
      issuer: 'https://benefits.example.com',
      token_endpoint: 'https://benefits.example.com/oauth2/token',
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      revocation_endpoint: 'https://benefits.example.com/oauth2/revoke',
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      scopes_supported: ['prefill:write', 'benefits:read'],
      service_documentation: 'https://benefits.example.com/docs',
    },
  },
})
