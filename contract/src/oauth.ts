import { Type } from 'typebox'
import { openErrors, operation } from './operation.ts'
import { shape } from './shape.ts'

/** The answer of the token endpoint (RFC 6749 §5.1, contract §3). */
export const AccessToken = shape('AccessToken', {
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
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
      grant_type: Type.Literal('client_credentials'),
      scope: Type.Optional(Type.String()),
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
      token: Type.String(),
      token_type_hint: Type.Optional(Type.String()),
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
    issuer: Type.String(),
    token_endpoint: Type.String(),
    token_endpoint_auth_methods_supported: Type.Array(Type.String()),
    revocation_endpoint: Type.String(),
    revocation_endpoint_auth_methods_supported: Type.Array(Type.String()),
    grant_types_supported: Type.Array(Type.String()),
    response_types_supported: Type.Array(Type.String()),
    scopes_supported: Type.Array(Type.String()),
    service_documentation: Type.String(),
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
