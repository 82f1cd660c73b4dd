/** Which addresses webhooks may reach: checked when a URL is saved, and for each IP address when it is connected to. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { OperatorError } from '../../operator-error.ts'

/** A range of addresses that the operator allows for webhooks although it is not public. */
export type AllowedRange = {
  network: ipaddr.IPv4 | ipaddr.IPv6
  bits: number
}

/** The rules for reachable addresses: the sandbox mark of the database, and the operator's list. */
export type AddressRules = {
  sandbox: boolean
  allow: readonly AllowedRange[]
  /** The addresses of this machine, known when connecting: they may offer services that only insiders should reach. */
  own?: ReadonlySet<string>
}

/** An address that deliveries may go to, or the reason why they may not. */
type CheckedUrl = { ok: true; url: URL } | { ok: false; reason: string }

const MAX_URL_LENGTH = 2048

/**
 * Whether a partner may save this text as an endpoint's address, judged by the text alone. A refusal has one sentence
 * for the partner, which never repeats the text.
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
  // URL parsers drop tabs and newlines and read a backslash as a slash, so the URL would differ from the text that
  // people see.
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
  // A name's address is known only when connecting, where plain http still needs an address of an allowed range.
  if (url.protocol === 'http:' && !rules.sandbox && rules.allow.length === 0) return notHttps
  if (isLoopbackName(host)) return rules.sandbox ? undefined : notPublic
  if (!host.includes('.')) return notPublic
  // If the operator allows ranges of an internal network, partners may use that network's names.
  return isInsideName(host) && rules.allow.length === 0 ? notPublic : undefined
}

const insideNames = [
  '.internal',
  '.local',
  '.localdomain',
  '.svc',
  '.lan',
  '.intranet',
  '.consul',
  '.corp',
  '.home',
  '.test',
  '.arpa',
]

/** Whether a name has a meaning only inside a network: public name servers know none of these endings. */
function isInsideName(host: string): boolean {
  return insideNames.some(suffix => host.endsWith(suffix))
}

function isHostName(host: string): boolean {
  return (
    host.length <= 253 &&
    host.split('.').every(label => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  )
}

/** The host of a URL as sockets need it: without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

/** Whether a name is `localhost` or ends with `.localhost`, which by RFC 6761 always means this machine. */
export function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

/**
 * Whether a webhook may be sent to this address by this protocol (`https:` or `http:`). Public addresses need https;
 * the operator's ranges allow both. In a sandbox, loopback is allowed too, and http everywhere. Of this machine's own
 * addresses, only those in the operator's ranges or on a sandbox's loopback are allowed.
 */
export function mayReach(ip: string, protocol: string, rules: AddressRules): boolean {
  if (rules.sandbox && isIP(ip) !== 0 && ipaddr.parse(ip).range() === 'loopback') return true
  if (isInRanges(ip, rules.allow)) return true
  if (rules.own?.has(ip)) return false
  return (protocol === 'https:' || rules.sandbox) && isPublicAddress(ip)
}

/** Whether an address is public unicast; false for text that is not a strict IP address. */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0 || ip.includes('%')) return false
  const address = ipaddr.parse(ip)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' ? ip !== AZURE_WIRE_SERVER : isGlobalUnicast(address)
}

/** Azure's host serves every virtual machine under this address, which looks public. */
const AZURE_WIRE_SERVER = '168.63.129.16'

/** `range()` reports every range without a name as unicast, but IANA has assigned nothing outside 2000::/3. */
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
 * The ranges of `ENROLMENT_WEBHOOK_ALLOW`: networks in CIDR form or single addresses, separated by commas. Throws
 * OperatorError that names a wrong one.
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
