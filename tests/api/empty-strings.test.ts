import { afterAll, beforeAll, expect, test } from 'vitest'
import { ada, startTestService, type TestService } from '../rig.ts'
import { refusalOf } from './refusal.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

const account = { userid: 'u1', ...ada, offername: 'starter' }
const given = { name: 'identity', version: '2026-01' }

test('"" in an optional string means not given: a date, a language, a direction, an instant, a reason', async () => {
  const { client } = await service.newPartner()
  const consents = [{ ...given, locale: '', agreedattimestamp: '' }] as const
  const user = await client.createUser({
    ...account,
    effectivedate: '',
    consents: [...consents],
    benefits: ['identity'],
  })
  expect(user.consents).toMatchObject([{ ...given, locale: 'en' }])
  const upgrade = { userid: 'u1', offername: 'plus', action: '', effective: '', previewid: '' } as const
  expect(await client.changeOffer(upgrade)).toMatchObject({ direction: 'upgrade' })
  expect(await client.cancelUser({ userid: 'u1', effective: '', reason: '' })).toMatchObject({
    status: 'active',
  })
})

test('"" in a required string is refused', async () => {
  const { client } = await service.newPartner()
  const refused = [
    [() => client.prefillUser({ userid: '' }), 'userid'],
    [() => client.changeOffer({ userid: 'u1', offername: '' }), 'offername'],
    [() => client.enrolBenefit({ userid: 'u1', name: '' }), 'name'],
    [() => client.createUser({ ...account, consents: [{ ...given, version: '' }] }), 'consents[0].version'],
  ] as const
  for (const [call, field] of refused) {
    expect(await refusalOf(call())).toMatchObject({ status: 400, errors: [{ field }] })
  }
})
