import type { Partner } from '../../partners/partner.ts'

type Facts = readonly (readonly [name: string, value: string])[]

/** What a partner may ask for, and how. */
export function accessFacts({ scopes, apiKeyOptional, ratePerSecond }: Partner): Facts {
  return [
    ['Scopes', scopes?.join(', ') ?? 'all'],
    ['API key', apiKeyOptional ? 'optional' : 'needed'],
    ['Limit', ratePerSecond === undefined ? 'none' : `${ratePerSecond} requests a second`],
  ]
}

/** Where a partner's page may be embedded, and where it may lead back to. */
export function addressFacts({ origins, redirects }: Partner): Facts {
  return [
    ['Origins', origins.join(', ') || 'none'],
    ['Leads back to', redirects.join(', ') || 'nowhere'],
  ]
}
