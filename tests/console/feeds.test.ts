import { expect, onTestFinished, test } from 'vitest'
import { noPartner } from '../../service/src/audit/entries.ts'
import { writePolicy } from '../../service/src/console/requests/store.ts'
import { noteDifferences } from '../../service/src/feeds/difference-store.ts'
import { coversHere } from '../../service/src/feeds/list-here.ts'
import { SCHEDULE } from '../../service/src/feeds/release.ts'
import { requireFeed } from '../../service/src/feeds/run.ts'
import { sealJson } from '../../service/src/membership/records/sealed.ts'
import { startFeeds } from '../feeds/stage.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { type OperatorBrowser, signIn } from './operator-browser.ts'

const stage = forAllTests(() => startFeeds({ console: true }))
const DAY = 86_400_000

async function enrolledIn(more: object = {}, benefits = ['art']) {
  const partner = await stage.service.newPartner()
  const { serviceid } = await partner.client.createUser({
    userid: 'told',
    ...ada,
    state: 'NY',
    offername: 'mid',
    benefits,
  })
  return { ...partner, serviceid, own: await stage.newFeed(more) }
}

test('a held run of the schedule goes once one person has asked for it and another has let it go', async () => {
  const { client, own } = await enrolledIn({ hold: { endspercent: 1 } })
  await own.lines()
  await client.cancelUser({ userid: 'told', effective: 'immediate' })
  await own.run({ by: SCHEDULE })
  const path = `/feeds/${own.feed}`
  const [one, two] = [await signIn(stage.service, 'support'), await signIn(stage.service, 'support')]
  const limited = await signIn(stage.service, 'admin', [])
  expect((await limited.post(`${path}/release`, { run: '2' })).status).toBe(403)
  expect((await one.get(path)).text).toContain('Ask to let it go')
  const asked = await one.post(`${path}/release`, { run: '2', reason: 'read by hand' })
  expect(await own.run()).toMatchObject({ run: { run: 2, status: 'held' } })
  expect((await one.post(`${asked.path}/confirm`, { reason: 'I am sure' })).status).toBe(403)
  expect((await limited.get(asked.path)).status).toBe(404)
  expect((await two.get('/feeds')).text).toMatch(/2 <span class="tag bad">held/)
  expect((await two.get('/requests')).text).toContain('Let a held run go')
  expect((await two.get(asked.path)).text).toContain('read by hand')
  await two.post(`${asked.path}/confirm`, { reason: 'agreed' })
  expect((await two.post(`${path}/drop`, { run: '2' })).status).toBe(409)
  expect(await own.run()).toMatchObject({ run: { run: 2, status: 'taken', lines: 1 } })
  // Alone, where the policy lets one person do it; of people of every partner, the reasons are in the part of no partner.
  await writePolicy(stage.service.database, 'release', false)
  onTestFinished(() => writePolicy(stage.service.database, 'release', true))
  await client.reinstateUser({ userid: 'told' })
  await own.lines()
  await client.cancelUser({ userid: 'told', effective: 'immediate' })
  await own.run({ by: SCHEDULE })
  await two.post(`${path}/release`, { run: '4', reason: 'for myself' })
  const record = (await one.get(`/audit?partner=${noPartner}`)).text
  const reasons = ['read by hand', 'agreed', 'for myself']
  expect(reasons.map(reason => record.split(reason).length - 1)).toEqual([2, 1, 1])
})

test('a refused line is listed with its user until it is accepted, and the user’s page says what was told and answered', async () => {
  const { serviceid, own } = await enrolledIn()
  await own.lines()
  await own.answer('LINE,STATUS,MESSAGE,CERT\n1,NO,No such plan,C-9\n', 1)
  const [support, viewer] = [await signIn(stage.service, 'support'), await signIn(stage.service, 'viewer')]
  const path = `/feeds/${own.feed}`
  const listed = await support.get(path)
  expect(listed.text).toContain('No such plan')
  expect(listed.text).toContain('<td>NO</td>')
  expect((await viewer.get(path)).text).not.toMatch(/No such plan|<td>NO</)
  expect((await support.get(`/users/${serviceid}`)).text).toMatch(/NO: No such plan.*member number <code>C-9/)
  expect((await viewer.get(`/users/${serviceid}`)).text).not.toMatch(/No such plan|C-9/)
  // An insurer's text may be a birth date: seeing it counts as a look at the person.
  const looks = async (by: OperatorBrowser) =>
    (await deedsOf(stage.service, by)).filter(one => one.serviceId === serviceid).map(one => one.action)
  expect(await looks(support)).toEqual(['look at person', 'look at person'])
  expect(await looks(viewer)).toEqual(['look at user'])
  const exported = await support.post(`/users/${serviceid}/export`, { reason: 'asked for it' })
  expect(JSON.parse(exported.text)).toMatchObject({
    insurerlines: [
      { run: 1, action: 'add', values: { lastname: ada.lastname }, answer: { memberid: 'C-9' } },
    ],
  })
  expect([listed.text.includes('>told</a>'), (await viewer.get(path)).text.includes('>told</a>')]).toEqual([
    true,
    false,
  ])
  await own.answer('LINE,STATUS,MESSAGE,CERT\n1,OK,,C-9\n', 1)
  expect((await support.get(path)).text).not.toContain('No such plan')
})

test('a difference is listed with its age and both sides until it is said again and no longer found', async () => {
  const { partnerId, serviceid, own } = await enrolledIn()
  const { feed } = own
  const [line] = await own.lines()
  const { database, now } = stage.service
  const about = (name: string) => ({ subject: Buffer.from(name), benefit: 'art' })
  const here = await coversHere(
    database,
    await stage.context.partners(),
    (await requireFeed(database, feed)).feed,
  )
  const { dataKey = Buffer.alloc(32) } = here.find(one => one.serviceId === serviceid) ?? {}
  const differs = [{ value: 'startson', ours: '2027-05-12', theirs: '2020-01-01' }]
  const sealed = sealJson(dataKey, differs, 'feed_differences', { partnerId, serviceId: serviceid })
  const theirOwn = {
    partnerId: noPartner,
    kind: 'unknownhere',
    serviceId: undefined,
    sealed: undefined,
  } as const
  // Who stands twice in the insurer's list is kept once.
  const found = [
    { ...about('ours'), partnerId, kind: 'missingthere', serviceId: serviceid, sealed },
    { ...about('theirs'), ...theirOwn },
    { ...about('theirs'), ...theirOwn },
  ] as const
  const note = () =>
    database.transaction(tx => noteDifferences(tx, feed, { found, partners: [partnerId], at: now() }))
  await note()
  stage.service.advance(3 * DAY)
  await note()
  const support = await signIn(stage.service, 'support')
  const path = `/feeds/${feed}`
  const rows = async () =>
    [...(await support.get(path)).text.matchAll(/value="((missing|unknown)[^"]+)"/g)].map(
      ([, key = '']) => key,
    )
  expect((await support.get(path)).text).toContain('>3 days</time>')
  const [theirs = '', ours = ''] = (await rows()).toSorted().toReversed()
  const text = (await support.get(path)).text
  expect([text.includes('first day: 2027-05-12'), text.includes('first day: 2020-01-01')]).toEqual([
    true,
    true,
  ])
  // Both sides may be a birth date, so whoever is shown is on record, as a person looked at.
  const look = { action: 'look at person', result: 'shown', serviceId: serviceid, because: false }
  expect(await deedsOf(stage.service, support)).toContainEqual(look)
  const viewer = await signIn(stage.service, 'viewer')
  expect((await viewer.get(path)).text).not.toContain('2020-01-01')
  await support.post(`${path}/differ`, { one: ours })
  expect(await own.lines()).toEqual([line])
  expect((await support.post(`${path}/differ`, { one: theirs })).status).toBe(422)
  await database.transaction(tx => noteDifferences(tx, feed, { found: [], partners: [partnerId], at: now() }))
  expect(await rows()).toEqual([])
})

test('an insurer’s answers to one file are told as one, as the insurer’s, by the feed', async () => {
  const { serviceid, own } = await enrolledIn({}, ['art', 'books'])
  await own.lines()
  await own.answer('LINE,STATUS,MESSAGE,CERT\n1,OK,,C-9\n2,OK,,C-9\n', 1)
  const support = await signIn(stage.service, 'support')
  const { text } = await support.get(`/users/${serviceid}`)
  expect(text.match(/The insurer accepted .*/g)).toHaveLength(1)
  expect(text).toMatch(/The insurer accepted \w+ and \w+\.\s*<span class="hint">by the feed</)
})
