import { beforeAll, describe, expect, test, vi } from 'vitest'
import { DAY_MS } from '../../service/src/calendar/calendar.ts'
import { screens } from '../../service/src/console/screens.ts'
import { sql } from '../../service/src/db/sql.ts'
import { hasRight } from '../../service/src/operators/operator.ts'
import { forAllTests } from '../for-all-tests.ts'
import { wholeRunTest } from '../long.ts'
import { newVisitor } from '../page/visitor.ts'
import { ada, startTestService } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { type OperatorBrowser, signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
let serviceid = ''
beforeAll(async () => {
  const user = await partner.client.createUser({
    ...ada,
    userid: 'canary-user-1',
    offername: 'starter',
    benefits: ['telehealth'],
  })
  serviceid = user.serviceid
})
const viewer = forAllTests(() => signIn(service, 'viewer'))
const support = forAllTests(() => signIn(service, 'support'))

describe('the page of a user', () => {
  test('has the userid in its heading for support, and in no title, which browsers keep in their history', async () => {
    const titled = `<title>User ${serviceid.slice(-12)} – Benefits console</title>`
    for (const [operator, heading] of [
      [support, 'User canary-user-1'],
      [viewer, 'User'],
    ] as const) {
      const { text } = await operator.get(`/users/${serviceid}`)
      expect(text).toContain(titled)
      expect(text).toContain(`<h1>${heading}</h1>`)
    }
  })

  test('says in a sentence how the user stands, and follows each change', async () => {
    const userid = 'sentence-1'
    const { serviceid: id } = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    const sentence = async (operator: OperatorBrowser) =>
      /id="sentence">([^<]*)</.exec((await operator.get(`/users/${id}`)).text)?.[1]
    expect(await sentence(support)).toMatch(/^Active on Starter since \w+ \d+, \d{4}\.$/)
    await partner.client.cancelUser({ userid, reason: 'nonpayment' })
    expect(await sentence(support)).toMatch(
      /^Active on Starter since .*\. Leaves on \w+ (28|29|30|31), \d{4}: canceled by the partner, reason nonpayment\.$/,
    )
    expect(await sentence(viewer)).toMatch(/: canceled by the partner\.$/)
    await partner.client.reinstateUser({ userid })
    const { text } = await viewer.get(`/users/${id}`)
    expect(text).toMatch(
      /The membership is canceled because of nonpayment\. The last day is \w+ \d+, \d{4}\. Accident coverage ends then\./,
    )
    expect(text).toContain('The cancellation is taken back. Accident coverage stays.')
    expect((await viewer.get('/')).text).toMatch(new RegExp(`looked at today[^!]*/users/${id}`))
    await partner.client.cancelUser({ userid, reason: 'employmentended' })
    expect(await sentence(support)).toMatch(/, reason employment ended\.$/)
    await partner.client.eraseUser({ userid })
    expect(await sentence(support)).toMatch(/^Erased on .*Nothing of the person is left here\.$/)
  })

  test('names the rule that says no, and shows what it looked at only with the person’s data', async () => {
    const { serviceid: id } = await partner.client.createUser({
      ...ada,
      userid: 'too-old-1',
      dob: '1950-01-01',
      offername: 'starter',
    })
    const plain = await support.get(`/users/${id}`)
    expect(plain.text).toMatch(/Too old \(\d\):[^!]*is for people aged 18 to 64/)
    expect(plain.text).not.toContain('needs age 18–64, is')
    const shown = await support.post(`/users/${id}/person`, { reason: 'ticket 42' })
    expect(shown.text).toMatch(/needs age 18–64, is \d\d/)
  })

  test('says of somebody who has no offer which rules refuse each, and with which offers each benefit comes', async () => {
    const of = async (userid: string, person: Readonly<Record<string, unknown>>) => {
      await partner.client.prefillUser({ ...ada, userid, ...person })
      const { path, text } = await support.post('/find', { what: userid })
      return { path, text, sentence: /id="sentence">([^<]*)</.exec(text)?.[1] ?? '' }
    }
    const inNewYork = { zipcode: '10001', address: { ...ada.address, state: 'NY', zipcode: '10001' } }
    const newYorker = await of('closed-ny', inNewYork)
    expect(newYorker.sentence).toMatch(/^Prefilled on .*, not enrolled: nobody has chosen an offer yet\./)
    expect(newYorker.text).toMatch(
      /Not in this state[^!]*?Hospital cash is not offered in New York\.[^!]*?<code>not_in_ny/,
    )
    expect(newYorker.text).toContain('What the partner had sent is deleted.')
    expect(newYorker.text).not.toMatch(/Not in this state[^<]*<\/strong>[^<]*Telehealth/)
    expect(newYorker.text).toMatch(/With Starter: [^<]*Telehealth/)
    const child = await of('closed-child', { dob: '2015-01-01' })
    expect(child.sentence).toMatch(/, not enrolled: no offer is open to this person\./)
    expect(child.text).toMatch(/Too young[^<]*<\/strong>[^<]*Emergency savings/)
    expect(child.text).not.toContain('Only with an offer')
    expect(newYorker.text).toMatch(
      /With another offer:<\/strong> Term life<[^!]*?Only with an offer that is not open to this person: Premier\./,
    )
    const unborn = await of('closed-unknown', { dob: undefined })
    expect(unborn.sentence).toMatch(/, not enrolled: birth date not known\./)
    expect(unborn.text).toContain('Birth date is not known, so no rule was tried.')
    const shown = await support.post(`${newYorker.path}/person`, { reason: 'ticket 43' })
    expect(shown.text).toContain('not in NY, lives in NY')
  })

  test('says beside a benefit how it is used, and after its end as long as that holds', async () => {
    const uses = { ...ada, userid: 'canary-uses', offername: 'plus', benefits: ['critical', 'vision'] }
    const { serviceid: id } = await partner.client.createUser(uses)
    expect((await viewer.get(`/users/${id}`)).text).toMatch(/How to use it.*?<li>1-800-555-0142<\/li>/s)
    await partner.client.cancelUser({ userid: uses.userid, effective: 'immediate' })
    expect((await viewer.get(`/users/${id}`)).text).toContain('<p>For what happened before its end, until ')
  })

  test('says of somebody whose create was refused when and why, even if nobody has the userid', async () => {
    const userid = 'refused-canary'
    const inNewYork = {
      zipcode: '10001',
      address: { ...ada.address, state: 'NY' as const, zipcode: '10001' },
    }
    const create = () =>
      expect(
        partner.client.createUser({ ...ada, ...inNewYork, userid, offername: 'premier' }),
      ).rejects.toMatchObject({ status: 422 })
    await create()
    const found = await vi.waitFor(async () => {
      const answer = await viewer.post('/find', { what: userid })
      expect(answer.status).toBe(200)
      return answer.text
    })
    expect(found).toContain('<h1>Not enrolled</h1>')
    expect(found).toContain('Refused at Harbor Rides')
    expect(found).toMatch(/Premier[^<]*New York[^<]*<code>not_in_ny<\/code>/)
    const other = await service.newPartner({ name: 'Elsewhere' })
    const elsewhere = await signIn(service, 'support', [other.partnerId])
    expect((await elsewhere.post('/find', { what: userid })).status).toBe(404)
    await partner.client.prefillUser({ ...ada, ...inNewYork, userid })
    const { text } = await support.post('/find', { what: userid })
    expect(text).toMatch(
      /id="sentence">Prefilled on [^:]*, not enrolled: an attempt to enroll was refused on [^:]*: Premier is not [^;]*;/,
    )
    expect(text).toMatch(/<h2>Refused<[^!]*not_in_ny/)
    await partner.client.eraseUser({ userid })
    // What is kept of an erased userid is a keyed hash, which leads to the certificate.
    expect((await support.post('/find', { what: userid })).text).toContain('Certificate of erasure')
    expect((await elsewhere.post('/find', { what: userid })).status).toBe(404)
  })

  test('is found by the id of a request that could not enroll the person, whoever was there then or came since', async () => {
    const inNewYork = {
      zipcode: '10001',
      address: { ...ada.address, state: 'NY' as const, zipcode: '10001' },
    }
    const refuse = (userid: string, body = {}) =>
      partner.client.createUser({ ...ada, ...inNewYork, userid, offername: 'premier', ...body }).then(
        () => '',
        (error: { requestId: string }) => error.requestId,
      )
    const found = (what: string, by: OperatorBrowser = support) =>
      vi.waitFor(async () => {
        const answer = await by.post('/find', { what })
        expect(answer.status).toBe(200)
        return answer
      })
    const userid = 'canary-refused-request'
    const requestId = await refuse(userid)
    const misshapen = await refuse(userid, { dob: 5 })
    for (const operator of [viewer, support]) {
      const { path, text } = await found(requestId.toUpperCase(), operator)
      expect(path).toBe('/find')
      expect(text).toContain('<h1>Not enrolled</h1>')
      expect(text).toContain('Nobody has come under its userid since.')
      expect(text).toContain('Refused at Harbor Rides')
      expect(text).toMatch(/not_in_ny/)
      expect(text).not.toContain('canary')
    }
    // The other attempt of the same userid stands beside it, and what was wrong is said in words.
    const both = (await found(misshapen)).text
    expect(both).toContain(`id="request-${requestId}"`)
    expect(both).toContain('<code>dob</code> is of the wrong type <code>type</code>')
    expect(both.match(/searched for/g)).toHaveLength(1)
    expect(both).toMatch(new RegExp(`id="request-${misshapen}">.*</span> <span[^>]*>searched for`))
    const elsewhere = await signIn(service, 'admin', [(await service.newPartner()).partnerId])
    expect((await elsewhere.post('/find', { what: requestId })).status).toBe(404)

    // Somebody who comes later under the userid is who the request was about.
    const { serviceid: later } = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    const since = await found(requestId)
    expect(since.path).toBe(`/users/${later}`)
    expect(since.text).toContain(`id="request-${requestId}"`)
    // So is somebody who was there before.
    await partner.client.prefillUser({ ...ada, ...inNewYork, userid: 'canary-refused-prefilled' })
    const ofPrefilled = await refuse('canary-refused-prefilled')
    const { path, text } = await found(ofPrefilled)
    expect(path).toMatch(/^\/users\//)
    expect(text).toContain('canary-refused-prefilled')

    await partner.client.eraseUser({ userid })
    expect((await support.post('/find', { what: requestId })).status).toBe(404)
  })

  test('lists the refused attempts of a person beyond the newest twenty below them, and the one that was sought above', async () => {
    const requests: string[] = []
    for (let times = 0; times < 22; times += 1)
      await partner.client
        .createUser({ ...ada, userid: 'often-refused', offername: 'starter', dob: '2020-01-01' })
        .catch((error: { requestId: string }) => requests.push(error.requestId))
    const [oldest = '', second = ''] = requests
    const text = await vi.waitFor(async () => {
      const answer = await support.post('/find', { what: oldest })
      expect(answer.text.match(/id="request-/g)).toHaveLength(22)
      return answer.text
    })
    expect(text.indexOf(oldest)).toBeLessThan(text.indexOf(requests.at(-1) ?? '-'))
    expect(text.slice(text.indexOf('<details>'))).toMatch(/<summary>1 older</)
    expect(text.slice(text.indexOf('<details>'))).toContain(second)
  })

  test('says of a held offer that would not be given anew which rule refuses it', async () => {
    const { serviceid: id } = await partner.client.createUser({
      ...ada,
      userid: 'moved-away',
      offername: 'premier',
    })
    await partner.client.updateUser({
      userid: 'moved-away',
      zipcode: '10001',
      address: { ...ada.address, state: 'NY', zipcode: '10001' },
    })
    const { text } = await support.get(`/users/${id}`)
    expect(text).toMatch(/Kept:<\/strong> Premier<[^!]*?Kept, but it would not be given anew: /)
  })

  test('names offers as the catalogue shows them, and offers to record a consent only if one is missing', async () => {
    const { serviceid: id } = await partner.client.createUser({
      ...ada,
      userid: 'consents-1',
      offername: 'plus',
      benefits: ['identity'],
    })
    const { text } = await support.get(`/users/${id}`)
    expect(text).toContain('comes with Plus<')
    expect(text).toContain('picked under Plus<')
    expect(text).toContain('no endpoint asked for it')
    expect(text).toContain('Put a consent on record')
    expect((await support.get(`/users/${serviceid}`)).text).not.toContain('Put a consent on record')
  })

  test('has older changes on pages of their own, which lead back and do not take an earlier cancel for the present one', async () => {
    const userid = 'canary-long-history'
    const user = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    await partner.client.cancelUser({ userid })
    await partner.client.reinstateUser({ userid })
    for (let n = 0; n < 50; n += 1) await partner.client.updateUser({ userid, firstname: `Ada ${n}` })
    const path = `/users/${user.serviceid}`
    const wish = { effective: 'endofperiod', cause: 'deceased' }
    const preview = await support.post(`${path}/act/cancel`, wish)
    const seen = /name="seen" value="([^"]+)"/.exec(preview.text)?.[1] ?? ''
    const { text } = await support.post(`${path}/act/cancel`, {
      ...wish,
      sure: 'yes',
      seen,
      reason: 'letter 3',
    })
    const sentenceOf = (page: string) => /id="sentence">([^<]*)</.exec(page)?.[1]
    expect(sentenceOf(text)).toContain('canceled by an operator, reason deceased')
    const older = /<a href="([^"]+)">Older changes</.exec(text)?.[1] ?? ''
    const page = await support.get(older)
    expect(sentenceOf(page.text)).toContain('canceled, reason deceased')
    expect(page.text).toContain(`<a href="${path}">Newest changes</a>`)
    expect(page.text).not.toContain('>today</span>')
    expect(text).not.toContain('Newest changes')
  })

  test('leads to all entries about a user who came after the sandbox’s clock was moved', async () => {
    const ahead = await service.newPartner({ name: 'Ahead Rides' })
    await ahead.client.advanceClock({ advanceto: new Date(service.now() + 40 * DAY_MS).toISOString() })
    const user = await ahead.client.createUser({ ...ada, userid: 'canary-ahead', offername: 'starter' })
    const { text } = await support.get(`/users/${user.serviceid}`)
    const all = /<a href="(\/audit\?[^"]+)">All entries</.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect((await support.get(all)).text).toContain('look at user')
  })

  test('counts the looks in a row of one operator, so that they do not hide who changed something', async () => {
    const userid = 'looked-at-1'
    const { serviceid: id } = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    const operator = await signIn(service, 'support')
    await operator.post(`/users/${id}/person`, { reason: 'ticket 44' })
    for (let looks = 1; looks <= 30; looks += 1) await operator.get(`/users/${id}`)
    const { text } = await support.get(`/users/${id}`)
    const seen = text.slice(text.indexOf('Who looked and worked here'))
    expect(seen).toMatch(/look at user<br><span class="hint">30 times since/)
    expect(seen.match(/look at user/g)).toHaveLength(2)
    expect(seen).toContain('ticket 44')
    expect(text.indexOf('<h2>Timeline')).toBeLessThan(text.indexOf('<h2>Who looked'))
  })

  test('offers for a correction what is live before what is over', async () => {
    const userid = 'came-back-1'
    const { serviceid: id } = await partner.client.createUser({ ...ada, userid, offername: 'starter' })
    await partner.client.cancelUser({ userid, effective: 'immediate' })
    await partner.client.reinstateUser({ userid })
    for (const act of ['void', 'move']) {
      const { text } = await support.get(`/users/${id}/act/${act}`)
      const options = [...text.matchAll(/<option[^>]*>Accident coverage, (in force|ended)/g)]
      expect(options.map(([, state]) => state)).toEqual(['in force', 'ended'])
    }
  })

  test('shows links and what became of them', async () => {
    await partner.client.createLinkToken({ userid: 'canary-user-1', purpose: 'benefits', delivery: 'sms' })
    const { text } = await support.get(`/users/${serviceid}`)
    expect(text).toContain('not opened yet')
    expect(text).toContain('sms')
  })

  test('shows at which step a session of the page was left, and that its dead link was opened', async () => {
    const userid = 'canary-left-1'
    await partner.client.prefillUser({ ...ada, userid })
    const { linkurl } = await partner.client.createLinkToken({ userid, purpose: 'registration' })
    const visitor = newVisitor(service.baseUrl)
    const shown = await visitor.post(linkurl ?? '')
    const { path } = await support.post('/find', { what: userid })
    const links = async () => (await support.get(path)).text
    expect(shown.view).toBe('DETAILS_REVIEW')
    expect(await links()).toContain('last seen at “Check your details”, ')
    expect((await newVisitor(service.baseUrl).get(linkurl ?? '')).status).toBe(410)
    expect(await links()).toContain('last seen at “Check your details”, ')
  })

  test('shows the same of a session in the embed', async () => {
    const userid = 'canary-left-2'
    const origin = 'https://site.example.com'
    const { client } = await service.newPartner({ origins: [origin] })
    await client.prefillUser({ ...ada, userid })
    const { linktoken } = await client.createLinkToken({
      userid,
      purpose: 'registration',
      delivery: 'embed',
    })
    const exchange = () =>
      fetch(`${service.baseUrl}/embed/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ linktoken, origin }),
      })
    expect((await exchange()).status).toBe(200)
    const { path } = await support.post('/find', { what: userid })
    expect((await support.get(path)).text).toContain('last seen at “Check your details”')
    expect((await exchange()).status).toBe(401)
  })
})

describe('personal data', () => {
  test('is shown to support for a reason, which goes on record sealed', async () => {
    const operator = await signIn(service, 'support')
    const closed = await operator.get(`/users/${serviceid}`)
    expect(closed.text).not.toMatch(/Adacanary|ada\.canary|3055550142|Canary Drive|1990-03-27/)
    expect((await operator.post(`/users/${serviceid}/person`, { reason: ' ' })).status).toBe(422)
    const shown = await operator.post(`/users/${serviceid}/person`, { reason: 'caller asked, ticket 7' })
    for (const value of [
      'Adacanary',
      'ada.canary@example.com',
      '3055550142',
      '12 Canary Drive',
      '1990-03-27',
    ])
      expect(shown.text).toContain(value)
    expect(await deedsOf(service, operator)).toContainEqual({
      action: 'look at person',
      result: 'shown',
      serviceId: serviceid,
      because: true,
    })
    const { text } = await operator.get(`/audit?partner=${partner.partnerId}`)
    expect(text).toContain('caller asked, ticket 7')
    const [row] = await service.database.query<{ sealed_reason: Buffer }>(sql`
      select sealed_reason from audit_log where actor = ${operator.operatorId} and sealed_reason is not null`)
    expect(row?.sealed_reason.toString('latin1')).not.toContain('ticket')
  })

  test('is never shown to a viewer: no userid, reason or value of the person on any page', async () => {
    await partner.client.createLinkToken({ userid: 'canary-user-1', purpose: 'benefits', delivery: 'sms' })
    const pages = [
      await viewer.post('/find', { what: serviceid }),
      await viewer.get('/'),
      await viewer.get(`/users/${serviceid}`),
      await viewer.get(`/audit?partner=${partner.partnerId}&who=all`),
    ]
    for (const { status, text } of pages) {
      expect(status).toBe(200)
      expect(text).not.toMatch(/canary|3055550142|1990-03-27|ticket/i)
    }
  })
})

// isolation.test.ts shows both of every address, in `npm test` too.
wholeRunTest('an address of a higher role is refused, and the refusal is on record', async () => {
  const operators: Record<string, OperatorBrowser> = { viewer, support }
  for (const screen of screens) {
    const path = screen.path.replace(/:\w+/g, serviceid)
    for (const role of ['viewer', 'support'] as const) {
      if (hasRight({ role }, screen.right)) continue
      const operator = operators[role]
      if (!operator) throw new Error('no operator of this role')
      const answer =
        screen.method === 'GET' ? await operator.get(path) : await operator.post(path, { reason: 'because' })
      expect([screen.path, answer.status]).toEqual([screen.path, 403])
      expect(answer.text).toContain('Not for your role')
      expect(await deedsOf(service, operator)).toContainEqual({
        action: `${screen.method} ${screen.path}`,
        result: 'refused',
        serviceId: null,
        because: false,
      })
    }
  }
})

describe('the audit log', () => {
  test('can be exported, and compared with its signatures', async () => {
    const csv = await support.get(`/audit.csv?partner=${partner.partnerId}`)
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.text.split('\r\n')[0]).toBe(
      'at,actorkind,actor,operator,action,result,times,serviceid,requestid,reason',
    )
    expect((await viewer.post(`/audit/verify?partner=${partner.partnerId}`)).text).toContain(
      'The record is whole',
    )
  })

  test('of sign-ins is for those who work for all partners', async () => {
    const { noPartner } = await import('../../service/src/audit/entries.ts')
    expect((await support.get(`/audit?partner=${noPartner}`)).text).toContain('sign in')
    const own = await signIn(service, 'admin', [partner.partnerId])
    expect((await own.get(`/audit?partner=${noPartner}`)).status).toBe(404)
  })
})
