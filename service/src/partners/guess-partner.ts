import type { IncomingHttpHeaders } from 'node:http'
import type { Callers } from './callers.ts'
import type { Directory } from './directory.ts'

const form = /^(Bearer|Basic) +([A-Za-z0-9._~+/=-]+) *$/i

/**
 * Guesses from memory alone from which partner a request comes; "" when memory does not know. It is used to divide
 * capacity before anything is looked up, and does not check whether the credentials are still valid.
 */
export function openPartnerGuess({ directory, callers }: { directory: Directory; callers: Callers }) {
  return ({ headers }: { readonly headers: IncomingHttpHeaders }): string => {
    const { authorization, 'x-api-key': apiKey } = headers
    if (authorization === undefined) return ''
    // A caller in use is found without a hash of its token.
    const known = typeof apiKey === 'string' ? callers.partnerOf({ authorization, apiKey }) : undefined
    if (known !== undefined) return known
    const [, scheme = '', text = ''] = form.exec(authorization) ?? []
    if (scheme.toLowerCase() === 'bearer') return directory.lastOwnerOf(text) ?? ''
    if (scheme.toLowerCase() !== 'basic') return ''
    const [, secret = ''] = Buffer.from(text, 'base64').toString('latin1').split(':')
    return directory.credentialNow(secret, 'client_secret')?.partner.partnerId ?? ''
  }
}
