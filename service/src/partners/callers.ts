import type { IncomingHttpHeaders } from 'node:http'
import { defaultScopes, type Operation } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import { coalesceApart } from '../db/coalesce.ts'
import type { Database } from '../db/database.ts'
import { type Bearer, type Credential, type Directory, FRESH_MS } from './directory.ts'
import type { Partner } from './partner.ts'
import { type CallerRows, findUnchangedCallers } from './unchanged-callers.ts'

/** Who calls a partner operation. */
export type Caller = {
  readonly partner: Partner
  readonly scopes: readonly string[]
  /** The client secret that the caller's token was issued from. */
  readonly credentialId: string
}

/**
 * Remembers callers whose token and API key were right, by both headers: one look-up replaces two hashes and three
 * look-ups.
 */
export type Callers = {
  /** The caller of a request's headers, or `undefined` when it must be authenticated again. */
  find(headers: IncomingHttpHeaders): Caller | undefined
  /**
   * The id of the partner to which a request's headers last belonged, whether they are still valid or not; "" when memory does
   * not know. By it capacity is divided before anything is looked up.
   */
  guessPartner(request: { readonly headers: IncomingHttpHeaders }): string
  /**
   * Keeps a caller for as long as its token and key may be answered from memory. `forgotten` is the directory's count
   * from before the look-up, so that a caller is not kept if the directory forgot its partner meanwhile.
   */
  keep(
    headers: IncomingHttpHeaders,
    caller: Caller,
    made: { bearer: Bearer; key: Credential | undefined; forgotten: number },
  ): void
}

type KnownCaller = {
  readonly name: string
  readonly caller: Caller
  readonly forgotten: number
  /** `undefined` where nothing is read ahead. */
  readonly rows: CallerRows | undefined
  /** The latest instant to which reading ahead may extend `until`. */
  readonly longest: Instant
  until: Instant
  isAsked: boolean
}

/** The most callers that are kept. Each is a token with its API key, so a partner's process needs one an hour. */
const MAX_CALLERS = 10_000
/** A caller that is used within this time before it is too old is read ahead. */
const AHEAD_MS = 450
/** The least time between two statements that read ahead. */
const PACE_MS = 100
const MAX_BATCH = 500
/** For how long a caller is only read ahead: a whole look-up notes uses, and rehashes keys under the current pepper. */
const LONGEST_MS = 20_000

/**
 * Opens a memory of callers. A caller is never kept longer than the one second that contract §3 allows: until the oldest row
 * that was read of it is a second old, or until the token expires, and is dropped when the directory forgets its partner.
 *
 * Callers in use are read ahead: before they are too old, one statement for all of them asks whether their rows are
 * unchanged, and no request waits for it. If its answer comes too late, or a row has changed, the next request looks the
 * caller up. Without reading ahead a read costs 20 % more processor time where 1,000 partners call by turns (2026-11-28).
 */
export function openCallers(context: {
  directory: Directory
  database: Database
  real: () => Instant
}): Callers {
  const { directory, database, real } = context
  const kept = new Map<string, KnownCaller>()
  const readAhead = coalesceApart<CallerRows, Instant | undefined>(one => database.cellOf(one.partnerId), {
    name: 'renew callers',
    maxBatch: MAX_BATCH,
    paceMs: PACE_MS,
    run: async callers => {
      const readAt = real()
      const cell = database.of(callers[0]?.partnerId ?? '')
      const unchanged = await findUnchangedCallers(cell, callers, readAt)
      return callers.map((_, index) => ({ ok: true, value: unchanged.has(index) ? readAt : undefined }))
    },
  })
  const store = (one: KnownCaller) => {
    // The caller that was kept longest ago is dropped first; an active caller is kept anew every second.
    kept.delete(one.name)
    kept.set(one.name, one)
    const [oldest] = kept.keys()
    if (kept.size > MAX_CALLERS && oldest !== undefined) kept.delete(oldest)
  }
  /** A failure is not reported: then a request looks the caller up, and fails itself if it must. */
  const renew = (one: KnownCaller, rows: CallerRows) => {
    one.isAsked = true
    readAhead.enqueue(rows, found => {
      one.isAsked = false
      // An answer that arrives after the caller has become too old is ignored: the next request looks the caller up.
      if (!found.ok || kept.get(one.name) !== one || one.until <= real()) return
      if (found.value === undefined) {
        kept.delete(one.name)
        return
      }
      one.until = Math.min(found.value + FRESH_MS, one.longest)
      store(one)
    })
  }
  return {
    find(headers) {
      const name = keyOf(headers)
      const found = kept.get(name)
      if (!found || found.forgotten !== directory.forgotten()) return undefined
      const now = real()
      if (found.until <= now) return undefined
      const isSoonTooOld = found.until - now < AHEAD_MS && found.until < found.longest
      if (isSoonTooOld && found.rows && !found.isAsked) renew(found, found.rows)
      return found.caller
    },
    guessPartner: ({ headers }) => kept.get(keyOf(headers))?.caller.partner.partnerId ?? '',
    keep(headers, caller, { bearer, key, forgotten }) {
      const until = Math.min(bearer.freshUntil, bearer.expiresAt, key?.freshUntil ?? Number.POSITIVE_INFINITY)
      store({
        name: keyOf(headers),
        caller,
        forgotten,
        rows: rowsOf(bearer, key),
        longest: Math.min(real() + LONGEST_MS, bearer.expiresAt),
        until,
        isAsked: false,
      })
    },
  }
}

/** `undefined` on a cluster, where nothing is read ahead. */
function rowsOf({ partner, tokenId }: Bearer, key: Credential | undefined): CallerRows | undefined {
  const { partnerId, rowHash } = partner
  if (rowHash === undefined) return undefined
  return { partnerId, partnerHash: rowHash, tokenId, keyId: key?.credentialId ?? null }
}

/** The two headers that identify a caller. None contains a line break, so two different pairs never have the same key. */
function keyOf({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): string {
  return apiKey === undefined ? authorization : `${authorization}\n${apiKey}`
}

/**
 * Whether a caller may call an operation: the token has the scope, and the operator has not since withdrawn it from the
 * partner.
 */
export function mayCall({ partner, scopes }: Caller, { scope }: Operation): boolean {
  if (scope === undefined) return true
  return scopes.includes(scope) && (partner.scopes ?? defaultScopes).includes(scope)
}
