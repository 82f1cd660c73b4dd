import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { OperatorError } from '../operator-error.ts'

/** One range of addresses that the operator lets webhooks reach although it is not public. */
export interface AllowedRange {
  network: ipaddr.IPv4 | ipaddr.IPv6
  bits: number
}

/** What decides which addresses webhooks may reach: the sandbox mark of the database and the operator's list. */
export interface AddressRules {
  sandbox: boolean
  allow: readonly AllowedRange[]
  /** Addresses of this machine, known at delivery: it answers there with services that only the inside should see. */
  own?: ReadonlySet<string>
}

export type CheckedUrl = { ok: true; url: URL } | { ok: false; reason: string }

const MAX_URL_LENGTH = 2048

/**
 * Whether a partner may save this text as the address of an endpoint, as far as the text alone can tell.
 * A refusal carries one sentence for the partner, which never repeats the text.
 */
export function checkWebhookUrl(text: string, rules: AddressRules): CheckedUrl {
  const reason = reasonAgainstText(text)
  if (reason !== undefined) return refuse(reason)
  if (!URL.canParse(text)) return refuse('The address is not a valid URL.')
  const url = new URL(text)
  const against = reasonAgainstUrl(url) ?? reasonAgainstHost(url, rules)
  return against === undefined ? { ok: true, url } : refuse(against)
}

function refuse(reason: string): CheckedUrl {
  return { ok: false, reason }
}

function reasonAgainstText(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `The address is longer than ${MAX_URL_LENGTH} characters.`
  // A URL parser drops tabs and newlines and reads a backslash as a slash: what people see is not what it means.
  if (!/^[\x21-\x7e]*$/.test(text) || text.includes('\\'))
    return 'The address may hold printable ASCII characters only, without spaces and backslashes.'
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1]
  if (authority === undefined) return 'The address must begin with https:// and a host.'
  if (authority.includes('@')) return 'The address must not contain a user name or password.'
  if (text.includes('#')) return 'The address must not contain a fragment.'
  return undefined
}

function reasonAgainstUrl(url: URL): string | undefined {
  if (url.href.length > MAX_URL_LENGTH) return `The address is longer than ${MAX_URL_LENGTH} characters.`
  if (url.port === '0') return 'The port of the address must be between 1 and 65535.'
  return undefined
}

function reasonAgainstHost(url: URL, rules: AddressRules): string | undefined {
  const host = hostOf(url)
  const notPublic = 'The host of the address is not public.'
  const notHttps = 'The address must use https.'
  if (isIP(host) !== 0) {
    if (mayReach(host, url.protocol, rules)) return undefined
    return mayReach(host, 'https:', rules) ? notHttps : notPublic
  }
  if (!isHostName(host)) return 'The host of the address is not a valid name.'
  // What a name means is known at delivery only: there plain http still needs an address of an allowed range.
  if (url.protocol === 'http:' && !rules.sandbox && rules.allow.length === 0) return notHttps
  if (rules.sandbox) return undefined
  return isLoopbackName(host) || !host.includes('.') ? notPublic : undefined
}

function isHostName(host: string): boolean {
  return (
    host.length <= 253 &&
    host.split('.').every(label => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  )
}

/** The host of a URL as names and sockets know it: without the brackets of an IPv6 literal. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

/** Whether a name is `localhost` or lies under it, which by RFC 6761 always means this machine. */
export function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

/**
 * Whether a webhook may be sent to this address by this protocol (`https:` or `http:`): a public one by https,
 * one of the operator's ranges by either; in a sandbox loopback too, and http everywhere. Of this machine's own
 * addresses only those that the operator's ranges or the sandbox name.
 */
export function mayReach(ip: string, protocol: string, rules: AddressRules): boolean {
  if (rules.sandbox && isIP(ip) !== 0 && ipaddr.parse(ip).range() === 'loopback') return true
  if (isInRanges(ip, rules.allow)) return true
  if (rules.own?.has(ip)) return false
  return (protocol === 'https:' || rules.sandbox) && isPublicAddress(ip, [])
}

/** Whether an address is public unicast or in one of the allowed ranges; text that is no strict IP address is not. */
export function isPublicAddress(ip: string, allow: readonly AllowedRange[]): boolean {
  if (isIP(ip) === 0 || ip.includes('%')) return false
  if (isInRanges(ip, allow)) return true
  const address = ipaddr.parse(ip)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' ? ip !== AZURE_WIRE_SERVER : isGlobalUnicast(address)
}

/** Azure's host endpoint answers every virtual machine there under an address that looks public. */
const AZURE_WIRE_SERVER = '168.63.129.16'

/** `range()` calls everything unicast that it has no name for; IANA has given out nothing outside 2000::/3. */
function isGlobalUnicast(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (!(address instanceof ipaddr.IPv6)) return false
  const [first = 0, , , , fifth = 0, sixth] = address.parts
  const isatap = (fifth & 0xfdff) === 0 && sixth === 0x5efe
  return first >> 13 === 1 && !isatap
}

function isInRanges(ip: string, ranges: readonly AllowedRange[]): boolean {
  if (isIP(ip) === 0) return false
  const address = ipaddr.parse(ip)
  return ranges.some(({ network, bits }) => network.kind() === address.kind() && address.match(network, bits))
}

/**
 * The ranges of `ENROLMENT_WEBHOOK_ALLOW`: networks in CIDR form or single addresses, separated by commas.
 * A wrong one is an OperatorError that names it.
 */
export function parseAllowList(text: string): AllowedRange[] {
  return text
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '')
    .map(parseRange)
}

function parseRange(entry: string): AllowedRange {
  const wrong = (what: string) =>
    new OperatorError(`ENROLMENT_WEBHOOK_ALLOW: "${entry}" ${what}. Write networks like 10.0.0.0/8,fd00::/8.`)
  const [ip = '', mask, ...rest] = entry.split('/')
  const family = isIP(ip)
  if (family === 0 || ip.includes('%') || rest.length > 0) throw wrong('is not a network')
  const width = family === 4 ? 32 : 128
  if (mask !== undefined && !/^(0|[1-9]\d{0,2})$/.test(mask)) throw wrong('is not a network')
  const bits = mask === undefined ? width : Number(mask)
  if (bits > width) throw wrong(`has more than ${width} bits`)
  if (bits === 0) throw wrong('would allow every address')
  const network = ipaddr.parse(ip)
  if (!isNetworkAddress(network, bits)) throw wrong(`has bits set beyond its first ${bits}`)
  return { network, bits }
}

function isNetworkAddress(network: ipaddr.IPv4 | ipaddr.IPv6, bits: number): boolean {
  return network.toByteArray().every((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8))
    return (byte & (0xff >> kept)) === 0
  })
}
