import type { IncomingHttpHeaders } from 'node:http'
import type { SecretMode } from '../../vault/secret.ts'

/** How a request names its session: by the cookie of the hosted page, or by the handle of the frame, never by both. */
export type Credential = { readonly shell: 'hosted' | 'frame'; readonly handle: string | undefined }

/** The cookies of a browser that opens a link and of one that has opened it. */
export type CookieName = 'session' | 'opener'

/** Reads the credential of a request: whoever sends `Authorization` is the frame, and its cookies are not looked at. */
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

/** A cookie that only our own origin gets and no script reads. It lasts as long as the browser is open. */
export function setCookie(
  name: CookieName,
  value: string,
  context: { mode: SecretMode; baseUrl: string },
): string {
  const secure = isPlainSandbox(context) ? '' : '; Secure'
  return `${nameOf(name, context)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`
}

/** Takes a cookie of ours away. */
export function clearCookie(name: CookieName, context: { mode: SecretMode; baseUrl: string }): string {
  return `${setCookie(name, '', context)}; Max-Age=0`
}

function nameOf(name: CookieName, context: { mode: SecretMode; baseUrl: string }): string {
  const plain = name === 'session' ? 'enrolment' : 'enrolment-opener'
  return isPlainSandbox(context) ? `${plain}-sandbox` : `__Host-${plain}`
}

/** A sandbox speaks plain http on loopback, where not every browser keeps a Secure cookie, which the prefix needs. */
function isPlainSandbox({ mode, baseUrl }: { mode: SecretMode; baseUrl: string }): boolean {
  return mode === 'sandbox' && baseUrl.startsWith('http:')
}
