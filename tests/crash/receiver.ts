import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Created, hookAt } from '../command/place.ts'
import { type Place, runJson } from '../command/process.ts'

/** A partner's receiver: what arrived under each Idempotency-Key, attempt by attempt. */
export type Receiver = {
  readonly url: string
  readonly username: string
  readonly password: string
  readonly arrived: ReadonlyMap<string, readonly string[]>
  /** Deliveries that carried wrong credentials or another media type. */
  readonly wrong: readonly string[]
  close(): Promise<void>
}

/**
 * Starts a receiver that answers 200 to everything with its credentials. With `echo` it refuses the first copy of about
 * one event in sixteen, and repeats these words in the refusal.
 */
export async function startReceiver({ echo }: { echo?: string } = {}): Promise<Receiver> {
  const username = 'receiver'
  const password = 'pass:word'
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const arrived = new Map<string, string[]>()
  const wrong: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk as Buffer))
    request.on('end', () => {
      const { authorization, 'content-type': type, 'idempotency-key': key } = request.headers
      if (authorization !== expected || type !== 'application/json' || typeof key !== 'string')
        wrong.push(`${authorization} ${type} ${key}`)
      else arrived.set(key, [...(arrived.get(key) ?? []), Buffer.concat(chunks).toString('hex')])
      if (echo !== undefined && key?.slice(-1) === '7' && arrived.get(String(key))?.length === 1)
        return response.writeHead(500).end(echo)
      return response.writeHead(200, { 'content-type': 'application/json' }).end('"received"')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    username,
    password,
    arrived,
    wrong,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Creates a partner whose events all go to the receiver. */
export function createPartnerOf(
  receiver: Receiver,
  place: Place,
  ...more: readonly string[]
): Promise<Created> {
  return runJson<Created>(
    ['partner', 'create', '--name', 'Hooked', ...hookAt(receiver.url, receiver), ...more],
    place,
  )
}
