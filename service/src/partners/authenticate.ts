import type { Operation } from '@benefit-enrolment/contract'
import type { FastifyRequest } from 'fastify'
import type { Instant } from '../calendar/calendar.ts'
import { addressOf, type FailedAuthentications, isLoopback } from '../http/failed-authentications.ts'
import { ServiceError } from '../http/service-error.ts'
import { type Caller, type Callers, mayCall } from './callers.ts'
import type { Directory, WhyNot } from './directory.ts'

export type { Caller } from './callers.ts'

/**
 * Refuses a failed authentication: 401, or 429 when there were too many (contract §13). An expired or revoked
 * credential always gets 401, because its client must learn to renew it.
 */
export type Refuse = (request: FastifyRequest, error: ServiceError, why: WhyNot) => ServiceError

/**
 * Counts failures by address and known credential; right credentials are never counted. Loopback is exempt in a
 * sandbox.
 */
export function refuseFailures(context: {
  sandbox: boolean
  real: () => number
  failures: FailedAuthentications
  /** Called with each failure that was counted. */
  onCounted?: (address: string, credential: string | undefined) => void
}): Refuse {
  const { failures, onCounted } = context
  return (request, error, why) => {
    const address = addressOf(request)
    if (why.is === 'spent' || (context.sandbox && isLoopback(address))) return error
    const credential = why.is === 'known' ? why.credential : undefined
    if (!failures.note(address, context.real(), credential)) {
      onCounted?.(address, credential)
      return error
    }
    return new ServiceError(
      'too_many_requests',
      'Too many failed authentications from this address: wait as long as Retry-After says.',
      {
        headers: { 'Retry-After': '60' },
      },
    )
  }
}

const bearerForm = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i
// A header with another scheme carries no token, and gets no error code (RFC 6750 §3.1).
const tokenSent = /^Bearer +\S/i
const withoutToken = { 'WWW-Authenticate': 'Bearer' }
const withBadToken = { 'WWW-Authenticate': 'Bearer error="invalid_token"' }

/**
 * Authenticates the calls of partners: token, then API key, then scope. Answers from memory when it can. Refuses with
 * `unauthorized`, `invalid_api_key` or `insufficient_scope`, before the body is read.
 */
export function authenticatePartner(context: {
  directory: Directory
  callers: Callers
  real: () => Instant
  refuse: Refuse
}) {
  const { directory, callers, real, refuse } = context
  return (request: FastifyRequest, operation: Operation): Caller | Promise<Caller> => {
    if (operation.caller !== 'partner') return nobody
    const known = callers.find(request.headers)
    return known ? admit(request, operation, known) : lookUp(request, operation)
  }

  async function lookUp(request: FastifyRequest, operation: Operation): Promise<Caller> {
    const { authorization = '', 'x-api-key': sentKey } = request.headers
    const apiKey = sentKey?.toString()
    const token = bearerForm.exec(authorization)?.[1]
    if (token === undefined) {
      const headers = tokenSent.test(authorization) ? withBadToken : withoutToken
      throw refuse(request, new ServiceError('unauthorized', undefined, { headers }), { is: 'unknown' })
    }
    const readAt = real()
    // At once, because a caller waits for both.
    const [bearer, key] = await Promise.all([
      directory.owner(token, 'access_token'),
      apiKey === undefined ? undefined : directory.owner(apiKey, 'api_key'),
    ])
    if ('is' in bearer)
      throw refuse(request, new ServiceError('unauthorized', undefined, { headers: withBadToken }), bearer)
    const { partner } = bearer
    const refuseKey = (why: WhyNot) =>
      refuse(request, new ServiceError('invalid_api_key', undefined, { headers: withoutToken }), why)
    if (key && 'is' in key) throw refuseKey(key)
    if (key ? key.partner.partnerId !== partner.partnerId : !partner.apiKeyOptional)
      throw refuseKey({ is: 'known', credential: key?.credentialId ?? partner.partnerId })
    const caller: Caller = {
      partner,
      scopes: bearer.scopes,
      credentialId: bearer.credentialId,
    }
    const endsAt = Math.min(bearer.expiresAt, key?.expiresAt ?? Number.POSITIVE_INFINITY)
    callers.keep(request.headers, caller, { readAt, endsAt })
    return admit(request, operation, caller)
  }

  function admit(request: FastifyRequest, operation: Operation, caller: Caller): Caller {
    request.partnerId = caller.partner.partnerId
    requireScope(caller, operation)
    return caller
  }
}

/** Refuses with `insufficient_scope` a caller that may not call an operation. */
export function requireScope(caller: Caller, operation: Operation): void {
  const { scope } = operation
  if (scope === undefined || mayCall(caller, operation)) return
  throw new ServiceError('insufficient_scope', `This operation needs the scope ${scope}.`, {
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })
}

// Operations that anybody may call, or that check client credentials themselves, have no caller.
const nobody = Object.freeze({}) as Caller
