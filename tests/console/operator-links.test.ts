import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { newVisitor, wordsOf } from '../page/visitor.ts'
import { ada, startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() =>
  service.newPartner({
    name: 'Harbor Rides',
    scopes: ['users:read', 'prefill:write', 'users:write', 'users:cancel', 'beneficiaries:read'],
  }),
)
const grace = forAllTests(() => signIn(service, 'support'))
const alan = forAllTests(() => signIn(service, 'support'))

let people = 0
async function newMember() {
  people += 1
  const userid = `linked-${people}`
  const dob = `1990-03-${String(people).padStart(2, '0')}`
  const { serviceid } = await partner.client.createUser({ ...ada, dob, userid, offername: 'premier' })
  return { userid, dob, serviceid, at: (path: string) => `/users/${serviceid}/${path}` }
}
type Member = Awaited<ReturnType<typeof newMember>>
const because = { reason: 'ticket 7' }
function link({ at }: Member, by = grace) {
  return by.post(at('link'), { purpose: 'benefits', ...because })
}
function person({ at }: Member, by = grace) {
  return by.post(at('person'), because)
}

test('what is done by an operator’s link, which is shown once, is nowhere told as done by the member', async () => {
  const member = await newMember()
  const made = await link(member)
  const [url = ''] = /http\S+\/register\/link\/\w+/.exec(made.text) ?? []
  const visitor = newVisitor(service.baseUrl)
  const [year, month, day] = member.dob.split('-').map(Number)
  const dob = { dobmonth: String(month), dobday: String(day), dobyear: String(year) }
  await visitor.post(url)
  await visitor.post('/register/challenge', dob)
  await visitor.get('/register/beneficiaries/life')
  await visitor.post('/register/beneficiaries/life', dob)
  const named = await visitor.post('/register/beneficiaries/life', {
    rows: '1',
    'person1.name': 'Grace Hopper',
    'person1.share': '100',
    'person1.relationship': 'spouse',
    'person1.kind': 'primary',
  })
  expect(wordsOf(named)).toContain('By a link that our support made')
  const { benefits } = await partner.client.getBeneficiaries({
    userid: member.userid,
    include: ['versions'],
  })
  expect(benefits.flatMap(({ versions = [] }) => versions.map(({ who }) => who))).toEqual(['operatorlink'])
  const user = await partner.client.getUser({ userid: member.userid, include: ['timeline'] })
  expect('timeline' in user && user.timeline?.map(({ who }) => who)).not.toContain('user')
  const shown = await alan.get(`/users/${member.serviceid}`)
  expect(shown.text).toMatch(/by a link that \S.* made/)
  const file = await alan.post(member.at('export'), because)
  expect(file.text).toContain('"madeby": "operator"')
  for (const { text } of [shown, file]) expect(text).not.toContain(url.split('/').at(-1))
})

test('so does whoever has exported it; and after 30 days both may', async () => {
  const member = await newMember()
  await grace.post(member.at('export'), because)
  expect((await link(member)).status).toBe(409)
  await service.database.query(sql`
    update audit_log set at = at - interval '31 days'
    where service_id = ${member.serviceid} and action = 'export user'`)
  expect((await link(member)).text).toContain('/register/link/')
})

test('the date and the link stay apart for another account of the same person, too', async () => {
  const member = await newMember()
  await person(member)
  const second = await signIn(service, 'support')
  await service.database.query(sql`
    update operators set email = 'grace@example.com'
    where operator_id = any(${[grace.operatorId, second.operatorId]}::uuid[])`)
  expect((await link(member, second)).status).toBe(409)
})
