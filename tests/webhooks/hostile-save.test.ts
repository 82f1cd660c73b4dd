import { expect, test } from 'vitest'
import { HOSTILE_HOSTS, HOSTILE_IPS, HOSTILE_TEXTS } from '../egress/hostile-addresses.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'

// A live service, because a sandbox accepts http and loopback addresses.
const service = forAllTests(() => startTestService({ sandbox: false }))
const partner = forAllTests(() => service.newPartner())

const addresses = [
  ...HOSTILE_IPS.map(ip => `https://${ip.includes(':') ? `[${ip}]` : ip}/hook`),
  ...HOSTILE_HOSTS.map(host => `https://${host}/hook`),
  ...HOSTILE_TEXTS,
]
const credentials = { username: 'hook', password: 'pass' }

/** The result of saving each of them, a few at a time. */
async function refusalsOf(
  urls: readonly string[],
  save: (url: string) => Promise<unknown>,
): Promise<[string, unknown][]> {
  const ends: [string, unknown][] = []
  for (let from = 0; from < urls.length; from += 16) {
    const some = urls.slice(from, from + 16)
    const ended = some.map(url => save(url).catch((error: unknown) => error))
    for (const [index, end] of (await Promise.all(ended)).entries()) ends.push([some[index] ?? '', end])
  }
  return ends
}

function expectRefused(ends: [string, unknown][]) {
  expect(ends.length).toBeGreaterThan(200)
  for (const [url, end] of ends) {
    if (url.includes('\0')) {
      // No field of any request may contain one.
      expect(end).toMatchObject({ status: 400, code: 'bad_request', errors: [{ code: 'nul' }] })
      continue
    }
    expect(end, url).toMatchObject({ status: 400, code: 'bad_request' })
    const { errors } = end as { errors: { field: string; message: string }[] }
    expect(errors, url).toEqual([
      expect.objectContaining({ field: 'url', message: expect.stringMatching(/\w/) }),
    ])
    if (url.length > 8) expect(JSON.stringify(errors)).not.toContain(url)
  }
}

test('a new endpoint with any of 200 hostile addresses is refused with the reason', async () => {
  expectRefused(await refusalsOf(addresses, url => partner.client.createWebhook({ url, ...credentials })))
  expect((await partner.client.listWebhooks({})).webhooks).toEqual([])
})

test('an endpoint cannot be changed to any of 200 hostile addresses, and keeps its own', async () => {
  const { webhookid } = await partner.client.createWebhook({
    url: 'https://example.com/hook',
    ...credentials,
  })
  // In this field an empty value means that none is given.
  const given = addresses.filter(url => url !== '')
  expectRefused(await refusalsOf(given, url => partner.client.updateWebhook({ webhookid, url })))
  expect(await partner.client.getWebhook({ webhookid })).toMatchObject({ url: 'https://example.com/hook' })
})
