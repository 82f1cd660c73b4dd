import { beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { catalogueOf } from '../api/catalogue-of.ts'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { startRig } from './rig.ts'
import { openLink, recordsAgreed, type Shown, type Visitor, wordsOf } from './visitor.ts'

const tier = (name: string, who: string[], cents: number) => ({
  tier: name,
  who,
  cost: { cents, per: 'month' },
})
const tiers = [
  tier('me', [], 2000),
  tier('mespouse', ['spouse'], 4500),
  tier('mechildren', ['child'], 5200),
  tier('family', ['spouse', 'child'], 6500),
]
const covers = { spouse: {}, domesticpartner: {}, child: { maxage: 26, most: 2 } }
const consent = { version: '1', text: { en: 'I ask for this.', es: 'Lo solicito.' } }
const catalogue = catalogueOf(
  [
    { name: 'dental', displayname: 'Dental', covers, tiers, consent, sortorder: 1 },
    {
      name: 'kids',
      displayname: 'Kids',
      covers: { child: { maxage: 12 } },
      tiers: [tiers[0], tiers[2]] as object[],
    },
    { name: 'gym', displayname: 'Gym' },
    { name: 'vision', displayname: 'Vision', covers, tiers },
  ],
  [{ offer: 'starter', rank: 1, fixed: ['vision'], selectable: ['dental', 'kids', 'gym'], slots: 2 }],
)

const rig = forAllTests(() => startRig({ startAt: Date.parse('2027-03-10T15:00:00Z') }))
beforeAll(async () => {
  await rig.running.publish(catalogue)
})

function person(firstname: string, relationship: string, year = 1988): Record<string, string> {
  const fields = {
    firstname,
    lastname: 'Canary',
    relationship,
    dobmonth: '5',
    dobday: '4',
    dobyear: String(year),
  }
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [`person1.${field}`, value]))
}
const grace = person('Grace', 'spouse')
const tom = person('Tom', 'child', 2010)
const agreed = { ...recordsAgreed, 'consent.dental': '1' }

/** Somebody at the benefits of their plan. */
async function atBenefits(): Promise<Visitor> {
  await rig.newPerson()
  const visitor = await openLink(rig)
  await visitor.get('/register/benefits')
  return visitor
}
/** Names somebody beside the people of a benefit. */
async function name(
  visitor: Visitor,
  benefit: string,
  fields: Record<string, string>,
  chosen: Record<string, string[]> = {},
) {
  await visitor.post('/register/benefits', { ...chosen, add: benefit })
  return visitor.post(`/register/family/${benefit}`, fields)
}
/** The ids of the people at a benefit, by first name, and whether each is ticked. */
function peopleAt(benefit: string, { html }: Shown) {
  const boxes = html.matchAll(
    new RegExp(
      `name="cover\\.${benefit}" value="([^"]+)"\\s*data-bit="\\d"( checked)?[^>]*><span>(\\w+)`,
      'g',
    ),
  )
  return new Map(
    [...boxes].map(([, id = '', checked, first = '']) => [first, { id, ticked: Boolean(checked) }]),
  )
}
const cardOf = (benefit: string, { html }: Shown) =>
  wordsOf({ html: new RegExp(`id="card-${benefit}">[\\s\\S]*?</article>`).exec(html)?.[0] ?? '' })
async function userOf() {
  const user = await rig.partner.client.getUser({ userid: rig.userid() })
  if (user.status === 'erased') throw new Error('the user is erased')
  return user
}
const listOf = () => rig.partner.client.getDependants({ userid: rig.userid() })

describe('a newcomer', () => {
  test('sees the price of each choice before it is made, and no question on a benefit without tiers', async () => {
    const visitor = await atBenefits()
    const shown = await visitor.get('/register/benefits')
    expect(cardOf('dental', shown)).toContain(
      'Who should be covered? – Dental You: $20.00 a month You and your spouse or partner: $45.00 a month You and your children: $52.00 a month You, your spouse or partner, and your children: $65.00 a month',
    )
    expect(cardOf('kids', shown)).not.toContain('spouse')
    expect(cardOf('gym', shown)).not.toContain('Who should be covered?')
  })

  test('names somebody once for all benefits, keeps what was ticked, and finds them chosen where they were named alone', async () => {
    const visitor = await atBenefits()
    const shown = await name(visitor, 'dental', grace, { benefit: ['gym'] })
    expect(shown.view).toBe('BENEFITS')
    expect(shown.html).toMatch(/name="benefit" value="gym"[^>]* checked/)
    expect(peopleAt('dental', shown).get('Grace')?.ticked).toBe(true)
    expect(peopleAt('vision', shown).get('Grace')?.ticked).toBe(false)
    expect(cardOf('kids', shown)).toContain('Grace Canary cannot be covered by this benefit.')
    const [row = {}] = await rig.running.database.query<Record<string, unknown>>(
      sql`select * from users where userid = ${rig.userid()}`,
    )
    const stored = Object.values(row).map(one =>
      Buffer.isBuffer(one) ? one.toString('latin1') : String(one),
    )
    expect(stored.join()).not.toContain('Canary')
  })

  test('is covered with whom they chose, at that price, with one consent, and sees it on every view', async () => {
    const visitor = await atBenefits()
    await name(visitor, 'dental', grace)
    const shown = await name(visitor, 'vision', tom, { 'cover.dental': [] })
    const ids = peopleAt('dental', shown)
    expect(ids.get('Grace')?.ticked).toBe(false)
    const [mother, child] = [ids.get('Grace')?.id ?? '', ids.get('Tom')?.id ?? '']
    const check = await visitor.post('/register/benefits', {
      benefit: ['dental'],
      'cover.dental': [mother, child],
      'cover.vision': [child],
    })
    expect(check.view).toBe('CHECK_ANSWERS')
    const until = 'The coverage of Tom Canary ends on May 31, 2036'
    expect(wordsOf(check)).toContain(
      `You pay $65.00 a month Covers you, Grace Canary, and Tom Canary ${until}`,
    )
    expect(wordsOf(check)).toContain(`You pay $52.00 a month Covers you and Tom Canary ${until}`)
    const done = await visitor.post('/register/enrol', agreed)
    expect(done.view).toBe('DONE')
    expect(wordsOf(done)).toContain(`Covers you, Grace Canary, and Tom Canary ${until}`)
    expect(wordsOf(await visitor.get('/register/overview'))).toContain(
      'Covers you, Grace Canary, and Tom Canary',
    )
    const copy = /href="(\/register\/copy\/[^"]+)"/.exec(done.html)?.[1] ?? ''
    const kept = wordsOf({ html: await (await visitor.send(copy)).text() })
    expect(kept).toContain(
      `Your cost $65.00 a month Who is covered Covers you, Grace Canary, and Tom Canary ${until}`,
    )
    const user = await userOf()
    expect(user.benefits).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'dental', tier: 'family', dependants: [mother, child] }),
        expect.objectContaining({ name: 'vision', tier: 'mechildren', dependants: [child] }),
      ]),
    )
    expect((await listOf()).dependants).toMatchObject([
      { dependantid: mother, firstname: 'Grace', relationship: 'spouse', dob: '1988-05-04' },
      { dependantid: child, firstname: 'Tom' },
    ])
  })

  test('covers nobody who was only named, at the price of the member alone', async () => {
    const visitor = await atBenefits()
    const shown = await name(visitor, 'dental', grace)
    expect(peopleAt('dental', shown).size).toBe(1)
    const check = await visitor.post('/register/benefits', { benefit: ['dental'], 'cover.dental': [] })
    expect(wordsOf(check)).toContain('You pay $20.00 a month Covers you alone')
    await visitor.post('/register/enrol', agreed)
    const dental = (await userOf()).benefits.find(one => one.name === 'dental')
    expect(dental).toMatchObject({ tier: 'me', dependants: [] })
  })

  test('is told what is wrong: two spouses, too many children, a child too old, and a form left empty', async () => {
    const visitor = await atBenefits()
    const empty = await name(visitor, 'dental', person('', ''))
    expect(empty).toMatchObject({ status: 422, view: 'FAMILY_EDIT' })
    expect(wordsOf(empty)).toContain('Enter the first name Choose what this person is to you')
    expect(empty.html).toContain('value="Canary"')
    for (const one of [grace, person('Robin', 'domesticpartner'), person('Old', 'child', 1990)])
      await name(visitor, 'dental', one)
    for (const first of ['A', 'B', 'C']) await name(visitor, 'dental', person(first, 'child', 2015))
    const shown = await visitor.get('/register/benefits')
    expect(cardOf('dental', shown)).toContain(
      'Old Canary cannot be covered: this benefit covers children until they turn 26.',
    )
    const ids = (...names: string[]) => names.map(one => peopleAt('dental', shown).get(one)?.id ?? '')
    const chosen = (people: string[]) =>
      visitor.post('/register/benefits', { benefit: ['dental'], 'cover.dental': people })
    const two = await chosen(ids('Grace', 'Robin'))
    expect(two.status).toBe(422)
    expect(wordsOf(two)).toContain('Choose only one spouse or partner: Dental')
    expect(peopleAt('dental', two).get('Robin')?.ticked).toBe(true)
    expect(wordsOf(await chosen(ids('A', 'B', 'C')))).toContain('Choose up to 2 children, not more: Dental')
  })

  test('changes and removes whom they named; the same person named twice is one', async () => {
    const visitor = await atBenefits()
    await name(visitor, 'dental', grace)
    const shown = await name(visitor, 'dental', grace)
    const id = peopleAt('dental', shown).get('Grace')?.id ?? ''
    expect(peopleAt('dental', shown).size).toBe(1)
    const edit = await visitor.post('/register/benefits', { edit: `dental ${id}`, 'cover.dental': [id] })
    expect(edit.html).toContain('value="Grace"')
    const changed = await visitor.post('/register/family/dental', person('Gracie', 'domesticpartner'))
    expect(peopleAt('dental', changed).get('Gracie')).toEqual({ id, ticked: true })
    await visitor.post('/register/benefits', { edit: `dental ${id}`, 'cover.dental': [id] })
    const gone = await visitor.post('/register/family/dental', { remove: '1' })
    expect(gone.view).toBe('BENEFITS')
    expect(peopleAt('dental', gone).size).toBe(0)
  })
})

describe('a member', () => {
  /** A member whose dental benefit covers nobody else, at a link of purpose `benefits`. */
  async function member(): Promise<Visitor> {
    await rig.newPerson()
    await rig.partner.client.createUser({
      userid: rig.userid(),
      offername: 'starter',
      benefits: ['dental'],
      consents: [{ name: 'dental', version: '1' }],
    })
    return openLink(rig, { purpose: 'benefits' })
  }
  /** The same once they have named Grace and Tom beside the people of the benefit. */
  async function named() {
    const visitor = await member()
    await visitor.post('/register/cover/dental', { add: 'dental' })
    await visitor.post('/register/family/dental', grace)
    await visitor.post('/register/cover/dental', { add: 'dental' })
    const shown = await visitor.post('/register/family/dental', tom)
    const people = peopleAt('dental', shown)
    return { visitor, shown, mother: people.get('Grace')?.id ?? '', child: people.get('Tom')?.id ?? '' }
  }
  const dentalOf = async () => (await userOf()).benefits.find(one => one.name === 'dental')

  test('is led to who is covered by a link of purpose benefits, and sees when a change takes effect', async () => {
    const visitor = await member()
    const benefits = await visitor.get('/register')
    expect(benefits.view).toBe('BENEFITS')
    expect(cardOf('dental', benefits)).toContain('Covers you alone Change who Dental covers')
    const asked = await visitor.get('/register/cover/dental')
    expect(asked.view).toBe('COVER')
    expect(wordsOf(asked)).toContain('You pay $20.00 a month Covers you alone')
    expect(wordsOf(asked)).toContain('A change takes effect on April 1, 2027.')
    expect((await visitor.get('/register/cover/gym')).view).toBe('ALREADY_ENROLLED')
  })

  test('names people into the account at once, who are covered only by the confirmed change, from its day on', async () => {
    const { visitor, mother, child } = await named()
    expect((await listOf()).dependants).toMatchObject([
      { dependantid: mother, firstname: 'Grace', benefits: [] },
      { dependantid: child, firstname: 'Tom', benefits: [] },
    ])
    const check = await visitor.post('/register/cover/dental', { 'cover.dental': [mother, child] })
    expect(check.view).toBe('COVER_CONFIRM')
    expect(wordsOf(check)).toContain(
      'Now You pay $20.00 a month Covers you alone From April 1, 2027 You pay $65.00 a month Covers you, Grace Canary, and Tom Canary The coverage of Tom Canary ends on May 31, 2036',
    )
    expect(await dentalOf()).not.toHaveProperty('pendingcover')
    const done = await visitor.post('/register/cover/dental/confirm')
    expect(done).toMatchObject({ view: 'DONE' })
    expect(done.html).toContain('data-outcome="changed"')
    expect(wordsOf(done)).toContain('Who is covered by Dental changes on April 1, 2027')
    expect(wordsOf(done)).toContain(
      'From April 1, 2027: covers you, Grace Canary, and Tom Canary, and you pay $65.00 a month',
    )
    expect(await dentalOf()).toMatchObject({
      tier: 'me',
      pendingcover: { tier: 'family', dependants: [mother, child] },
    })
    const again = await visitor.post('/register/cover/dental/confirm')
    expect(again.view).toBe('DONE')
    const copy = /href="(\/register\/copy\/[^"]+)"/.exec(done.html)?.[1] ?? ''
    expect(wordsOf({ html: await (await visitor.send(copy)).text() })).toContain(
      'covers you, Grace Canary, and Tom Canary',
    )
  })

  test('calls a change off, after which all is as before', async () => {
    const { visitor, mother } = await named()
    await visitor.post('/register/cover/dental', { 'cover.dental': [mother] })
    await visitor.post('/register/cover/dental/confirm')
    const overview = await visitor.get('/register/overview')
    expect(wordsOf(overview)).toContain('Who is covered by Dental changes on April 1, 2027.')
    await visitor.get('/register/cover/dental')
    const undone = await visitor.post('/register/cover/dental/undo')
    expect(wordsOf(undone)).toContain('The change that you had planned is undone.')
    expect(await dentalOf()).not.toHaveProperty('pendingcover')
    expect(wordsOf(await visitor.get('/register/overview'))).toContain('Covers you alone')
  })

  test('cannot remove somebody who will be covered; correcting their own details keeps everybody', async () => {
    const { visitor, mother, child } = await named()
    await visitor.post('/register/cover/dental', { 'cover.dental': [mother] })
    await visitor.post('/register/cover/dental/confirm')
    await visitor.get(`/register/family/dental?person=${mother}`)
    const refused = await visitor.post('/register/family/dental', { ...grace, remove: '1' })
    expect(refused).toMatchObject({ status: 422, view: 'FAMILY_EDIT' })
    expect(wordsOf(refused)).toContain('A benefit covers this person and does not allow this change.')
    await visitor.get('/register/details/name')
    await visitor.post('/register/details/name', { firstname: 'Anna', lastname: 'Ruiz' })
    expect((await listOf()).dependants.map(({ dependantid }) => dependantid)).toEqual([mother, child])
    await visitor.get(`/register/family/dental?person=${child}`)
    await visitor.post('/register/family/dental', { remove: '1' })
    expect((await listOf()).dependants).toMatchObject([{ dependantid: mother }])
  })

  test('adds a benefit that covers the people chosen, and confirms no older list', async () => {
    const { visitor, child } = await named()
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: ['kids'], 'cover.kids': [] })
    expect(wordsOf(check)).toContain('Covers you alone')
    await visitor.get(`/register/family/dental?person=${child}`)
    const small = await openLink(rig)
    await small.get(`/register/family/dental?person=${child}`)
    await small.post('/register/family/dental', person('Tom', 'child', 2020))
    await visitor.get('/register/benefits')
    const ready = await visitor.post('/register/benefits', { benefit: ['kids'], 'cover.kids': [child] })
    expect(wordsOf(ready)).toContain('You pay $52.00 a month Covers you and Tom Canary')
    await small.get(`/register/family/dental?person=${child}`)
    await small.post('/register/family/dental', person('Thomas', 'child', 2020))
    expect((await visitor.post('/register/enrol', agreed)).status).toBe(409)
    const done = await visitor.post('/register/enrol', agreed)
    expect(done.view).toBe('DONE')
    expect((await userOf()).benefits).toContainEqual(
      expect.objectContaining({ name: 'kids', tier: 'mechildren', dependants: [child] }),
    )
  })

  test('swaps to a benefit that covers whom they chose for it, at the price shown before they confirm', async () => {
    const { visitor, child } = await named()
    const asked = await visitor.post('/register/swap', { out: 'dental', add: 'kids' })
    expect(asked.view).toBe('FAMILY_EDIT')
    const back = await visitor.post('/register/family/kids', person('Ann', 'child', 2021))
    expect(back.path).toBe('/register/swap?more=1&out=dental&in=kids')
    const ann = peopleAt('kids', back).get('Ann')
    expect(ann?.ticked).toBe(true)
    const check = await visitor.post('/register/swap', {
      out: 'dental',
      in: 'kids',
      'cover.kids': [ann?.id ?? ''],
    })
    expect(check.view).toBe('SWAP_CONFIRM')
    expect(wordsOf(check)).toContain('Covers you and Ann Canary')
    expect(wordsOf(check)).toContain('You pay $52.00 a month')
    expect(child).not.toBe(ann?.id)
    const done = await visitor.post('/register/swap/confirm', recordsAgreed)
    expect(wordsOf(done)).toContain(
      'Covers you and Ann Canary The coverage of Ann Canary ends on May 31, 2033',
    )
  })
})

describeInBrowser('with script', () => {
  const browser = forAllTests(launchBrowser)

  test('the total follows the people ticked, of what is chosen and of what comes with the plan', async () => {
    await rig.newPerson()
    const page = await browser.newPage()
    await page.goto(await rig.mintLink())
    await page.getByRole('button', { name: 'Open my benefits' }).click()
    await page.waitForSelector('[data-view=DETAILS_REVIEW]')
    await page.goto(`${rig.service}/register/family/dental`)
    await page.getByLabel('First name').fill('Grace')
    await page.getByLabel('Last name').fill('King')
    await page.getByLabel('Relationship to you').selectOption('spouse')
    await page.getByLabel('Month').selectOption('5')
    await page.getByLabel('Day').fill('4')
    await page.getByLabel('Year').fill('1988')
    await page.getByRole('button', { name: 'Save' }).click()
    const total = page.locator('[data-total] strong')
    const at = (name: string) => page.locator(`#card-${name}`).getByLabel('Grace King')
    await expect.poll(() => total.textContent()).toBe('$20.00 a month')
    await page.getByLabel('Choose Dental').check()
    await expect.poll(() => total.textContent()).toBe('$65.00 a month')
    await at('dental').uncheck()
    await expect.poll(() => total.textContent()).toBe('$40.00 a month')
    await at('vision').check()
    await expect.poll(() => total.textContent()).toBe('$65.00 a month')
    await page.close()
  })
})
