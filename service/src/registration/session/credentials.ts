import type { IncomingHttpHeaders } from 'node:http'
import type { SecretMode } from '../../vault/secret.ts'

/**
 * The credential by which a request names its session: the cookie on the hosted page, or the handle in the frame, never
 * both.
 */
export type Credential = { readonly shell: 'hosted' | 'frame'; readonly handle: string | undefined }

/** The two cookies: one of a browser that is shown a link, one of a browser that has opened it. */
type CookieName = 'session' | 'opener'

/**
 * Reads the credential of a request. A request with `Authorization` comes from the frame, and its cookies are ignored.
 */
export function credentialOf(
  headers: IncomingHttpHeaders,
  context: { mode: SecretMode; baseUrl: string },
): Credential {
  const { authorization } = headers
  if (authorization !== undefined) {
    return { shell: 'frame', handle: /^Session ([\w]+)$/.exec(authorization)?.[1] }
  }
  return { shell: 'hosted', handle: readCookie(headers, 'session', context) }
}

/** The value of one of our cookies, or `undefined`. */
export function readCookie(
  headers: IncomingHttpHeaders,
  name: CookieName,
  context: { mode: SecretMode; baseUrl: string },
): string | undefined {
  const wanted = `${nameOf(name, context)}=`
  const found = headers.cookie?.split(/; */).find(part => part.startsWith(wanted))
  return found?.slice(wanted.length)
}

/** A cookie that is sent only to our own origin and that no script can read. It lasts until the browser is closed. */
export function setCookie(
  name: CookieName,
  value: string,
  context: { mode: SecretMode; baseUrl: string },
): string {
  const secure = isPlainSandbox(context) ? '' : '; Secure'
  return `${nameOf(name, context)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`
}

/** Deletes one of our cookies. */
export function clearCookie(name: CookieName, context: { mode: SecretMode; baseUrl: string }): string {
  return `${setCookie(name, '', context)}; Max-Age=0`
}

function nameOf(name: CookieName, context: { mode: SecretMode; baseUrl: string }): string {
  const plain = name === 'session' ? 'enrolment' : 'enrolment-opener'
  return isPlainSandbox(context) ? `${plain}-sandbox` : `__Host-${plain}`
}

/**
 * A sandbox uses plain http on loopback. There not every browser keeps a Secure cookie, which the `__Host-` prefix
 * requires.
 */
function isPlainSandbox({ mode, baseUrl }: { mode: SecretMode; baseUrl: string }): boolean {
  return mode === 'sandbox' && baseUrl.startsWith('http:')
}
