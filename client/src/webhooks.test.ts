import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type VerifiedDelivery, type WebhookCredentials, type WebhookRequest, webhooks } from './index.ts'

const event = {
  userid: 'u-1001',
  eventname: 'offer_activiation_successful',
  currentofferdetails: { offer: 'starter', updatedat: '2026-11-20T15:04:05.123Z', serviceid: '019abc12' },
}
const body = JSON.stringify(event)
const idempotencyKey = '5f0c6a34-53f1-4d53-8d8b-6b0a0d8b7c11'
const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
const otherSecret = `whsec_${Buffer.from('another-secret-of-thirty-two-byt').toString('base64')}`
const now = 1_800_000_000_000
function basic(text: string) {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

function sign(signedBy: string, signedBody = body, timestamp = now / 1_000) {
  return `v1,${createHmac('sha256', Buffer.from(signedBy.slice(6), 'base64'))
    .update(`msg-1.${timestamp}.${signedBody}`)
    .digest('base64')}`
}

function delivery(
  changes: Record<string, string | string[] | undefined> = {},
  sent: string | Uint8Array = body,
) {
  return {
    headers: {
      Authorization: basic('partner:pässword'),
      'Idempotency-Key': idempotencyKey,
      'webhook-id': 'msg-1',
      'webhook-timestamp': String(now / 1_000),
      'webhook-signature': sign(secret),
      ...changes,
    },
    body: sent,
  }
}
const password = { username: 'partner', password: 'pässword', now }

function refusal(field: string, code: string) {
  return { code: 'webhook_invalid', errors: [{ field, code }] }
}

describe('a delivery that the service made', () => {
  test.each([
    ['password', password],
    ['signature', { secret, now }],
    ['both', { ...password, secret }],
    ['either of two secrets', { secret: [otherSecret, secret], now }],
    ['either of two passwords', { ...password, password: ['new', 'pässword'] }],
    ['a clock 300 s behind', { secret, now: now - 300_000 }],
  ])('is verified by %s and gives event and key', async (_, credentials) => {
    expect(await webhooks.verify(delivery(), credentials)).toEqual({ event, idempotencyKey })
  })

  test('is verified when it carries the signatures of two secrets, and versions not known here', async () => {
    const signatures = `v1a,AAAA ${sign(otherSecret)} ${sign(secret)}`
    const verified = await webhooks.verify(delivery({ 'webhook-signature': signatures }), { secret, now })
    expect(verified.event.userid).toBe('u-1001')
  })

  test('is verified as bytes and with Headers', async () => {
    const { headers } = delivery()
    const request = { headers: new Headers(headers), body: Buffer.from(body) }
    expect(await webhooks.verify(request, { secret, now })).toEqual({ event, idempotencyKey })
  })

  test('may tell of an event that this version does not know', async () => {
    const future = JSON.stringify({ ...event, eventname: 'event_of_the_future' })
    const verified = await webhooks.verify(delivery({}, future), password)
    expect(verified.event.eventname).toBe('event_of_the_future')
  })

  test('is verified as it arrives at a real receiver', async () => {
    const verified: Promise<VerifiedDelivery>[] = []
    const receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      verified.push(
        webhooks.verify({ headers: request.headers, body: Buffer.concat(chunks) }, { ...password, secret }),
      )
      response.end('"received"')
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    await fetch(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}`, {
      method: 'POST',
      headers: delivery().headers,
      body: Buffer.from(delivery().body),
    })
    expect(await Promise.all(verified)).toEqual([{ event, idempotencyKey }])
    receiver.closeAllConnections()
    receiver.close()
  })
})

describe('a delivery is refused', () => {
  test.each<[string, Record<string, string | string[] | undefined>, object]>([
    ['no password', { Authorization: undefined }, refusal('authorization', 'missing')],
    ['a wrong password', { Authorization: basic('partner:other') }, refusal('authorization', 'mismatch')],
    ['a wrong user name', { Authorization: basic('other:pässword') }, refusal('authorization', 'mismatch')],
    ['another scheme', { Authorization: 'Bearer abc' }, refusal('authorization', 'malformed')],
    ['two passwords', { authorization: basic('x:y') }, refusal('authorization', 'malformed')],
    ['no signature', { 'webhook-signature': undefined }, refusal('webhook-signature', 'missing')],
    [
      'a signature of another secret',
      { 'webhook-signature': sign(otherSecret) },
      refusal('webhook-signature', 'mismatch'),
    ],
    [
      'a signature of another version',
      { 'webhook-signature': sign(secret).replace('v1', 'v2') },
      refusal('webhook-signature', 'mismatch'),
    ],
    [
      'a signature that is no base64',
      { 'webhook-signature': 'v1,***' },
      refusal('webhook-signature', 'mismatch'),
    ],
    ['another id than was signed', { 'webhook-id': 'msg-2' }, refusal('webhook-signature', 'mismatch')],
    [
      'another time than was signed',
      { 'webhook-timestamp': String(now / 1_000 + 1) },
      refusal('webhook-signature', 'mismatch'),
    ],
    ['no time', { 'webhook-timestamp': '' }, refusal('webhook-timestamp', 'missing')],
    ['a time that is none', { 'webhook-timestamp': '1e9' }, refusal('webhook-timestamp', 'malformed')],
    ['no key', { 'Idempotency-Key': undefined }, refusal('idempotency-key', 'missing')],
  ])('with %s', async (_, changes, reason) => {
    await expect(webhooks.verify(delivery(changes), { ...password, secret })).rejects.toMatchObject(reason)
  })

  test.each([301_000, -301_000])('when its signature is %i ms away from now', async distance => {
    const verified = webhooks.verify(delivery(), { secret, now: now + distance })
    await expect(verified).rejects.toMatchObject(refusal('webhook-timestamp', 'expired'))
  })

  test('with a body of which any single byte was changed', async () => {
    const bytes = Buffer.from(body)
    for (let at = 0; at < bytes.length; at += 1) {
      const tampered = Buffer.from(bytes)
      tampered[at] = (tampered[at] ?? 0) ^ 1
      const verified = webhooks.verify(delivery({}, tampered), { secret, now })
      await expect(verified).rejects.toMatchObject(refusal('webhook-signature', 'mismatch'))
    }
  })

  test.each(['', 'null', '[]', '{"userid":"u-1"}', '{"userid":1,"eventname":"x","currentofferdetails":{}}'])(
    'with a body that is no event: %j',
    async sent => {
      await expect(webhooks.verify(delivery({}, sent), password)).rejects.toMatchObject(
        refusal('body', 'malformed'),
      )
    },
  )

  test('without telling a secret', async () => {
    const verified = webhooks.verify(delivery({ Authorization: basic('partner:canary') }), password)
    const error = await verified.catch((reason: Error) => reason)
    expect(`${error} ${JSON.stringify(error)}`).not.toMatch(/canary|pässword|cGFydG5lcj/)
  })
})

test.each([
  ['nothing to check against', {}],
  ['an empty secret', { secret: '' }],
  ['no secret in the list', { secret: [] }],
  ['an empty secret beside a password', { ...password, secret: '' }],
  ['a secret that was not set', { ...password, secret: undefined }],
  ['a password that was not set', { username: 'partner', password: undefined, secret }],
  ['a secret without bytes', { secret: 'whsec_' }],
  ['a secret that is no base64', { secret: 'whsec_***' }],
  ['an empty password', { username: 'partner', password: '' }],
  ['a user name without a password', { username: 'partner', secret }],
  ['a password without a user name', { password: 'x' }],
])('%s is a mistake of the caller, never a pass', async (_, credentials) => {
  await expect(webhooks.verify(delivery(), credentials as WebhookCredentials)).rejects.toBeInstanceOf(
    TypeError,
  )
})

test('a body that a JSON parser has made is a mistake of the caller', async () => {
  const parsed = { headers: delivery().headers, body: event } as unknown as WebhookRequest
  await expect(webhooks.verify(parsed, password)).rejects.toThrow('raw body')
})

test('what `sign` makes for a test of a receiver is verified by password and signature together', async () => {
  const sent = { eventId: idempotencyKey, body, username: 'partner', password: 'pässword', secret }
  const headers = await webhooks.sign({ ...sent, at: now })
  expect(headers).toMatchObject({ 'webhook-attempt': '1', 'webhook-id': idempotencyKey })
  expect(await webhooks.verify({ headers, body }, { ...password, secret })).toEqual({ event, idempotencyKey })
})
