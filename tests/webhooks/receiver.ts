import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One delivery as it arrived. */
export type Delivery = {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly userid: string
  readonly eventname: string
  readonly key: string
  readonly attempt: number
  readonly authorization: string
  readonly at: number
}

/** The receiver's reaction to a delivery: a status, or a function that uses the response. */
export type Answer = number | ((response: ServerResponse, delivery: Delivery) => void)

/** A partner's endpoint: a real server with a script. */
export type Receiver = {
  readonly url: string
  readonly deliveries: Delivery[]
  /** The answer from now on. */
  answer: (delivery: Delivery) => Answer
  /** Fulfills when this many have arrived. */
  received(count: number): Promise<void>
  close(): Promise<void>
}

const PATH = '/hook'

/** Starts a receiver that answers 200 until it is told otherwise. */
export async function startReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = []
  const waiters = new Set<() => void>()
  const server: Server = createServer((request, response) => {
    // Its port may have been that of another test's service, which a late request still looks for.
    if (!request.url?.startsWith(PATH)) return void response.writeHead(404).end()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const { userid, eventname } = JSON.parse(body) as { userid: string; eventname: string }
      const delivery: Delivery = {
        headers: request.headers,
        body,
        userid,
        eventname,
        key: String(request.headers['idempotency-key']),
        attempt: Number(request.headers['webhook-attempt']),
        authorization: String(request.headers.authorization),
        at: Date.now(),
      }
      deliveries.push(delivery)
      const answer = receiver.answer(delivery)
      if (typeof answer === 'number') response.writeHead(answer).end('"ok"')
      else answer(response, delivery)
      for (const waiter of waiters) waiter()
    })
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    deliveries,
    answer: () => 200,
    received: count =>
      new Promise(resolve => {
        const check = () => {
          if (deliveries.length < count) return
          waiters.delete(check)
          resolve()
        }
        waiters.add(check)
        check()
      }),
    close: () =>
      new Promise(closed => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
  return receiver
}
