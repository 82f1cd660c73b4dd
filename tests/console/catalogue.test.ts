import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { demoCatalogue, startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const admin = forAllTests(() => signIn(service, 'admin'))
const viewer = forAllTests(() => signIn(service, 'viewer'))

test('a form above 64 KiB is refused with a page that says so, and does nothing', async () => {
  const refused = await admin.post('/sign-out', { reason: 'x'.repeat(66_000) })
  expect(refused).toMatchObject({ status: 413, text: expect.stringContaining('Too large') })
  expect((await admin.get('/catalogue')).status).toBe(200)
})

test('versions and what differs between two are shown to everybody', async () => {
  expect((await viewer.get('/catalogue')).text).toContain('/catalogue/versions/1')
  expect((await viewer.get('/catalogue/versions/1')).text).toContain('Hospital cash')
  expect((await viewer.get('/catalogue/versions/7')).status).toBe(404)
  expect((await viewer.get('/catalogue/diff?from=1&to=x')).status).toBe(404)
  await service.publish(demoCatalogue.replace('slots: 2', 'slots: 1'))
  expect((await viewer.get('/catalogue/diff?from=1&to=2')).text).toMatch(
    /<code>starter<\/code><\/td><td>slots<\/td><td>2<\/td><td>1<\/td>/,
  )
})

test('another kind of form is refused with a page, and is no failure', async () => {
  const { consoleUrl = '' } = service.service()
  const answer = await fetch(`${consoleUrl}/find`, {
    method: 'POST',
    headers: { origin: consoleUrl, cookie: admin.cookie },
    body: new FormData(),
  })
  expect(answer.status).toBe(415)
  expect(service.logged.filter(({ event }) => event === 'failure')).toEqual([])
})
