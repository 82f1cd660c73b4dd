import type { Operation, Scope } from '@benefit-enrolment/contract'
import type { FastifyRequest } from 'fastify'
import { countFailedAuthentications, isLoopback } from '../http/failed-authentications.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Bearer, Directory } from './directory.ts'
import type { Partner } from './partner.ts'

/** Who calls a partner operation. */
export type Caller = { readonly partner: Partner; readonly scopes: ReadonlySet<string> }

/** Refuses a failed authentication: 401, or 429 when the address has failed too often (contract §13). */
export type Refuse = (request: FastifyRequest, error: ServiceError) => ServiceError

/** Counts failures by address; right credentials never come here. Loopback is exempt in a sandbox. */
export const refuseFailures = (context: {
  sandbox: boolean
  real: () => number
  /** How many failures of an address in a minute are answered 401. */
  limit: number
}): Refuse => {
  const failures = countFailedAuthentications(context.limit)
  return (request, error) => {
    if (context.sandbox && isLoopback(request.ip)) return error
    if (!failures.note(request.ip, context.real())) return error
    return new ServiceError('too_many_requests', 'Too many failed authentications from this address.', {
      headers: { 'Retry-After': '60' },
    })
  }
}

const bearerForm = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i
// Another scheme is no token, and gets no error code (RFC 6750 §3.1).
const tokenSent = /^Bearer +\S/i
const withoutToken = { 'WWW-Authenticate': 'Bearer' }
const withBadToken = { 'WWW-Authenticate': 'Bearer error="invalid_token"' }

/**
 * Authenticates the calls of partners: token, then API key, then scope. Answers from memory when it can.
 * Refuses with `unauthorized`, `invalid_api_key` or `insufficient_scope`; the body has not been looked at.
 */
export const authenticatePartner = (context: { directory: Directory; refuse: Refuse }) => {
  const { directory, refuse } = context
  return (request: FastifyRequest, operation: Operation): Caller | Promise<Caller> => {
    if (operation.caller !== 'partner') return nobody
    const { authorization } = request.headers
    const token = bearerForm.exec(authorization ?? '')?.[1]
    if (token === undefined) {
      const headers = tokenSent.test(authorization ?? '') ? withBadToken : withoutToken
      throw refuse(request, new ServiceError('unauthorized', undefined, { headers }))
    }
    const bearer = directory.bearerNow(token)
    const sent = request.headers['x-api-key']
    const apiKey = typeof sent === 'string' ? sent : undefined
    const key = apiKey === undefined ? undefined : directory.credentialNow(apiKey, 'api_key')
    if (bearer && (key || (apiKey === undefined && bearer.partner.apiKeyOptional))) {
      return admit(request, operation, { bearer, apiKey, keyPartner: key?.partner })
    }
    return lookUp(request, operation, { token, apiKey })
  }

  async function lookUp(
    request: FastifyRequest,
    operation: Operation,
    sent: { token: string; apiKey: string | undefined },
  ): Promise<Caller> {
    const bearer = await directory.bearer(sent.token)
    if (!bearer) throw refuse(request, new ServiceError('unauthorized', undefined, { headers: withBadToken }))
    const key = sent.apiKey === undefined ? undefined : await directory.credential(sent.apiKey, 'api_key')
    return admit(request, operation, { bearer, apiKey: sent.apiKey, keyPartner: key?.partner })
  }

  function admit(
    request: FastifyRequest,
    operation: Operation,
    sent: { bearer: Bearer; apiKey: string | undefined; keyPartner: Partner | undefined },
  ): Caller {
    const { bearer, apiKey, keyPartner } = sent
    const isKeyMissing = apiKey === undefined && !bearer.partner.apiKeyOptional
    const isKeyWrong = apiKey !== undefined && keyPartner?.partnerId !== bearer.partner.partnerId
    if (isKeyMissing || isKeyWrong) {
      throw refuse(request, new ServiceError('invalid_api_key', undefined, { headers: withoutToken }))
    }
    request.partnerId = bearer.partner.partnerId
    if (operation.scope && !bearer.scopes.has(operation.scope)) throw lacking(operation.scope)
    return { partner: bearer.partner, scopes: bearer.scopes }
  }
}

const lacking = (scope: Scope): ServiceError =>
  new ServiceError('insufficient_scope', `This operation needs the scope ${scope}.`, {
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })

// Operations that anyone may call, or that check client credentials themselves, have no bearer.
const nobody = Object.freeze({}) as Caller
