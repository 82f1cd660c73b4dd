import { expect, test } from 'vitest'
import { urlOf } from '../command/database-url.ts'
import { forAllTests } from '../for-all-tests.ts'
import { holdLocks } from '../hold-locks.ts'
import { sendRaw } from '../raw-http.ts'
import { startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
test('the first page says in one line that deliveries and due changes run, and how late they are', async () => {
  const viewer = await signIn(service, 'viewer')
  await expect
    .poll(async () => (await viewer.get('/')).text, { timeout: 120_000 })
    .toContain('The service runs: due changes are on time, webhooks')
})

test.each([
  ['two Host headers', 400, 'Host: HOST\r\nHost: HOST\r\n'],
  ['no Host', 400, ''],
  ['too many headers', 431, `Host: HOST\r\n${'x: 1\r\n'.repeat(70)}`],
])(
  'a request with %s is refused with a page, and is no failure of the service',
  async (_, status, headers) => {
    const { consoleUrl = '' } = service.service()
    const request = `GET / HTTP/1.1\r\n${headers.replaceAll('HOST', new URL(consoleUrl).host)}\r\n`
    const answer = await sendRaw(consoleUrl, request)
    expect(answer).toMatchObject({
      status,
      headers: { 'content-security-policy': expect.stringContaining("default-src 'none'") },
    })
    expect(answer.text).toContain('Not read')
    expect(service.logged.filter(({ event }) => event === 'failure')).toEqual([])
  },
)

test('a database that does not answer is told apart from a fault, with a status that says to come again', async () => {
  const viewer = await signIn(service, 'viewer')
  const held = await holdLocks(urlOf(service.address), [
    'lock table webhook_endpoints in access exclusive mode',
  ])
  const refused = await viewer.get('/webhooks').finally(() => held.release())
  expect(refused.status).toBe(503)
  expect(refused.text).toContain('The database does not answer')
  expect((await viewer.get('/webhooks')).status).toBe(200)
})
