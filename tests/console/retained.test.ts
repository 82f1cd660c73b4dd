import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const keeping = forAllTests(() => service.newPartner({ name: 'Harbor Rides', retain: '7y' }))
const admin = forAllTests(() => signIn(service, 'admin'))

const reason = 'claim 77 of the widow'

/** A person who agreed to a text and named a beneficiary, and is erased. */
async function newErased(userid: string): Promise<{ serviceid: string; path: string }> {
  const { serviceid } = await keeping.client.createUser({
    ...ada,
    userid,
    offername: 'plus',
    benefits: ['identity'],
    consents: [{ name: 'identity', version: '2026-01' }],
  })
  await keeping.client.eraseUser({ userid })
  return { serviceid, path: `/users/${serviceid}/retained` }
}

test('what outlives an erasure is shown to an admin for a reason, and the reason is on record', async () => {
  const { serviceid, path } = await newErased('kept-1')
  const user = await admin.get(`/users/${serviceid}`)
  expect(user.text).toContain('but the records that the law makes the partner keep')
  expect(user.text).toContain(`href="${path}"`)
  const asked = await admin.get(path)
  expect(asked.text).toContain('Dates of cover')
  expect(asked.text).not.toContain('kept-1')

  for (const tooShort of ['', ' x ']) expect((await admin.post(path, { reason: tooShort })).status).toBe(422)
  const shown = await admin.post(path, { reason })
  expect(shown.status).toBe(200)
  for (const text of ['kept-1', 'identity', '2026-01', 'Why it ended']) expect(shown.text).toContain(text)
  const looks = (await deedsOf(service, admin)).filter(({ action }) => action === 'look at kept records')
  expect(looks).toEqual([
    { action: 'look at kept records', result: 'shown', serviceId: serviceid, because: true },
  ])
  const audit = await admin.get(`/audit?partner=${keeping.partnerId}&user=${serviceid}&who=all`)
  expect(audit.text).toContain('look at kept records')
  expect(audit.text).toContain(reason)
})

test('nothing is shown where it cannot be put on record', async () => {
  const { path } = await newErased('kept-2')
  await service.database.query(sql`
    alter table audit_log add constraint nothing_recorded check (action <> 'look at kept records') not valid`)
  const refused = await admin.post(path, { reason })
  await service.database.query(sql`alter table audit_log drop constraint nothing_recorded`)
  expect(refused.status).toBe(500)
  expect(refused.text).not.toContain('kept-2')
})

test.each(['viewer', 'support'] as const)('a %s sees until when, but never the records', async role => {
  const { serviceid, path } = await newErased(`kept-${role}`)
  const operator = await signIn(service, role)
  const user = await operator.get(`/users/${serviceid}`)
  expect(user.text).toContain('Kept until')
  expect(user.text).not.toContain(path)
  expect((await operator.get(path)).status).toBe(403)
  const refused = await operator.post(path, { reason })
  expect(refused.status).toBe(403)
  expect(refused.text).not.toContain(`kept-${role}`)
})

test('of another partner’s user, of a living one, and where nothing is kept, there is nothing to read', async () => {
  const { path } = await newErased('kept-3')
  const other = await service.newPartner({ name: 'Other' })
  const stranger = await signIn(service, 'admin', [other.partnerId])
  expect((await stranger.get(path)).status).toBe(404)
  expect((await stranger.post(path, { reason })).status).toBe(404)

  const living = await keeping.client.createUser({ ...ada, userid: 'kept-4', offername: 'plus' })
  expect((await admin.get(`/users/${living.serviceid}/retained`)).status).toBe(404)
  expect((await admin.post(`/users/${living.serviceid}/retained`, { reason })).status).toBe(404)

  const { serviceid } = await other.client.createUser({ ...ada, userid: 'kept-5', offername: 'plus' })
  await other.client.eraseUser({ userid: 'kept-5' })
  expect((await stranger.get(`/users/${serviceid}`)).text).toContain('Nothing of the person is left here.')
  const none = await stranger.get(`/users/${serviceid}/retained`)
  expect(none.text).toContain('Nothing is kept')
  expect(none.text).not.toContain('<form method="post" action="/users')
})
