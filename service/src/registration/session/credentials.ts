import type { IncomingHttpHeaders } from 'node:http'
import { cookieHeader, cookieIn } from '../../http/cookies.ts'
import type { PageContext } from './page-context.ts'

/**
 * The credential by which a request names its session: the cookie on the hosted page, or the handle in the frame, never
 * both.
 */
export type Credential = { readonly shell: 'hosted' | 'frame'; readonly handle: string | undefined }

/** What decides the form of a cookie. */
type Site = Pick<PageContext, 'mode' | 'baseUrl'>

/** The two cookies: one of a browser that is shown a link, one of a browser that has opened it. */
type CookieName = 'session' | 'opener'

/**
 * Reads the credential of a request. A request with `Authorization` comes from the frame, and its cookies are ignored.
 */
export function credentialOf(headers: IncomingHttpHeaders, site: Site): Credential {
  const { authorization } = headers
  if (authorization !== undefined) {
    return { shell: 'frame', handle: /^Session ([\w]+)$/.exec(authorization)?.[1] }
  }
  return { shell: 'hosted', handle: readCookie(headers, 'session', site) }
}

/** The value of one of our cookies, or `undefined`. */
export function readCookie(headers: IncomingHttpHeaders, name: CookieName, site: Site): string | undefined {
  return cookieIn(headers, cookieNameOf(name, site))
}

/** The header that sets one of our cookies until the browser is closed, or deletes it when there is no value. */
export function setCookie(name: CookieName, value: string | undefined, site: Site): string {
  return cookieHeader(cookieNameOf(name, site), value, { isSecure: !isPlainSandbox(site) })
}

function cookieNameOf(name: CookieName, site: Site): string {
  const plain = name === 'session' ? 'enrolment' : 'enrolment-opener'
  return isPlainSandbox(site) ? `${plain}-sandbox` : `__Host-${plain}`
}

/**
 * A sandbox uses plain http on loopback. There not every browser keeps a Secure cookie, which the `__Host-` prefix
 * requires.
 */
function isPlainSandbox({ mode, baseUrl }: Site): boolean {
  return mode === 'sandbox' && baseUrl().startsWith('http:')
}
