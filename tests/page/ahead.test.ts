import { beforeAll, describe, expect, test } from 'vitest'
import { ageRule, catalogueOf } from '../api/catalogue-of.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ana, startRig } from './rig.ts'
import { openLink, recordsAgreed, type Shown, type Visitor, wordsOf } from './visitor.ts'

const rig = forAllTests(() => startRig({ startAt: Date.parse('2027-03-10T15:00:00Z') }))
const toPremier = 'offer/confirm?offername=premier'
const toStarter = 'offer/confirm?offername=starter'

/** A member on Plus with two picks, and a session of a new link. */
async function member(
  more: { offername?: string; effectivedate?: string; benefits?: string[]; consents?: [] } = {},
): Promise<Visitor> {
  const userid = await rig.newPerson('unknown')
  const consents = [{ name: 'identity', version: '2026-01' }]
  const wanted = { offername: 'plus', benefits: ['identity', 'critical'], consents, ...more }
  await rig.partner.client.createUser({ userid, ...ana, ...wanted })
  return openLink(rig, { offername: '' })
}
async function confirm(visitor: Visitor, path: string, fields = {}): Promise<Shown> {
  await visitor.get(`/register/${path}`)
  const done = await visitor.post(`/register/${path.split('?')[0]}`, { ...recordsAgreed, ...fields })
  expect(done.view).toBe('DONE')
  return done
}
/** What a view says of one benefit in its lists. */
function toldOf(shown: Shown, benefit: string): string {
  const items = shown.html.match(/<li><img[\s\S]*?<\/li>/g) ?? []
  return items.map(html => wordsOf({ html })).find(item => item.includes(benefit)) ?? ''
}

describe('before they agree, a person reads', () => {
  test('at which age a benefit ends, as the confirmation then says', async () => {
    await rig.newPerson()
    const visitor = await openLink(rig, { offername: 'plus' })
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: ['critical', 'dental'] })
    expect(toldOf(check, 'Critical illness')).toContain('Starts on March 10, 2027 Ends on March 31, 2060')
    expect(toldOf(check, 'Dental discount')).not.toContain('Ends on')
    const done = await visitor.post('/register/enrol', recordsAgreed)
    expect(toldOf(done, 'Critical illness')).toContain('Ends on March 31, 2060')
  })

  test('at which age a benefit ends that starts later, as the confirmation, the overview and the copy then say', async () => {
    const visitor = await member({ effectivedate: '2027-03-20', benefits: ['critical'] })
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: 'income' })
    const done = await visitor.post('/register/enrol', recordsAgreed)
    const dates = 'Starts on March 20, 2027 Ends on March 31, 2057'
    for (const shown of [check, done, await visitor.get('/register/overview')])
      expect(toldOf(shown, 'Income coverage')).toContain(dates)
    const [copy = ''] = /\/register\/copy\/[\w-]+/.exec(done.html) ?? []
    const kept = wordsOf({ html: await (await visitor.send(copy)).text() })
    const income = kept.slice(kept.indexOf('Income coverage'))
    expect(income).toContain('Coverage starts March 20, 2027')
    expect(income).toContain('Coverage ends on March 31, 2057')
  })

  test('that what they add goes with the plan that they have planned to leave', async () => {
    const visitor = await member()
    await confirm(visitor, toStarter)
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: 'income' })
    expect(toldOf(check, 'Income coverage')).toContain('Starts on March 10, 2027 Ends on March 31, 2027')
  })

  test('that benefits stay which a planned change would have ended, when a new plan takes its place', async () => {
    const visitor = await member()
    await confirm(visitor, toStarter)
    const asked = await visitor.get(`/register/${toPremier}`)
    expect(toldOf(asked, 'Hospital cash')).toContain('Coverage began on March 10, 2027')
    expect(toldOf(asked, 'Hospital cash')).not.toContain('Ends on')
    expect(toldOf(asked, 'Critical illness')).toContain('Ends on March 31, 2060')
  })

  test('what a planned swap will bring after a plan change, and the same total as afterwards', async () => {
    const visitor = await member()
    await confirm(visitor, 'swap/confirm?replace.identity=income', { 'replace.identity': 'income' })
    const asked = await visitor.get(`/register/${toPremier}`)
    expect(toldOf(asked, 'Income coverage')).toContain('Starts on April 1, 2027')
    const done = await confirm(visitor, toPremier, { 'consent.life': '2026-01' })
    for (const shown of [asked, done]) expect(wordsOf(shown)).toContain('You pay $19.00 a month')
  })

  test('when a benefit that they lose begins and ends, if it has not begun', async () => {
    const visitor = await member({ effectivedate: '2027-03-20' })
    const asked = await visitor.get(`/register/${toStarter}`)
    expect(toldOf(asked, 'Hospital cash')).toContain('Starts on March 20, 2027 Ends on March 31, 2027')
  })

  test('at which age the new benefit of a swap ends', async () => {
    const visitor = await member()
    const asked = await visitor.get('/register/swap/confirm?replace.identity=income')
    expect(toldOf(asked, 'Income coverage') || wordsOf(asked)).toContain(
      'Starts on April 1, 2027 Ends on March 31, 2057',
    )
  })

  test('at which age a benefit ends that comes back after a cancel', async () => {
    await member()
    await rig.partner.client.cancelUser({ userid: rig.userid(), effective: 'immediate' })
    const start = (await openLink(rig, { offername: '' })).get('/register/details')
    expect(toldOf(await start, 'Critical illness')).toContain(
      'Starts on March 10, 2027 Ends on March 31, 2060',
    )
  })
})

/** What the card of a benefit says. */
function cardOf({ html }: Shown, benefit: string): string {
  return wordsOf({ html: html.split('<article ').find(card => card.includes(`id="card-${benefit}"`)) ?? '' })
}

describe('the card of a benefit that is still to begin says on which day it will end', () => {
  test.each([
    ['en', 'Starts on March 20, 2027 Ends on March 31, 2060'],
    ['es', 'Empieza el 20 de marzo de 2027 Termina el 31 de marzo de 2060'],
  ] as const)('at an age, in %s', async (locale, dates) => {
    await member({ effectivedate: '2027-03-20', benefits: ['critical'] })
    const visitor = await openLink(rig, { offername: '', purpose: 'benefits', locale })
    const shown = await visitor.get('/register/benefits')
    expect(cardOf(shown, 'critical')).toContain(dates)
    expect(cardOf(shown, 'hospital')).not.toMatch(/Ends on|Termina el/)
  })

  test('at an age, after a swap', async () => {
    const visitor = await member()
    await confirm(visitor, 'swap/confirm?replace.identity=income', { 'replace.identity': 'income' })
    const card = cardOf(await visitor.get('/register/benefits'), 'income')
    expect(card).toContain('Starts on April 1, 2027 (swap) Ends on March 31, 2057')
  })

  test('by a plan change', async () => {
    const visitor = await member({ effectivedate: '2027-03-20', benefits: ['critical'] })
    const change = { offername: 'starter', action: 'auto', effective: 'auto' } as const
    await rig.partner.client.changeOffer({ userid: rig.userid(), ...change })
    const card = cardOf(await visitor.get('/register/benefits'), 'hospital')
    expect(card).toContain('Starts on March 20, 2027 Ends on March 31, 2027')
  })
})

/** The box of a planned change of plan. */
function planned({ html }: Shown): string {
  return wordsOf({
    html: /<section class="panel"><h2>(?:You move|Pasa)[\s\S]*?<\/section>/.exec(html)?.[0] ?? '',
  })
}

describe('before they undo a planned change of plan, a person reads', () => {
  test.each([
    [
      ...([
        'en',
        'You lose Hospital cash Ends on March 31, 2027 Critical illness Ends on March 31, 2027 ',
      ] as const),
      ...(['If you undo it You can undo this until ', 'You keep Hospital cash '] as const),
      ...([
        'Critical illness Ends on March 31, 2060, after you turn 70 You pay $6.50 a month ',
        'You pay $6.50 a month, taken',
      ] as const),
    ],
    [
      'es',
      'Pierde Dinero por hospitalización Termina el 31 de marzo de 2027 Enfermedades graves Termina el 31 de marzo de 2027 ',
      ...(['Si lo deshace Puede deshacerlo hasta el ', 'Conserva Dinero por hospitalización '] as const),
      ...([
        'Termina el 31 de marzo de 2060, después de cumplir 70 años Usted paga $6.50 al mes ',
        'Usted paga $6.50',
      ] as const),
    ],
  ] as const)(
    'in %s what it takes, until when, what stays, and what they then pay',
    async (locale, ...told) => {
      await member()
      const visitor = await openLink(rig, { offername: '', locale })
      const until = /(?:Until|Hasta) ([^.]+?\))/
      const made = until.exec(wordsOf(await confirm(visitor, toStarter)))?.[1] ?? 'nothing'
      const box = planned(await visitor.get('/register/offer'))
      for (const words of [...told, made]) expect(box).toContain(words)
      const done = await visitor.post('/register/offer/undo')
      expect(done.view).toBe('DONE')
      expect(wordsOf(done)).toContain(told[4])
    },
  )

  test('what the change gives, which undoing takes away', async () => {
    const visitor = await member()
    const change = { offername: 'premier', action: 'auto', effective: 'nextperiod' } as const
    await rig.partner.client.changeOffer({ userid: rig.userid(), ...change })
    const box = planned(await visitor.get('/register/offer'))
    expect(box).toMatch(/You gain .*Telehealth Starts on April 1, 2027 .*If you undo it/)
    expect(box).not.toMatch(/You lose|You keep/)
    expect(box).toContain('Your total You pay $6.50 a month, taken')
  })

  test('that a swap which needs the new plan goes with it', async () => {
    const visitor = await member({ offername: 'starter', benefits: ['identity', 'dental'] })
    const change = { offername: 'plus', action: 'auto', effective: 'nextperiod' } as const
    await rig.partner.client.changeOffer({ userid: rig.userid(), ...change })
    await confirm(visitor, 'swap/confirm?replace.identity=income', { 'replace.identity': 'income' })
    const box = planned(await visitor.get('/register/offer'))
    expect(box).toMatch(/You gain Hospital cash Starts on April 1, 2027 If you undo it/)
    expect(box).toMatch(/You keep Identity protection .*The swap that you had planned will not happen/)
    expect(box).toContain('Your total Free')
    const done = wordsOf(await visitor.post('/register/offer/undo'))
    expect(done).not.toContain('Income coverage')
  })

  test('nothing of undoing once it is too late', async () => {
    const visitor = await member()
    await confirm(visitor, toStarter)
    await rig.partner.client.advanceClock({ advanceto: '2027-03-31T16:00:00.000Z' })
    const box = planned(await (await openLink(rig, { offername: '' })).get('/register/offer'))
    expect(box).toContain('You lose Hospital cash Ends on March 31, 2027')
    expect(box).not.toMatch(/undo/i)
  })
})

test.each([
  ['income', 'Your new benefit is added'],
  [['income', 'dental'], 'Your new benefits are added'],
])('the confirmation of %s counts what was added, also where it ends at an age', async (benefit, title) => {
  const visitor = await member({ benefits: ['critical'] })
  await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', { benefit })
  const done = await visitor.post('/register/enrol', recordsAgreed)
  expect(done.html).toContain(`>${title}</h1>`)
})

test('a benefit that is lost before it begins is shown without an end, also where it would end at an age', async () => {
  const rules = [ageRule('up_to_64', { max: 64 })]
  const benefits = [{ name: 'dental', displayname: 'Dental', endsatage: 70, rules }, { name: 'legal' }]
  const plans = [
    { offer: 'small', rank: 1, selectable: ['dental'], slots: 1 },
    { offer: 'grand', rank: 2, fixed: ['legal'] },
  ]
  await rig.running.publish(catalogueOf(benefits, plans))
  rig.running.advance(120_000)
  const small = { offername: 'small', benefits: ['dental'], consents: [] as [] }
  const visitor = await member({ ...small, effectivedate: '2027-04-15' })
  const held = toldOf(await visitor.get('/register/overview'), 'Dental')
  expect(held).toContain('Starts on April 15, 2027 Ends on March 31, 2060')
  const lost = toldOf(await visitor.get('/register/offer/confirm?offername=grand'), 'Dental')
  expect(lost).toContain('Dental')
  expect(lost).not.toMatch(/Starts|Ends/)
})

describe('the day before which somebody must be named is that of whatever takes the benefit away first:', () => {
  beforeAll(async () => {
    const youth = { endsatage: 26, rules: [ageRule('under_26', { max: 25 })] }
    const consent = { version: '1', text: { en: 'I agree.', es: 'Acepto.' } }
    const benefits = [
      { name: 'life', displayname: 'Life', beneficiaries: 'required' as const },
      { name: 'young', displayname: 'Young', beneficiaries: 'required' as const, ...youth },
      { name: 'legal', displayname: 'Legal', consent },
      { name: 'dental', displayname: 'Dental' },
    ]
    const plans = [
      { offer: 'small', rank: 1, selectable: ['dental'], slots: 1 },
      { offer: 'middle', rank: 2, selectable: ['life', 'young', 'legal', 'dental'], slots: 3 },
      { offer: 'grand', rank: 3, fixed: ['dental'] },
    ]
    await rig.running.publish(catalogueOf(benefits, plans))
    rig.running.advance(120_000)
    await rig.partner.client.advanceClock({ advanceto: '2027-04-10T15:00:00.000Z' })
  })
  const by = (on: string) => `If you have not before ${on}, you will not get this benefit.`

  test('an age, for a newcomer', async () => {
    await rig.newPerson({ dob: '2001-04-20' })
    const visitor = await openLink(rig, { offername: 'middle' })
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: ['life', 'young'] })
    expect(toldOf(check, 'Life')).toContain(by('May 10, 2027'))
    expect(toldOf(check, 'Young')).toContain(by('May 1, 2027'))
    await visitor.post('/register/enrol', recordsAgreed)
    const done = await visitor.get('/register/done')
    expect(wordsOf(done)).toContain('Life (before May 10, 2027) and Young (before May 1, 2027)')
  })

  test('a planned change, for what is added before it', async () => {
    const visitor = await member({ offername: 'middle', benefits: ['dental'], consents: [] })
    await confirm(visitor, 'offer/confirm?offername=small')
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: ['life'] })
    expect(toldOf(check, 'Life')).toContain(by('May 1, 2027'))
  })

  test('a change that is about to be made, for what waits and is lost by it', async () => {
    const visitor = await member({ offername: 'middle', benefits: ['legal'], consents: [] })
    const later = await visitor.get('/register/offer/confirm?offername=small')
    expect(toldOf(later, 'Legal')).toContain('Needs something from you before May 1, 2027')
    const now = await visitor.get('/register/offer/confirm?offername=grand')
    expect(toldOf(now, 'Legal')).toContain('Legal')
    expect(toldOf(now, 'Legal')).not.toContain('still needed')
  })
})
