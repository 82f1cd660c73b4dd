import { describe, expect, test } from 'vitest'
import { writePolicy } from '../../service/src/console/requests/store.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { type OperatorBrowser, signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
const support = forAllTests(() => signIn(service, 'support'))
const second = forAllTests(() => signIn(service, 'support'))

async function newUser(userid: string) {
  const { serviceid } = await partner.client.createUser({
    ...ada,
    userid,
    offername: 'starter',
    benefits: ['telehealth'],
  })
  return { userid, serviceid, path: `/users/${serviceid}/act/erase` }
}
async function statusOf(userid: string) {
  return (await partner.client.getUser({ userid })).status
}
async function _events(userid: string) {
  return (await partner.client.listEvents({ userid })).events.map(({ eventname }) => eventname)
}
function seenIn(text: string) {
  return (/name="seen" value="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&quot;', '"')
}
/** Sends the request with the values that the page showed, as a browser would. */
async function ask(operator: OperatorBrowser, path: string, reason: string) {
  const { text } = await operator.get(path)
  const seen = seenIn(text)
  return operator.post(path, { sure: 'yes', seen, reason })
}
async function deedsOf(serviceid: string) {
  return (
    await service.database.query<{ actor: string; action: string; result: string; because: boolean }>(sql`
      select actor, action, result, sealed_reason is not null as because from audit_log
      where service_id = ${serviceid} and actor_kind = 'operator' and action not like 'look%' order by entry_id`)
  ).map(one => [one.actor, one.action, one.result, one.because])
}

describe('an erasure', () => {
  test('is asked for by one and confirmed by another, and both may prove it', async () => {
    const { userid, serviceid, path } = await newUser('erased-1')
    const { text } = await support.get(path)
    expect(text).toContain('Ask a second person')
    expect(text).toMatch(/<code>offer_cancel_successful, user_erased</)
    expect((await support.post(path, { sure: 'yes', seen: seenIn(text), reason: ' ' })).status).toBe(422)
    const asked = await ask(support, path, 'letter of Nov 2')
    expect(asked.path).toMatch(/^\/requests\//)
    expect(asked.text).toContain('letter of Nov 2')
    expect(await statusOf(userid)).toBe('active')

    expect((await support.post(`${asked.path}/confirm`, { reason: 'myself' })).status).toBe(403)
    const shown = await second.get(asked.path)
    expect(shown.text).toContain('<button class="danger">Do it<')
    const done = await second.post(`${asked.path}/confirm`, { reason: 'letter checked' })
    expect(done.path).toBe(`/users/${serviceid}`)
    expect(done.text).toContain('Nothing of the person is left here')
    expect(await statusOf(userid)).toBe('erased')
    const { events: told } = await partner.client.listEvents({})
    expect(told.map(({ eventname }) => eventname)).toContain('user_erased')
    const keys = await service.database.query(sql`select from data_keys where service_id = ${serviceid}`)
    expect(keys).toEqual([])

    for (const operator of [support, second]) {
      const proof = await operator.get(`/users/${serviceid}/certificate`)
      expect(proof.headers.get('content-disposition')).toContain(`erasure-${serviceid}.txt`)
      expect(proof.text).toContain('Certificate of erasure')
      expect(proof.text).toContain(serviceid)
      expect(proof.text).not.toContain(userid)
    }
    const stranger = await signIn(service, 'admin')
    expect((await stranger.get(`/users/${serviceid}/certificate`)).status).toBe(403)
    expect(await deedsOf(serviceid)).toEqual(
      expect.arrayContaining([
        [support.operatorId, 'ask for erase', 'asked', true],
        [support.operatorId, 'erase on request', 'done', true],
        [second.operatorId, 'confirm erase', 'done', true],
        [second.operatorId, 'download certificate', 'done', false],
        [stranger.operatorId, 'download certificate', 'refused', false],
      ]),
    )
  })

  test('is shown again first where the user has changed since the page was made', async () => {
    const { userid, path } = await newUser('erased-3')
    const { text } = await support.get(path)
    const seen = seenIn(text)
    await partner.client.cancelUser({ userid, effective: 'immediate' })
    const again = await support.post(path, { sure: 'yes', seen, reason: 'letter' })
    expect(again.text).toContain('What would happen has changed meanwhile')
    expect(await statusOf(userid)).toBe('cancelled')
  })

  test('a living person has no certificate', async () => {
    const { serviceid } = await newUser('erased-4')
    expect((await support.get(`/users/${serviceid}/certificate`)).status).toBe(404)
  })

  test('needs one person alone where the policy says so', async () => {
    await writePolicy(service.database, 'erase', false)
    try {
      const { userid, serviceid, path } = await newUser('erased-5')
      expect((await support.get(path)).text).toContain('Erase for good')
      const done = await ask(support, path, 'letter of Nov 5')
      expect(done.path).toBe(`/users/${serviceid}`)
      expect(await statusOf(userid)).toBe('erased')
      expect((await support.get(`/users/${serviceid}/certificate`)).status).toBe(200)
      expect((await second.get(`/users/${serviceid}/certificate`)).status).toBe(403)
      expect(await deedsOf(serviceid)).toContainEqual([support.operatorId, 'erase user', 'done', true])
    } finally {
      await writePolicy(service.database, 'erase', true)
    }
  })
})
