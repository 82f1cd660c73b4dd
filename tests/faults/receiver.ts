import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type Created, hookAt } from '../command/place.ts'
import { type Place, runJson } from '../command/process.ts'
import { ada } from '../rig.ts'

/** A partner's receiver: what arrived under each Idempotency-Key, attempt by attempt. */
export type Receiver = {
  readonly url: string
  readonly username: string
  readonly password: string
  readonly arrived: ReadonlyMap<string, readonly string[]>
  /** Deliveries that carried wrong credentials or another media type. */
  readonly wrong: readonly string[]
  /** Breaks all connections, whatever is under way on them, and takes new ones only after a while. */
  away(ms: number): Promise<void>
  close(): Promise<void>
}

const PATH = '/hook'

/**
 * Starts a receiver that answers 200 to everything with its credentials. If it `refuses`, the first copy of about one
 * event in sixteen gets 422 or 500 instead. Each answer repeats what arrived, with personal data that the receiver knows
 * of the user.
 */
export async function startReceiver({ refuses = false } = {}): Promise<Receiver> {
  const username = 'receiver'
  const password = 'pass:word'
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const arrived = new Map<string, string[]>()
  const wrong: string[] = []
  const server = createServer((request, response) => {
    // Its port may have been that of another test's service, which a late request still looks for.
    if (!request.url?.startsWith(PATH)) return void response.writeHead(404).end()
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk as Buffer))
    request.on('end', () => {
      const { authorization, 'content-type': type, 'idempotency-key': key } = request.headers
      const body = Buffer.concat(chunks)
      if (authorization !== expected || type !== 'application/json' || typeof key !== 'string')
        wrong.push(`${authorization} ${type} ${key}`)
      else arrived.set(key, [...(arrived.get(key) ?? []), body.toString('hex')])
      const isFirst = typeof key === 'string' && arrived.get(key)?.length === 1
      const status = refuses && isFirst ? statusOfFirst(key) : 200
      response.writeHead(status).end(`${ada.firstname} ${ada.lastname}, ${ada.email}: ${body}`)
    })
  })
  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    username,
    password,
    arrived,
    wrong,
    async away(ms) {
      await close()
      await pause(ms)
      await listen(port)
    },
    close,
  }
}

/** The answer to the first copy of an event, by the last digits of its id. */
function statusOfFirst(key: string): number {
  if (!key.endsWith('7')) return 200
  return /[0-7].$/.test(key) ? 422 : 500
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
