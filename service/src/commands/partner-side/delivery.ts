import { createHmac } from 'node:crypto'

/** Whether an address leads to this machine. */
export function isLoopback(url: URL): boolean {
  return /^https?:$/.test(url.protocol) && /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(url.hostname)
}

/** The value of an Authorization header with Basic credentials. */
export function basicPair(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** The headers of a delivery, as the service makes them. */
export function deliveryHeaders(
  id: string,
  body: string,
  how: { authorization: string; secret: string; attempt: number; at?: number },
): Record<string, string> {
  const { authorization, secret, attempt, at = Date.now() } = how
  const timestamp = String(Math.floor(at / 1000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    authorization,
    'content-type': 'application/json',
    'idempotency-key': id,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
    'webhook-attempt': String(attempt),
  }
}
