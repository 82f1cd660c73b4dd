// @prism

import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { catalogueOf } from './catalogue-of.ts'
import { refusalOf } from './refusal.ts'

const catalogue = catalogueOf(
  [
    { name: 'life', sortorder: 5, beneficiaries: 'required' },
    { name: 'income', beneficiaries: 'optional' },
    { name: 'dental' },
    { name: 'pet', beneficiaries: 'required' },
  ],
  [
    { offer: 'starter', rank: 1, fixed: ['life'], selectable: ['income', 'dental'], slots: 2 },
    { offer: 'other', rank: 2, fixed: ['pet'] },
  ],
)
async function userOf(client: Client) {
  const user = await client.getUser({ userid: 'u1', include: ['timeline'] })
  if (user.status === 'erased') throw new Error('the user is erased')
  return user
}

const service = forAllTests(() => startTestService({ catalogue }))

async function newMember() {
  const partner = await service.newPartner()
  const user = await partner.client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
  return { ...partner, user }
}

describe('the scope', () => {
  test('no partner has it unless the operator gave it, also in a token that asks for nothing', async () => {
    const { client, connect } = await service.newPartner({ scopes: undefined })
    await client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
    expect(await refusalOf(client.getBeneficiaries({ userid: 'u1' }))).toMatchObject({
      code: 'insufficient_scope',
    })
    const asking = connect({ scopes: ['beneficiaries:read'] })
    expect(await refusalOf(asking.getUser({ userid: 'u1' }))).toMatchObject({ code: 'invalid_scope' })
  })

  test('with it, the benefits that take beneficiaries are read', async () => {
    const { connect } = await newMember()
    const reader = connect({ scopes: ['beneficiaries:read'] })
    expect((await reader.getBeneficiaries({ userid: 'u1' })).benefits.map(({ name }) => name)).toEqual([
      'life',
      'income',
    ])
  })
})

describe('a benefit that requires beneficiaries', () => {
  test('waits with the code beneficiary, and one that leaves it to the person does not', async () => {
    const { client, user } = await newMember()
    expect(user.requiredactions).toMatchObject([{ code: 'beneficiary', name: 'life' }])
    expect(user.conditions).toEqual(['actionrequired'])
    expect(user.benefits).toMatchObject([{ name: 'life', state: 'actionrequired' }])
    expect(await client.enrolBenefit({ userid: 'u1', name: 'income' })).toMatchObject({ state: 'enrolled' })
  })

  test('names the consent and the beneficiary where both are missing', async () => {
    await using both = await startTestService({
      catalogue: catalogueOf(
        [
          {
            name: 'life',
            beneficiaries: 'required',
            consent: { version: '1', text: { en: 'Yes.', es: 'Si.' } },
          },
        ],
        [{ offer: 'starter', rank: 1, fixed: ['life'] }],
      ),
    })
    const { client } = await both.newPartner()
    const user = await client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
    expect(user.requiredactions.map(({ code }) => code)).toEqual(['consent_required', 'beneficiary'])
    const consents = [{ name: 'life', version: '1' }]
    await client.enrolBenefit({ userid: 'u1', name: 'life', consents })
    expect((await userOf(client)).requiredactions.map(({ code }) => code)).toEqual(['beneficiary'])
  })
})

test('they are of a member only: unknown before an account, refused after a cancel', async () => {
  const { client } = await service.newPartner()
  const refused = async () => (await refusalOf(client.getBeneficiaries({ userid: 'u1' }))).code
  await client.prefillUser({ userid: 'u1' })
  expect(await refused()).toBe('user_not_found')
  await client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
  await client.cancelUser({ userid: 'u1', effective: 'immediate' })
  expect(await refused()).toBe('user_cancelled')
})
