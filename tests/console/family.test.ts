import { beforeAll, expect, test } from 'vitest'
import { catalogueOf } from '../api/catalogue-of.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() =>
  startTestService({ console: true, startAt: Date.parse('2027-03-10T15:00:00Z') }),
)
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
const support = forAllTests(() => signIn(service, 'support'))
const other = forAllTests(() => signIn(service, 'support'))
beforeAll(async () => {
  const tier = (name: string, who: string[], cents: number) => ({
    tier: name,
    who,
    cost: { cents, per: 'month' },
  })
  await service.publish(
    catalogueOf(
      [
        {
          name: 'dental',
          displayname: 'Dental',
          covers: { spouse: {}, child: { maxage: 26 } },
          tiers: [
            tier('me', [], 2000),
            tier('mespouse', ['spouse'], 4500),
            tier('mechildren', ['child'], 5200),
            tier('family', ['spouse', 'child'], 6500),
          ],
        },
      ],
      [{ offer: 'starter', rank: 1, selectable: ['dental'], slots: 1 }],
    ),
  )
  service.advance(2000)
})

let people = 0
/** A member with a spouse and a child, whom dental covers from March 10, 2027. */
async function member() {
  people += 1
  const userid = `family-${people}`
  const benefits = [{ name: 'dental' }]
  const { serviceid } = await partner.client.createUser({
    ...ada,
    userid,
    offername: 'starter',
    benefits: ['dental'],
    dependants: [
      { relationship: 'spouse', firstname: 'Gracecanary', lastname: 'King', dob: '1988-05-04', benefits },
      { relationship: 'child', firstname: 'Tomcanary', lastname: 'King', dob: '2012-05-04', benefits },
    ],
  })
  const { dependants } = await partner.client.getDependants({ userid })
  return { userid, serviceid, ids: dependants.map(({ dependantid }) => dependantid) }
}
const dentalOf = async (userid: string) => {
  const user = await partner.client.getUser({ userid, include: ['timeline'] })
  if (user.status === 'erased') throw new Error('the user is erased')
  return user.benefits.find(({ name }) => name === 'dental')
}
const optionOf = (text: string, whose: string) =>
  new RegExp(`<option value="([^"]+)"[^>]*>Dental, the ${whose} `).exec(text)?.[1] ?? ''
/** Sends the act, having seen its effect. */
async function move(serviceid: string, wish: Record<string, string>) {
  const act = `/users/${serviceid}/act/move`
  const preview = await support.post(act, wish)
  const seen = /name="seen" value="([^"]+)"/.exec(preview.text)?.[1] ?? ''
  const sent = await support.post(act, { ...wish, sure: 'yes', seen, reason: 'call 7' })
  return { preview, sent }
}

test('support sees the people of a person for a reason only, and the timeline tells who came without their names', async () => {
  const { serviceid, ids } = await member()
  const hidden = (await support.get(`/users/${serviceid}`)).text
  expect(hidden).not.toContain('canary')
  expect(hidden).toContain(`Dental covers the spouse …${ids[0]?.slice(-4)}`)
  const shown = (await support.post(`/users/${serviceid}/person`, { reason: 'call 5' })).text
  expect(shown).toContain(`Gracecanary King, born 1988-05-04, id …${ids[0]?.slice(-4)}: Dental`)
  expect(shown).toContain('Dental covers the child Tomcanary King.')
})

test('the timeline tells a planned change of who is covered from one that is taken back', async () => {
  const { userid, serviceid } = await member()
  const told = async () => (await support.get(`/users/${serviceid}`)).text
  await partner.client.changeCover({ userid, name: 'dental', dependants: [] })
  expect(await told()).toContain('A change of whom Dental covers is planned.')
  expect(await told()).not.toContain('is taken back')
  await partner.client.undoCover({ userid, name: 'dental' })
  expect(await told()).toContain('A change of whom Dental covers is taken back.')
})

test('a correction gives a dependant another last day, after a preview and by a second person, and the timeline says so', async () => {
  const { userid, serviceid, ids } = await member()
  await partner.client.advanceClock({ advanceto: '2027-03-30T15:00:00.000Z' })
  const form = (await support.get(`/users/${serviceid}/act/move`)).text
  const wish = { enrolment: optionOf(form, 'spouse'), firstday: '', lastday: '2027-03-20' }
  const { preview, sent } = await move(serviceid, wish)
  expect(preview.text).toContain(
    `The last day on which Dental covers the spouse …${ids[0]?.slice(-4)}: March 20, 2027.`,
  )
  expect(preview.text).toContain('<code>benefit_enrollment_corrected</code>')
  expect(sent.text).toContain('Somebody else has to confirm it.')
  expect(await dentalOf(userid)).toMatchObject({ tier: 'family', dependants: ids })
  expect((await other.post(`${sent.path}/confirm`, { reason: 'read the certificate' })).status).toBe(200)
  expect(await dentalOf(userid)).toMatchObject({ tier: 'mechildren', dependants: [ids[1]] })
  expect((await support.get(`/users/${serviceid}`)).text).toContain(': March 20, 2027.')
  const { dependants } = await partner.client.getDependants({ userid })
  expect(dependants[0]).toMatchObject({ benefits: [] })
})

test('the cover of a dependant who should never have had it is taken back alone, by a second person', async () => {
  const { userid, serviceid, ids } = await member()
  const act = `/users/${serviceid}/act/void`
  const wish = { enrolment: optionOf((await support.get(act)).text, 'child') }
  const preview = await support.post(act, wish)
  expect(preview.text).toContain(`Dental no longer covers the child …${ids[1]?.slice(-4)}.`)
  const seen = /name="seen" value="([^"]+)"/.exec(preview.text)?.[1] ?? ''
  const sent = await support.post(act, { ...wish, sure: 'yes', seen, reason: 'call 8' })
  expect((await other.post(`${sent.path}/confirm`, { reason: 'never asked for' })).status).toBe(200)
  expect(await dentalOf(userid)).toMatchObject({ tier: 'mespouse', dependants: [ids[0]] })
})

test('a correction is refused that would cover somebody outside the benefit, or on no day', async () => {
  const { serviceid } = await member()
  const form = (await support.get(`/users/${serviceid}/act/move`)).text
  const spouse = optionOf(form, 'spouse')
  const refused = async (enrolment: string, firstday: string, lastday: string) =>
    (await support.post(`/users/${serviceid}/act/move`, { enrolment, firstday, lastday })).text
  expect(await refused(spouse, '2027-01-01', '')).toContain('The benefit itself begins later.')
  expect(await refused(spouse, '', '2027-01-01')).toContain('No day of cover would be left')
})
