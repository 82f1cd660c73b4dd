// @databases stock

import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { newVisitor, wordsOf } from '../page/visitor.ts'
import { ada, startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() =>
  service.newPartner({ name: 'Harbor Rides', scopes: ['users:read', 'users:write', 'beneficiaries:read'] }),
)
const grace = forAllTests(() => signIn(service, 'support'))
const alan = forAllTests(() => signIn(service, 'support'))

let people = 0
async function newMember() {
  people += 1
  const userid = `linked-${people}`
  const { serviceid } = await partner.client.createUser({
    ...ada,
    userid,
    offername: 'premier',
  })
  return { userid, serviceid, at: (path: string) => `/users/${serviceid}/${path}` }
}
type Member = Awaited<ReturnType<typeof newMember>>
const because = { reason: 'ticket 7' }
function link({ at }: Member, by = grace) {
  return by.post(at('link'), { purpose: 'benefits', ...because })
}
function person({ at }: Member, by = grace) {
  return by.post(at('person'), because)
}

test('what is done by an operator’s link is nowhere told as done by the member', async () => {
  const member = await newMember()
  const made = await link(member)
  const visitor = newVisitor(service.baseUrl)
  const [, month, day] = ada.dob.split('-').map(Number)
  const dob = { dobmonth: String(month), dobday: String(day), dobyear: ada.dob.slice(0, 4) }
  await visitor.post(/http\S+\/register\/link\/\w+/.exec(made.text)?.[0] ?? '')
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
})

test('whoever has seen the birth date makes no link for the person; another operator may', async () => {
  const member = await newMember()
  expect((await person(member)).text).toContain('1990')
  const refused = await link(member)
  expect([refused.status, refused.text.includes('/register/link/')]).toEqual([409, false])
  expect(refused.text).toContain('Ask another operator')
  expect((await link(member, alan)).text).toContain('/register/link/')
})

test('whoever has made a link sees no birth date while the link or its session lives, nor exports it', async () => {
  const member = await newMember()
  await link(member)
  for (const refused of [await person(member), await grace.post(member.at('export'), because)])
    expect([refused.status, refused.text.includes(ada.dob), refused.text.includes('1990')]).toEqual([
      409,
      false,
      false,
    ])
  expect((await person(member, alan)).text).toContain('1990')
})
