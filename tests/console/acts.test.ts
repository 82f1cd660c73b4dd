import { describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
const support = forAllTests(() => signIn(service, 'support'))

let people = 0
async function newUser() {
  people += 1
  const userid = `acted-on-${people}`
  const { serviceid } = await partner.client.createUser({
    ...ada,
    userid,
    offername: 'plus',
    benefits: ['telehealth'],
  })
  return { userid, serviceid, act: (name: string) => `/users/${serviceid}/act/${name}` }
}

function seenOf({ text }: { text: string }) {
  return {
    sure: 'yes',
    seen: /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? '',
  }
}
async function lastDeed() {
  const [row] = await service.database.query<{
    action: string
    result: string
    service_id: string
    because: boolean
  }>(sql`
    select action, result, service_id, sealed_reason is not null as because from audit_log
    where actor = ${support.operatorId} and action not like 'look%' order by entry_id desc limit 1`)
  return row
}

describe('an act on a user', () => {
  test('that is sent twice at once is done and on record once', async () => {
    const { serviceid, act } = await newUser()
    const wish = { offername: 'starter', effective: 'nextperiod' }
    const seen = seenOf(await support.post(act('offer'), wish))
    const send = () => support.post(act('offer'), { ...wish, ...seen, reason: 'call 15' })
    await Promise.all([send(), send()])
    const rows = await service.database.query(sql`
      select from audit_log where service_id = ${serviceid} and action = 'offer user' and result = 'done'`)
    expect(rows).toHaveLength(1)
  })
})

test('a link is made for the person, shown once, and asks for the birth date', async () => {
  const { serviceid } = await newUser()
  const made = await support.post(`/users/${serviceid}/link`, {
    purpose: 'benefits',
    reason: 'lost the text',
  })
  const url = new RegExp(`${service.baseUrl}/register/link/\\w+`).exec(made.text)?.[0] ?? ''
  const page = await fetch(url)
  expect(page.status).toBe(200)
  await page.text()
  const [row] = await service.database.query<{ delivery: string; purpose: string }>(sql`
    select delivery, purpose from page_sessions where partner_id = ${partner.partnerId}
    order by created_at desc, session_id desc limit 1`)
  expect(row).toEqual({ delivery: 'sms', purpose: 'benefits' })
  expect((await support.get(`/users/${serviceid}`)).text).not.toContain('/register/link/')
  expect(await lastDeed()).toMatchObject({ action: 'make link', service_id: serviceid, because: true })
})

test('an event is sent again to the endpoints that ask for it, and to nobody when it is another user’s', async () => {
  const { serviceid, userid } = await newUser()
  const other = await newUser()
  const { webhookid } = await partner.client.createWebhook({
    url: 'http://127.0.0.1:9/hook',
    username: 'harbor',
    password: 'pilot',
    events: ['all'],
  })
  const [event] = (await partner.client.listEvents({ userid })).events
  const path = `/users/${serviceid}/resend/${event?.eventid}`
  expect((await support.get(path)).text).toContain('To 1 endpoint')
  await support.post(path, { reason: 'they lost it' })
  const queued = await service.database.query(sql`
    select from deliveries where event_id = ${event?.eventid} and endpoint_id = ${webhookid}`)
  expect(queued).toHaveLength(1)
  expect(await lastDeed()).toMatchObject({ action: 'resend event', service_id: serviceid, because: true })
  expect((await support.get(`/users/${other.serviceid}/resend/${event?.eventid}`)).status).toBe(404)
})
