import { ELECTRONIC_RECORDS } from '../../service/src/membership/rules/electronic-records.ts'
import type { Rig } from './rig.ts'

/** Ticks the box of the consent to electronic records, which comes before the first agreement. */
export const recordsAgreed = {
  [`consent.${ELECTRONIC_RECORDS.name}`]: ELECTRONIC_RECORDS.version,
} as const

/** What a browser without script shows after a request. */
export type Shown = {
  readonly status: number
  readonly view: string | undefined
  readonly html: string
  readonly headers: Headers
  /** The final path, below the service's address. */
  readonly path: string
}

/** A browser without script or screen: cookies, forms and redirects, as fast as HTTP. */
export type Visitor = {
  get(address: string, headers?: Record<string, string>): Promise<Shown>
  /** Posts with the hidden fields of the last form, unless they are given. */
  post(address: string, fields?: Fields, headers?: Record<string, string>): Promise<Shown>
  /** Sends one request without following redirects; remembers only cookies. */
  send(address: string, init?: RequestInit): Promise<Response>
  readonly cookies: ReadonlyMap<string, string>
}

/** Opens a new link of the rig's person, as a new visitor. */
export async function openLink(
  rig: Pick<Rig, 'service' | 'mintLink'>,
  link: Parameters<Rig['mintLink']>[0] = {},
): Promise<Visitor> {
  const visitor = newVisitor(rig.service)
  await visitor.post(await rig.mintLink(link))
  return visitor
}

/** The words of a page, without tags and with single spaces. */
export function wordsOf({ html }: Pick<Shown, 'html'>): string {
  return html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
}

type Fields = Readonly<Record<string, string | readonly string[]>>

/** Creates a visitor of a service; with a handle it acts as the frame, which has no cookies. */
export function newVisitor(service: string, handle?: string): Visitor {
  const cookies = new Map<string, string>()
  let hidden: [string, string][] = []

  async function send(address: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      ...(cookie && !handle ? { cookie } : {}),
      ...(handle ? { authorization: `Session ${handle}` } : {}),
      ...(init.headers as Record<string, string> | undefined),
    }
    const url = address.startsWith('http') ? address : service + address
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return response
  }

  async function follow(address: string, init: RequestInit): Promise<Shown> {
    let response = await send(address, init)
    let path = address.replace(service, '')
    for (let leads = 0; response.status === 303 && leads < 10; leads += 1) {
      path = response.headers.get('location') ?? ''
      response = await send(path, { headers: init.headers ?? {} })
    }
    const html = await response.text()
    hidden = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(
      ([, name = '', value = '']) => [name, value],
    )
    const view = /data-view="(\w+)"/.exec(html)?.[1]
    return { status: response.status, view, html, headers: response.headers, path }
  }

  return {
    cookies,
    send,
    get: (address, headers = {}) => follow(address, { headers }),
    post(address, fields = {}, headers = {}) {
      const body = new URLSearchParams()
      const own = hidden.filter(([name]) => name !== 'view' && !(name in fields))
      for (const [name, value] of own) body.append(name, value)
      for (const [name, value] of Object.entries(fields))
        for (const one of [value].flat()) body.append(name, one)
      return follow(address, { method: 'POST', body, headers })
    },
  }
}
