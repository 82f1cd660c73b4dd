import { defaultScopes, isScope, operations, scopesOf } from '@benefit-enrolment/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../db/database.ts'
import { formIn } from '../http/form.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Refuse } from '../partners/authenticate.ts'
import { type Directory, splitSecretId, type WhyNot } from '../partners/directory.ts'
import type { Partner } from '../partners/partner.ts'
import { openTokenStore, revokeTokenRow } from '../partners/tokens.ts'
import { keyedHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import { encodeUuid, makeSecret, parseSecret, type SecretMode } from '../vault/secret.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { clientIdOf, readClient } from './client-credentials.ts'
import { OAuthRefusal } from './refusal.ts'

const LIFETIME_SECONDS = 3600

/** What the Authentication API needs of its surroundings. */
type OAuthContext = {
  readonly database: Database
  readonly storeToken: ReturnType<typeof openTokenStore>
  readonly directory: Directory
  readonly keyring: Keyring
  readonly mode: SecretMode
  readonly real: () => number
  readonly refuse: Refuse
  readonly baseUrl: () => string
  readonly basePath: string
}

/** Mounts token, revocation and metadata (contract §3); their errors have the form of RFC 6749. */
export function mountOAuth(app: FastifyInstance, given: Omit<OAuthContext, 'storeToken'>): void {
  const context = { ...given, storeToken: openTokenStore(given.database) }
  mountForm(app, context, 'issueToken', issueToken)
  mountForm(app, context, 'revokeToken', revokeToken)
  // RFC 8414 §3.1 puts the well-known part before the path of the issuer; the address below that path works as well.
  const urls = new Set([
    `${operations.getMetadata.path}${context.basePath}`,
    `${context.basePath}${operations.getMetadata.path}`,
  ])
  for (const url of urls) {
    app.get(url, { config: { operation: operations.getMetadata } }, (_request, reply) => {
      void reply
        .type('application/json; charset=utf-8')
        // Libraries that run in a browser read this document first.
        .header('Access-Control-Allow-Origin', '*')
        .send(JSON.stringify(metadataOf(context)))
    })
  }
}

type Form = ReadonlyMap<string, string>

function mountForm(
  app: FastifyInstance,
  context: OAuthContext,
  id: 'issueToken' | 'revokeToken',
  handle: typeof issueToken,
): void {
  const operation = operations[id]
  app.route({
    method: 'POST',
    url: context.basePath + operation.path,
    config: { operation, takes: 'application/x-www-form-urlencoded' },
    errorHandler: (error, request, reply) => answerError(error, request, reply, context),
    handler: async (request, reply) => {
      const answer = await handle(context, readForm(request.body), request)
      return reply
        .header('Cache-Control', 'no-store')
        .header('Pragma', 'no-cache')
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(answer))
    },
  })
}

/**
 * Answers refusals of RFC 6749 itself; all others go to the service's error handler, which knows the form for this
 * path.
 */
function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  context: OAuthContext,
): void {
  const refusal = asRefusal(error)
  if (!refusal) throw error
  if (refusal.code === 'invalid_client') {
    const limited = context.refuse(request, new ServiceError('unauthorized'), refusal.why)
    if (limited.code === 'too_many_requests') throw limited
    // The two authentication schemes of contract §3 and of RFC 6749 §5.2.
    reply.header('WWW-Authenticate', ['Bearer', 'Basic realm="oauth2", charset="UTF-8"'])
  }
  void reply
    .code(refusal.status)
    .header('Cache-Control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error: refusal.code, error_description: refusal.message }))
}

function asRefusal(error: unknown): OAuthRefusal | undefined {
  if (error instanceof OAuthRefusal) return error
  const code = error instanceof ServiceError ? error.code : (error as { code?: string }).code
  if (code === 'duplicate_header' || code === 'unsupported_media_type' || code === 'malformed_json') {
    return new OAuthRefusal(
      'invalid_request',
      'Send application/x-www-form-urlencoded, with each header once.',
    )
  }
  return undefined
}

/** A form with each parameter once (RFC 6749 §3.2); empty values count as not sent. */
function readForm(body: unknown): Form {
  const form = new Map<string, string>()
  for (const [name, value] of formIn(body)) {
    if (form.has(name))
      throw new OAuthRefusal('invalid_request', 'A parameter is sent twice: send each one once.')
    form.set(name, value)
  }
  for (const [name, value] of form) if (value === '') form.delete(name)
  return form
}

async function issueToken(context: OAuthContext, form: Form, request: FastifyRequest): Promise<object> {
  const { storeToken, keyring, mode, real } = context
  const grant = form.get('grant_type')
  if (grant === undefined)
    throw new OAuthRefusal('invalid_request', 'grant_type is missing: send client_credentials.')
  const { partner, credentialId } = await authenticate(context, form, request)
  if (grant !== 'client_credentials') {
    throw new OAuthRefusal('unsupported_grant_type', 'grant_type must be client_credentials.')
  }
  const scopes = readScopes(form.get('scope'), partner, mode)
  const now = real()
  const tokenId = encodeUuid(uuidv7(now)).slice(-16)
  const { text } = makeSecret('at', mode, encodeUuid(partner.partnerId) + tokenId)
  const pepper = keyring.peppers.current
  await storeToken({
    partner_id: partner.partnerId,
    token_id: tokenId,
    credential_id: credentialId,
    pepper_id: pepper.id,
    hash: keyedHash(pepper.key, 'access_token', text),
    scopes,
    issued_at: now,
    expires_at: now + LIFETIME_SECONDS * 1000,
  })
  return { access_token: text, token_type: 'Bearer', expires_in: LIFETIME_SECONDS, scope: scopes.join(' ') }
}

async function revokeToken(context: OAuthContext, form: Form, request: FastifyRequest): Promise<object> {
  const { partner } = await authenticate(context, form, request)
  const token = form.get('token')
  if (token === undefined)
    throw new OAuthRefusal('invalid_request', 'token is missing: send the token to revoke.')
  const parsed = parseSecret(token)
  const id = parsed?.kind === 'at' ? splitSecretId(parsed.id) : undefined
  // RFC 7009 §2.2: an unknown token, or another client's, is answered like a revoked one.
  if (id && id.partnerId === partner.partnerId) {
    await revokeTokenRow(context.database, { partnerId: id.partnerId, tokenId: id.ownId, at: context.real() })
    context.directory.forget(id.partnerId)
  }
  return {}
}

async function authenticate(
  context: OAuthContext,
  form: Form,
  request: FastifyRequest,
): Promise<{ partner: Partner; credentialId: string }> {
  const client = readClient(form, request.headers.authorization)
  const credential = await context.directory.owner(client.secret, 'client_secret')
  const refuse = (why: WhyNot) =>
    new OAuthRefusal('invalid_client', 'The client id or the client secret is not valid.', why)
  if ('is' in credential) throw refuse(credential)
  const { partner, credentialId } = credential
  if (clientIdOf(partner.partnerId) !== client.id) throw refuse({ is: 'known', credential: credentialId })
  if (partner.disabledAt !== undefined) throw refuse({ is: 'spent' })
  request.partnerId = partner.partnerId
  return credential
}

function readScopes(text: string | undefined, partner: Partner, mode: SecretMode): string[] {
  const supported: readonly string[] = scopesOf(mode === 'sandbox')
  const given = (partner.scopes ?? defaultScopes).filter(scope => supported.includes(scope))
  if (text === undefined) return [...given]
  const asked = [...new Set(text.split(' ').filter(Boolean))]
  const wrong = asked.some(scope => !isScope(scope) || !given.includes(scope))
  if (asked.length === 0 || wrong)
    throw new OAuthRefusal('invalid_scope', 'Ask only for scopes that the client was given.')
  return asked
}

function metadataOf({ baseUrl: readBaseUrl, mode }: OAuthContext) {
  const baseUrl = readBaseUrl()
  return {
    issuer: baseUrl,
    token_endpoint: `${baseUrl}/oauth2/token`,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    revocation_endpoint: `${baseUrl}/oauth2/revoke`,
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    scopes_supported: scopesOf(mode === 'sandbox'),
    service_documentation: `${baseUrl}/docs`,
  }
}
