import type { IncomingHttpHeaders } from 'node:http'

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

/** The secret of the session that a request carries. */
export function sessionCookie(headers: IncomingHttpHeaders, address: ConsoleAddress): string | undefined {
  return cookieOf(headers, 'session', address)
}

/** The content of a cookie of the console: the session, or a sign-in at the identity provider. */
export function cookieOf(
  headers: IncomingHttpHeaders,
  kind: CookieKind,
  address: ConsoleAddress,
): string | undefined {
  const wanted = `${cookieName(address, kind)}=`
  const found = headers.cookie?.split(/; */).find(part => part.startsWith(wanted))
  return found?.slice(wanted.length)
}

/** The header that gives a browser its session, or deletes it when there is no secret. */
export function cookieHeader(secret: string | undefined, address: ConsoleAddress): string {
  return headerOf('session', secret, address, secret === undefined ? 0 : undefined)
}

/** The header that binds a sign-in at the identity provider to a browser, or deletes it when there is no text. */
export function flowHeader(text: string | undefined, address: ConsoleAddress, lifetimeMs: number): string {
  return headerOf('flow', text, address, text === undefined ? 0 : lifetimeMs / 1000)
}

type CookieKind = 'session' | 'flow'

function headerOf(
  kind: CookieKind,
  text: string | undefined,
  address: ConsoleAddress,
  seconds: number | undefined,
): string {
  const secure = isSecure(address) ? '; Secure' : ''
  const age = seconds === undefined ? '' : `; Max-Age=${seconds}`
  // Lax, so that a link from a colleague opens with the present session, and so does the return from the provider.
  return `${cookieName(address, kind)}=${text ?? ''}; Path=/; HttpOnly; SameSite=Lax${secure}${age}`
}

function cookieName(address: ConsoleAddress, kind: CookieKind): string {
  const name = kind === 'session' ? 'enrolment-console' : 'enrolment-console-flow'
  return isSecure(address) ? `__Host-${name}` : name
}
