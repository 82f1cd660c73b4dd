import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { ada, startTestService, type TestPartner, type TestService } from '../rig.ts'
import { type OperatorBrowser, signIn } from './operator-browser.ts'

let service: TestService
let partner: TestPartner
let support: OperatorBrowser

beforeAll(async () => {
  service = await startTestService({ console: true })
  partner = await service.newPartner({ name: 'Harbor Rides' })
  support = await signIn(service, 'support')
})
afterAll(() => service[Symbol.asyncDispose]())

async function deedsOf({ operatorId }: OperatorBrowser) {
  return (
    await service.database.query<{ action: string; service_id: string | null; because: boolean }>(sql`
      select action, service_id, sealed_reason is not null as because from audit_log
      where actor = ${operatorId} order by entry_id`)
  ).map(({ action, service_id, because }) => [action, service_id, because])
}

describe('all that is held of a person', () => {
  test('is downloaded as one file for a reason, and by nobody without one', async () => {
    const userid = 'exported-1'
    const { serviceid } = await partner.client.createUser({
      ...{ ...ada, userid, offername: 'starter', benefits: ['telehealth'] },
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
    expect(await deedsOf(support)).toContainEqual(['export user', serviceid, true])
  })

  test('of an erased user, and of another partner’s, is not there', async () => {
    const userid = 'exported-2'
    const { serviceid } = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    const other = await service.newPartner({ name: 'Other' })
    const own = await signIn(service, 'admin', [other.partnerId])
    expect((await own.post(`/users/${serviceid}/export`, { reason: 'not mine' })).status).toBe(404)
    await partner.client.eraseUser({ userid })
    expect((await support.post(`/users/${serviceid}/export`, { reason: 'too late' })).status).toBe(404)
    expect(await deedsOf(own)).not.toContainEqual(['export user', serviceid, true])
  })
})
