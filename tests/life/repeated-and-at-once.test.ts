import { describe, expect, test } from 'vitest'
import { operations } from '../../contract/src/index.ts'
import { startSecondService } from '../second-service.ts'
import { lifeOperations, prepare, requests } from './requests.ts'
import { partner, refusal, setStage, stage } from './stage.ts'

setStage('each')

const userid = 'u'
const keyed = lifeOperations.filter(operation => operations[operation].idempotency === 'keyed')

describe.each(keyed)('%s with an Idempotency-Key', operation => {
  const { good, other } = requests[operation]

  test('the same request gets the first answer again, marked, and has no second effect', async () => {
    await prepare(operation, partner, userid)
    const first = await good(partner.client, userid, { idempotencyKey: 'k' })
    await partner.events(userid)
    const marks: unknown[] = []
    const again = partner.connect({
      fetch: async (input, init) => {
        const answer = await stage.service.conformance.fetch(input, init)
        if (!String(input).endsWith('/oauth2/token')) marks.push(answer.headers.get('idempotency-replayed'))
        return answer
      },
    })
    expect(await good(again, userid, { idempotencyKey: 'k' })).toEqual(first)
    expect(marks).toEqual(['true'])
    expect(await partner.names(userid)).toEqual([])
  })

  test('another request with it is refused and changes nothing', async () => {
    await prepare(operation, partner, userid)
    await good(partner.client, userid, { idempotencyKey: 'k' })
    await partner.events(userid)
    const before = await seen()
    expect(other).toBeDefined()
    expect(await refusal(Promise.resolve(other?.(partner.client, userid, { idempotencyKey: 'k' })))).toBe(
      '409 idempotency_key_reused',
    )
    expect(await seen()).toEqual(before)
    expect(await partner.names(userid)).toEqual([])
  })
})

function seen() {
  return partner.client.getUser({ userid, include: ['timeline'] }).catch(error => error.code)
}

test('two operations on one user at once, at two services: one after the other, no update is lost', async () => {
  const second = await startSecondService(stage.service)
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
