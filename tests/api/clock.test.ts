import { afterAll, beforeAll, expect, test } from 'vitest'
import { ada, startTestService, type TestService } from '../rig.ts'
import { eventsOf, openCaller } from './send.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') })
})
afterAll(() => service[Symbol.asyncDispose]())

const ahead = '2027-05-01T12:00:00.000Z'

test('the clock goes forward for one partner only, and what is due on the way is applied in order', async () => {
  const [mine, other] = [await openCaller(service), await openCaller(service)]
  for (const { partner } of [mine, other]) {
    await partner.client.createUser({ userid: 'u1', ...ada, offername: 'starter', benefits: ['dental'] })
    await partner.client.swapBenefits({ userid: 'u1', add: ['vision'], remove: ['dental'] })
  }
  const answer = await mine.post('/sandbox/clock', { advanceto: ahead })
  expect(answer.status).toBe(200)
  const { now } = answer.body as { now: string }
  expect(Math.abs(Date.parse(now) - Date.parse(ahead))).toBeLessThan(60_000)
  const names = async ({ partner }: typeof mine) =>
    (await eventsOf(service, partner)).map(({ eventname }) => eventname)
  expect(await names(mine)).toContain('user_benefits_swap_successful')
  expect(await names(other)).not.toContain('user_benefits_swap_successful')
})

test('a repeat with its key gets the first answer, although that time is past by then', async () => {
  const { post } = await openCaller(service)
  const headers = { 'idempotency-key': 'k1' }
  const first = await post('/sandbox/clock', { advanceto: ahead }, headers)
  service.advance(1000)
  const again = await post('/sandbox/clock', { advanceto: ahead }, headers)
  expect(again).toMatchObject({ status: 200, body: first.body })
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  const later = { advanceto: '2027-06-01T00:00:00.000Z' }
  expect(await post('/sandbox/clock', later, headers)).toMatchObject({ code: 'idempotency_key_reused' })
  expect(await post('/sandbox/clock', later, { 'idempotency-key': 'a b' })).toMatchObject({
    code: 'idempotency_key_invalid',
  })
})

test.each(['2027-03-09T00:00:00.000Z', '2060-01-01T00:00:00.000Z', '2027-03-20', 'soon', ''])(
  '"%s" is refused: backwards, too far, or no timestamp',
  async advanceto => {
    const { post } = await openCaller(service)
    expect(await post('/sandbox/clock', { advanceto })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'advanceto' }] },
    })
  },
)

test('tokens live on real time: a clock that is a month ahead ends none', async () => {
  const { post } = await openCaller(service)
  await post('/sandbox/clock', { advanceto: ahead })
  expect(await post('/user/account/get', { userid: 'nobody' })).toMatchObject({ status: 404 })
})
