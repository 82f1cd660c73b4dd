/** An answer on the way, with the requested address. */
export type Step = {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** A browser without script: it keeps cookies for each origin, and follows redirects one step at a time. */
export type Traveller = {
  readonly get: (url: string) => Promise<Step>
  readonly post: (url: string, fields: Readonly<Record<string, string>>) => Promise<Step>
  /** Follows redirects until a page is shown, or until `stop` accepts the next address. */
  readonly follow: (
    url: string,
    stop?: (next: string) => boolean,
  ) => Promise<Step & { readonly next?: string }>
  /** The browser's cookies for the origin of an address. */
  readonly cookies: (url: string) => Map<string, string>
}

/** Opens a browser without cookies. */
export function newTraveller(): Traveller {
  const jars = new Map<string, Map<string, string>>()
  const cookies = (url: string) => {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    return jar
  }
  const ask = async (url: string, init: RequestInit): Promise<Step> => {
    const jar = cookies(url)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(init.headers as Record<string, string>), ...(cookie === '' ? {} : { cookie }) }
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [pair = '', ...rest] = line.split(/; */)
      const name = pair.slice(0, pair.indexOf('='))
      const isGone = rest.some(one => /^max-age=0$|^expires=Thu, 01 Jan 1970/i.test(one))
      if (isGone) jar.delete(name)
      else jar.set(name, pair.slice(name.length + 1))
    }
    return { url, status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const get = (url: string) => ask(url, {})
  const follow: Traveller['follow'] = async (url, stop = () => false) => {
    const step = await get(url)
    const location = step.headers.get('location')
    if (step.status < 300 || step.status >= 400 || location === null) return step
    const next = new URL(location, url).href
    return stop(next) ? { ...step, next } : follow(next, stop)
  }
  return {
    get,
    follow,
    cookies,
    post: (url, fields) =>
      ask(url, {
        method: 'POST',
        headers: { origin: new URL(url).origin, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields).toString(),
      }),
  }
}
