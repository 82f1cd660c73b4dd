import type { IncomingHttpHeaders } from 'node:http'

/** The value of a cookie of a request, or `undefined`. */
export function cookieIn({ cookie }: IncomingHttpHeaders, name: string): string | undefined {
  const found = cookie?.split(/; */).find(part => part.startsWith(`${name}=`))
  return found?.slice(name.length + 1)
}

/**
 * A `Set-Cookie` header for a cookie that is sent only to our own origin and that no script can read. It lasts
 * `seconds`, or until the browser is closed; without a value it deletes the cookie.
 */
export function cookieHeader(
  name: string,
  value: string | undefined,
  { isSecure, seconds }: { readonly isSecure: boolean; readonly seconds?: number | undefined },
): string {
  const age = value === undefined ? 0 : seconds
  // Lax, so that a link from elsewhere opens with the present session, and so does the return from an identity provider.
  return `${name}=${value ?? ''}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}${age === undefined ? '' : `; Max-Age=${age}`}`
}
