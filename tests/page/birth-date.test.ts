import { beforeEach, describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startRig } from './rig.ts'
import { newVisitor, type Shown, type Visitor } from './visitor.ts'

const rig = forAllTests(startRig)
beforeEach(() => rig.newPerson().then(() => undefined))

const minute = 60_000
function client() {
  return rig.partner.client
}

describe('tries at the birth date', () => {
  const day = 24 * 60 * minute
  const wrongDate = { dobmonth: '1', dobday: '1', dobyear: '1990' }
  const openBy = async (
    delivery: 'sms' | 'email' | 'hosted',
  ): Promise<{ visitor: Visitor; first: Shown }> => {
    const visitor = newVisitor(rig.service)
    return { visitor, first: await visitor.post(await rig.mintLink({ delivery })) }
  }
  const guess = async (visitor: Visitor, times: number) => {
    const shown: Shown[] = []
    for (let time = 0; time < times; time += 1)
      shown.push(await visitor.post('/register/challenge', wrongDate))
    return shown
  }
  const right = { dobmonth: '3', dobday: '27', dobyear: '1990' }

  test('come back 30 days after the last of them', async () => {
    for (const _ of [1, 2]) await guess((await openBy('sms')).visitor, 5)
    rig.running.advance(29 * day)
    await rig.running.service().runDue()
    expect((await openBy('sms')).first.status).toBe(401)
    rig.running.advance(day)
    await rig.running.service().runDue()
    expect((await openBy('sms')).first.html).not.toContain('tries left')
  })

  test('of two links at once are not more than of one after the other', async () => {
    await guess((await openBy('sms')).visitor, 4)
    const links = [await openBy('sms'), await openBy('email')]
    const guesses = await Promise.all(
      links.flatMap(({ visitor }) =>
        Array.from({ length: 5 }, () => visitor.post('/register/challenge', wrongDate)),
      ),
    )
    // Six were left, and the last of them ends its link.
    expect(guesses.filter(({ status }) => status === 422).length).toBeLessThanOrEqual(5)
    expect((await openBy('sms')).first.status).toBe(401)
  })

  test('pressed twice with the right date let the person in', async () => {
    const { visitor } = await openBy('sms')
    const both = await Promise.all([1, 2].map(() => visitor.post('/register/challenge', right)))
    expect(both.map(({ view }) => view)).toEqual(['DETAILS_REVIEW', 'DETAILS_REVIEW'])
    expect((await visitor.get('/register')).view).toBe('DETAILS_REVIEW')
  })

  test('that failed are an outcome, which a partner learns by the session', async () => {
    const userid = rig.userid()
    const { linkurl, sessionid } = await client().createLinkToken({
      userid,
      delivery: 'sms',
      offername: 'starter',
    })
    // A link that was never opened has no result.
    await expect(client().exchangeResult({ sessionid })).rejects.toMatchObject({ code: 'not_found' })
    const visitor = newVisitor(rig.service)
    await visitor.post(linkurl ?? '')
    expect(await client().exchangeResult({ sessionid })).toMatchObject({
      outcome: 'exited',
      completedat: null,
    })
    await guess(visitor, 5)
    expect(await client().exchangeResult({ sessionid })).toEqual({
      sessionid,
      userid,
      outcome: 'challengefailed',
      reference: null,
      completedat: expect.stringMatching(/Z$/),
    })
    const stranger = await rig.running.newPartner()
    await expect(stranger.client.exchangeResult({ sessionid })).rejects.toMatchObject({ status: 404 })
    rig.running.advance(day)
    await expect(client().exchangeResult({ sessionid })).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a result', () => {
  test.each([{}, { resulttoken: '', sessionid: '' }, { resulttoken: 'x', sessionid: 'y' }])(
    'is asked for by one name: %j',
    async request => {
      await expect(client().exchangeResult(request)).rejects.toMatchObject({
        code: 'bad_request',
        errors: [{ field: 'resulttoken' }],
      })
    },
  )
})
