// @databases citus
// @prism

import { describe, expect, test } from 'vitest'
import type { Client, ProposedBeneficiary } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
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
const grace: ProposedBeneficiary = {
  kind: 'primary',
  name: 'Gracecanary King',
  relationship: 'spouse',
  share: 100,
  dob: '1988-02-29',
  contact: '3055550177',
}

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
function propose({ client }: Awaited<ReturnType<typeof newMember>>, ...beneficiaries: ProposedBeneficiary[]) {
  return client.proposeBeneficiaries({ userid: 'u1', name: 'life', beneficiaries })
}

describe('scopes', () => {
  test('no partner has them unless the operator gave them, also in a token that asks for nothing', async () => {
    const { client, connect } = await service.newPartner({ scopes: undefined })
    await client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
    expect(await refusalOf(client.getBeneficiaries({ userid: 'u1' }))).toMatchObject({
      code: 'insufficient_scope',
    })
    expect(
      await refusalOf(client.proposeBeneficiaries({ userid: 'u1', name: 'life', beneficiaries: [grace] })),
    ).toMatchObject({ code: 'insufficient_scope' })
    for (const scope of ['beneficiaries:read', 'beneficiaries:write'] as const)
      expect(await refusalOf(connect({ scopes: [scope] }).getUser({ userid: 'u1' }))).toMatchObject({
        code: 'invalid_scope',
      })
  })

  test('reading and proposing are apart', async () => {
    const { connect } = await newMember()
    const reader = connect({ scopes: ['beneficiaries:read'] })
    expect((await reader.getBeneficiaries({ userid: 'u1' })).benefits.map(({ name }) => name)).toEqual([
      'life',
      'income',
    ])
    expect(
      await refusalOf(reader.proposeBeneficiaries({ userid: 'u1', name: 'life', beneficiaries: [grace] })),
    ).toMatchObject({ code: 'insufficient_scope' })
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

  test('still waits after a proposal, which counts only once the person confirms it', async () => {
    const member = await newMember()
    await propose(member, grace)
    const user = await userOf(member.client)
    expect(user.requiredactions).toMatchObject([{ code: 'beneficiary', name: 'life' }])
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

describe('a proposal', () => {
  test('is told with its version, author and date, and with whom it names', async () => {
    const member = await newMember()
    const answer = await propose(
      member,
      { kind: 'contingent', name: 'Tom', relationship: 'child', share: 100 },
      { ...grace, share: 60 },
      { kind: 'primary', name: ' The King Trust ', relationship: 'trust', share: 40, dob: '', contact: '' },
    )
    expect(answer).toMatchObject({ name: 'life', naming: 'required', current: null })
    expect(answer.proposed).toMatchObject({
      version: 1,
      status: 'proposed',
      who: 'partner',
      decidedattimestamp: null,
    })
    expect(answer.proposed?.beneficiaries).toEqual([
      { ...grace, share: 60 },
      { kind: 'primary', name: 'The King Trust', relationship: 'trust', share: 40, dob: '', contact: '' },
      { kind: 'contingent', name: 'Tom', relationship: 'child', share: 100, dob: '', contact: '' },
    ])
    const read = await member.client.getBeneficiaries({ userid: 'u1' })
    expect(read).toMatchObject({ userid: 'u1', serviceid: member.user.serviceid })
    expect(read.benefits).toEqual([answer, expect.objectContaining({ name: 'income', naming: 'optional' })])
  })

  test('takes the place of an earlier one, which stays as it was but for being dropped', async () => {
    const member = await newMember()
    const first = await propose(member, grace)
    const second = await propose(member, { ...grace, name: 'Tomcanary' })
    expect(second.proposed?.version).toBe(2)
    const { benefits } = await member.client.getBeneficiaries({ userid: 'u1', include: ['versions'] })
    expect(benefits[0]?.versions).toEqual([
      { ...first.proposed, status: 'dropped', decidedattimestamp: second.proposed?.writtenattimestamp },
      second.proposed,
    ])
  })

  test('raises no event, and leaves lines in the timeline that name nobody', async () => {
    const member = await newMember()
    const before = await member.client.listEvents({})
    await propose(member, grace)
    expect((await member.client.listEvents({ after: before.next })).events).toEqual([])
    const { timeline } = await userOf(member.client)
    const [told, lapse] = timeline?.slice(-2) ?? []
    expect(lapse).toMatchObject({ what: 'benefit life', to: 'withdrawn', why: 'expired' })
    expect(told).toMatchObject({ what: 'beneficiaries life 1', from: '', to: 'proposed', who: 'partner' })
    expect(JSON.stringify(timeline)).not.toContain('canary')
  })

  test('under one key has one effect', async () => {
    const member = await newMember()
    const wish = { userid: 'u1', name: 'life', beneficiaries: [grace] }
    const first = await member.client.proposeBeneficiaries(wish, { idempotencyKey: 'k' })
    expect(await member.client.proposeBeneficiaries(wish, { idempotencyKey: 'k' })).toEqual(first)
    const { benefits } = await member.client.getBeneficiaries({ userid: 'u1', include: ['versions'] })
    expect(benefits[0]?.versions).toHaveLength(1)
  })

  test.each<[why: string, beneficiaries: ProposedBeneficiary[], field: string, code: string]>([
    ['names no primary one', [{ ...grace, kind: 'contingent' }], 'beneficiaries', 'primary_missing'],
    ['gives less than 100', [{ ...grace, share: 99 }], 'beneficiaries', 'primary_shares'],
    ['gives more than 100', [grace, { ...grace, share: 1 }], 'beneficiaries', 'primary_shares'],
    [
      'gives contingent ones less than 100',
      [grace, { ...grace, kind: 'contingent', share: 50 }],
      ...(['beneficiaries', 'contingent_shares'] as const),
    ],
    ['names a blank', [{ ...grace, name: '  ' }], 'beneficiaries[0].name', 'required'],
    ['has an unborn one', [{ ...grace, dob: '2999-01-01' }], 'beneficiaries[0].dob', 'format'],
  ])('is refused when it %s, and nothing changes', async (_, beneficiaries, field, code) => {
    const member = await newMember()
    expect(await refusalOf(propose(member, ...beneficiaries))).toMatchObject({
      status: 400,
      code: 'bad_request',
      errors: [{ field, code }],
    })
    const { benefits } = await member.client.getBeneficiaries({ userid: 'u1' })
    expect(benefits[0]?.proposed).toBeNull()
  })

  test('is refused for a benefit that takes none, that is unknown, or that is of another offer', async () => {
    const { client } = await newMember()
    const refused = (name: string) =>
      refusalOf(client.proposeBeneficiaries({ userid: 'u1', name, beneficiaries: [grace] }))
    expect(await refused('dental')).toMatchObject({ status: 400, errors: [{ code: 'no_beneficiaries' }] })
    expect(await refused('nothing')).toMatchObject({
      status: 400,
      code: 'benefit_unknown',
      errors: [{ field: 'name' }],
    })
    expect(await refused('pet')).toMatchObject({ status: 422, code: 'ineligible' })
  })
})

describe('what is kept', () => {
  test('is sealed, and an erasure deletes it', async () => {
    const member = await newMember()
    await propose(member, grace)
    const stored = () =>
      service.database.query<{ sealed: Buffer }>(sql`
        select sealed from beneficiary_designations where service_id = ${member.user.serviceid}`)
    const [row] = await stored()
    for (const text of ['Gracecanary', '1988-02-29', 'spouse', '3055550177'])
      expect(row?.sealed.toString('latin1')).not.toContain(text)
    await member.client.eraseUser({ userid: 'u1' })
    expect(await stored()).toEqual([])
  })

  test('never reaches the log or an event', async () => {
    const member = await newMember()
    await propose(member, grace)
    await refusalOf(propose(member, { ...grace, share: 7 }))
    const { events } = await member.client.listEvents({})
    expect(JSON.stringify([service.logged, events])).not.toContain('Gracecanary')
  })

  test('is of a member only: unknown before an account, refused after a cancel', async () => {
    const partner = await service.newPartner()
    const asked = { userid: 'u1', name: 'life', beneficiaries: [grace] }
    await partner.client.prefillUser({ userid: 'u1' })
    const refused = async () => [
      (await refusalOf(partner.client.getBeneficiaries({ userid: 'u1' }))).code,
      (await refusalOf(partner.client.proposeBeneficiaries(asked))).code,
    ]
    expect(await refused()).toEqual(['user_not_found', 'user_not_found'])
    await partner.client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
    await partner.client.cancelUser({ userid: 'u1', effective: 'immediate' })
    expect(await refused()).toEqual(['user_cancelled', 'user_cancelled'])
  })
})
