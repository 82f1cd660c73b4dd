import { OperatorError } from '../operator-error.ts'

function isLoopbackHttp(url: URL): boolean {
  return url.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
}

/**
 * A host name or an IP address; the host of a URL may contain characters that have another meaning in a security
 * policy.
 */
const plainHost = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])$/

/** A partner's web origin in its normal form. Throws OperatorError that says how to correct a wrong one. */
export function checkOrigin(text: string, isSandbox: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    !url ||
    url.origin !== text ||
    !plainHost.test(url.hostname) ||
    !(url.protocol === 'https:' || (isSandbox && isLoopbackHttp(url)))
  ) {
    throw new OperatorError(
      `"${text}" is not an origin: give https, host and no path, like https://app.example.com${isSandbox ? ' (or http on localhost)' : ''}.`,
    )
  }
  return text
}

/** A partner's redirect address in its normal form. Throws OperatorError that says how to correct a wrong one. */
export function checkRedirect(text: string, isSandbox: boolean): string {
  const url = /^[\x21-\x5b\x5d-\x7e]{1,2048}$/.test(text) && URL.canParse(text) ? new URL(text) : undefined
  const isNormal =
    url?.href === text && plainHost.test(url.hostname) && !url.username && !url.password && !url.hash
  if (!url || !isNormal || !(url.protocol === 'https:' || (isSandbox && isLoopbackHttp(url)))) {
    throw new OperatorError(
      `"${text}" is not a redirect address: give an https address in its normal form, without user or fragment, like https://app.example.com/done.`,
    )
  }
  return text
}
