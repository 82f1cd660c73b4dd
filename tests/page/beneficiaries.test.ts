import { beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { catalogueOf } from '../api/catalogue-of.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ana, type Rig, startRig } from './rig.ts'
import { openLink, recordsAgreed, wordsOf } from './visitor.ts'

const consent = { version: '1', text: { en: 'I ask for this.', es: 'Lo solicito.' } }
const catalogue = catalogueOf(
  [
    { name: 'life', displayname: 'Term life', sortorder: 5, beneficiaries: 'required', consent },
    { name: 'income', displayname: 'Income', beneficiaries: 'optional' },
    { name: 'dental', displayname: 'Dental' },
  ],
  [
    { offer: 'starter', rank: 1, fixed: ['life'], selectable: ['income', 'dental'], slots: 2 },
    { offer: 'small', rank: 2, selectable: ['dental', 'life'], slots: 1 },
    { offer: 'grand', rank: 3, fixed: ['life'], selectable: ['income', 'dental'], slots: 2 },
  ],
)

const rig = forAllTests(() => startRig({ startAt: Date.parse('2027-03-10T15:00:00Z') }))
beforeAll(async () => {
  await rig.running.publish(catalogue)
})

function person(at: number, name: string, share: number | string, more: Record<string, string> = {}) {
  return Object.fromEntries(
    Object.entries({ name, share: String(share), relationship: 'spouse', kind: 'primary', ...more }).map(
      ([field, value]) => [`person${at}.${field}`, value],
    ),
  )
}
const grace = person(1, 'Gracecanary King', 100)
const agreed = { ...recordsAgreed, 'consent.life': '1' }
async function userOf() {
  const user = await rig.partner.client.getUser({ userid: rig.userid(), include: ['timeline'] })
  if (user.status === 'erased') throw new Error('the user is erased')
  return user
}
async function namedFor(benefit: string) {
  const { benefits } = await rig.partner.client.getBeneficiaries({
    userid: rig.userid(),
    include: ['versions'],
  })
  return benefits.find(({ name }) => name === benefit)
}

/** Somebody who has just enrolled on the plan whose life benefit requires beneficiaries, and is asked for them. */
async function naming(link: Parameters<Rig['mintLink']>[0] = {}) {
  await rig.newPerson()
  const visitor = await openLink(rig, link)
  await visitor.get('/register/benefits')
  const check = await visitor.post('/register/benefits', { benefit: ['income'] })
  const asked = await visitor.post('/register/enrol', agreed)
  return { visitor, check, asked }
}
async function enrolled() {
  const { visitor } = await naming()
  const done = await visitor.post('/register/beneficiaries/life', { rows: '1', ...grace })
  expect(done.view).toBe('DONE')
  return { visitor, done }
}

describe('at enrolment', () => {
  test('a person agrees first, and is then led to the benefit that waits for a name, with its due day in sight', async () => {
    const { check, asked } = await naming()
    expect(check.view).toBe('CHECK_ANSWERS')
    expect(wordsOf(check)).toContain(
      'Term life Starts when you have named someone. If you have not before April 9, 2027, you will not get this benefit.',
    )
    expect(asked).toMatchObject({
      view: 'BENEFICIARIES_EDIT',
      path: '/register/beneficiaries/life?then=done',
    })
    expect(wordsOf(asked)).toContain('Who receives what Term life pays?')
    expect(wordsOf(asked)).toContain('Name someone before April 9, 2027, or you will not get this benefit.')
    expect(asked.html).toContain('data-outcome="enrolled"')
    expect(await userOf()).toMatchObject({ status: 'active', requiredactions: [{ name: 'life' }] })
  })

  test('whom they name is sealed, the benefit begins, and the confirmation then tells the host nothing again', async () => {
    const { visitor } = await naming()
    const done = await visitor.post('/register/beneficiaries/life', {
      rows: '2',
      ...person(1, 'Gracecanary King', 70, { dobmonth: '2', dobday: '29', dobyear: '1988' }),
      ...person(2, 'Tomcanary', '30 %', { relationship: 'child' }),
    })
    expect(done.view).toBe('DONE')
    expect(wordsOf(done)).toContain('You are enrolled')
    expect(done.html).not.toContain('data-outcome')
    expect(await userOf()).toMatchObject({ requiredactions: [], conditions: [] })
    const named = await namedFor('life')
    expect(named?.current).toMatchObject({
      version: 1,
      beneficiaries: [
        { name: 'Gracecanary King', relationship: 'spouse', share: 70, dob: '1988-02-29' },
        { name: 'Tomcanary', relationship: 'child', share: 30, dob: '' },
      ],
    })
    const [row] = await rig.running.database.query<{ sealed: Buffer }>(sql`
      select d.sealed from sealed_records d join users u using (partner_id, service_id)
      where d.kind = 'beneficiaries' and u.userid = ${rig.userid()}`)
    expect(row?.sealed.toString('latin1')).not.toContain('canary')
  })

  test('it can be left for later: the benefit waits, and the confirmation says what is to do', async () => {
    const { visitor, asked } = await naming()
    const later = /<a class="secondary" href="([^"]+)">Do this later/.exec(asked.html)?.[1] ?? ''
    const done = await visitor.get(later)
    expect(done.view).toBe('DONE')
    expect(wordsOf(done)).toContain('Name your beneficiaries for Term life (before April 9, 2027).')
    expect(wordsOf(done)).toContain('Needs something from you before April 9, 2027, or it will not start')
    const copy = /href="(\/register\/copy\/[^"]+)"/.exec(done.html)?.[1] ?? ''
    expect(wordsOf({ html: await (await visitor.send(copy)).text() })).toContain(
      'When nothing more is needed from you. If that is not so before April 9, 2027, the benefit does not start.',
    )
    const waiting = await visitor.get('/register/beneficiaries')
    expect(wordsOf(waiting)).toContain('Name someone before April 9, 2027, or you will not get this benefit.')
    expect((await userOf()).requiredactions).toMatchObject([{ code: 'beneficiary', name: 'life' }])
    await visitor.get('/register/beneficiaries/life')
    const list = await visitor.post('/register/beneficiaries/life', { rows: '1', ...grace })
    expect(list.view).toBe('BENEFICIARIES')
    expect(wordsOf(list)).toContain('Gracecanary King, Spouse, 100%')
    expect((await userOf()).benefits).toContainEqual(
      expect.objectContaining({ name: 'life', state: 'enrolled' }),
    )
    expect(await rig.events()).toEqual(
      expect.arrayContaining(['user_update_successful', 'benefit_enrollment_successful']),
    )
    expect(wordsOf(await visitor.get('/register/done'))).toContain('You are enrolled')
  })

  test('where it is optional nobody is asked, and whoever wants may', async () => {
    const { visitor } = await enrolled()
    expect((await namedFor('income'))?.current).toBeNull()
    await visitor.get('/register/beneficiaries/income')
    const list = await visitor.post('/register/beneficiaries/income', {
      rows: '1',
      ...person(1, 'Tomcanary', 100),
    })
    expect(wordsOf(list)).toContain('Tomcanary, Spouse, 100%')
  })

  test('nobody names anybody before they have agreed', async () => {
    await rig.newPerson()
    const visitor = await openLink(rig)
    expect((await visitor.get('/register/beneficiaries/life')).view).toBe('DETAILS_REVIEW')
    await visitor.post('/register/beneficiaries/life', { rows: '1', ...grace })
    expect(await userOf()).toMatchObject({ status: 'registering' })
  })

  test('rows are added and taken away without script, and what was typed stays', async () => {
    const { visitor } = await naming()
    const two = await visitor.post('/register/beneficiaries/life', { rows: '1', ...grace, add: '1' })
    expect(two).toMatchObject({ status: 200, view: 'BENEFICIARIES_EDIT' })
    expect(two.html).toContain('value="Gracecanary King"')
    expect(two.html).toContain('name="person2.name"')
    const one = await visitor.post('/register/beneficiaries/life', {
      rows: '2',
      remove: '1',
      ...grace,
      ...person(2, 'Tomcanary', 5),
    })
    expect(one.html).toContain('name="person1.name" type="text" class="full" value="Tomcanary"')
    expect(one.html).not.toContain('Gracecanary')
  })

  test('nobody is asked to add a person whom there is no room for', async () => {
    const { visitor } = await naming()
    const last = await visitor.post('/register/beneficiaries/life', { rows: '19', ...grace, add: '1' })
    expect(last.html).toContain('name="person20.name"')
    expect(last.html).not.toContain('name="add"')
  })

  test.each<[why: string, fields: Record<string, string>, told: string]>([
    [
      'nobody',
      { rows: '1', ...person(1, '', 100, { relationship: '' }) },
      'Name at least one person who is no backup',
    ],
    ['a wrong sum', { rows: '1', ...person(1, 'Tom', 90) }, 'add up to 90%. Make it 100%'],
    [
      'a share that is none',
      { rows: '1', ...person(1, 'Tom', '1.5') },
      'Enter a share from 1 to 100 for person 1',
    ],
    [
      'a name that is missing',
      { rows: '1', ...person(1, '', 100) },
      'Enter a name of up to 200 characters for person 1',
    ],
    [
      'no relationship',
      { rows: '1', ...person(1, 'Tom', 100, { relationship: '' }) },
      'Choose the relationship of person 1 to you',
    ],
    [
      'a date that is none',
      { rows: '1', ...person(1, 'Tom', 100, { dobmonth: '2', dobday: '31', dobyear: '1990' }) },
      'Enter a real date of birth for person 1',
    ],
    [
      'a date to come',
      { rows: '1', ...person(1, 'Tom', 100, { dobmonth: '2', dobday: '3', dobyear: '2990' }) },
      'The date of birth of person 1 must be in the past',
    ],
    [
      'a date of another age',
      { rows: '1', ...person(1, 'Tom', 100, { dobmonth: '2', dobday: '3', dobyear: '1890' }) },
      'The date of birth of person 1 must be in 1900 or later',
    ],
    [
      'second ones that do not add up',
      { rows: '2', ...grace, ...person(2, 'Tom', 40, { kind: 'contingent' }) },
      'The shares of the backups add up to 40%',
    ],
  ])('%s is told in words, and what was typed stays', async (_, fields, told) => {
    const { visitor } = await naming()
    const wrong = await visitor.post('/register/beneficiaries/life', fields)
    expect(wrong).toMatchObject({ status: 422, view: 'BENEFICIARIES_EDIT' })
    expect(wordsOf(wrong)).toContain(told)
    expect((await namedFor('life'))?.current).toBeNull()
  })
})

describe('later', () => {
  test('a member changes whom they name: a new version, and the old one stays as it was', async () => {
    const { visitor } = await enrolled()
    const before = (await namedFor('life'))?.current
    const edit = await visitor.get('/register/beneficiaries/life')
    expect(edit.html).toContain('value="Gracecanary King"')
    await visitor.post('/register/beneficiaries/life', { rows: '1', ...person(1, 'Tomcanary', 100) })
    const named = await namedFor('life')
    expect(named?.current).toMatchObject({ version: 2, beneficiaries: [{ name: 'Tomcanary' }] })
    expect(named?.versions?.[0]).toEqual(before)
    expect((await rig.events()).at(-1)).toBe('user_update_successful')
    const { timeline } = await userOf()
    expect(timeline?.at(-1)).toMatchObject({ what: 'beneficiaries life 2', to: 'confirmed', who: 'user' })
    expect(JSON.stringify([timeline, rig.running.logged])).not.toContain('canary')
  })

  test('a form that was left open in another window does not replace the people named since', async () => {
    const { visitor } = await enrolled()
    const path = '/register/beneficiaries/life'
    await visitor.get(path)
    const newer = { rows: '1', version: '1', ...person(1, 'Tomcanary', 100) }
    for (const _ of ['press', 'repeat']) expect((await visitor.post(path, newer)).view).toBe('BENEFICIARIES')
    const older = { rows: '1', version: '1', ...person(1, 'Carlcanary', 100) }
    const conflict = await visitor.post(path, older)
    expect(conflict).toMatchObject({ status: 409, view: 'BENEFICIARIES_EDIT' })
    expect(conflict.html).toContain('value="Tomcanary"')
    expect((await namedFor('life'))?.current).toMatchObject({
      version: 2,
      beneficiaries: [{ name: 'Tomcanary' }],
    })
    await visitor.post(path, { rows: '1', ...person(1, 'Carlcanary', 100) })
    expect((await namedFor('life'))?.current).toMatchObject({ version: 3 })
  })

  test('the overview leads there, and names nobody', async () => {
    const { visitor } = await enrolled()
    const overview = await visitor.get('/register/overview')
    expect(overview.html).toContain('href="/register/beneficiaries"')
    expect(wordsOf(overview)).not.toContain('Gracecanary')
  })

  test('a link by email asks the birth date once, before it shows anything', async () => {
    await enrolled()
    const visitor = await openLink(rig, { delivery: 'email', purpose: 'benefits', offername: '' })
    expect((await visitor.get('/register/beneficiaries')).view).toBe('CHALLENGE')
    const dob = { dobmonth: '3', dobday: '27', dobyear: '1990' }
    expect((await visitor.post('/register/challenge', dob)).view).toBe('BENEFITS')
    expect((await visitor.get('/register/beneficiaries')).html).toContain('Gracecanary King')
  })

  test('people named for a benefit that is over are not said to be in place', async () => {
    const { visitor } = await enrolled()
    expect(wordsOf(await visitor.get('/register/beneficiaries'))).toContain(
      'Gracecanary King, Spouse, 100% In place since March 10, 2027',
    )
    const { client } = rig.partner
    await client.changeOffer({ userid: rig.userid(), offername: 'small', action: 'auto', effective: 'auto' })
    expect(await standsAs('life')).toBe('ended')
    const shown = wordsOf(await visitor.get('/register/beneficiaries'))
    expect(shown).not.toContain('In place since')
    expect(shown).toContain('The people you named count only when you have it.')
  })

  test('a former member who comes back is told that the people named count again, and not who they are', async () => {
    await enrolled()
    await rig.partner.client.cancelUser({ userid: rig.userid(), effective: 'immediate' })
    const start = await (await openLink(rig)).get('/register/details')
    expect(wordsOf(start)).toContain('The beneficiaries you named before count again.')
    expect(start.html).not.toContain('Gracecanary')
  })

  test('a former member who comes back is not shown whom they named, and keeps it', async () => {
    await enrolled()
    await rig.partner.client.cancelUser({ userid: rig.userid(), effective: 'immediate' })
    const visitor = await openLink(rig)
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: ['income'] })
    expect(check.view).toBe('CHECK_ANSWERS')
    expect(check.html).not.toContain('Gracecanary')
    expect((await visitor.get('/register/beneficiaries/life')).html).not.toContain('Gracecanary')
  })
})

/** A member whose plan requires no beneficiaries, with a session of this link. */
async function onSmall(benefits: string[], link: Parameters<Rig['mintLink']>[0] = {}) {
  const userid = await rig.newPerson('unknown')
  await rig.partner.client.createUser({ userid, ...ana, offername: 'small', benefits })
  return openLink(rig, { offername: '', ...link })
}
async function standsAs(name: string) {
  return (await userOf()).benefits.find(benefit => benefit.name === name)?.state
}

describe('whatever a member chooses', () => {
  test('a swap for what requires somebody is agreed to first, and fails on its day while nobody is named', async () => {
    const visitor = await onSmall(['dental'], { purpose: 'swap' })
    const confirm = await visitor.get('/register/swap/confirm?replace.dental=life')
    expect(wordsOf(confirm)).toContain(
      'Starts on April 1, 2027, if you have named someone before that day. If not, you will not get this benefit.',
    )
    const asked = await visitor.post('/register/swap/confirm', agreed)
    expect(asked).toMatchObject({
      view: 'BENEFICIARIES_EDIT',
      path: '/register/beneficiaries/life?then=done',
    })
    expect(wordsOf(asked)).toContain('Name someone before April 1, 2027, or you will not get this benefit.')
    expect(await userOf()).toMatchObject({ requiredactions: [{ name: 'life' }] })
    const wrong = await visitor.post('/register/beneficiaries/life', { rows: '1', ...person(1, 'Tom', 90) })
    expect(wrong.status).toBe(422)
    expect((await visitor.post('/register/beneficiaries/life', { rows: '1', ...grace })).view).toBe('DONE')
    expect(await userOf()).toMatchObject({ requiredactions: [], conditions: ['swappending'] })
    expect(await standsAs('life')).toBe('scheduled')
  })

  test('a swap that the partner planned is not said to start while somebody is missing', async () => {
    const visitor = await onSmall(['dental'], { purpose: 'swap' })
    await rig.partner.client.swapBenefits({ userid: rig.userid(), add: ['life'], remove: ['dental'] })
    const swap = await visitor.get('/register/swap')
    expect(wordsOf(swap)).toContain('Needs something from you before April 1, 2027, or it will not start')
    expect(wordsOf(swap)).not.toContain('Starts on April 1, 2027')
  })

  test.each([
    ['now', 'grand', 'Starts when you have named someone', 'April 9, 2027'],
    [
      'later',
      'starter',
      'Starts on April 1, 2027, or when you have named someone, if that is later',
      'May 1, 2027',
    ],
  ])(
    'a plan that brings it %s says so before it is agreed to, and leads there then',
    async (_, offer, told, due) => {
      const visitor = await onSmall(['dental'], { purpose: 'offerchange' })
      await visitor.get('/register/offer')
      const confirm = await visitor.post('/register/offer', { offername: offer })
      expect(confirm.view).toBe('OFFER_CONFIRM')
      expect(wordsOf(confirm)).toContain(
        `Term life ${told}. If you have not before ${due}, you will not get this benefit.`,
      )
      const asked = await visitor.post('/register/offer/confirm', agreed)
      expect(asked.view).toBe('BENEFICIARIES_EDIT')
      const done = await visitor.get('/register/done')
      expect(wordsOf(done)).toContain(`Name your beneficiaries for Term life (before ${due}).`)
      expect(await standsAs('life')).toBe('actionrequired')
      await visitor.get('/register/beneficiaries/life')
      await visitor.post('/register/beneficiaries/life', { rows: '1', ...grace })
      expect((await userOf()).requiredactions).toEqual([])
    },
  )

  test('a benefit added to a free place waits until somebody is named', async () => {
    const visitor = await onSmall([], { purpose: 'benefits' })
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: ['life'] })
    expect(wordsOf(check)).toContain('If you have not before April 9, 2027, you will not get this benefit.')
    expect((await visitor.post('/register/enrol', agreed)).view).toBe('BENEFICIARIES_EDIT')
    expect(await standsAs('life')).toBe('actionrequired')
  })

  test.each(['https://evil.example/', '//evil.example', 'leave'])(
    'naming never leads on to %s',
    async then => {
      const { visitor } = await enrolled()
      await visitor.get('/register/beneficiaries/life')
      const saved = await visitor.post('/register/beneficiaries/life', { rows: '1', ...grace, then })
      expect(saved.path).toBe('/register/beneficiaries?saved=yes')
      expect(wordsOf(saved)).toContain('Saved.')
    },
  )
})
