import { countOpenBulks, type OpenBulks } from '../bulk/open-bulks.ts'
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
  readonly bulks: OpenBulks
  /** Counts what a process beside this one has counted. */
  readonly hear: (news: Exclude<News, { events: unknown }>) => void
}

/** Opens the counts of failed authentications, of partners and of visitors of the page, and of partners' limited requests and bulks. */
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
  const bulks = countOpenBulks(tellOthers && (open => tellOthers({ bulks: open })))
  const hear: Counts['hear'] = news => {
    if ('failed' in news) failures.note(news.failed.address, options.real(), news.failed.credential)
    else if ('allowed' in news) rates.note(news.allowed)
    else if ('bulks' in news) bulks.note(news.bulks)
    else bulks.forget(news.ended)
  }
  return { refuse, rates, bulks, hear }
}
