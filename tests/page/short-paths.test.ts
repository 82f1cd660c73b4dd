import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { adaAsks } from '../rig.ts'
import { ana, type Rig, startRig } from './rig.ts'
import { newVisitor, recordsAgreed, type Shown, type Visitor, wordsOf } from './visitor.ts'

// The middle of a month, because changes are locked on the last day before a boundary.
const startAt = Date.UTC(2027, 2, 10, 15)
const rig = forAllTests(() => startRig({ startAt }))
afterAll(async () => {
  const failures = rig.running.logged.filter(({ event }) => event === 'failure')
  expect(failures).toEqual([])
})

function client() {
  return rig.partner.client
}

/** A member on an offer, with a session of this purpose. */
async function member(
  has: { offername?: string; benefits?: string[] },
  link: Parameters<Rig['mintLink']>[0] = {},
): Promise<{ visitor: Visitor; first: Shown }> {
  const userid = await rig.newPerson('unknown')
  await client().createUser({ userid, ...ana, offername: 'starter', ...has })
  const visitor = newVisitor(rig.service)
  const address = await rig.mintLink({ offername: '', ...link })
  await visitor.get(address)
  return { visitor, first: await visitor.post(address) }
}
async function fresh() {
  return (await rig.events()).filter(name => !/^(enrollment|offer_activ)/.test(name))
}
function referenceIn(shown: Shown) {
  return /BE-\w{4}-\w{4}/.exec(shown.html)?.[0]
}

describe('a benefit that waits for an agreement', () => {
  const told = 'Agree to the terms of Identity protection (before April 9, 2027).'

  test('is named with the way to it, is no choice among others, and starts once its terms are agreed to', async () => {
    const { visitor } = await member({ benefits: ['identity'] })
    expect(wordsOf(await visitor.get('/register/overview'))).toContain(told)
    const benefits = await visitor.get('/register/benefits')
    expect(wordsOf(benefits)).toContain('You can choose 1 more benefit with Starter.')
    const [waiting = '', others = ''] = benefits.html.split('Available to you')
    expect(wordsOf({ html: waiting })).toContain('These still need something from you')
    expect(wordsOf({ html: waiting })).toContain(
      'Needs something from you before April 9, 2027, or it will not start',
    )
    expect(others).not.toContain('value="identity"')
    const check = await visitor.post('/register/benefits', { benefit: ['identity'] })
    expect(wordsOf(check)).toContain('I allow the identity protection service')
    const done = await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.identity': '2026-01' })
    expect(wordsOf(done)).not.toContain('still needed')
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ requiredactions: [] })
  })

  test('is named on a confirmation too', async () => {
    const { visitor } = await member({ benefits: ['identity'] })
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', { benefit: ['dental'] })
    const done = await visitor.post('/register/enrol', recordsAgreed)
    expect(wordsOf(done)).toContain(told)
  })

  test('has no last day, and is due when a plan change takes it away, if that comes first', async () => {
    const { visitor } = await member({ offername: 'plus', benefits: ['savings'] })
    expect(wordsOf(await visitor.get('/register/overview'))).toContain('(before April 9, 2027)')
    await client().changeOffer({ userid: rig.userid(), offername: 'starter', effective: 'nextperiod' })
    const overview = wordsOf(await visitor.get('/register/overview'))
    expect(overview).toContain('(before April 1, 2027)')
    expect(overview).toMatch(
      /Emergency savings (?!.*Ends on).*Needs something from you before April 1, 2027, or it will not start/,
    )
    expect(wordsOf(await visitor.get('/register/benefits'))).toContain(
      'something from you before April 1, 2027',
    )
  })

  test.each(['offer', 'swap'])('can be agreed to before the %s change that brings it', async by => {
    const { visitor } = await member({ benefits: ['dental'] })
    const userid = rig.userid()
    const name = by === 'offer' ? 'life' : 'identity'
    if (by === 'offer') await client().changeOffer({ userid, offername: 'premier', effective: 'nextperiod' })
    else await client().swapBenefits({ userid, add: ['identity'], remove: ['dental'] })
    expect(await client().getUser({ userid })).toMatchObject({
      requiredactions: [{ code: 'consent_required', name }],
    })
    expect(wordsOf(await visitor.get('/register/overview'))).toContain('Agree to the terms of')
    expect((await visitor.get('/register/benefits')).html).toMatch(new RegExp(`value="${name}"[^>]* checked`))
    const check = await visitor.post('/register/benefits', { benefit: [name] })
    expect(wordsOf(check)).toContain('Starts on April 1, 2027')
    const done = await visitor.post('/register/enrol', { ...recordsAgreed, [`consent.${name}`]: '2026-01' })
    expect(wordsOf(done)).toContain('Starts on April 1, 2027')
    expect(wordsOf(done)).not.toContain('Agree to the terms of')
    expect(await client().getUser({ userid })).toMatchObject({
      requiredactions: [],
      benefits: expect.arrayContaining([
        expect.objectContaining({ name, state: 'scheduled', startsattimestamp: '2027-04-01T04:00:00.000Z' }),
      ]),
    })
    expect(wordsOf(done)).toContain('Your new benefit is added')
  })
})

test('as many benefits can be added as there are free places, beside what only waits', async () => {
  const { visitor } = await member({ benefits: ['dental'] })
  await client().swapBenefits({ userid: rig.userid(), add: ['identity'], remove: ['dental'] })
  await visitor.get('/register/benefits')
  const many = await visitor.post('/register/benefits', { benefit: ['vision', 'legal'] })
  expect(wordsOf(many)).toContain('There is a problem')
  const check = await visitor.post('/register/benefits', { benefit: ['vision', 'identity'] })
  expect(wordsOf(check)).toMatch(
    /Starts on March 10, 2027.*Identity protection Starts on April 1, 2027|Identity protection Starts on April 1, 2027.*Starts on March 10, 2027/,
  )
  const done = await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.identity': '2026-01' })
  expect(done.view).toBe('DONE')
  expect(await client().getUser({ userid: rig.userid() })).toMatchObject({
    benefits: expect.arrayContaining(
      Object.entries({ vision: 'enrolled', identity: 'scheduled', dental: 'endscheduled' }).map(
        ([name, state]) => expect.objectContaining({ name, state }),
      ),
    ),
  })
})

describe('what a cancel takes away beside what ends', () => {
  test('is named before and after: what still waits is withdrawn at once', async () => {
    const { visitor } = await member({ benefits: ['dental', 'identity'] })
    const told = 'These have not started and will not: Identity protection.'
    const cancel = await visitor.get('/register/cancel')
    expect(wordsOf(cancel)).toContain(told)
    const done = await visitor.post('/register/cancel', { effective: 'endofperiod' })
    expect(wordsOf(done)).toContain(told)
    const again = await visitor.get('/register/cancel')
    expect(wordsOf(again)).not.toContain('These have not started')
  })

  test('says before and after that nothing can come back, when the plan is not open to the person any more', async () => {
    const { visitor } = await member({ offername: 'premier' })
    const told =
      'Once they have ended, you cannot bring them back: as things stand, your plan is not open to you any more.'
    const possible = /you can have your benefits back|you can (still )?bring (your benefits|them) back/
    expect(wordsOf(await visitor.get('/register/cancel'))).toMatch(possible)
    await client().updateUser({ userid: rig.userid(), state: 'NY', zipcode: '10001' })
    const cancel = wordsOf(await visitor.get('/register/cancel'))
    const planned = wordsOf(await visitor.post('/register/cancel', { effective: 'endofperiod' }))
    await visitor.get('/register/cancel')
    const done = wordsOf(await visitor.post('/register/cancel', { effective: 'immediate' }))
    for (const words of [cancel, planned, done]) {
      expect(words).toContain(told)
      expect(words).not.toMatch(possible)
    }
  })

  test('a swap that was planned stays called off when the cancel is taken back, which is said', async () => {
    const staysOff = 'A swap or plan change that you had planned before does not come back.'
    const { visitor } = await member({ benefits: ['dental'] })
    const cancelAndKeep = async () => {
      await visitor.get('/register/cancel')
      await visitor.post('/register/cancel', { effective: 'endofperiod' })
      await visitor.get('/register/cancel')
      return visitor.post('/register/cancel/undo')
    }
    expect(wordsOf(await cancelAndKeep())).not.toContain(staysOff)
    await client().swapBenefits({ userid: rig.userid(), add: ['vision'], remove: ['dental'] })
    expect(wordsOf(await cancelAndKeep())).toContain(staysOff)
  })

  test('so it does when a plan change that called it off is taken back', async () => {
    const { visitor } = await member({ offername: 'plus', benefits: ['dental', 'critical'] })
    await client().swapBenefits({ userid: rig.userid(), add: ['income'], remove: ['critical'] })
    await visitor.get('/register/offer')
    await visitor.post('/register/offer', { offername: 'starter' })
    const changed = await visitor.post('/register/offer/confirm')
    expect(wordsOf(changed)).toContain('The swap that you had planned will not happen.')
    await visitor.get('/register/offer')
    expect(wordsOf(await visitor.post('/register/offer/undo'))).toContain(
      'A swap or plan change that you had planned before does not come back.',
    )
  })
})

describe('a swap', () => {
  test('is chosen, confirmed, shown again on a repeat, and taken back', async () => {
    const { visitor, first } = await member({ benefits: ['telehealth', 'dental'] }, { purpose: 'swap' })
    expect(first.view).toBe('SWAP')
    const none = await visitor.post('/register/swap')
    expect(none.status).toBe(422)
    expect(none.html).toContain('Choose the benefit to swap')
    expect(none.html).toContain('Choose the benefit you want instead')
    expect(none.html).toContain('Lower prices for eye exams')
    const neither = await visitor.post('/register/swap', { out: 'dental' })
    expect(neither.html).not.toContain('Choose the benefit to swap')
    expect(neither.html).toContain('Choose the benefit you want instead')
    const chosen = await visitor.post('/register/swap', { out: 'dental', in: 'vision' })
    expect(chosen.view).toBe('SWAP_CONFIRM')
    expect(chosen.html).toContain('From April 1, 2027')
    expect(chosen.html).toContain('until the end of March 30 (Eastern time)')
    const done = await visitor.post('/register/swap/confirm')
    expect(done).toMatchObject({ status: 200, view: 'DONE' })
    expect(done.html).toContain('Your swap is set for April 1, 2027')
    await visitor.get(chosen.path)
    const again = await visitor.post('/register/swap/confirm', { 'replace.dental': 'vision' })
    expect(referenceIn(again)).toBe(referenceIn(done))
    expect(await fresh()).toEqual(['user_benefits_pendingswap'])
    await visitor.get('/register/swap')
    expect((await visitor.post('/register/swap/undo')).html).toContain('Your swap is undone')
    expect(await fresh()).toEqual(['user_benefits_pendingswap', 'user_benefits_swap_cancelled'])
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ conditions: [] })
  })

  test('of one benefit beside another for a free place makes both, as they were shown', async () => {
    const { visitor } = await member({ benefits: ['dental'] }, { purpose: 'swap' })
    await visitor.get('/register/swap')
    await visitor.post('/register/swap', { out: 'dental', in: 'vision' })
    await visitor.post('/register/swap/confirm')
    const planned = await visitor.get('/register/swap')
    expect(planned.html).toMatch(/<button\s+class="primary">Undo this swap/)
    expect(planned.html).not.toContain('type="radio"')
    await visitor.get('/register/swap?more=1')
    const twice = await visitor.post('/register/swap', { out: 'free', in: 'vision' })
    expect(twice.status).toBe(422)
    const chosen = await visitor.post('/register/swap', { out: 'free', in: 'legal' })
    expect(chosen.view).toBe('SWAP_CONFIRM')
    expect(chosen.html).toContain('name="replace.free1" value="legal"')
    expect(chosen.html).toContain('name="replace.dental" value="vision"')
    expect((await visitor.post('/register/swap/confirm')).view).toBe('DONE')
    const listed = await client().getBenefits({ ...adaAsks, userid: rig.userid() })
    const chosenFor = listed.filter(({ isselectedforswap }) => isselectedforswap).map(({ name }) => name)
    expect(chosenFor.sort()).toEqual(['dental', 'legal', 'vision'])
  })

  test('asks for the consent of what comes in, and keeps it', async () => {
    const { visitor } = await member({ benefits: ['dental'] }, { purpose: 'swap' })
    await visitor.get('/register/swap')
    const chosen = await visitor.post('/register/swap', { out: 'dental', in: 'identity' })
    expect(chosen.html).toContain('I allow the identity protection service')
    expect((await visitor.post('/register/swap/confirm')).status).toBe(422)
    expect(
      (await visitor.post('/register/swap/confirm', { ...recordsAgreed, 'consent.identity': '2026-01' }))
        .view,
    ).toBe('DONE')
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({
      conditions: ['swappending'],
      consents: [{ name: 'electronic-records' }, { name: 'identity', version: '2026-01' }],
    })
  })

  test('opens with the benefit of the tile that was clicked', async () => {
    const deeplinkdata = 'productname=vision&producttype=discount&redirectto=swap'
    const { first } = await member({ benefits: ['telehealth', 'dental'] }, { deeplinkdata })
    expect(first.view).toBe('SWAP')
    expect(first.html).toContain('Which benefit do you want to swap for Vision discount?')
    expect(first.html).toMatch(/name="in" value="vision" checked/)
  })

  test('cannot be made or undone in the last hours before the boundary', async () => {
    const { visitor } = await member({ benefits: ['dental', 'telehealth'] }, { purpose: 'swap' })
    await client().swapBenefits({ userid: rig.userid(), add: ['vision'], remove: ['dental'] })
    await client().advanceClock({ advanceto: '2027-04-01T00:00:00.000Z' })
    const locked = await visitor.get('/register/swap')
    expect(locked.html).toContain('Swaps are closed for this month')
    expect(locked.html).not.toContain('/register/swap/undo')
    const undone = await visitor.post('/register/swap/undo')
    expect(undone).toMatchObject({ status: 409, view: 'SWAP' })
    expect(wordsOf(undone)).toContain('Please check this page once more')
    const made = await visitor.post('/register/swap/confirm', { 'replace.telehealth': 'legal' })
    expect(made).toMatchObject({ status: 409, view: 'SWAP' })
    expect(wordsOf(made)).toContain('Please check this page once more')
    expect(wordsOf(made)).toContain('Swaps are closed for this month')
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ conditions: ['swappending'] })
    await client().advanceClock({ advanceto: '2027-04-05T00:00:00.000Z' })
  })
})

describe('a change of offer', () => {
  test('to a higher one takes effect at once, and once', async () => {
    const { visitor, first } = await member({ benefits: ['dental'] }, { purpose: 'offerchange' })
    expect(first.view).toBe('OFFER_CHANGE')
    expect((await visitor.post('/register/offer')).status).toBe(422)
    const chosen = await visitor.post('/register/offer', { offername: 'plus' })
    expect(chosen.view).toBe('OFFER_CONFIRM')
    expect(wordsOf(chosen)).toContain(
      'What you should know Seaview Mutual Insurance Company Insures: Hospital cash',
    )
    expect(wordsOf(chosen)).toContain('Your total Free')
    const done = await visitor.post('/register/offer/confirm')
    expect(done.view).toBe('DONE')
    await visitor.get(chosen.path)
    const again = await visitor.post('/register/offer/confirm', { offername: 'plus' })
    expect(referenceIn(again)).toBe(referenceIn(done))
    expect(await fresh()).toEqual(['offer_upgrade_successful'])
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({
      currentofferdetails: { offer: 'plus' },
    })
  })

  test('that the partner planned for later takes effect at once when the person confirms it for today', async () => {
    const { visitor } = await member({ benefits: ['dental'] }, { purpose: 'offerchange' })
    const userid = rig.userid()
    const undoable = 'You can undo this until'
    await client().changeOffer({ userid, offername: 'plus', action: 'auto', effective: 'nextperiod' })
    const shown = await visitor.get('/register/offer/confirm?offername=plus')
    expect(wordsOf(shown)).not.toContain(undoable)
    const done = await visitor.post('/register/offer/confirm')
    expect(wordsOf(done)).toContain('You moved up to Plus')
    await visitor.get('/register/overview')
    const again = await visitor.post('/register/offer/confirm', { offername: 'plus' })
    expect(referenceIn(again)).toBe(referenceIn(done))
    expect(await fresh()).toEqual([
      'offer_change_scheduled',
      'offer_change_cancelled',
      'offer_upgrade_successful',
    ])
    expect(await client().getUser({ userid })).toMatchObject({
      currentofferdetails: { offer: 'plus' },
      pendingoffer: null,
    })
  })

  test('is shown anew when it would do something else than what was shown', async () => {
    const { visitor } = await member({ offername: 'starter' }, { purpose: 'offerchange' })
    await visitor.get('/register/offer')
    await visitor.post('/register/offer', { offername: 'premier' })
    await client().updateUser({
      userid: rig.userid(),
      state: 'VT',
      address: { state: 'VT', zipcode: '05401' },
    })
    const stale = await visitor.post('/register/offer/confirm', { 'consent.life': '2026-01', previewid: 'x' })
    expect(stale).toMatchObject({ status: 409, view: 'OFFER_CONFIRM' })
    expect(await fresh()).toEqual(['user_update_successful'])
  })
})

describe('a cancel', () => {
  test('at the end of the month can be taken back', async () => {
    const { visitor, first } = await member({ benefits: ['dental'] })
    expect(first.view).toBe('ALREADY_ENROLLED')
    expect((await visitor.get('/register/cancel')).view).toBe('CANCEL')
    expect((await visitor.post('/register/cancel')).html).toContain('Choose when your benefits should end')
    const done = await visitor.post('/register/cancel', { effective: 'endofperiod' })
    expect(done.html).toContain('Your benefits will end on')
    expect(referenceIn(await visitor.post('/register/cancel', { effective: 'endofperiod' }))).toBe(
      referenceIn(done),
    )
    await visitor.get('/register/cancel')
    expect((await visitor.post('/register/cancel/undo')).view).toBe('DONE')
    expect(await fresh()).toEqual(['offer_cancel_scheduled', 'offer_reinstate_successful'])
  })

  test('at once ends the session, which may still see that it was done, and nothing else', async () => {
    const { visitor } = await member({ benefits: ['dental'] })
    await visitor.get('/register/cancel')
    const done = await visitor.post('/register/cancel', { effective: 'immediate' })
    expect(done).toMatchObject({ status: 200, view: 'DONE' })
    for (const path of ['/register', '/register/details', '/register/overview'])
      expect(await visitor.get(path)).toMatchObject({ view: 'DONE' })
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ status: 'cancelled' })
  })
})

describe('a member with a free place', () => {
  test('adds a benefit with its consent, and a repeat adds nothing', async () => {
    const { visitor, first } = await member(
      { benefits: ['dental'] },
      { deeplinkdata: 'productname=identity&producttype=service&redirectto=enrol', purpose: 'benefits' },
    )
    expect(first.view).toBe('BENEFITS')
    expect(first.html).toMatch(/value="identity"[^>]* checked/)
    const check = await visitor.post('/register/benefits', { benefit: ['identity'] })
    expect(check.view).toBe('CHECK_ANSWERS')
    expect(check.html).not.toMatch(/name="consent\.identity"[^>]*checked/)
    const fields = {
      ...recordsAgreed,
      'consent.identity': '2026-01',
      draft: /name="draft" value="([^"]+)"/.exec(check.html)?.[1] ?? '',
    }
    const done = await visitor.post('/register/enrol', fields)
    expect(done.view).toBe('DONE')
    expect(referenceIn(await visitor.post('/register/enrol', fields))).toBe(referenceIn(done))
    expect((await rig.events()).filter(name => name.startsWith('benefit_'))).toEqual([
      'benefit_enrollment_successful',
    ])
    const full = await visitor.get('/register/benefits')
    expect(full.html).not.toContain('type="checkbox"')
  })

  test('gives the agreement that something waits for', async () => {
    const { visitor } = await member({ benefits: ['identity'] })
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ conditions: ['actionrequired'] })
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', { benefit: ['identity'] })
    await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.identity': '2026-01' })
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({
      conditions: [],
      consents: [{ name: 'electronic-records' }, { name: 'identity', version: '2026-01', locale: 'en' }],
    })
  })
})

test('whoever reads a plan change for longer than a preview of the API holds is not told that somebody changed it', async () => {
  const { visitor } = await member({}, { purpose: 'offerchange' })
  await visitor.get('/register/offer')
  const confirm = await visitor.post('/register/offer', { offername: 'plus' })
  expect(confirm.view).toBe('OFFER_CONFIRM')
  rig.running.advance(16 * 60_000)
  expect((await visitor.post('/register/offer/confirm')).view).toBe('DONE')
})

test('what waits, and is planned to come again should it lapse, is one choice with one agreement', async () => {
  const own = await startRig({ startAt })
  onTestFinished(own.close)
  const { client } = own.partner
  const userid = await own.newPerson('unknown')
  await client.createUser({ userid, ...ana, offername: 'starter', benefits: ['identity'] })
  own.running.advance(Date.UTC(2027, 3, 2, 15) - startAt)
  await client.swapBenefits({ userid, add: ['identity'], remove: [] })
  const visitor = newVisitor(own.service)
  await visitor.post(await own.mintLink({ offername: '' }))
  const benefits = await visitor.get('/register/benefits')
  expect(benefits.html.match(/value="identity"/g)).toHaveLength(1)
  const check = await visitor.post('/register/benefits', { benefit: ['identity'] })
  expect(check.html.match(/name="consent.identity"/g)).toHaveLength(1)
  expect(wordsOf(check)).toContain('Starts on April 2, 2027')
  await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.identity': '2026-01' })
  const user = await client.getUser({ userid })
  expect(user).toMatchObject({ requiredactions: [] })
  expect(JSON.stringify(user).match(/"name":"identity","version"/g)).toHaveLength(1)
})
