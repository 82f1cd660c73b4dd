import type { Verdict } from './backoff.ts'

const HOUR = 3_600_000

/** After so long without a success the endpoint is disabled. */
export const DISABLE_AFTER = 72 * HOUR

/** After so long without a success the partner and the operator are told, once each. */
export const NOTICE_AFTER: readonly number[] = [HOUR, 24 * HOUR, 48 * HOUR]

/** How an endpoint has fared since its last success; plain data, to be stored with the endpoint. */
export interface Health {
  /** When the first try after the last success failed; null while none has. */
  failingSince: number | null
  /** How many notices were given since. */
  notices: number
}

/** The health of an endpoint that is new, has just had a success, or was just enabled. */
export function goodHealth(): Health {
  return { failingSince: null, notices: 0 }
}

/** What is to be done about an endpoint. */
export type Measure =
  | { kind: 'none' }
  /** Tell that it is failing, and when it will be disabled. */
  | { kind: 'notice'; failingSince: number; disablesAt: number }
  | { kind: 'disable'; because: 'failing' | 'gone' }

/** The health after one more try, and what is to be done; a fault of our own changes nothing. */
export function afterVerdict(
  health: Health,
  verdict: Verdict,
  at: number,
): { health: Health; measure: Measure } {
  if (verdict.kind === 'unspent') return { health, measure: { kind: 'none' } }
  if (verdict.kind === 'delivered') return { health: goodHealth(), measure: { kind: 'none' } }
  if (verdict.kind === 'gone') return { health, measure: { kind: 'disable', because: 'gone' } }
  return review({ ...health, failingSince: health.failingSince ?? at }, at)
}

/** What is to be done at this instant, without a try: time passes for an endpoint also while nothing is due. */
export function review(health: Health, now: number): { health: Health; measure: Measure } {
  const { failingSince } = health
  if (failingSince === null) return { health, measure: { kind: 'none' } }
  const failedFor = now - failingSince
  if (failedFor >= DISABLE_AFTER) return { health, measure: { kind: 'disable', because: 'failing' } }
  const due = NOTICE_AFTER.filter(after => failedFor >= after).length
  if (due <= health.notices) return { health, measure: { kind: 'none' } }
  return {
    health: { ...health, notices: due },
    measure: { kind: 'notice', failingSince, disablesAt: failingSince + DISABLE_AFTER },
  }
}
