import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { refusalOf } from '../api/refusal.ts'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service))

const spouse = { relationship: 'spouse', firstname: 'Grace', lastname: 'King', dob: '1988-02-29' } as const
const child = {
  relationship: 'child',
  firstname: 'Ada',
  lastname: 'King',
  dob: '2019-05-04',
  gender: 'F',
} as const
const userid = 'u'
const read = () => partner.client.getDependants({ userid })
const set = (more: Omit<Parameters<Client['setDependants']>[0], 'userid'>) =>
  partner.client.setDependants({ userid, ...more })

describe('the list of dependants', () => {
  test('is read as it was set, in the order sent, and covers nobody', async () => {
    await partner.create(userid)
    expect(await read()).toEqual({ userid, version: 0, dependants: [] })
    const { version, dependants } = await set({ dependants: [spouse, child] })
    expect(version).toBe(1)
    const [first, second] = dependants
    expect(await read()).toEqual({
      userid,
      version: 1,
      dependants: [
        { ...first, ...spouse, gender: '', benefits: [] },
        { ...second, ...child, benefits: [] },
      ],
    })
  })

  test('keeps the ids that are sent again, makes new ones, and has a new version only when it differs', async () => {
    await partner.create(userid)
    const [grace] = (await set({ dependants: [spouse] })).dependants
    const again = await set({ version: 1, dependants: [child, { ...grace, ...spouse }] })
    expect(again.version).toBe(2)
    expect(again.dependants[1]).toEqual(grace)
    const same = again.dependants.map((one, index) => ({ ...one, ...[child, spouse][index] }))
    expect(await set({ dependants: same as never })).toEqual(again)
    expect((await partner.events(userid)).map(({ eventname }) => eventname).slice(-2)).toEqual([
      'user_update_successful',
      'user_update_successful',
    ])
  })

  test('is refused with an unknown id, one id twice, an older version, or a birth date that is to come', async () => {
    await partner.create(userid)
    const [grace] = (await set({ dependants: [spouse] })).dependants
    const [nobody] = [{ dependantid: '01980000-0000-7000-8000-000000000001' }]
    expect(await refusalOf(set({ dependants: [{ ...nobody, ...child }] }))).toMatchObject({
      code: 'dependant_unknown',
      errors: [{ field: 'dependants[0].dependantid' }],
    })
    expect(
      await refusalOf(set({ dependants: [spouse, spouse].map(one => ({ ...grace, ...one })) })),
    ).toMatchObject({
      code: 'dependant_unknown',
    })
    expect(await refusalOf(set({ version: 0, dependants: [] }))).toMatchObject({ code: 'version_conflict' })
    expect(await refusalOf(set({ dependants: [{ ...child, dob: '2026-10-21' }] }))).toMatchObject({
      code: 'bad_request',
      errors: [{ field: 'dependants[0].dob' }],
    })
    expect((await read()).version).toBe(1)
  })

  test('stays when the user is updated, and follows the rules of an account', async () => {
    await partner.client.prefillUser({ userid, firstname: 'Ada' })
    expect(await refusalOf(read())).toMatchObject({ code: 'user_not_found' })
    await partner.create(userid)
    await set({ dependants: [child] })
    await partner.client.updateUser({ userid, phone: '3055550199' })
    expect((await read()).dependants).toMatchObject([child])
    await partner.client.cancelUser({ userid, effective: 'immediate' })
    expect(await refusalOf(set({ dependants: [] }))).toMatchObject({ code: 'user_cancelled' })
  })

  test('is read only by a partner who was given the scope by name', async () => {
    await partner.create(userid)
    const reader = partner.connect({ scopes: ['users:read', 'users:write'] })
    expect(await refusalOf(reader.getDependants({ userid }))).toMatchObject({ code: 'insufficient_scope' })
  })
})
