import type { IncomingHttpHeaders } from 'node:http'
import type { Directory } from './directory.ts'

const form = /^(Bearer|Basic) +([A-Za-z0-9._~+/=-]+) *$/i

/**
 * Tells from memory alone which partner a request seems to come from, "" where memory cannot tell. Good for sharing out
 * room before anything is looked up; whether the credentials still hold is not its business.
 */
export function openClaimants(directory: Directory) {
  return ({ headers: { authorization } }: { readonly headers: IncomingHttpHeaders }): string => {
    if (authorization === undefined) return ''
    const [, scheme = '', text = ''] = form.exec(authorization) ?? []
    if (scheme.toLowerCase() === 'bearer') return directory.lastOwnerOf(text) ?? ''
    if (scheme.toLowerCase() !== 'basic') return ''
    const [, secret = ''] = Buffer.from(text, 'base64').toString('latin1').split(':')
    return directory.credentialNow(secret, 'client_secret')?.partner.partnerId ?? ''
  }
}
