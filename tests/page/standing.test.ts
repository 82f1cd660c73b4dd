import { beforeAll, describe, expect, test } from 'vitest'
import { ageRule, catalogueOf, stateRule } from '../api/catalogue-of.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ana, type Rig, startRig } from './rig.ts'
import { openLink, wordsOf } from './visitor.ts'

const catalogue = catalogueOf(
  [
    { name: 'dental', displayname: 'Dental' },
    { name: 'vision', displayname: 'Vision', rules: [stateRule('vision_fl', { in: ['FL'] })] },
    { name: 'legal', displayname: 'Legal' },
  ],
  [
    { offer: 'small', rank: 1, selectable: ['dental', 'vision', 'legal'], slots: 3 },
    {
      offer: 'coast',
      rank: 2,
      selectable: ['dental', 'vision', 'legal'],
      slots: 3,
      rules: [stateRule('coast_only', { in: ['FL'] })],
    },
    { offer: 'grand', rank: 3, fixed: ['legal'], selectable: ['dental', 'vision'], slots: 2 },
  ],
)

const rig = forAllTests(() => startRig({ startAt: Date.parse('2027-03-10T15:00:00Z') }))
beforeAll(async () => {
  await rig.running.publish(catalogue)
})

function client() {
  return rig.partner.client
}
/** A member with dental, and a session of this link. */
async function member(offername = 'coast', link: Parameters<Rig['mintLink']>[0] = {}, benefits = ['dental']) {
  const userid = await rig.newPerson('unknown')
  await client().createUser({ userid, ...ana, offername, benefits })
  return openLink(rig, { offername: '', ...link })
}

describe('whoever has planned a cancel', () => {
  test.each([
    ['en', 'swap', 'Your benefits end on March 31, 2027', 'You can swap a benefit only if you keep them.'],
    ['es', 'swap', 'Sus beneficios terminan el 31 de marzo de 2027', 'Solo puede intercambiar un beneficio'],
    ['en', 'offer', 'Your benefits end on March 31, 2027', 'You can change your plan only if you keep them.'],
    ['es', 'offer', 'Sus beneficios terminan el 31 de marzo de 2027', 'Solo puede cambiar de plan'],
  ] as const)('is told so in %s where they come to %s, and can keep them there', async (...told) => {
    const [locale, path, when, what] = told
    const visitor = await member('coast', { locale })
    await client().cancelUser({ userid: rig.userid() })
    const shown = await visitor.get(`/register/${path}`)
    expect(wordsOf(shown)).toContain(when)
    expect(wordsOf(shown)).toContain(what)
    expect(shown.html).not.toContain('type="radio"')
    expect((await visitor.post('/register/cancel/undo')).view).toBe('DONE')
    expect((await visitor.get(`/register/${path}`)).html).toContain('type="radio"')
  })

  test.each([
    ['swap', { out: 'dental', in: 'legal' }],
    ['swap/confirm', { 'replace.dental': 'legal' }],
    ['offer', { offername: 'small' }],
    ['offer/confirm', { offername: 'small', previewid: 'x' }],
  ])('changes nothing by a form of %s from before', async (path, fields) => {
    const visitor = await member()
    await visitor.get('/register/swap')
    await client().cancelUser({ userid: rig.userid() })
    const answer = await visitor.post(`/register/${path}`, fields)
    expect(wordsOf(answer)).toContain('Your benefits end on March 31, 2027')
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ conditions: ['cancelpending'] })
  })

  test('can keep them on the first view', async () => {
    const visitor = await member()
    await client().cancelUser({ userid: rig.userid() })
    const overview = await visitor.get('/register/overview')
    expect(wordsOf(overview)).toContain('Your benefits end on March 31, 2027 You can still keep them.')
    expect(wordsOf(await visitor.post('/register/cancel/undo'))).toContain('You keep your benefits')
  })

  test.each([
    [
      'en',
      'End your benefits now',
      'If you do not want to wait until March 31, 2027, you can end all of these right now',
      'Your',
    ],
    [
      ...(['es', 'Termine sus beneficios ahora'] as const),
      ...(['Si no quiere esperar hasta el 31 de marzo de 2027, puede terminar todos estos', 'Sus'] as const),
    ],
  ] as const)('can end them at once, asked nothing but that, in %s', async (locale, title, lead, whose) => {
    const visitor = await member('coast', { locale })
    expect(wordsOf(await visitor.get('/register/overview'))).not.toContain(title)
    await client().cancelUser({ userid: rig.userid() })
    expect(wordsOf(await visitor.get('/register/overview'))).toContain(title)
    const asked = await visitor.get('/register/cancel')
    expect(asked.html).toMatch(new RegExp(`<h1[^>]*>${title}</h1>`))
    expect(wordsOf(asked)).toContain(lead)
    expect(asked.html).not.toContain('type="radio"')
    const done = await visitor.post('/register/cancel', { effective: 'immediate' })
    expect(done.html).toMatch(
      new RegExp(`<h1[^>]*>${whose} (benefits have ended|beneficios terminaron)</h1>`),
    )
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ status: 'cancelled' })
  })

  test('sees the end of what they add all the same', async () => {
    const visitor = await member()
    await client().cancelUser({ userid: rig.userid() })
    const benefits = wordsOf(await visitor.get('/register/benefits'))
    expect(benefits).toContain('Your benefits end on March 31, 2027 You can still keep them.')
    const check = await visitor.post('/register/benefits', { benefit: ['legal'] })
    expect(wordsOf(check)).toContain('Legal Starts on March 10, 2027 Ends on March 31, 2027')
  })
})

describe('whoever no longer fits the rules of their plan', () => {
  test.each([
    [
      'en',
      'Your details no longer fit the rules of coast',
      'This alone does not end your plan',
      'Refused by coast_only.',
    ],
    [
      'es',
      'Sus datos ya no cumplen las reglas de coast ES',
      'Esto por sí solo no termina su plan',
      'Rechazado por coast_only.',
    ],
  ] as const)('is told in %s what stays, until when, and why', async (locale, title, keeps, why) => {
    const visitor = await member('coast', { locale }, ['dental', 'vision'])
    expect(wordsOf(await visitor.get('/register/overview'))).not.toContain(title)
    await client().updateUser({
      userid: rig.userid(),
      address: { ...ana.address, state: 'GA', zipcode: '30301' },
    })
    const { conditions } = (await client().getUser({ userid: rig.userid() })) as { conditions: string[] }
    expect(conditions).toContain('offerineligible')
    const overview = await visitor.get('/register/overview')
    for (const words of [title, keeps, why, 'Harbor Rides']) expect(wordsOf(overview)).toContain(words)
    expect(overview.html).toContain('href="/register/details"')
    expect(wordsOf(overview)).toMatch(/(Ends on March 31|Termina el 31 de marzo)/)
    await client().cancelUser({ userid: rig.userid() })
    const leaving = wordsOf(await visitor.get('/register/overview'))
    expect(leaving).toContain(title)
    expect(leaving).not.toContain(keeps)
    await visitor.post('/register/cancel/undo')
    expect(wordsOf(await visitor.get('/register/overview'))).toContain(keeps)
    await client().updateUser({ userid: rig.userid(), address: ana.address })
    expect(wordsOf(await visitor.get('/register/overview'))).not.toContain(title)
  })
})

describe('whoever saves a detail', () => {
  const moved = { addline1: '1 Peach St', city: 'Atlanta', state: 'GA', zipcode: '30301' }

  test.each([
    [
      ...(['en', 'A benefit that does not fit your new details will end.'] as const),
      'Your details are saved. Because of this change, Vision ends on March 31, 2027.',
      'Sus datos están guardados. Por este cambio, “Vision ES” termina el 31 de marzo de 2027.',
    ],
    [
      ...(['es', 'Un beneficio que no corresponda a sus datos nuevos terminará.'] as const),
      'Sus datos están guardados. Por este cambio, “Vision ES” termina el 31 de marzo de 2027.',
      'Your details are saved. Because of this change, Vision ends on March 31, 2027.',
    ],
  ] as const)('reads in %s which benefit ends by it, in either language', async (...told) => {
    const [locale, hint, ends, translated] = told
    const visitor = await member('small', { locale }, ['dental', 'vision'])
    expect(wordsOf(await visitor.get('/register/details/name'))).not.toContain(hint)
    expect(wordsOf(await visitor.get('/register/details/address'))).toContain(hint)
    const saved = await visitor.post('/register/details/address', moved)
    expect(saved.view).toBe('DETAILS_REVIEW')
    expect(saved.html).toContain('role="status"><')
    expect(wordsOf(saved)).toContain(ends)
    expect(wordsOf(saved)).not.toMatch(/(change|cambio), Dental/)
    const language = locale === 'en' ? 'es' : 'en'
    expect(wordsOf(await visitor.post('/register/details', { language }))).toContain(translated)
  })

  test.each([
    ['en', 'Your details are saved. Because of this change, Vision will not start.'],
    ['es', 'Sus datos están guardados. Por este cambio, “Vision ES” no empezará.'],
  ] as const)('reads in %s what will not start', async (locale, words) => {
    const userid = await rig.newPerson('unknown')
    const has = { offername: 'small', benefits: ['dental', 'vision'], effectivedate: '2027-04-01' }
    await client().createUser({ userid, ...ana, ...has })
    const visitor = await openLink(rig, { offername: '', locale })
    await visitor.get('/register/details/address')
    expect(wordsOf(await visitor.post('/register/details/address', moved))).toContain(words)
  })

  test('reads of no end that there is not, whatever an address says', async () => {
    const visitor = await member('small', {}, ['dental', 'vision'])
    await visitor.get('/register/details/address')
    const street = { ...moved, state: 'FL', zipcode: '33130', city: 'Miami' }
    const saved = await visitor.post('/register/details/address', street)
    expect(saved.view).toBe('DETAILS_REVIEW')
    expect(saved.path).not.toContain('lost')
    expect(wordsOf(saved)).toContain('Saved.')
    expect(wordsOf(saved)).not.toContain('Because of this change')
    const madeup = await visitor.get('/register/details?lost=vision&lost=nothing')
    expect(wordsOf(madeup)).not.toContain('Because of this change')
  })
})

test.each([
  ['en', 'The swap that you had planned will not happen.', 'Dental Coverage began on March 10, 2027'],
  [
    'es',
    'El intercambio que tenía previsto no se hará.',
    'Dental ES La cobertura empezó el 10 de marzo de 2027',
  ],
] as const)('a plan that calls off a planned swap says so before and after, in %s', async (...told) => {
  const [locale, dropped, stays] = told
  const visitor = await member('coast', { locale })
  await client().swapBenefits({ userid: rig.userid(), add: ['legal'], remove: ['dental'] })
  await visitor.get('/register/offer')
  const confirm = await visitor.post('/register/offer', { offername: 'grand' })
  expect(wordsOf(confirm)).toContain(dropped)
  expect(wordsOf(confirm)).toContain(stays)
  const done = await visitor.post('/register/offer/confirm')
  expect(wordsOf(done)).toContain(dropped)
  expect(wordsOf(done)).toContain(stays)
})

test.each([
  ['en', 'You move to small on April 1, 2027. See what changes', 'A swap is planned for April 1, 2027.'],
  ['es', 'Pasa a small ES el 1 de abril de 2027. Ver qué cambia', 'Hay un intercambio previsto para el 1 de'],
] as const)('a member reads in %s on the first view what is planned', async (locale, plan, swap) => {
  const visitor = await member('coast', { locale })
  const nothing = wordsOf(await visitor.get('/register/overview'))
  expect(nothing).not.toContain(swap)
  await client().swapBenefits({ userid: rig.userid(), add: ['vision'], remove: ['dental'] })
  await client().changeOffer({ userid: rig.userid(), offername: 'small', action: 'auto', effective: 'auto' })
  const overview = wordsOf(await visitor.get('/register/overview'))
  expect(overview).toContain(plan)
  await client().undoOfferChange({ userid: rig.userid() })
  await client().swapBenefits({ userid: rig.userid(), add: ['legal'], remove: ['dental'] })
  const later = wordsOf(await visitor.get('/register/overview'))
  expect(later).toContain(swap)
  expect(later).not.toContain(plan)
})

describe('whoever moves to where what they have planned is not offered', () => {
  const georgia = { addline1: '1 Peach St', city: 'Atlanta', state: 'GA', zipcode: '30301' } as const

  test.each([
    [
      ...(['en', 'Because of this change, Vision will not start.', 'You cannot get this now'] as const),
      'As things are now, the swap planned for April 1, 2027 will not happen.',
      'A swap is planned for April 1, 2027.',
    ],
    [
      ...(['es', 'Por este cambio, “Vision ES” no empezará.', 'No puede recibirlo ahora'] as const),
      'Tal como están las cosas, el intercambio previsto para el 1 de abril de 2027 no se hará.',
      'Hay un intercambio previsto para el 1 de abril de 2027.',
    ],
  ] as const)('reads in %s that a swap will not happen, and can plan another', async (...told) => {
    const [locale, lost, cannot, off, planned] = told
    const visitor = await member('small', { locale })
    await visitor.get('/register/swap/confirm?replace.dental=vision')
    await visitor.post('/register/swap/confirm', { 'replace.dental': 'vision' })
    expect(wordsOf(await visitor.get('/register/overview'))).toContain(planned)
    await visitor.get('/register/details/address')
    expect(wordsOf(await visitor.post('/register/details/address', georgia))).toContain(lost)
    const overview = wordsOf(await visitor.get('/register/overview'))
    expect(overview).toContain(off)
    expect(overview).not.toContain(planned)
    const swap = await visitor.get('/register/swap')
    expect(wordsOf(swap)).toContain(off)
    expect(wordsOf(swap)).toMatch(new RegExp(`Vision( ES)? ${cannot}`))
    expect((await visitor.get('/register/done')).view).toBe('ALREADY_ENROLLED')
    await visitor.get('/register/swap')
    const chosen = await visitor.post('/register/swap', { out: 'free', in: 'legal' })
    expect(chosen.view).toBe('SWAP_CONFIRM')
  })

  test('reads which part of a swap still will', async () => {
    const visitor = await member('small', {}, ['dental'])
    await client().swapBenefits({ userid: rig.userid(), add: ['vision', 'legal'], remove: ['dental'] })
    await client().updateUser({ userid: rig.userid(), address: georgia })
    const swap = wordsOf(await visitor.get('/register/swap'))
    expect(swap).toContain('Vision You cannot get this now')
    expect(swap).toContain('Legal Starts on April 1, 2027')
    expect(swap).toContain(
      'What you cannot get now will not start, and what it was to replace stays as it is.',
    )
    expect(wordsOf(await visitor.get('/register/overview'))).toContain('A swap is planned for April 1, 2027.')
  })

  test.each([
    ['en', 'As things are now, you will not move to coast on April 1, 2027', 'You move to coast on'],
    ['es', 'Tal como están las cosas, no pasará a coast ES el 1 de abril de 2027', 'Pasa a coast ES el'],
  ] as const)('reads in %s that their plan will not change', async (locale, off, planned) => {
    const visitor = await member('grand', { locale, purpose: 'offerchange' })
    await visitor.get('/register/offer')
    await visitor.post('/register/offer', { offername: 'coast' })
    expect((await visitor.post('/register/offer/confirm')).view).toBe('DONE')
    expect(wordsOf(await visitor.get('/register/overview'))).toContain(planned)
    await client().updateUser({ userid: rig.userid(), address: georgia })
    for (const path of ['overview', 'offer', 'done']) {
      const shown = wordsOf(await visitor.get(`/register/${path}`))
      expect(shown).toContain(off)
      expect(shown).not.toContain(planned)
    }
    await client().updateUser({ userid: rig.userid(), address: ana.address })
    expect(wordsOf(await visitor.get('/register/overview'))).toContain(planned)
  })
})

test('a swap of the partner that only takes a benefit away is shown, and can be undone', async () => {
  const visitor = await member('small', { purpose: 'swap' })
  await client().swapBenefits({ userid: rig.userid(), add: [], remove: ['dental'] })
  const swap = await visitor.get('/register/swap')
  expect(wordsOf(swap)).toContain('Now Dental From April 1, 2027 Open spot')
  expect(wordsOf(swap)).toContain('It takes effect on April 1, 2027.')
  expect((await visitor.post('/register/swap/undo')).view).toBe('DONE')
  expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ conditions: [] })
})

test('a swap of the partner that only takes a benefit away stays beside one that the person chooses', async () => {
  const visitor = await member('coast', { purpose: 'swap' }, ['dental', 'vision'])
  const userid = rig.userid()
  await client().swapBenefits({ userid, add: [], remove: ['dental'] })
  const choose = async (out: string) => {
    await visitor.get('/register/swap')
    return visitor.post('/register/swap', { out, in: 'legal' })
  }
  expect(wordsOf(await choose('free'))).toMatch(/Now Dental .*From April 1, 2027 Legal/)
  const confirm = await choose('vision')
  expect(wordsOf(confirm)).toMatch(/Now Vision .* Legal .* Now Dental .* Open spot/)
  expect((await visitor.post('/register/swap/confirm')).view).toBe('DONE')
  await visitor.get('/register/overview')
  expect((await visitor.post('/register/swap/confirm', { 'replace.vision': 'legal' })).view).toBe('DONE')
  expect((await rig.events()).filter(name => name === 'user_benefits_pendingswap')).toHaveLength(2)
  const boundary = '2027-04-01T04:00:00.000Z'
  expect(await client().getUser({ userid })).toMatchObject({
    benefits: [
      { name: 'dental', endsattimestamp: boundary },
      { name: 'legal', startsattimestamp: boundary },
      { name: 'vision', endsattimestamp: boundary },
    ],
  })
})

test('a plan change that leaves a planned swap as it is says nothing of it', async () => {
  const visitor = await member('small')
  await client().swapBenefits({ userid: rig.userid(), add: ['legal'], remove: ['dental'] })
  await visitor.get('/register/offer')
  const confirm = await visitor.post('/register/offer', { offername: 'coast' })
  expect(wordsOf(confirm)).not.toContain('will not happen')
  expect(wordsOf(await visitor.post('/register/offer/confirm'))).not.toContain('will not happen')
})

test('a former member is not told that nothing is known of them', async () => {
  await member()
  await client().cancelUser({ userid: rig.userid(), effective: 'immediate' })
  const start = await (await openLink(rig, { offername: '' })).get('/register/details')
  expect(wordsOf(start)).toContain('This is what we know from before. Correct anything wrong.')
  expect(wordsOf(start)).not.toContain('did not share any details')
})

test('a planned change is said to be replaced by a new choice only where there is one', async () => {
  const visitor = await member('grand')
  await client().changeOffer({ userid: rig.userid(), offername: 'small', action: 'auto', effective: 'auto' })
  const open = await visitor.get('/register/offer')
  expect(wordsOf(open)).toContain('A new choice replaces this change.')
  await client().advanceClock({ advanceto: '2027-03-31T16:00:00.000Z' })
  const locked = await (await openLink(rig, { offername: '' })).get('/register/offer')
  expect(wordsOf(locked)).toContain('You move to small on April 1, 2027')
  expect(wordsOf(locked)).not.toContain('A new choice replaces this change.')
  expect(wordsOf(locked)).not.toContain('Choose the plan you want.')
})

test('a change of plan before the membership starts can be undone until it starts, and the page says so', async () => {
  const userid = await rig.newPerson('unknown')
  const has = { offername: 'coast', benefits: ['dental'], effectivedate: '2027-04-01' }
  await client().createUser({ userid, ...ana, ...has })
  const visitor = await openLink(rig, { offername: '', purpose: 'offerchange' })
  await visitor.get('/register/offer')
  await visitor.post('/register/offer', { offername: 'grand' })
  const done = await visitor.post('/register/offer/confirm')
  expect(wordsOf(done)).toContain('Undo this change Until the end of March 31 (Eastern time)')
})

describe('a newcomer', () => {
  test('is told how many of those that are open to them they can choose', async () => {
    await rig.newPerson({ zipcode: '30301', address: { state: 'GA', zipcode: '30301' } as never })
    const visitor = await openLink(rig, { offername: 'small' })
    expect(wordsOf(await visitor.get('/register/benefits'))).toContain('you can choose up to 2 benefits.')
  })

  test('who comes back is not told that nothing is known of them', async () => {
    await rig.newPerson('unknown')
    const visitor = await openLink(rig, { offername: 'small' })
    expect(wordsOf(await visitor.get('/register/details'))).toContain('did not share any details')
    await visitor.get('/register/details/name')
    await visitor.post('/register/details/name', { firstname: 'Ana', lastname: 'Ruiz' })
    const again = wordsOf(await visitor.get('/register/details'))
    expect(again).toContain('These are your answers so far. Correct anything wrong.')
    expect(again).not.toContain('did not share any details')
  })

  test('is not blamed where no plan is open', async () => {
    const plans = [
      { offer: 'small', rank: 1, fixed: ['dental'], slots: 0, availability: { until: '2027-01-31' } },
    ]
    await rig.running.publish(catalogueOf([{ name: 'dental', displayname: 'Dental' }], plans))
    rig.running.advance(120_000)
    await rig.newPerson()
    const visitor = await openLink(rig, { offername: 'small' })
    const none = await visitor.get('/register/benefits')
    expect(none.view).toBe('NO_BENEFITS')
    expect(wordsOf(none)).toContain('Enrollment is not open right now Your details are kept.')
    expect(wordsOf(none)).not.toContain('We compared your details')
  })
})

test('whoever corrects their birth date reads which benefit ends with this period, never with one that is over', async () => {
  const plans = [{ offer: 'small', rank: 1, selectable: ['dental', 'vision'], slots: 2 }]
  const young = {
    name: 'vision',
    displayname: 'Vision',
    endsatage: 26,
    rules: [ageRule('young', { max: 25 })],
  }
  await rig.running.publish(catalogueOf([{ name: 'dental', displayname: 'Dental' }, young], plans))
  rig.running.advance(120_000)
  const userid = await rig.newPerson('unknown')
  await client().createUser({
    userid,
    ...ana,
    dob: '2005-03-09',
    offername: 'small',
    benefits: ['dental', 'vision'],
  })
  await client().advanceClock({ advanceto: '2027-06-10T16:00:00.000Z' })
  const visitor = await openLink(rig, { offername: '' })
  await visitor.get('/register/details/dob')
  const born = { dobmonth: '4', dobday: '9', dobyear: '2001' }
  expect(wordsOf(await visitor.post('/register/details/dob', born))).toContain(
    'Your details are saved. Because of this change, Vision ends on June 30, 2027.',
  )
})

test('whoever got in the locked hours what a swap was to bring is not told that they cannot get it', async () => {
  await rig.running.publish(catalogue)
  rig.running.advance(120_000)
  await member('small')
  await client().swapBenefits({ userid: rig.userid(), add: ['legal'], remove: ['dental'] })
  await client().advanceClock({ advanceto: '2027-06-30T16:00:00.000Z' })
  await client().enrolBenefit({ userid: rig.userid(), name: 'legal' })
  const swap = wordsOf(await (await openLink(rig, { offername: '' })).get('/register/swap'))
  expect(swap).toContain('Legal Coverage began on June 30, 2027')
  expect(swap).toContain('As things are now, the swap planned for July 1, 2027 will not happen.')
  expect(swap).not.toContain('You cannot get this now')
})
