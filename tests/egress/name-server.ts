import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'

/** The answer of a name server about one name: addresses of both families, an RCODE, or no answer. */
export type Zone = readonly string[] | { rcode: number } | 'silent'

/** A name server on a local UDP port whose zones a test may change at any time. */
export type NameServer = {
  /** For `createResolver({servers})`. */
  address: string
  zones: Map<string, Zone | ((family: 4 | 6) => Zone)>
  /** Each question asked, as `name/4` or `name/6`. */
  questions: string[]
  close(): Promise<void>
}

const TYPE_A = 1
const TYPE_AAAA = 28
const NXDOMAIN = 3

/** Starts a name server that knows no name yet. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4')
  const zones: NameServer['zones'] = new Map()
  const questions: string[] = []
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query)
    const family = type === TYPE_AAAA ? 6 : 4
    questions.push(`${name}/${family}`)
    const entry = zones.get(name) ?? { rcode: NXDOMAIN }
    const zone = typeof entry === 'function' ? entry(family) : entry
    if (zone === 'silent') return
    const rcode = 'rcode' in zone ? zone.rcode : 0
    const addresses = 'rcode' in zone ? [] : zone.filter(ip => isIP(ip) === family)
    socket.send(answer(query.subarray(0, end), rcode, addresses), from.port, from.address)
  })
  await new Promise<void>(bound => socket.bind(0, '127.0.0.1', bound))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    zones,
    questions,
    close: () => new Promise(closed => socket.close(closed)),
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function answer(question: Buffer, rcode: number, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180 | rcode, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...addresses.map(record)])
}

function record(ip: string): Buffer {
  const bytes = addressBytes(ip)
  const fixed = Buffer.alloc(12)
  // A pointer to the name in the question, the type, class IN, a time to live of 0, and the length.
  fixed.writeUInt16BE(0xc00c, 0)
  fixed.writeUInt16BE(bytes.length === 4 ? TYPE_A : TYPE_AAAA, 2)
  fixed.writeUInt16BE(1, 4)
  fixed.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([fixed, bytes])
}

function addressBytes(ip: string): Buffer {
  if (isIP(ip) === 4) return Buffer.from(ip.split('.').map(Number))
  // The URL parser writes an embedded IPv4 address as two groups.
  const normal = new URL(`http://[${ip}]/`).hostname.slice(1, -1)
  const [before = '', after] = normal.split('::')
  const left = before.split(':').filter(Boolean)
  const right = (after ?? '').split(':').filter(Boolean)
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  return Buffer.from([...left, ...zeros, ...right].map(group => group.padStart(4, '0')).join(''), 'hex')
}
