import { describe, expect, test } from 'vitest'
import { errors } from '../../contract/src/index.ts'
import { DAY_MS } from '../../service/src/calendar/calendar.ts'
import { writePolicy } from '../../service/src/console/requests/store.ts'
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

async function events(userid: string) {
  return (await partner.client.listEvents({ userid })).events.map(({ eventname }) => eventname)
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
  test('is previewed without a trace, then done for a reason, heard by the partner and signed by the operator', async () => {
    const { userid, serviceid, act } = await newUser()
    const before = await events(userid)
    const wish = { effective: 'endofperiod', cause: 'nonpayment' }
    const preview = await support.post(act('cancel'), wish)
    expect(preview.text).toContain('<code>offer_cancel_scheduled</code>')
    expect(preview.text).toMatch(/<code>benefit telehealth<\/code> enrolled → endscheduled/)
    expect(await events(userid)).toEqual(before)
    expect((await support.post(act('cancel'), { ...wish, ...seenOf(preview) })).status).toBe(422)
    expect(await events(userid)).toEqual(before)

    const done = await support.post(act('cancel'), { ...wish, ...seenOf(preview), reason: 'call 12' })
    expect(done.path).toBe(`/users/${serviceid}`)
    expect(done.text).toContain('canceled by an operator, reason nonpayment')
    expect(await events(userid)).toEqual([...before, 'offer_cancel_scheduled'])
    expect(await lastDeed()).toEqual({
      action: 'cancel user',
      result: 'done',
      service_id: serviceid,
      because: true,
    })
    const [change] = await service.database.query<{ who: string; actor: string }>(sql`
      select who, actor from history where service_id = ${serviceid} order by version desc limit 1`)
    expect(change).toEqual({ who: 'operator', actor: support.operatorId })
  })

  test('does what was seen, or shows anew what it would do', async () => {
    const { userid, act } = await newUser()
    const wish = { effective: 'immediate', cause: 'mistake' }
    const preview = await support.post(act('cancel'), wish)
    await partner.client.cancelUser({ userid })
    const again = await support.post(act('cancel'), { ...wish, ...seenOf(preview), reason: 'call 13' })
    expect(again.text).toContain('What would happen has changed meanwhile')
    expect(await events(userid)).not.toContain('offer_cancel_successful')
    await support.post(act('cancel'), { ...wish, ...seenOf(again), reason: 'call 13' })
    expect(await events(userid)).toContain('offer_cancel_successful')
  })

  test('whose date a month’s end has moved is shown anew, though nobody changed the user', async () => {
    const other = await service.newPartner({ name: 'Month Rides' })
    const { serviceid } = await other.client.createUser({ ...ada, userid: 'a-1', offername: 'plus' })
    const act = `/users/${serviceid}/act/cancel`
    const wish = { effective: 'endofperiod', cause: 'voluntary' }
    const preview = await support.post(act, wish)
    await other.client.advanceClock({ advanceto: new Date(service.now() + 32 * DAY_MS).toISOString() })
    const again = await support.post(act, { ...wish, ...seenOf(preview), reason: 'call 14' })
    expect(again.text).toContain('What would happen has changed meanwhile')
    expect(await other.client.getUser({ userid: 'a-1' })).toMatchObject({ conditions: [] })
    const done = await support.post(act, { ...wish, ...seenOf(again), reason: 'call 14' })
    expect(done.path).toBe(`/users/${serviceid}`)
    expect(done.text).toContain('canceled by an operator')
  })

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

  test('that the rules refuse says why and changes nothing', async () => {
    const { userid, act } = await newUser()
    const before = await events(userid)
    const refused = await support.post(act('reinstate'), {})
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('This cannot be done')
    expect(await events(userid)).toEqual(before)
  })

  test('can be a reinstatement and a change of offer', async () => {
    const { userid, serviceid, act } = await newUser()
    await partner.client.cancelUser({ userid })
    const back = await support.post(act('reinstate'), {})
    await support.post(act('reinstate'), { ...seenOf(back), reason: 'changed their mind' })
    expect(await events(userid)).toContain('offer_reinstate_successful')
    const wish = { offername: 'starter', effective: 'auto' }
    const down = await support.post(act('offer'), wish)
    expect(down.text).toContain('offer_change_scheduled')
    const done = await support.post(act('offer'), { ...wish, ...seenOf(down), reason: 'too dear' })
    expect(done.path).toBe(`/users/${serviceid}`)
    expect(done.text).toMatch(/Moves to Starter on/)
  })

  test('of an unknown kind is not there', async () => {
    const { act } = await newUser()
    expect((await support.get(act('explode'))).status).toBe(404)
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

test.each(['toString', '__proto__', 'constructor'])(
  'a link for the purpose %s is refused, as any that is not offered',
  async purpose => {
    const { serviceid } = await newUser()
    const made = await support.post(`/users/${serviceid}/link`, { purpose, reason: 'lost the text' })
    expect([made.status, made.text.includes('/register/link/')]).toEqual([422, false])
  },
)

test('a link that this person cannot use is not made: the screen and the record say why', async () => {
  const { userid, serviceid } = await newUser()
  await partner.client.cancelUser({ userid, effective: 'immediate' })
  const refused = await support.post(`/users/${serviceid}/link`, { purpose: 'swap', reason: 'asked for it' })
  expect(refused.status).toBe(409)
  expect(refused.text).toContain(errors.user_cancelled.title)
  expect(refused.text).not.toContain('/register/link/')
  expect(await lastDeed()).toMatchObject({
    action: 'make link',
    service_id: serviceid,
    result: 'user_cancelled',
  })
  for (const path of [`/users/${serviceid}`, `/audit?partner=${partner.partnerId}&user=${serviceid}`])
    expect((await support.get(path)).text).toMatch(
      /make link <span class="tag bad">not done: user cancelled</,
    )
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

describe('what a change came to', () => {
  test('is told of a last day that was moved as moved, not as taken back', async () => {
    await writePolicy(service.database, 'move', false)
    const { serviceid, act } = await newUser()
    const form = await support.get(act('move'))
    const [, enrolment = ''] = /<option value="([^"]+)"[^>]*>Telehealth/.exec(form.text) ?? []
    const lastday = `${new Date(service.now()).getUTCFullYear() + 1}-06-30`
    const wish = { enrolment, lastday }
    const preview = await support.post(act('move'), wish)
    const done = await support.post(act('move'), { ...wish, ...seenOf(preview), reason: 'ticket 8' })
    expect(done.path).toBe(`/users/${serviceid}`)
    for (const { text } of [preview, done]) {
      expect(text).toContain('The last day of Telehealth is June 30,')
      expect(text).not.toContain('as if it had never been')
    }
  })

  test('taking a cancel back is offered only while it is possible', async () => {
    const { userid, serviceid } = await newUser()
    await partner.client.cancelUser({ userid, effective: 'immediate' })
    const page = async () => (await support.get(`/users/${serviceid}`)).text
    expect(await page()).toContain('act/reinstate"')
    service.advance(40 * DAY_MS)
    const operator = await signIn(service, 'support')
    expect((await operator.get(`/users/${serviceid}`)).text).not.toContain('act/reinstate"')
  })
})
