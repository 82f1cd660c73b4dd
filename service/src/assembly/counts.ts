import { countFailedAuthentications } from '../http/failed-authentications.ts'
import { defaultRequestLimits } from '../http/request-limits.ts'
import { refuseFailures } from '../partners/authenticate.ts'
import { openRateLimits, type RateLimits } from '../partners/rate-limit.ts'
import { refusedCredential } from '../partners/refused-credential.ts'
import type { News } from './options.ts'
import type { Shared } from './shared.ts'

/** What the processes that share an address count together. */
export type Counts = {
  /** Counts a failed authentication, puts it on record, and refuses the request that had it. */
  readonly refuse: ReturnType<typeof refuseFailures>
  readonly rates: RateLimits
  /** Counts what a process beside this one has counted. */
  readonly hear: (news: Exclude<News, { events: unknown }>) => void
}

/** Opens the counts of failed authentications, of partners and of visitors of the page, and of partners' limited requests. */
export function openCounts({ options, trail }: Shared): Counts {
  const { failedAuthentications: limit } = options.requestLimits ?? defaultRequestLimits
  const failures = countFailedAuthentications(limit)
  const countFailure = refuseFailures({
    sandbox: options.installation.sandbox,
    real: options.real,
    failures,
    onCounted: (address, credential) => options.tellOthers?.({ failed: { address, credential } }),
  })
  const refuse: typeof countFailure = (request, error, why) => {
    trail.noteRefusal({ ...refusedCredential(request.headers), address: request.ip })
    return countFailure(request, error, why)
  }
  const { real, tellOthers } = options
  const rates = openRateLimits({ real, tellOthers: tellOthers && (allowed => tellOthers({ allowed })) })
  const hear: Counts['hear'] = news =>
    'failed' in news
      ? void failures.note(news.failed.address, options.real(), news.failed.credential)
      : rates.note(news.allowed)
  return { refuse, rates, hear }
}
