import type { IncomingHttpHeaders } from 'node:http'
import { defaultScopes, type Operation } from '@benefit-enrolment/contract'
import type { FastifyRequest } from 'fastify'
import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { addressOf, type FailedAuthentications, isLoopback } from '../http/failed-authentications.ts'
import { ServiceError } from '../http/service-error.ts'
import { type Directory, FRESH_MS, type WhyNot } from './directory.ts'
import type { Partner } from './partner.ts'
import { findChangedCallers } from './store.ts'

/** Who calls a partner operation. */
export type Caller = {
  readonly partner: Partner
  readonly scopes: readonly string[]
  /** The client secret that the caller's token was issued from. */
  readonly credentialId: string
}

/** Remembers callers whose token and API key were right, by both headers. */
export type Callers = {
  /** The caller of a request's headers, or `undefined` when it must be authenticated again. */
  find(headers: IncomingHttpHeaders): Caller | undefined
  /**
   * The id of the partner to which a request's headers last belonged, whether they are still valid or not; "" when memory does
   * not know. By it capacity is divided before anything is looked up.
   */
  guessPartner(request: { readonly headers: IncomingHttpHeaders }): string
  /** Keeps a caller as it was read at `readAt`, until `endsAt` at the latest. */
  keep(headers: IncomingHttpHeaders, caller: Caller, read: { readAt: Instant; endsAt: Instant }): void
  /** Reads nothing more. */
  close(): void
}

type KnownCaller = { readonly caller: Caller; readonly readAt: Instant; readonly until: Instant }

/** A cell of which callers are kept. */
type WatchedCell = {
  /** The database as of this instant says whom to forget, and they are forgotten. */
  readAt: Instant
  /** Until when its callers are kept. */
  until: Instant
}

/** The most callers that are kept. Each is a token with its API key, so a partner's process needs one an hour. */
const MAX_CALLERS = 10_000
/** For how long a caller is kept: a whole look-up notes uses, and rehashes keys under the current pepper. */
const LONGEST_MS = 20_000
/** How often it is read whom to forget: twice within the second that contract §3 allows. */
const EVERY_MS = 400

/**
 * Opens a memory of callers. What is taken away from one, by whatever process, ends within the second of contract §3: it is
 * in `caller_changes`, from where each process reads whom to forget; and where that could not be read for a second, nobody is
 * answered from memory who was looked up before.
 */
export function openCallers(context: {
  directory: Directory
  database: Database
  real: () => Instant
}): Callers {
  const { directory, database, real } = context
  const kept = new Map<string, KnownCaller>()
  const cells = new Map<string, WatchedCell>()
  const forget = (partnerIds: ReadonlySet<string>) => {
    if (partnerIds.size === 0) return
    for (const [name, { caller }] of kept) if (partnerIds.has(caller.partner.partnerId)) kept.delete(name)
  }
  directory.onForget(partnerId => forget(new Set([partnerId])))
  let isClosed = false
  const watch = async (name: string, cell: WatchedCell) => {
    if (isClosed || real() >= cell.until) {
      cells.delete(name)
      return
    }
    const readAt = real()
    try {
      forget(await findChangedCallers(database.cells().find(one => one.cell === name) ?? database))
      cell.readAt = readAt
    } catch {
      // Callers are looked up meanwhile, and these requests fail themselves if they must.
    }
    setTimeout(() => void watch(name, cell), EVERY_MS).unref()
  }
  return {
    find(headers) {
      const found = kept.get(keyOf(headers))
      if (!found) return undefined
      const now = real()
      const cell = cells.get(database.cellOf(found.caller.partner.partnerId))
      const isFresh = now - Math.max(found.readAt, cell?.readAt ?? 0) < FRESH_MS
      return isFresh && now < found.until ? found.caller : undefined
    },
    guessPartner: ({ headers }) => kept.get(keyOf(headers))?.caller.partner.partnerId ?? '',
    keep(headers, caller, { readAt, endsAt }) {
      const { partnerId } = caller.partner
      const cellName = database.cellOf(partnerId)
      const cell = cells.get(cellName) ?? { readAt: 0, until: 0 }
      // It may have been read before what this process has been told since.
      if (readAt < cell.readAt) return
      const name = keyOf(headers)
      const until = Math.min(readAt + LONGEST_MS, endsAt)
      // The one that was kept longest ago is dropped first.
      kept.delete(name)
      kept.set(name, { caller, readAt, until })
      const [oldest] = kept.keys()
      if (kept.size > MAX_CALLERS && oldest !== undefined) kept.delete(oldest)
      cell.until = Math.max(cell.until, until)
      if (cells.has(cellName)) return
      cells.set(cellName, cell)
      setTimeout(() => void watch(cellName, cell), EVERY_MS).unref()
    },
    close() {
      isClosed = true
    },
  }
}

/** The two headers that identify a caller. None contains a line break, so two different pairs never have the same key. */
function keyOf({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): string {
  return apiKey === undefined ? authorization : `${authorization}\n${apiKey}`
}

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

/** Refuses with `insufficient_scope` a caller whose token lacks the scope of an operation. */
export function requireScope({ partner, scopes }: Caller, { scope }: Operation): void {
  if (scope === undefined) return
  // The operator may have withdrawn it from the partner since the token was issued.
  if (scopes.includes(scope) && (partner.scopes ?? defaultScopes).includes(scope)) return
  throw new ServiceError('insufficient_scope', `This operation needs the scope ${scope}.`, {
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })
}

// Operations that anybody may call, or that check client credentials themselves, have no caller.
const nobody = Object.freeze({}) as Caller
