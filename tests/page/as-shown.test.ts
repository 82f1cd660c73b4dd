import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { demoCatalogue } from '../rig.ts'
import { ana, startRig } from './rig.ts'
import { openLink, recordsAgreed, type Visitor, wordsOf } from './visitor.ts'

const rig = forAllTests(() => startRig({ startAt: Date.UTC(2027, 2, 10, 15) }))
afterAll(async () => {
  const failures = rig.running.logged.filter(({ event }) => event === 'failure')
  expect(failures).toEqual([])
})

const onceMore = 'Please check this page once more Something has changed meanwhile, so nothing was done'
/** The partner's month, which only moves forward: each test that needs the end of a month takes the next one. */
let month = 3

function client() {
  return rig.partner.client
}
/** A member, and their session. */
async function member(has: { offername?: string; benefits?: string[]; effectivedate?: string } = {}) {
  const userid = await rig.newPerson('unknown')
  await client().createUser({ userid, ...ana, offername: 'starter', benefits: ['dental'], ...has })
  return openLink(rig, { offername: '' })
}
function user() {
  return client().getUser({ userid: rig.userid() })
}
/** What the partner is told that this person did on the page. */
async function outcomes() {
  const rows = await rig.running.database.query<{ outcome: string | null }>(sql`
    select outcome from page_sessions where partner_id = ${rig.partner.partnerId} and userid = ${rig.userid()}`)
  return rows.map(({ outcome }) => outcome)
}
function dayOf(at: number, day: number) {
  return new Date(Date.UTC(2027, at - 1, day)).toISOString().slice(0, 10)
}
function wordsOfDay(at: number, day: number) {
  const named = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' })
  return named.format(Date.parse(`${dayOf(at, day)}T00:00:00Z`))
}
async function moveTo(at: number, day: number) {
  month = at
  await client().advanceClock({ advanceto: `${dayOf(at, day)}T16:00:00.000Z` })
}
/** Publishes prices that are higher by a dollar, until the test ends. */
async function raisePrices() {
  await rig.running.publish(demoCatalogue.replace('cents: 650', 'cents: 750'))
  rig.running.advance(1000)
  onTestFinished(async () => {
    await rig.running.publish(demoCatalogue)
    rig.running.advance(1000)
  })
}

describe('a form that was open while the month changed', () => {
  test('ends no benefits on another day than the one that was read', async () => {
    const visitor = await member()
    const read = await visitor.get('/register/cancel')
    expect(wordsOf(read)).toContain(`Your last day of coverage is ${wordsOfDay(month + 1, 0)}`)
    await moveTo(month + 1, 2)
    const again = await visitor.post('/register/cancel', { effective: 'endofperiod' })
    expect(again).toMatchObject({ status: 409, view: 'CANCEL' })
    expect(wordsOf(again)).toContain(onceMore)
    expect(wordsOf(again)).toContain(`Your last day of coverage is ${wordsOfDay(month + 1, 0)}`)
    expect(await user()).toMatchObject({ conditions: [] })
    const done = await visitor.post('/register/cancel', { effective: 'endofperiod' })
    expect(wordsOf(done)).toContain(`Your benefits will end on ${wordsOfDay(month + 1, 0)}`)
  })

  test('takes no coverage from somebody who read that it had not started', async () => {
    const visitor = await member({ effectivedate: dayOf(month + 1, 1) })
    const read = await visitor.get('/register/cancel')
    expect(wordsOf(read)).toContain('Your benefits have not started yet. If you cancel, they will not start.')
    await moveTo(month + 1, 2)
    const again = await visitor.post('/register/cancel')
    expect(again).toMatchObject({ status: 409, view: 'CANCEL' })
    expect(wordsOf(again)).toContain('Right now. You have no coverage from this moment on')
    expect(await user()).toMatchObject({ status: 'active', conditions: [] })
  })

  test('swaps on no other day than the one that was read', async () => {
    const visitor = await member()
    await visitor.get('/register/swap')
    const read = await visitor.post('/register/swap', { out: 'dental', in: 'vision' })
    expect(wordsOf(read)).toContain(`From ${wordsOfDay(month + 1, 1)}`)
    await moveTo(month + 1, 2)
    const again = await visitor.post('/register/swap/confirm')
    expect(again).toMatchObject({ status: 409, view: 'SWAP_CONFIRM' })
    expect(wordsOf(again)).toContain(`From ${wordsOfDay(month + 1, 1)}`)
    expect(await user()).toMatchObject({ conditions: [] })
    expect((await visitor.post('/register/swap/confirm')).view).toBe('DONE')
  })

  test('does not say that a swap is undone which has taken effect', async () => {
    const visitor = await member()
    await client().swapBenefits({ userid: rig.userid(), add: ['vision'], remove: ['dental'] })
    await visitor.get('/register/swap')
    await moveTo(month + 1, 2)
    const after = await visitor.post('/register/swap/undo')
    expect(after.view).toBe('ALREADY_ENROLLED')
    expect(wordsOf(after)).toContain(`Vision discount Coverage began on ${wordsOfDay(month, 1)}`)
    expect(await outcomes()).toEqual([null])
  })

  test('does not say that a plan change is undone which has taken effect', async () => {
    const visitor = await member({ offername: 'plus' })
    await client().changeOffer({
      userid: rig.userid(),
      offername: 'starter',
      action: 'auto',
      effective: 'nextperiod',
    })
    await visitor.get('/register/offer')
    await moveTo(month + 1, 2)
    const after = await visitor.post('/register/offer/undo')
    expect(wordsOf(after)).toContain('Your plan is Starter.')
    expect(after.view).toBe('ALREADY_ENROLLED')
    expect(await outcomes()).toEqual([null])
  })
})

test('whoever keeps benefits that the partner has kept for them reads of no swap', async () => {
  const visitor = await member()
  await client().cancelUser({ userid: rig.userid() })
  await visitor.get('/register/cancel')
  await client().reinstateUser({ userid: rig.userid() })
  const after = await visitor.post('/register/cancel/undo')
  expect(after.view).toBe('ALREADY_ENROLLED')
  expect(await outcomes()).toEqual([null])
})

test('an undo of a swap that was replaced meanwhile shows the new one first', async () => {
  const visitor = await member()
  await client().swapBenefits({ userid: rig.userid(), add: ['vision'], remove: ['dental'] })
  await visitor.get('/register/swap')
  await client().swapBenefits({ userid: rig.userid(), add: ['legal'], remove: ['dental'] })
  const again = await visitor.post('/register/swap/undo')
  expect(again).toMatchObject({ status: 409, view: 'SWAP' })
  expect(wordsOf(again)).toContain('Legal helpline')
  expect(await user()).toMatchObject({ conditions: ['swappending'] })
  expect(wordsOf(await visitor.post('/register/swap/undo'))).toContain('Your swap is undone')
})

describe('a price that changed while it was read is shown again before anybody agrees to it', () => {
  async function isShownAgain(visitor: Visitor, path: string, view: string) {
    await raisePrices()
    const agreed = { ...recordsAgreed, 'consent.life': '2026-01' }
    const again = await visitor.post(path, agreed)
    expect(again).toMatchObject({ status: 409, view })
    expect(wordsOf(again)).toContain(onceMore)
    expect(wordsOf(again)).toContain('$7.50')
    expect((await visitor.post(path, agreed)).view).toBe('DONE')
  }

  test('by a member who adds a benefit', async () => {
    const visitor = await member({ offername: 'plus' })
    await visitor.get('/register/benefits')
    expect(wordsOf(await visitor.post('/register/benefits', { benefit: ['critical'] }))).toContain('$6.50')
    await isShownAgain(visitor, '/register/enrol', 'CHECK_ANSWERS')
  })

  test('by a member who swaps', async () => {
    const visitor = await member({ offername: 'plus' })
    await visitor.get('/register/swap')
    expect(wordsOf(await visitor.post('/register/swap', { out: 'dental', in: 'critical' }))).toContain(
      '$6.50',
    )
    await isShownAgain(visitor, '/register/swap/confirm', 'SWAP_CONFIRM')
  })

  test('by a member who changes the plan', async () => {
    const visitor = await member({ offername: 'plus', benefits: ['critical'] })
    await visitor.get('/register/offer')
    expect(wordsOf(await visitor.post('/register/offer', { offername: 'premier' }))).toContain('$6.50')
    await raisePrices()
    const again = await visitor.post('/register/offer/confirm', {
      ...recordsAgreed,
      'consent.life': '2026-01',
    })
    expect(again).toMatchObject({ status: 409, view: 'OFFER_CONFIRM' })
    expect(await user()).toMatchObject({ currentofferdetails: { offer: 'plus' } })
  })

  test('by a former member who comes back', async () => {
    await member({ offername: 'plus', benefits: ['critical'] })
    await client().cancelUser({ userid: rig.userid(), effective: 'immediate' })
    const visitor = await openLink(rig, { offername: '' })
    const start = wordsOf(await visitor.get('/register/details'))
    expect(start).toMatch(/Critical illness Starts on [^$]* You pay \$6.50/)
    await isShownAgain(visitor, '/register/comeback', 'DETAILS_REVIEW')
  })
})

test('a day that began while the answers were checked is shown as the first day before anybody enrolls', async () => {
  await rig.newPerson()
  const visitor = await openLink(rig)
  await visitor.get('/register/benefits')
  const read = await visitor.post('/register/benefits', { benefit: ['dental'] })
  expect(wordsOf(read)).toContain(`Dental discount Starts on ${wordsOfDay(month, 2)}`)
  await moveTo(month, 3)
  const again = await visitor.post('/register/enrol', recordsAgreed)
  expect(again).toMatchObject({ status: 409, view: 'CHECK_ANSWERS' })
  expect(wordsOf(again)).toContain(`Dental discount Starts on ${wordsOfDay(month, 3)}`)
  expect((await visitor.post('/register/enrol', recordsAgreed)).view).toBe('DONE')
})

test.each([
  ['benefits', { benefit: 'vision' }],
  ['enrol', recordsAgreed],
])(
  'whoever sends the form of %s after the last slot was filled reads that it is, and is not led on as if all were done',
  async (path, fields) => {
    const visitor = await member()
    await visitor.get('/register/benefits')
    if (path === 'enrol') await visitor.post('/register/benefits', { benefit: 'vision' })
    await client().enrolBenefit({ userid: rig.userid(), name: 'telehealth' })
    const again = await visitor.post(`/register/${path}`, fields)
    expect(again).toMatchObject({ status: 409, view: 'BENEFITS' })
    expect(wordsOf(again)).toContain(onceMore)
    expect(wordsOf(again)).toContain('Swap a benefit for Vision discount')
  },
)

test('a member who presses "Enroll now" twice at once is enrolled once, and both presses lead to the confirmation', async () => {
  for (let round = 0; round < 12; round++) {
    const visitor = await member()
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', { benefit: 'vision' })
    const press = () => visitor.post('/register/enrol', recordsAgreed)
    const answers = await Promise.all([press(), press()])
    expect(answers.map(({ status, view }) => `${status} ${view}`)).toEqual(['200 DONE', '200 DONE'])
  }
})
