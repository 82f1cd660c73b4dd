import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

/** A partner's endpoint as a bare socket server, so that it can break every rule. */
export type Endpoint = {
  port: number
  /** `http://127.0.0.1:PORT/hook`, or https. */
  url: string
  /** How many connections it has accepted. */
  accepted(): number
  /** How many of them are open. */
  open(): number
  /** Each complete request that arrived, headers and body as text. */
  requests: string[]
  /** How many bytes the kernel has accepted from it in all. */
  sent(): number
  close(): Promise<void>
}

/** The endpoint's behavior on a connection: `request` counts from 1 on each connection. */
export type Script = {
  onConnection?(socket: Socket): void
  onRequest?(socket: Socket, request: number): void
}

/** Starts an endpoint on 127.0.0.1 (or `host`), with TLS if certificates are given. */
export async function startEndpoint(
  script: Script,
  { tls, host = '127.0.0.1' }: { tls?: TlsOptions; host?: string } = {},
): Promise<Endpoint> {
  const sockets = new Set<Socket>()
  const requests: string[] = []
  let accepted = 0
  let sent = 0
  const serve = (socket: Socket) => {
    socket.on('error', () => {})
    script.onConnection?.(socket)
    let text = ''
    let count = 0
    socket.on('data', chunk => {
      text += chunk.toString('utf8')
      if (!isComplete(text)) return
      requests.push(text)
      text = ''
      count += 1
      script.onRequest?.(socket, count)
    })
  }
  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve)
  server.on('connection', (socket: Socket) => {
    accepted += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      sent += socket.bytesWritten - socket.writableLength
    })
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>(listening => server.listen(0, host, listening))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}/hook`,
    accepted: () => accepted,
    open: () => sockets.size,
    requests,
    sent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten - socket.writableLength, sent),
    close: () =>
      new Promise(closed => {
        server.close(() => closed())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return Buffer.byteLength(text.slice(end + 4)) >= length
}

/** An answer with a body and its length, and further header lines. */
export function reply(status: string, body = '', headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status}`, `content-length: ${Buffer.byteLength(body)}`, ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Writes the same piece again and again, as fast as the other side reads it, until the socket closes. */
export function flood(socket: Socket, piece: string | Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', more)
  more()
}

/** Writes a text byte by byte. */
export function drip(socket: Socket, text: string, everyMs: number): void {
  let at = 0
  const timer = setInterval(() => {
    if (at >= text.length) return clearInterval(timer)
    socket.write(text.slice(at, at + 1))
    at += 1
  }, everyMs)
  socket.on('close', () => clearInterval(timer))
}
