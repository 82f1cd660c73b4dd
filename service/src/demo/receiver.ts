import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basicAuthorization } from '../webhooks/egress/envelope.ts'

/** The port and the credentials of the demo partner's webhook. */
export type ReceiverSettings = { readonly port: number; readonly username: string; readonly password: string }

/** One delivery as it arrived. */
type Received = {
  readonly receivedat: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** The demo partner's server for webhooks, which `enrolment dev` runs. */
export type Receiver = {
  /** The address to which the service sends events. */
  readonly url: string
  /** The address where a person or a page reads the deliveries that arrived. */
  readonly inbox: string
  readonly port: number
  close(): Promise<void>
}

const MOST_KEPT = 500
const shownHeaders = [
  'idempotency-key',
  'content-type',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'webhook-attempt',
]

/** Starts the receiver on a loopback port: the one in the settings, or a free one when that is taken. */
export async function startReceiver(settings: ReceiverSettings): Promise<Receiver> {
  const inbox: Received[] = []
  const seen = new Set<string>()
  const expected = basicAuthorization(settings.username, settings.password)

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.headers.authorization !== expected) return answer(response, 401, 'wrong credentials')
    const body = await readBody(request)
    const key = String(request.headers['idempotency-key'] ?? '')
    // Events are delivered at least once, so an event may come twice; a receiver keeps it once.
    if (!seen.has(key)) {
      seen.add(key)
      inbox.push({ receivedat: new Date().toISOString(), headers: pick(request), body: JSON.parse(body) })
      if (inbox.length > MOST_KEPT) inbox.shift()
    }
    return answer(response, 200, 'received')
  }

  let hosts: readonly string[] = []
  const server = createServer((request, response) => {
    // The `Host` check keeps out pages of other sites whose own name resolves to this address (DNS rebinding).
    const { host = '', origin } = request.headers
    if (!hosts.includes(host) || (origin !== undefined && !hosts.includes(origin.replace('http://', '')))) {
      answer(response, 421, 'This server has another name.')
      return
    }
    const path = (request.url ?? '').split('?')[0]
    const handled =
      request.method === 'POST' && path === '/webhook'
        ? receive(request, response)
        : request.method === 'GET' && path === '/demo/inbox'
          ? Promise.resolve(answer(response, 200, inbox))
          : Promise.resolve(answer(response, 404, 'not found'))
    handled.catch(() => answer(response, 400, 'not readable'))
  })
  await listen(server, settings.port).catch(() => listen(server, 0))
  const { port } = server.address() as AddressInfo
  hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    inbox: `http://127.0.0.1:${port}/demo/inbox`,
    port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(`${JSON.stringify(body, null, Array.isArray(body) ? 2 : 0)}\n`)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function pick(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    shownHeaders.flatMap(name => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
