// @prism

import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { startSecondService } from '../second-service.ts'
import { lives, newStagePartner } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forAllTests(() => newStagePartner(service))

test('two operations on one user at once, at two services: one after the other, no update is lost', async () => {
  const second = await startSecondService(service)
  try {
    const there = partner.connect({ baseUrl: second.address })
    const here = partner.client
    const userids = Array.from({ length: 12 }, (_, index) => `both${index}`)
    await Promise.all(
      userids.map(one => partner.create(one, { offername: 'mid', benefits: ['dental', 'grow'] })),
    )
    await Promise.all(
      userids.flatMap((one, index) => {
        const [first, other] = index % 2 === 0 ? [here, there] : [there, here]
        return [
          first.updateUser({ userid: one, state: 'NY' }),
          other.updateUser({ userid: one, dob: '1986-12-15' }),
          first.enrolBenefit({ userid: one, name: 'care' }),
          other.changeOffer({ userid: one, offername: 'low' }),
        ]
      }),
    )
    for (const one of userids) {
      const user = await partner.get(one)
      expect(user.pendingoffer).toMatchObject({ offer: 'low' })
      expect(user.conditions).toEqual(['offerchangepending'])
      const held = Object.fromEntries(
        user.benefits.map(({ name, state, endsattimestamp }) => [name, `${state} ${endsattimestamp}`]),
      )
      expect(held).toEqual({
        base: 'enrolled null',
        extra: 'endscheduled 2026-11-01T04:00:00.000Z',
        // The state of one request and the birth date of the other both take effect.
        dental: 'endscheduled 2026-11-01T04:00:00.000Z',
        grow: 'endscheduled 2027-01-01T05:00:00.000Z',
        care: 'enrolled null',
      })
      expect((await partner.names(one)).sort()).toEqual([
        'benefit_enrollment_successful',
        'enrollment_successful',
        'offer_activiation_successful',
        'offer_change_scheduled',
        'user_update_successful',
        'user_update_successful',
      ])
      await here.updateUser({ userid: one, state: 'FL' })
      expect(await partner.states(one)).toMatchObject({ dental: 'enrolled', grow: 'endscheduled' })
    }
  } finally {
    await second.close()
  }
})
