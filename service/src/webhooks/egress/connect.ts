/** Opens sockets to endpoints, with TLS where the URL says so, and only to addresses that were checked. */
import { isIP, isIPv6, type LookupFunction, connect as openSocket, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as openTls, type TLSSocket } from 'node:tls'
import { type AddressRules, hostOf, mayReach } from './address.ts'
import { Fault, faultOf, type Timings, timeoutFault } from './outcome.ts'
import type { NameResolver } from './resolver.ts'

/** A certificate that we present where an endpoint asks for one (mTLS), with its key, both PEM. */
export type ClientCertificate = {
  readonly certificate: string
  readonly key: string
  /** When the certificate expires. */
  readonly endsAt: number
}

/**
 * The operator's proxy, through which deliveries come from fixed addresses, and the value of `Proxy-Authorization`, if it
 * wants one.
 */
export type EgressProxy = {
  readonly host: string
  readonly port: number
  readonly authorization: string | undefined
}

/** What is needed to connect to endpoints. */
export type ConnectOptions = {
  rules: AddressRules
  resolver: NameResolver
  /** The limit for the TCP connection, over all addresses of the name. */
  connectMs: number
  /** The limit for the TLS handshake. */
  tlsMs: number
  /** PEM certificates trusted in place of the platform's. */
  trusted?: string
  client?: ClientCertificate | undefined
  /** The operator's proxy for everything that goes out. */
  proxy?: EgressProxy | undefined
}

/** What is known of a connection, filled in step by step, so that a failed connection leaves a trace too. */
export type ConnectionTrace = Pick<Timings, 'dnsMs' | 'connectMs' | 'tlsMs'> & {
  address?: string | undefined
  /** When the endpoint's certificate expires. */
  certificateEndsAt?: number | undefined
}

/** How long one address is tried before the next, so that a slow one does not use up the time of all. */
const NEXT_ADDRESS_MS = 1000

/**
 * Connects to the host of a URL, but only at addresses that webhooks may reach. Throws a Fault, or the signal's reason
 * when it aborts; no socket stays open then.
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

  const target = { addresses, url, timed }
  const socket = options.proxy
    ? await connectThrough(options.proxy, target, { options, trace, signal })
    : await connectDirectly(target, { options, trace, signal })
  if (url.protocol === 'http:') return socket

  const secured = startTls(socket, host, options)
  await ready(secured, { event: 'secureConnect', withinMs: options.tlsMs, signal, errorClass: 'tls' })
  trace.tlsMs = timed()
  const endsAt = Date.parse(secured.getPeerCertificate().valid_to ?? '')
  if (!Number.isNaN(endsAt)) trace.certificateEndsAt = endsAt
  return secured
}

type Target = { addresses: readonly string[]; url: URL; timed: () => number }
type Connecting = { options: ConnectOptions; trace: ConnectionTrace; signal: AbortSignal }

async function connectDirectly(
  { addresses, url, timed }: Target,
  { options, trace, signal }: Connecting,
): Promise<Socket> {
  const socket = openSocket({
    host: hostOf(url),
    port: portOf(url),
    lookup: fixedLookup(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    noDelay: true,
  })
  await ready(socket, { event: 'connect', withinMs: options.connectMs, signal, errorClass: 'connect' })
  trace.connectMs = timed()
  try {
    // The other side closed the connection as soon as it was open.
    if (socket.remoteAddress === undefined) throw new Fault('reset')
    refuseForbidden([socket.remoteAddress], { url, options, trace })
  } catch (refusal) {
    socket.destroy()
    throw refusal
  }
  return socket
}

/** Tries the addresses one after the other, each by a connection to the proxy, all within the limit for connecting. */
async function connectThrough(
  proxy: EgressProxy,
  { addresses, url, timed }: Target,
  { options, trace, signal }: Connecting,
): Promise<Socket> {
  const endsAt = performance.now() + options.connectMs
  let fault: unknown
  for (const address of addresses) {
    const leftMs = () => Math.max(1, endsAt - performance.now())
    const socket = openSocket({ host: proxy.host, port: proxy.port, noDelay: true })
    await ready(socket, { event: 'connect', withinMs: leftMs(), signal, errorClass: 'proxy' })
    let late: Fault | undefined
    const timer = setTimeout(() => {
      late = timeoutFault('connect', performance.now() - endsAt)
      socket.destroy()
    }, leftMs())
    const stop = () => socket.destroy()
    signal.addEventListener('abort', stop)
    try {
      await openTunnel(socket, { address, port: portOf(url) }, proxy)
      trace.address = address
      trace.connectMs = timed()
      return socket
    } catch (error) {
      socket.destroy()
      signal.throwIfAborted()
      fault = late ?? error
      if (!(error instanceof Fault) || error.errorClass !== 'connect' || performance.now() >= endsAt) break
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }
  throw fault
}

function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
}

/** Throws the Fault `blocked_address` if any address is forbidden: one forbidden address makes the whole name suspect. */
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

/** How long the list of this machine's addresses is reused: making it costs a tenth of what a connection costs. */
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

/** Makes Node connect to exactly the addresses that were checked, without another look-up. */
function fixedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map(address => ({ address, family: isIP(address) }))
  return (_host, _options, callback) => callback(null, found)
}

function startTls(socket: Socket, host: string, { trusted, client }: ConnectOptions): TLSSocket {
  return openTls({
    socket,
    host,
    // RFC 6066 forbids IP addresses as server names.
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(trusted !== undefined && { ca: trusted }),
    ...(client && { cert: client.certificate, key: client.key }),
  })
}

/** Waits for the socket's event. Otherwise destroys the socket and throws the Fault, or the signal's reason. */
function ready(
  socket: Socket,
  wait: {
    event: 'connect' | 'secureConnect'
    withinMs: number
    signal: AbortSignal
    errorClass: 'connect' | 'tls' | 'proxy'
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
    // This listener is never removed: an error before the socket's next owner listens must not end the process.
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

/** The longest answer of a proxy. */
const MAX_ANSWER_BYTES = 8 * 1024

/**
 * Has the proxy connect to this address (RFC 9110 §9.3.6): the socket is the endpoint's from then on. The address is an IP
 * address that was checked, so the proxy looks no name up. Throws the Fault `connect` when the proxy cannot connect, and
 * `proxy` when it refuses us, which is no fault of the endpoint.
 */
async function openTunnel(
  socket: Socket,
  { address, port }: { address: string; port: number },
  { authorization }: EgressProxy,
): Promise<void> {
  const target = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const credentials = authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n`
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${credentials}\r\n`)
  const head = await readHead(socket)
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1])
  if (status >= 200 && status <= 299) return
  throw new Fault(status >= 500 ? 'connect' : 'proxy', new Error(`the proxy answered ${status || 'no HTTP'}`))
}

/** Reads up to the empty line; what follows stays in the socket. */
function readHead(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0)
    const settle = () => {
      socket.off('readable', read)
      socket.off('close', closed)
    }
    const fail = (fault: Fault) => {
      settle()
      reject(fault)
    }
    const closed = () => fail(new Fault('connect', new Error('the proxy closed the connection')))
    const read = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
        head = Buffer.concat([head, chunk as Buffer])
        const end = head.indexOf('\r\n\r\n')
        if (end >= 0) {
          settle()
          if (head.length > end + 4) socket.unshift(head.subarray(end + 4))
          return resolve(head.toString('latin1', 0, end))
        }
        if (head.length > MAX_ANSWER_BYTES) return fail(new Fault('proxy'))
      }
    }
    socket.on('readable', read)
    socket.once('close', closed)
  })
}
