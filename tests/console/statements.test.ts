import { beforeAll, expect, test } from 'vitest'
import { DAY_MS } from '../../service/src/calendar/calendar.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { consoleOf, signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true, startAt: Date.UTC(2026, 10, 11, 12) }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides', timezone: 'UTC' }))
let ids: Record<'stays' | 'goes' | 'comes', string>
beforeAll(async () => {
  const create = (userid: string) =>
    partner.client.createUser({ ...ada, userid, offername: 'plus', benefits: ['critical'] })
  const { serviceid: stays } = await create('stays')
  const { serviceid: goes } = await create('goes')
  // Who cancels at the instant of the start has never been in force.
  service.advance(DAY_MS)
  await partner.client.cancelUser({ userid: 'goes', effective: 'immediate' })
  service.advance(24 * DAY_MS)
  const { serviceid: comes } = await create('comes')
  ids = { stays, goes, comes }
})
const viewer = forAllTests(() => signIn(service, 'viewer'))
const support = forAllTests(() => signIn(service, 'support'))

/** The part of a page under a heading. */
function partOf(text: string, heading: string): string {
  return text.split('<section').find(part => part.includes(`<h2>${heading}</h2>`)) ?? ''
}

test('a month of a partner is one screen, whole at the first look: what it comes to, by offer, benefit and insurer', async () => {
  const { text } = await support.get(`/statements?partner=${partner.partnerId}`)
  expect(text).toMatch(/<option value="2026-12" selected>[\s\S]*<option value="2026-11">/)
  expect(partOf(text, 'By offer, benefit and insurer')).toMatch(
    /<td>benefit<\/td><td>critical<\/td><td>seaview<\/td><td>2<\/td>/,
  )
  expect(text).toMatch(/<dt>People<\/dt><dd>2<\/dd>/)
  const { text: november } = await viewer.get(`/statements?partner=${partner.partnerId}&month=2026-11`)
  expect(november).not.toContain('All lines of the month')
})

test('its totals and its lines are files for support, on record', async () => {
  const file = async (path: string) => {
    const answer = await fetch(`${consoleOf(service)}${path}`, { headers: { cookie: support.cookie } })
    return (await answer.text()).trimEnd().split('\r\n')
  }
  const query = `partner=${partner.partnerId}&month=2026-12`
  expect((await file(`/statements.csv?${query}`))[0]).toBe(
    'kind,name,insurer,lines,personcents,partnercents,insurercents',
  )
  const lines = await file(`/statements/lines.csv?${query}`)
  // The partner's own facts of its people are personal data, and nobody gave a reason.
  expect(lines[0]).toBe(
    'userid,serviceid,kind,name,offer,fromdate,todate,personcents,takenby,partnercents,about,insurercents,insurer,days,tier',
  )
  expect(
    lines.filter(line => line.startsWith(`comes,${ids.comes},benefit,critical,plus,2026-12-06,`)),
  ).toHaveLength(1)
  expect((await deedsOf(service, support)).map(({ action }) => action)).toEqual(
    expect.arrayContaining(['export totals of a month', 'export lines of a month']),
  )
  expect((await viewer.get(`/statements/lines.csv?${query}`)).status).toBe(403)
})

test('the page of a user leads to their lines in all months, also after an erasure', async () => {
  const path = `/users/${ids.stays}/statements`
  expect((await viewer.get(`/users/${ids.stays}`)).text).toContain(`href="${path}"`)
  const { text } = await viewer.get(path)
  expect(text.match(/<td>2026-12 /g)?.length).toBe(text.match(/<td>2026-11 /g)?.length)
  expect(text).toMatch(/<td>critical<br><span class="hint">under plus<\/span><\/td><td>2026-12-01<\/td>/)
  expect(await deedsOf(service, viewer)).toContainEqual(
    expect.objectContaining({ action: 'look at lines of user', serviceId: ids.stays }),
  )
  await partner.client.eraseUser({ userid: 'stays' })
  expect((await viewer.get(`/users/${ids.stays}`)).text).toContain(`href="${path}"`)
  expect((await viewer.get(path)).text).toContain('<td>2026-11 ')
})
