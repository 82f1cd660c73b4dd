import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { OperatorError } from './operator-error.ts'
import type { EgressProxy } from './webhooks/egress/connect.ts'

/** The base address without a slash at its end; throws OperatorError for one that no link could be made from. */
export function readBaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const wrong = new OperatorError(
    'ENROLMENT_BASE_URL must be an absolute address like https://benefits.example.com/stage, without query, fragment or user; its path has only letters, digits and . _ ~ - between single slashes.',
  )
  if (!URL.canParse(text)) throw wrong
  const url = new URL(text)
  // `search` and `hash` are empty for a lone `?` or `#`, with which every link would lead to the first page of the host.
  // Routes are made from the path, and in a route other characters would mean something else or never match.
  const base = url.href.replace(/\/+$/, '')
  const isHttp = ['http:', 'https:'].includes(url.protocol)
  // `URL` would silently take a backslash for a slash, and take away a step up.
  const isChanged = /[\\\s]|\/(\.|%2e){1,2}(\/|$)/i.test(text)
  if (!isHttp || isChanged || url.username || url.password || !/^https?:\/\/[^/]+(\/[\w.~-]+)*$/.test(base))
    throw wrong
  return base
}

/** An origin alone: the console's cookies are valid for a whole host, so the console must not share its host. */
export function readConsoleUrl(text: string | undefined): string | undefined {
  if (!text) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url && ['http:', 'https:'].includes(url.protocol) && `${url.origin}/` === url.href
  if (url && isOrigin) return url.origin
  throw new OperatorError(
    'ENROLMENT_CONSOLE_BASE_URL must be an address like https://console.example.com, without a path.',
  )
}

/** Addresses or networks, split by commas. Throws OperatorError for anything else. */
export function readNetworks(text: string | undefined): string[] {
  const networks = (text ?? '')
    .split(',')
    .map(item => item.trim())
    .filter(Boolean)
  // `ipaddr.js` reads 10.1 as 10.0.0.1, which is not what somebody who writes it here means.
  const isWhole = (network: string) => isIP(network.split('/')[0] ?? '') !== 0
  if (
    !networks.every(network => isWhole(network) && (ipaddr.isValid(network) || ipaddr.isValidCIDR(network)))
  ) {
    throw new OperatorError(
      'ENROLMENT_TRUST_PROXY must be a list of addresses or networks like 10.0.0.0/8,192.0.2.7.',
    )
  }
  return networks
}

/** The proxy for webhooks; throws OperatorError for an address that is none, without repeating it: it may have a password. */
export function readProxy(text: string | undefined): EgressProxy | undefined {
  if (!text) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const pair = url && pairOf(url)
  if (
    !url ||
    pair === undefined ||
    url.protocol !== 'http:' ||
    url.pathname !== '/' ||
    url.search ||
    url.hash
  )
    throw new OperatorError(
      'ENROLMENT_WEBHOOK_PROXY must be an address like http://proxy.example.com:3128 or http://user:password@10.0.0.5:3128, where / ? # @ : and % of the password are percent-encoded.',
    )
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || 80,
    authorization: pair === ':' ? undefined : `Basic ${Buffer.from(pair).toString('base64')}`,
  }
}

function pairOf({ username, password }: URL): string | undefined {
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  } catch {
    return undefined
  }
}

/** Whether the text is the address of a PostgreSQL database. */
export function isDatabaseUrl(text: string): boolean {
  // The directory of a socket may be in the query, with nothing between @ and the slash.
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace('@/', '@localhost/'))
}

/** An address for reports. Throws OperatorError for anything else. */
export function readContact(text: string | undefined): string | undefined {
  if (!text) return undefined
  if (/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(text)) return text
  throw new OperatorError(
    'ENROLMENT_SECURITY_CONTACT must be an address like mailto:security@example.com or https://example.com/security.',
  )
}
