import type { IncomingHttpHeaders } from 'node:http'
import type { Callers } from './callers.ts'

/**
 * Guesses from memory alone from which partner a request comes; "" when memory does not know. It is used to divide
 * capacity before anything is looked up, and does not check whether the credentials are still valid.
 */
export function openPartnerGuess(callers: Callers) {
  return ({ headers }: { readonly headers: IncomingHttpHeaders }): string => {
    const { authorization, 'x-api-key': apiKey } = headers
    if (authorization === undefined || Array.isArray(apiKey)) return ''
    return callers.partnerOf({ authorization, apiKey }) ?? ''
  }
}
