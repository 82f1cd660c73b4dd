import { afterAll, beforeAll, expect, test } from 'vitest'
import { ada, startTestService, type TestService } from '../rig.ts'
import { openCaller } from './send.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

const account = { userid: 'u1', ...ada, offername: 'starter' }
const given = { name: 'identity', version: '2026-01' }

test('"" in an optional string means not given: a date, a language, a direction, an instant, a reason', async () => {
  const { post, send } = await openCaller(service)
  const consents = [{ ...given, locale: '', agreedattimestamp: '' }]
  expect(
    await post('/user/account/create', { ...account, effectivedate: '', consents, benefits: ['identity'] }),
  ).toMatchObject({ status: 200, body: { consents: [{ ...given, locale: 'en' }] } })
  const upgrade = { userid: 'u1', offername: 'plus', action: '', effective: '', previewid: '' }
  expect(await post('/user/offers', upgrade)).toMatchObject({ status: 200, body: { direction: 'upgrade' } })
  expect(await send('DELETE', '/user/account/cancel/u1?effective=&reason=')).toMatchObject({
    status: 200,
    body: { status: 'active' },
  })
})

test('"" in a required string is refused', async () => {
  const { post } = await openCaller(service)
  for (const [path, body, field] of [
    ['/user/prefill', { userid: '' }, 'userid'],
    ['/user/offers', { userid: 'u1', offername: '' }, 'offername'],
    ['/user/benefits/enrol', { userid: 'u1', name: '' }, 'name'],
    ['/user/account/create', { ...account, consents: [{ ...given, version: '' }] }, 'consents[0].version'],
  ] as const) {
    const answer = await post(path, body)
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field }] } })
  }
})
