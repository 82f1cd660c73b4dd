import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, startTestService } from '../rig.ts'
import { refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))
const userid = 'u1'
const noAddress = { addline1: null, addline2: null, addline3: null, city: null, state: null, zipcode: null }
const nobody = {
  firstname: null,
  lastname: null,
  email: null,
  zipcode: null,
  dob: null,
  phone: null,
  gender: null,
}

describe('null in an optional field', () => {
  test('means not given, at any depth, as clients in many languages write it', async () => {
    const { client } = await service.newPartner()
    await client.prefillUser({ userid, ...ada })
    const benefits = await client.getBenefits(
      unchecked({ userid, ...adaAsks, partnername: null, offername: null }),
    )
    expect(benefits.length).toBeGreaterThan(0)
    const nothing = { effectivedate: null, moredetails: null, partnername: null, state: null }
    const user = await client.createUser(
      unchecked({
        ...nobody,
        ...nothing,
        userid,
        address: noAddress,
        offername: 'starter',
        benefits: null,
        consents: [{ name: 'identity', version: '2026-01', agreedattimestamp: null, locale: null }],
      }),
    )
    expect(user).toMatchObject({ status: 'active', consents: [{ name: 'identity' }] })
    expect(
      await client.swapBenefits(unchecked({ userid, add: ['dental'], remove: [], previewonly: null })),
    ).toMatchObject({ add: ['dental'], remove: [] })
  })

  test('of an update clears what may be empty, and nothing that an account needs', async () => {
    const { client } = await service.newPartner()
    await client.createUser({ userid, ...ada, offername: 'starter' })
    expect(await client.updateUser({ userid, phone: null, gender: null })).toMatchObject({ status: 'active' })
    expect(await refusalOf(client.updateUser({ userid, email: null }))).toMatchObject({
      errors: [{ field: 'email', code: 'required' }],
    })
  })

  test('makes another request of it: two are the same when their bodies are, as they were sent', async () => {
    const { client } = await service.newPartner()
    const key = { idempotencyKey: 'k1' }
    await client.prefillUser(unchecked({ userid, ...ada, phone: null }), key)
    expect(
      await refusalOf(client.prefillUser(unchecked({ userid, ...ada, phone: null }), key)),
    ).toMatchObject({
      code: 'user_exists',
      userMessage: 'This was done already. There is nothing more to do.',
    })
    const { phone: _, ...without } = ada
    expect(await refusalOf(client.prefillUser({ userid, ...without }, key))).toMatchObject({
      code: 'idempotency_key_reused',
    })
  })
})

describe('partnername of create and update', () => {
  test('is one of the own names, whatever its case, and has no other effect', async () => {
    const { client } = await service.newPartner()
    const partnername = 'nobody we know'
    const create = client.createUser({ userid, ...ada, offername: 'starter', partnername })
    expect(await refusalOf(create)).toMatchObject({ status: 400, code: 'partnername_not_allowed' })
    await client.createUser({ userid, ...ada, offername: 'starter', partnername: '' })
    expect(await refusalOf(client.updateUser({ userid, partnername }))).toMatchObject({
      code: 'partnername_not_allowed',
      errors: [{ field: 'partnername' }],
    })
  })
})
