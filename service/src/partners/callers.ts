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

/** The two headers that name a caller, as they came. */
export type CallerHeaders = {
  readonly authorization: string
  readonly apiKey: string | undefined
}

/** Remembers callers whose token and API key were right, by both headers: one look in place of two hashes and three looks. */
export type Callers = {
  /** The caller of these headers, or `undefined` where it has to be looked up. */
  find(headers: CallerHeaders): Caller | undefined
  /**
   * Keeps a caller for as long as what it was made of may be answered from memory; `forgotten` is the directory's count
   * from before it was looked up, so that nothing is kept that was forgotten meanwhile.
   */
  keep(
    headers: CallerHeaders,
    caller: Caller,
    made: { bearer: Bearer; key: Credential | undefined; forgotten: number },
  ): void
}

type Kept = { readonly caller: Caller; readonly until: Instant; readonly forgotten: number }

/** As many callers as are kept; each is a token with its API key, so one process of a partner has one an hour. */
const MAX_CALLERS = 10_000

/**
 * Opens a memory of callers. It adds nothing to the second of contract §3: a caller is kept until the older of its token
 * and its API key would be read again, or the token expires; and nothing is left of it once the directory forgets a partner.
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
      // What was kept longest ago leaves first; who calls is kept anew every second.
      kept.delete(name)
      kept.set(name, { caller, until, forgotten })
      const [oldest] = kept.keys()
      if (kept.size > MAX_CALLERS && oldest !== undefined) kept.delete(oldest)
    },
  }
}

/** No header holds a line break, so that two pairs never make one key. */
function keyOf({ authorization, apiKey }: CallerHeaders): string {
  return apiKey === undefined ? authorization : `${authorization}\n${apiKey}`
}

/**
 * Whether a caller may call an operation: its token was given the scope, and the operator has not taken it from the
 * partner since.
 */
export function mayCall({ partner, scopes }: Caller, { scope }: Operation): boolean {
  if (scope === undefined) return true
  return scopes.has(scope) && (partner.scopes ?? defaultScopes).includes(scope)
}
