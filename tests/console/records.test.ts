import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
const support = forAllTests(() => signIn(service, 'support'))

describe('all that is held of a person', () => {
  test('is downloaded as one file for a reason, and by nobody without one', async () => {
    const userid = 'exported-1'
    const { serviceid } = await partner.client.createUser({
      ...ada,
      userid,
      offername: 'starter',
      benefits: ['telehealth'],
    })
    const path = `/users/${serviceid}/export`
    expect((await support.get(path)).text).toContain('Download the file')
    const refused = await support.post(path, { reason: ' ' })
    expect(refused.status).toBe(422)
    expect(refused.text).not.toContain('Adacanary')
    const file = await support.post(path, { reason: 'request of access 4711' })
    expect(file.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="user-${serviceid}.json"`)
    const held = JSON.parse(file.text)
    expect(held).toMatchObject({
      user: { userid, serviceid },
      documents: { profile: { firstname: 'Adacanary' } },
    })
    expect(held.events.length).toBeGreaterThan(0)
    expect(await deedsOf(service, support)).toContainEqual({
      action: 'export user',
      result: 'done',
      serviceId: serviceid,
      because: true,
    })
  })

  test('has what operators asked each other to confirm about the person, and why', async () => {
    const userid = 'exported-3'
    const { serviceid } = await partner.client.createUser({
      ...ada,
      userid,
      offername: 'starter',
      benefits: ['telehealth'],
    })
    const exported = async () =>
      JSON.parse((await support.post(`/users/${serviceid}/export`, { reason: 'request of access' })).text)
    expect((await exported()).requests).toEqual([])
    const path = `/users/${serviceid}/act/erase`
    const seen = /name="seen" value="([^"]+)"/.exec((await support.get(path)).text)?.[1] ?? ''
    const asked = await support.post(path, {
      seen: seen.replaceAll('&quot;', '"'),
      reason: 'letter of Nov 2',
    })
    const [request] = (await exported()).requests
    expect(request).toMatchObject({
      requestid: asked.path.split('/')[2],
      action: 'erase',
      reason: 'letter of Nov 2',
      outcome: 'waiting',
      decidedat: null,
      effect: expect.stringContaining('user_erased'),
    })
    const second = await signIn(service, 'support')
    await second.post(`${asked.path}/refuse`, { reason: 'they have changed their mind' })
    expect((await exported()).requests).toEqual([
      { ...request, outcome: 'refused', decidedat: expect.stringMatching(/Z$/) },
    ])
  })

  test('of an erased user is not there', async () => {
    const { serviceid } = await partner.client.createUser({
      ...ada,
      userid: 'exported-2',
      offername: 'starter',
    })
    await partner.client.eraseUser({ userid: 'exported-2' })
    expect((await support.post(`/users/${serviceid}/export`, { reason: 'too late' })).status).toBe(404)
  })
})
