// @ts-check
// A partner's webhook: verify the delivery, answer at once, keep each event once.
import { webhooks } from '@benefit-enrolment/client'

const MOST_KEPT = 500
const shown = [
  'idempotency-key',
  'content-type',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'webhook-attempt',
]

/** @param {{ username: string, password: string }} credentials */
export function openInbox({ username, password }) {
  /** @type {{ receivedat: string, headers: Record<string, string>, body: unknown }[]} */
  const kept = []
  const seen = new Set()
  /** @type {Set<import('node:http').ServerResponse>} */
  const followers = new Set()

  /** @param {'webhook' | 'call'} name @param {object} content */
  const tell = (name, content) => {
    for (const follower of followers) follower.write(`event: ${name}\ndata: ${JSON.stringify(content)}\n\n`)
  }

  return {
    received: () => kept,
    tell,

    /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
    async receive(request, response) {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks)
      const answer = (/** @type {number} */ status, /** @type {string} */ text) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(text)}\n`)
      let delivery
      try {
        delivery = await webhooks.verify({ headers: request.headers, body }, { username, password })
      } catch {
        return answer(401, 'not from the benefit service')
      }
      // Events are delivered at least once, so an event may come twice; its key stays the same.
      if (!seen.has(delivery.idempotencyKey)) {
        seen.add(delivery.idempotencyKey)
        const headers = Object.fromEntries(
          shown.flatMap(name => (request.headers[name] ? [[name, `${request.headers[name]}`]] : [])),
        )
        const entry = { receivedat: new Date().toISOString(), headers, body: delivery.event }
        kept.push(entry)
        if (kept.length > MOST_KEPT) kept.shift()
        tell('webhook', entry)
      }
      return answer(200, 'received')
    },

    /** Sends a page everything that arrives from now on. @param {import('node:http').ServerResponse} response */
    follow(response) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      response.write(': hello\n\n')
      followers.add(response)
      response.on('close', () => followers.delete(response))
    },
  }
}
