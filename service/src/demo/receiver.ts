import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basicAuthorization } from '../webhooks/envelope.ts'

/** How the demo partner's webhook is reached and protected. */
export type ReceiverSettings = { readonly port: number; readonly username: string; readonly password: string }

/** One delivery as it arrived. */
export type Received = {
  readonly receivedat: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A partner's receiver: what `enrolment dev` runs so that its webhooks arrive somewhere. */
export type Receiver = {
  /** Where the service sends events. */
  readonly url: string
  /** Where a person or a page reads what arrived. */
  readonly inbox: string
  readonly port: number
  close(): Promise<void>
}

const mostKept = 500
const shownHeaders = [
  'idempotency-key',
  'content-type',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'webhook-attempt',
]

/** Starts the receiver on a loopback port: the wanted one, or a free one when that is taken. */
export const startReceiver = async (settings: ReceiverSettings): Promise<Receiver> => {
  const inbox: Received[] = []
  const seen = new Set<string>()
  const expected = basicAuthorization(settings.username, settings.password)

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.headers.authorization !== expected) return answer(response, 401, 'wrong credentials')
    const body = await readBody(request)
    const key = String(request.headers['idempotency-key'] ?? '')
    // At least once means that an event may come twice; a receiver keeps it once.
    if (!seen.has(key)) {
      seen.add(key)
      inbox.push({ receivedat: new Date().toISOString(), headers: pick(request), body: JSON.parse(body) })
      if (inbox.length > mostKept) inbox.shift()
    }
    return answer(response, 200, 'received')
  }

  const server = createServer((request, response) => {
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

const listen = (server: ReturnType<typeof createServer>, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })

const answer = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(`${JSON.stringify(body, null, Array.isArray(body) ? 2 : 0)}\n`)
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

const pick = (request: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    shownHeaders.flatMap(name => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
