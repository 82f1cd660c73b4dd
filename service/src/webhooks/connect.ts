import { isIP, type LookupFunction, connect as openSocket, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as openTls, type TLSSocket } from 'node:tls'
import { type AddressRules, hostOf, mayReach } from './address.ts'
import { Fault, faultOf, type Timings, timeoutFault } from './outcome.ts'
import type { NameResolver } from './resolver.ts'

/** What connections to endpoints are made with. */
export interface ConnectOptions {
  rules: AddressRules
  resolver: NameResolver
  /** The longest that the TCP connection may take, over all addresses of the name. */
  connectMs: number
  /** The longest that the TLS handshake may take. */
  tlsMs: number
  /** PEM certificates trusted in place of the platform's. */
  trusted?: string
}

/** What is known of a connection, filled in while it is made, so that a failed one leaves its trace too. */
export interface ConnectionTrace extends Pick<Timings, 'dnsMs' | 'connectMs' | 'tlsMs'> {
  address?: string | undefined
}

/** One slow address must not use up the time of the next. */
const NEXT_ADDRESS_MS = 1000

/**
 * Connects to the host of a URL, at an address that webhooks may reach and at no other. Throws a Fault; when the
 * signal aborts, its reason. Whatever is thrown, no socket stays open.
 */
export async function connectTo(
  url: URL,
  { options, trace, signal }: { options: ConnectOptions; trace: ConnectionTrace; signal: AbortSignal },
): Promise<Socket> {
  const host = hostOf(url)
  const timed = stopwatch()
  const addresses = isIP(host) === 0 ? await options.resolver.resolve(host) : [host]
  if (isIP(host) === 0) trace.dnsMs = timed()
  signal.throwIfAborted()
  refuseForbidden(addresses, { url, options, trace })

  const socket = openSocket({
    host,
    port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    lookup: fixedLookup(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    noDelay: true,
  })
  await ready(socket, { event: 'connect', withinMs: options.connectMs, signal, errorClass: 'connect' })
  trace.connectMs = timed()
  try {
    // Gone already: closed by the other side as soon as it was open.
    if (socket.remoteAddress === undefined) throw new Fault('reset')
    refuseForbidden([socket.remoteAddress], { url, options, trace })
  } catch (refusal) {
    socket.destroy()
    throw refusal
  }
  if (url.protocol === 'http:') return socket

  const secured = startTls(socket, host, options.trusted)
  await ready(secured, { event: 'secureConnect', withinMs: options.tlsMs, signal, errorClass: 'tls' })
  trace.tlsMs = timed()
  return secured
}

/** Throws the Fault `blocked_address` if any address is forbidden: one bad answer makes the whole name suspect. */
function refuseForbidden(
  addresses: readonly string[],
  { url, options, trace }: { url: URL; options: ConnectOptions; trace: ConnectionTrace },
): void {
  trace.address = addresses[0]
  const rules = { ...options.rules, own: ownAddresses() }
  for (const address of addresses) {
    if (mayReach(address, url.protocol, rules)) continue
    trace.address = address
    throw new Fault('blocked_address')
  }
}

/** To ask the system costs a tenth of what a connection costs. */
const OWN_ADDRESSES_MS = 1000
let known: { addresses: ReadonlySet<string>; until: number } | undefined

function ownAddresses(): ReadonlySet<string> {
  const now = performance.now()
  if (known !== undefined && now < known.until) return known.addresses
  const interfaces = Object.values(networkInterfaces()).flatMap(list => list ?? [])
  const addresses = new Set(interfaces.map(({ address }) => address))
  known = { addresses, until: now + OWN_ADDRESSES_MS }
  return addresses
}

/** Node must connect to exactly the addresses that were checked, so it may not look up again. */
function fixedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map(address => ({ address, family: isIP(address) }))
  return (_host, _options, callback) => callback(null, found)
}

function startTls(socket: Socket, host: string, trusted: string | undefined): TLSSocket {
  return openTls({
    socket,
    host,
    // RFC 6066 forbids literals as server names.
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(trusted !== undefined && { ca: trusted }),
  })
}

/** Waits for the socket's event; else destroys it and throws the Fault, or the reason of the signal. */
function ready(
  socket: Socket,
  wait: {
    event: 'connect' | 'secureConnect'
    withinMs: number
    signal: AbortSignal
    errorClass: 'connect' | 'tls'
  },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const dueAt = performance.now() + wait.withinMs
    const settle = () => {
      clearTimeout(timer)
      wait.signal.removeEventListener('abort', abort)
    }
    const fail = (error: unknown) => {
      settle()
      socket.destroy()
      reject(faultOf(error, wait.errorClass))
    }
    const abort = () => fail(wait.signal.reason)
    const timer = setTimeout(
      () => fail(timeoutFault(wait.errorClass, performance.now() - dueAt)),
      wait.withinMs,
    )
    wait.signal.addEventListener('abort', abort)
    // Stays for good: an error between here and the next owner of the socket must not end the process.
    socket.on('error', fail)
    socket.once('close', () => fail(new Error('closed')))
    socket.once(wait.event, () => {
      settle()
      resolve()
    })
    if (wait.signal.aborted) abort()
  })
}

function stopwatch(): () => number {
  let last = performance.now()
  return () => {
    const now = performance.now()
    const passed = Math.round(now - last)
    last = now
    return passed
  }
}
