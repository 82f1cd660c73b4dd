// @prism

import { expect, test } from 'vitest'
import { isBenefitEnrolmentError } from '../../client/src/index.ts'
import { unchecked } from '../api/unchecked.ts'
import { CERTIFICATES } from '../egress/certificates.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService, type TestPartner } from '../rig.ts'
import { startReceiver } from './receiver.ts'

const service = forAllTests(startTestService)
const receiver = forAllTests(startReceiver)

function idle() {
  return service.service().dispatcher.idle()
}
const credentials = { username: 'hook', password: 'pässword' }
function endpointOf(partner: TestPartner, more: object = {}) {
  return partner.client.createWebhook({ url: receiver.url, ...credentials, ...more })
}

test('an endpoint can be created, shown, changed, listed and deleted, and its secret is shown once', async () => {
  const partner = await service.newPartner()
  const made = await endpointOf(partner)
  expect(made.webhooksecret).toMatch(/^whsec_/)
  expect(made).toMatchObject({
    url: receiver.url,
    username: 'hook',
    events: ['offer_activiation_successful'],
    ordering: 'none',
    status: 'enabled',
    breaker: 'closed',
    waiting: 0,
    dead: 0,
  })
  const { webhookid } = made
  const shown = await partner.client.getWebhook({ webhookid })
  expect(shown).not.toHaveProperty('webhooksecret')
  expect(JSON.stringify(shown)).not.toContain('pässword')
  const changed = await partner.client.updateWebhook({ webhookid, events: ['all'], ordering: 'user' })
  expect(changed).toMatchObject({ events: ['all'], ordering: 'user' })
  expect(changed).not.toHaveProperty('webhooksecret')
  expect((await partner.client.listWebhooks({})).webhooks).toHaveLength(1)
  expect(await partner.client.deleteWebhook({ webhookid })).toEqual({ webhookid, status: 'deleted' })
  expect((await partner.client.listWebhooks({})).webhooks).toEqual([])
  await expect(partner.client.getWebhook({ webhookid })).rejects.toMatchObject({ code: 'webhook_not_found' })
})

test.each([
  ['not https, outside a sandbox address', 'ftp://example.com/hook'],
  ['with user info', 'https://me:secret@example.com/hook'],
  ['longer than 2,048', `https://example.com/${'x'.repeat(2048)}`, 'maxLength'],
  ['private', 'https://10.0.0.1/hook'],
  ['metadata', 'http://169.254.169.254/latest'],
  ['not an address', 'nonsense'],
])(
  'an address that is %s is refused at save, with the reason and without the value',
  async (_name, url, code = 'address') => {
    const partner = await service.newPartner()
    const error = await endpointOf(partner, { url }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      status: 400,
      code: 'bad_request',
      errors: [{ field: 'url', code }],
    })
    expect(JSON.stringify(error)).not.toContain(url)
  },
)

test('a user name with a colon and a password with a control character are refused', async () => {
  const partner = await service.newPartner()
  await expect(endpointOf(partner, { username: 'a:b', password: 'x\u0007' })).rejects.toMatchObject({
    code: 'bad_request',
    errors: [
      { field: 'username', code: 'format' },
      { field: 'password', code: 'format' },
    ],
  })
})

test('what a gateway wants is set, changed and taken away, and no answer ever shows a secret', async () => {
  const { client } = await service.newPartner()
  const { cert: clientcertificate, key: clientkey } = CERTIFICATES.wrong
  const secrets = { clientsecret: 'canary-secret', headers: { 'X-Gateway-Key': 'canary-value' } }
  const oauth2 = {
    authorization: 'oauth2',
    tokenurl: 'https://auth.example.com/token',
    clientid: 'we',
  } as const
  const made = await client.createWebhook({
    ...{
      url: receiver.url,
      ...oauth2,
      ...secrets,
      scope: 'a b',
      clientcertificate,
      clientkey,
      ratelimit: 2.5,
    },
  })
  const { webhookid } = made
  const shown = await client.getWebhook({ webhookid })
  expect(shown).toMatchObject({
    ...{ ...oauth2, scope: 'a b', username: '', headers: ['X-Gateway-Key'], ratelimit: 2.5 },
    clientcertificateendsattimestamp: expect.stringMatching(/^2126-/),
  })
  const bearer = { authorization: 'bearer', token: 'canary-token' } as const
  const changed = await client.updateWebhook({
    webhookid,
    ...bearer,
    headers: {},
    clientcertificate: 'none',
    ratelimit: 0,
  })
  const none = { headers: [], clientcertificateendsattimestamp: null, ratelimit: 0 }
  expect(changed).toMatchObject({ ...oauth2, ...none, nextauthorization: 'bearer', nextusername: null })
  expect(JSON.stringify([made, shown, changed])).not.toMatch(/canary|PRIVATE/)
})

const { cert, key } = CERTIFICATES.good
const refused: [object, string[]][] = [
  [{ username: undefined, password: undefined }, ['username required', 'password required']],
  [{ token: 'x' }, ['token choice']],
  [{ authorization: 'bearer' }, ['username choice', 'password choice', 'token required']],
  [
    {
      ...{ username: undefined, password: undefined, authorization: 'oauth2' },
      tokenurl: 'https://10.0.0.1/',
      scope: 'a  b',
    },
    ['tokenurl address', 'clientid required', 'clientsecret required', 'scope format'],
  ],
  ...[
    ...['Host', 'X-Client-IP', 'True-Client-IP', 'X-Forwarded', 'X-HTTP-Method-Override', 'HTTP2-Settings'],
    ...['traceparent', 'X-Real-IP', 'Authorization', 'Idempotency-Key', 'Transfer-Encoding'],
  ].map(name => [{ headers: { [name]: 'a' } }, ['headers format']] as [object, string[]]),
  [{ headers: { 'webhook-Id': 'a' } }, ['headers format']],
  [{ headers: { 'X-Key': 'a', 'x-key': 'b' } }, ['headers format']],
  [{ headers: { 'X-Key': 'a\r\nHost: b' } }, ['headers format']],
  [{ headers: { 'X A': 'a' } }, ['headers format']],
  [{ clientcertificate: cert }, ['clientkey required']],
  [{ clientcertificate: 'none', clientkey: key }, ['clientcertificate format']],
  [{ clientcertificate: cert, clientkey: CERTIFICATES.wrong.key }, ['clientkey choice']],
  [
    { clientcertificate: CERTIFICATES.expired.cert, clientkey: CERTIFICATES.expired.key },
    ['clientcertificate expired'],
  ],
  [{ ratelimit: -1 }, ['ratelimit minimum']],
]

test('an endpoint with a part that no gateway could want is refused by field, without a value', async () => {
  const { client } = await service.newPartner()
  for (const [more, faults] of refused) {
    const wish = { url: receiver.url, ...credentials, ...more }
    const error = await client.createWebhook(unchecked(wish)).catch((reason: unknown) => reason)
    if (!isBenefitEnrolmentError(error)) throw new Error('it was not refused')
    expect(error.errors.map(one => `${one.field} ${one.code}`)).toEqual(faults)
    expect(JSON.stringify(error.errors)).not.toMatch(/10\.0|BEGIN|X A|: b/)
  }
})

test('a client secret is never sent to a token endpoint that was named without it', async () => {
  const { client } = await service.newPartner()
  const oauth2 = {
    authorization: 'oauth2',
    tokenurl: 'https://auth.example.com/',
    clientid: 'we',
    clientsecret: 's',
  } as const
  const { webhookid } = await client.createWebhook({ url: receiver.url, ...oauth2 })
  await expect(
    client.updateWebhook({ webhookid, tokenurl: 'https://elsewhere.example.com/' }),
  ).rejects.toMatchObject({
    errors: [{ field: 'clientsecret', code: 'required' }],
  })
})

test('an address of another origin wants every secret again, which the former one keeps from it', async () => {
  const { client } = await service.newPartner()
  const gateway = { headers: { 'X-Gateway-Key': 'k' }, clientcertificate: cert, clientkey: key }
  const { webhookid } = await client.createWebhook({
    url: 'https://example.com/hook',
    ...credentials,
    ...gateway,
  })
  const url = 'https://example.org/hook'
  const refusal = (wish: object) =>
    client.updateWebhook(unchecked({ webhookid, url, ...wish })).then(
      () => [],
      error =>
        isBenefitEnrolmentError(error) ? error.errors.map(one => `${one.field} ${one.code}`) : [`${error}`],
    )
  expect(await refusal({})).toEqual(['password required', 'headers required', 'clientcertificate required'])
  expect(await refusal(credentials)).toEqual(['headers required', 'clientcertificate required'])
  expect(await client.getWebhook({ webhookid })).toMatchObject({ url: 'https://example.com/hook' })
  // Another path of the same origin keeps them; another origin may do without.
  expect(await refusal({ url: 'https://example.com/other' })).toEqual([])
  expect(await refusal({ ...credentials, headers: {}, clientcertificate: 'none' })).toEqual([])
  expect(await client.getWebhook({ webhookid })).toMatchObject({ url, headers: [], nextauthorization: null })
})

test('a repeated POST /webhooks creates one endpoint, and its second answer leaves the secret out', async () => {
  const partner = await service.newPartner()
  const wish = { url: receiver.url, ...credentials }
  const first = await partner.client.createWebhook(wish, { idempotencyKey: 'k1' })
  const again = await partner.client.createWebhook(wish, { idempotencyKey: 'k1' })
  const { webhooksecret, ...rest } = first
  expect(webhooksecret).toBeDefined()
  expect(again).toEqual(rest)
  expect((await partner.client.listWebhooks({})).webhooks).toHaveLength(1)
  await expect(
    partner.client.createWebhook({ ...wish, events: ['all'] }, { idempotencyKey: 'k1' }),
  ).rejects.toMatchObject({ status: 409, code: 'idempotency_key_reused' })
  const [row] = await service.database.query<{ sealed_answer: Buffer }>({
    name: '',
    text: "select sealed_answer from idempotency_keys where operation = 'createWebhook'",
    values: [],
  })
  expect(row?.sealed_answer.toString('latin1')).not.toContain(first.webhookid)
})

test('concurrent requests with one key create one endpoint', async () => {
  const partner = await service.newPartner()
  const wish = { url: receiver.url, ...credentials }
  const all = await Promise.all(
    Array.from({ length: 8 }, () => partner.client.createWebhook(wish, { idempotencyKey: 'same' })),
  )
  expect(new Set(all.map(one => one.webhookid)).size).toBe(1)
  expect(all.filter(one => one.webhooksecret !== undefined)).toHaveLength(1)
  expect((await partner.client.listWebhooks({})).webhooks).toHaveLength(1)
})

test('a refused write does not spend its key', async () => {
  const partner = await service.newPartner()
  await expect(
    partner.client.createWebhook({ url: 'https://10.0.0.1/', ...credentials }, { idempotencyKey: 'k' }),
  ).rejects.toMatchObject({ code: 'bad_request' })
  const made = await partner.client.createWebhook(
    { url: receiver.url, ...credentials },
    { idempotencyKey: 'k' },
  )
  expect(made.webhooksecret).toBeDefined()
})

test("another partner's endpoints and events are answered exactly as unknown ones", async () => {
  const owner = await service.newPartner()
  const stranger = await service.newPartner()
  const { webhookid } = await endpointOf(owner)
  const { webhookid: deleted } = await endpointOf(owner)
  await owner.client.deleteWebhook({ webhookid: deleted })
  const { eventid } = await owner.client.testWebhook({ webhookid })
  await idle()
  const answer = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => 'no error',
      (reason: { status: number; code: string; detail: string }) => ({
        status: reason.status,
        code: reason.code,
        detail: reason.detail,
      }),
    )
    return error
  }
  const unknown = '019aa1b2-0c4e-7d3a-9b1f-2c5d7e8f9a0b'
  for (const id of [webhookid, deleted, unknown, 'malformed', "x'; drop table events; --"]) {
    const { client } = stranger
    const answers = await Promise.all(
      [
        client.getWebhook({ webhookid: id }),
        client.updateWebhook({ webhookid: id, events: ['all'] }),
        client.deleteWebhook({ webhookid: id }),
        client.testWebhook({ webhookid: id }),
        client.enableWebhook({ webhookid: id }),
        client.replayWebhook({ webhookid: id, status: 'dead' }),
        client.replayWebhook({ webhookid: id, status: 'dead', dryrun: true }),
      ].map(answer),
    )
    for (const one of answers)
      expect(one).toEqual({
        status: 404,
        code: 'webhook_not_found',
        detail: expect.any(String),
      })
  }
  await expect(stranger.client.getWebhook({ webhookid: 'x'.repeat(300) })).rejects.toMatchObject({
    status: 400,
    errors: [{ field: 'webhookid' }],
  })
  for (const id of [eventid, unknown, 'malformed']) {
    const { client } = stranger
    const answers = await Promise.all(
      [
        client.getEvent({ eventid: id }),
        client.listAttempts({ eventid: id }),
        client.replayEvent({ eventid: id }),
      ].map(answer),
    )
    for (const one of answers)
      expect(one).toEqual({
        status: 404,
        code: 'event_not_found',
        detail: expect.any(String),
      })
  }
  expect(await stranger.client.listWebhooks({})).toEqual({ webhooks: [] })
  expect((await stranger.client.listEvents({})).events).toEqual([])
  const mine = await endpointOf(stranger)
  expect(await stranger.client.replayWebhook({ webhookid: mine.webhookid, ids: [eventid] })).toMatchObject({
    count: 0,
  })
  expect(await owner.client.getWebhook({ webhookid })).toMatchObject({ status: 'enabled' })
})

test.each([
  ['webhooks:write', 'events:read'],
  ['events:read', 'webhooks:write'],
] as const)('without the scope %s its operations are refused', async (missing, given) => {
  const partner = await service.newPartner()
  const { webhookid } = await endpointOf(partner)
  const { eventid } = await partner.client.testWebhook({ webhookid })
  await idle()
  const client = partner.connect({ scopes: [given] })
  const calls =
    missing === 'webhooks:write'
      ? [
          client.listWebhooks({}),
          client.createWebhook({ url: receiver.url, ...credentials }),
          client.getWebhook({ webhookid }),
          client.updateWebhook({ webhookid, events: ['all'] }),
          client.deleteWebhook({ webhookid }),
          client.testWebhook({ webhookid }),
          client.enableWebhook({ webhookid }),
          client.replayWebhook({ webhookid, status: 'dead' }),
          client.replayEvent({ eventid }),
        ]
      : [client.listEvents({}), client.getEvent({ eventid }), client.listAttempts({ eventid })]
  for (const settled of await Promise.allSettled(calls))
    expect(settled).toMatchObject({ reason: { status: 403, code: 'insufficient_scope' } })
})
