import { createHmac } from 'node:crypto'
import { webhooks } from '@benefit-enrolment/client'
import { expect, test } from 'vitest'
import {
  attemptHeaders,
  basicAuthorization,
  type Envelope,
  eventBody,
  newWebhookSecret,
  signingKey,
} from './envelope.ts'

const message = {
  serviceid: '0197b6f4-0000-7000-8000-000000000001',
  updatedat: '2026-03-01T00:00:00.000Z',
  offer: 'gold',
  eventname: 'offer_activiation_successful',
  userid: 'u-"1"/é',
}

const attempt: Envelope = {
  eventId: '6f1c2f0e-6b0e-4b7c-9d0a-0c8f6f6f2a11',
  body: eventBody(message),
  attempt: 3,
  at: 1_767_225_600_999,
  authorization: basicAuthorization('user', 'p:ä'),
  keys: [signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
}

test('the body has exactly the documented members in the documented order', () => {
  expect(eventBody(message).toString()).toBe(
    '{"userid":"u-\\"1\\"/é","eventname":"offer_activiation_successful","currentofferdetails":' +
      '{"offer":"gold","updatedat":"2026-03-01T00:00:00.000Z","serviceid":"0197b6f4-0000-7000-8000-000000000001"}}',
  )
})

test('the documented headers stand first, then those that may be ignored', () => {
  expect(Object.keys(attemptHeaders(attempt)).slice(0, 3)).toEqual([
    'Authorization',
    'Idempotency-Key',
    'Content-Type',
  ])
  expect(attemptHeaders(attempt)).toMatchObject({
    Authorization: `Basic ${Buffer.from('user:p:ä', 'utf8').toString('base64')}`,
    'Idempotency-Key': attempt.eventId,
    'Content-Type': 'application/json',
    'webhook-id': attempt.eventId,
    'webhook-timestamp': '1767225600',
    'webhook-attempt': '3',
  })
})

test('the signature is that of the Standard Webhooks reference', () => {
  // The example that the reference libraries share.
  const headers = attemptHeaders({
    ...attempt,
    eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: 1_614_265_330_000,
    body: Buffer.from('{"test": 2432232314}'),
  })
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('during a rotation there is one signature for each secret, over the stored bytes', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()]
  const signed = attemptHeaders({ ...attempt, keys: secrets.map(signingKey) })['webhook-signature']?.split(
    ' ',
  )
  expect(signed).toEqual(
    secrets.map(secret => {
      const key = Buffer.from(secret.slice(6), 'base64')
      const text = `${attempt.eventId}.1767225600.${attempt.body.toString()}`
      return `v1,${createHmac('sha256', key).update(text).digest('base64')}`
    }),
  )
})

test('a new secret is 32 random bytes, and no two are the same', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
})

test.each(['', 'whsec_', 'whsec_not base64', 'sec_AAAA', 'whsec_AAA'])('%j is no signing secret', secret => {
  expect(() => signingKey(secret)).toThrow('whsec_')
})

test('a user name with a colon is never sent', () => {
  expect(() => basicAuthorization('a:b', 'c')).toThrow('colon')
})

test('the partner’s client signs for tests of a receiver exactly as deliveries are signed', async () => {
  const secret = newWebhookSecret()
  const { eventId, body, at } = attempt
  const made = await webhooks.sign({
    eventId,
    body,
    secret,
    username: 'user',
    password: 'p:ä',
    attempt: 3,
    at,
  })
  const sent = Object.entries(attemptHeaders({ ...attempt, keys: [signingKey(secret)] }))
  expect(made).toEqual(Object.fromEntries(sent.map(([name, value]) => [name.toLowerCase(), value])))
})
