import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
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

test('nothing is shown where it cannot be put on record', async () => {
  const { path } = await newErased('kept-2')
  await service.database.query(sql`
    alter table audit_log add constraint nothing_recorded check (action <> 'look at kept records') not valid`)
  const refused = await admin.post(path, { reason })
  await service.database.query(sql`alter table audit_log drop constraint nothing_recorded`)
  expect(refused.status).toBe(500)
  expect(refused.text).not.toContain('kept-2')
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
