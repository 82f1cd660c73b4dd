import { defaultScopes, type Operation } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import type { Bearer, Credential, Directory } from './directory.ts'
import type { Partner } from './partner.ts'

/** Who calls a partner operation. */
export type Caller = {
  readonly partner: Partner
  readonly scopes: ReadonlySet<string>
  /** The client secret that the caller's token was issued from. */
  readonly credentialId: string
}

/** The two headers that identify a caller, unchanged. */
export type CallerHeaders = {
  readonly authorization: string
  readonly apiKey: string | undefined
}

/**
 * Remembers callers whose token and API key were right, by both headers: one look-up replaces two hashes and three
 * look-ups.
 */
type Callers = {
  /** The caller of these headers, or `undefined` when it must be authenticated again. */
  find(headers: CallerHeaders): Caller | undefined
  /**
   * Keeps a caller for as long as its token and key may be answered from memory. `forgotten` is the directory's count
   * from before the look-up, so that a caller is not kept if the directory forgot its partner meanwhile.
   */
  keep(
    headers: CallerHeaders,
    caller: Caller,
    made: { bearer: Bearer; key: Credential | undefined; forgotten: number },
  ): void
}

type Kept = { readonly caller: Caller; readonly until: Instant; readonly forgotten: number }

/** The most callers that are kept. Each is a token with its API key, so a partner's process needs one an hour. */
const MAX_CALLERS = 10_000

/**
 * Opens a memory of callers. It does not extend the second of contract §3: a caller is kept until the older of its
 * token and its API key would be read again, or until the token expires, and is dropped when the directory forgets its
 * partner.
 */
export function openCallers(context: { directory: Directory; real: () => Instant }): Callers {
  const { directory, real } = context
  const kept = new Map<string, Kept>()
  return {
    find(headers) {
      const found = kept.get(keyOf(headers))
      if (!found || found.until <= real() || found.forgotten !== directory.forgotten()) return undefined
      return found.caller
    },
    keep(headers, caller, { bearer, key, forgotten }) {
      const until = Math.min(bearer.freshUntil, bearer.expiresAt, key?.freshUntil ?? Number.POSITIVE_INFINITY)
      const name = keyOf(headers)
      // The caller that was kept longest ago is dropped first; an active caller is kept anew every second.
      kept.delete(name)
      kept.set(name, { caller, until, forgotten })
      const [oldest] = kept.keys()
      if (kept.size > MAX_CALLERS && oldest !== undefined) kept.delete(oldest)
    },
  }
}

/** No header contains a line break, so two different pairs never have the same key. */
function keyOf({ authorization, apiKey }: CallerHeaders): string {
  return apiKey === undefined ? authorization : `${authorization}\n${apiKey}`
}

/**
 * Whether a caller may call an operation: the token has the scope, and the operator has not since withdrawn it from the
 * partner.
 */
export function mayCall({ partner, scopes }: Caller, { scope }: Operation): boolean {
  if (scope === undefined) return true
  return scopes.has(scope) && (partner.scopes ?? defaultScopes).includes(scope)
}
