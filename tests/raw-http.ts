import { connect } from 'node:net'

/** An answer as it was received. */
export type RawAnswer = { status: number; headers: Record<string, string>; text: string; json: () => unknown }

/** Sends bytes that a typed client cannot send, and reads one answer. */
export function sendRaw(baseUrl: string, bytes: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(baseUrl)
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    socket.setTimeout(20_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', chunk => {
      chunks.push(chunk)
      const answer = parse(Buffer.concat(chunks))
      if (!answer) return
      socket.destroy()
      resolve(answer)
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed after ${Buffer.concat(chunks).length} bytes`)))
    socket.write(bytes)
  })
}

/** One request of a partner with exactly these headers and this body. */
export function rawRequest(
  method: string,
  path: string,
  headers: readonly (readonly [string, string])[],
  body?: string | Buffer,
): Buffer {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${bytes.length}`]),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
}

function parse(bytes: Buffer): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    lines.map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const body = bytes.subarray(end + 4)
  const length = Number(headers['content-length'] ?? 0)
  if (body.length < length) return undefined
  const text = body.subarray(0, length).toString('utf8')
  return { status: Number(first.split(' ')[1]), headers, text, json: () => JSON.parse(text) as unknown }
}
