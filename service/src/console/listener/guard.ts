import type { IncomingHttpHeaders } from 'node:http'
import { cookieHeader, cookieIn } from '../../http/cookies.ts'

/** The address of the console, as needed for its cookies and its checks of Host and Origin. */
export type ConsoleAddress = {
  /** `https://console.example.com`, or `undefined` on loopback. */
  readonly consoleUrl: string | undefined
  /** The port it listens on. */
  readonly port: number
}

/**
 * Whether the Host of a request is one of the console's own: that of its base URL, or loopback with its port. Another
 * name that points to this machine is refused, so that no page of another site reaches the console through a browser
 * (DNS rebinding).
 */
export function isOwnHost(host: string | undefined, { consoleUrl, port }: ConsoleAddress): boolean {
  if (host === undefined) return false
  if (consoleUrl !== undefined) return host.toLowerCase() === new URL(consoleUrl).host
  const [, name = '', given = '80'] = /^(.*?)(?::(\d+))?$/.exec(host) ?? []
  // Whole addresses only: `127.example.com` begins like one, and is a name that anybody may own.
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(name)
  return isLoopback && given === String(port)
}

/** The address of the console on this machine, where no other is set for operators. */
export function ownUrlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** Whether a page of the console sent the form: browsers send the page's origin with every POST. */
export function isOwnOrigin(headers: IncomingHttpHeaders, address: ConsoleAddress): boolean {
  const site = headers['sec-fetch-site']
  return headers.origin === originOf(headers, address) && (site === undefined || site === 'same-origin')
}

/** Whether browsers reach the console over TLS. */
export function isSecure({ consoleUrl }: ConsoleAddress): boolean {
  return consoleUrl?.startsWith('https:') ?? false
}

/** The console's own address in the request's browser, from a Host that has been checked. */
export function originOf(headers: IncomingHttpHeaders, address: ConsoleAddress): string {
  return `${isSecure(address) ? 'https' : 'http'}://${headers.host ?? ''}`
}

/** The cookies of the console: the session, or a sign-in at the identity provider. */
type CookieKind = 'session' | 'flow'

/** The content of a cookie of the console. */
export function readCookie(
  headers: IncomingHttpHeaders,
  kind: CookieKind,
  address: ConsoleAddress,
): string | undefined {
  return cookieIn(headers, cookieName(address, kind))
}

/**
 * The header that gives a browser a cookie of the console, for `seconds` or until the browser is closed; without a text
 * it deletes the cookie.
 */
export function setCookie(
  kind: CookieKind,
  text: string | undefined,
  address: ConsoleAddress,
  seconds?: number,
): string {
  return cookieHeader(cookieName(address, kind), text, { isSecure: isSecure(address), seconds })
}

function cookieName(address: ConsoleAddress, kind: CookieKind): string {
  const name = kind === 'session' ? 'enrolment-console' : 'enrolment-console-flow'
  return isSecure(address) ? `__Host-${name}` : name
}
