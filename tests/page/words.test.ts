// @whole

import { describe, expect, test } from 'vitest'
import { catalogueOf } from '../api/catalogue-of.ts'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { ana, startRig } from './rig.ts'
import { newVisitor, openLink, recordsAgreed, wordsOf } from './visitor.ts'

const rig = forAllTests(() => startRig({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

describe('the first view', () => {
  test.each(['benefits', 'swap', 'offerchange'] as const)(
    'behind a link for %s says what the link is for',
    async purpose => {
      await rig.newPerson()
      await rig.partner.client.createUser({
        userid: rig.userid(),
        offername: 'starter',
        zipcode: '33131',
        state: 'FL',
        benefits: ['dental'],
      })
      const others = ['benefits', 'swap', 'offerchange'] as const
      const seen = async (of: (typeof others)[number]) => {
        const { html } = await newVisitor(rig.service).get(await rig.mintLink({ purpose: of, offername: '' }))
        return wordsOf({ html: /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? '' })
      }
      const own = await seen(purpose)
      for (const other of others.filter(of => of !== purpose)) expect(await seen(other)).not.toBe(own)
    },
  )

  test('behind a link to register says how long that takes, but not to a member', async () => {
    await rig.newPerson()
    const seen = async () => wordsOf(await newVisitor(rig.service).get(await rig.mintLink()))
    expect(await seen()).toContain('five minutes')
    await rig.partner.client.createUser({ userid: rig.userid(), offername: 'starter', benefits: ['dental'] })
    expect(await seen()).not.toContain('five minutes')
  })
})

describe('copy', () => {
  test('what the address is for is told without a promise to send anything', async () => {
    await rig.newPerson()
    const visitor = await openLink(rig)
    for (const language of ['en', 'es']) {
      const contact = await visitor.post('/register/details/contact', { language })
      expect(wordsOf(contact)).not.toMatch(/we send|le enviamos|confirmation here/i)
      expect(/id="email-hint">[^<]{10,}</.test(contact.html)).toBe(true)
    }
  })

  test.each([
    [
      'en',
      'Select the box to agree before enrolling',
      'Electronic documents',
      'Identity protection',
      ', or go back and choose without this benefit',
    ],
    [
      'es',
      'Marque la casilla para aceptar antes de inscribirse',
      'Documentos',
      'Protección de identidad',
      ', o vuelva atrás y continúe sin este beneficio',
    ],
  ] as const)('each missing agreement is named in %s, above and at its box', async (locale, ...words) => {
    const [select, records, identity, without] = words
    await rig.newPerson()
    const visitor = await openLink(rig, { locale })
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', { benefit: 'identity' })
    const refused = await visitor.post('/register/enrol')
    for (const about of [`: ${records}`, `${without}: ${identity}`])
      expect(wordsOf(refused).split(`${select}${about}`)).toHaveLength(3)
  })

  test.each([
    ['en', 'premier', 'or go back and choose another plan: Term life'],
    ['es', 'premier', 'o vuelva atrás y elija otro plan: Seguro de vida a término'],
  ] as const)(
    'who refuses what comes with a plan reads in %s that another plan is open',
    async (locale, offer, told) => {
      await rig.newPerson()
      const visitor = await openLink(rig, { locale, offername: '' })
      await visitor.get('/register/plan')
      await visitor.post('/register/plan', { offername: offer })
      await visitor.post('/register/benefits', { benefit: 'dental' })
      expect(wordsOf(await visitor.post('/register/enrol', recordsAgreed))).toContain(told)
    },
  )

  test('who is open to one plan alone reads no other way than to agree to what comes with it', async () => {
    await rig.newPerson()
    const visitor = await openLink(rig, { offername: 'premier' })
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', { benefit: 'dental' })
    const refused = wordsOf(await visitor.post('/register/enrol', recordsAgreed))
    expect(refused).toContain('Select the box to agree before enrolling')
    expect(refused).not.toContain('or go back')
  })

  test.each([
    ['swap/confirm', { 'replace.dental': 'identity' }, 'or go back and choose another benefit'],
    ['offer/confirm', { offername: 'premier' }, 'or go back and keep your plan'],
  ])('a member who refuses at %s reads what they can do instead', async (path, fields, told) => {
    const userid = await rig.newPerson('unknown')
    await rig.partner.client.createUser({ userid, ...ana, offername: 'plus', benefits: ['dental'] })
    const visitor = await openLink(rig, { offername: '' })
    await visitor.get(`/register/${path}?${new URLSearchParams(fields as Record<string, string>)}`)
    const refused = await visitor.post(`/register/${path}`, { ...fields, ...recordsAgreed })
    expect(wordsOf(refused)).toContain(`Select the box to agree before you confirm, ${told}`)
  })

  test('every view of a whole way is American English and our Spanish', async () => {
    await rig.newPerson()
    const visitor = await openLink(rig, { offername: 'plus' })
    const paths = ['details', 'benefits', 'check']
    const shown = async () => {
      const texts: string[] = []
      for (const path of paths) texts.push(wordsOf(await visitor.get(`/register/${path}`)))
      return texts.join('\n')
    }
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', { benefit: ['critical'] })
    const english = await shown()
    expect(english).not.toMatch(
      /\bany more\b|\bcover\b(?! it| you| the| what| your)|\bcolour|\benrol\b|\benrolment/i,
    )
    expect(english).toContain('Pays up to')
    await visitor.post('/register/language', { language: 'es' })
    const spanish = await shown()
    expect(spanish).toContain('Paga hasta')
    expect(spanish).not.toMatch(/canjear|trocar|Accident coverage|Choose/)
  })
})

describeInBrowser('too many chosen', () => {
  const browser = forAllTests(launchBrowser)

  test('is told where everyone sees it, not to screen readers alone, and goes when one is cleared', async () => {
    await rig.newPerson()
    const page = await browser.newPage()
    await page.goto(await rig.mintLink())
    await page.getByRole('button', { name: 'Open my benefits' }).click()
    await page.getByRole('button', { name: 'These are right – continue' }).click()
    const choose = (name: string) => page.getByLabel(`Choose ${name}`)
    for (const name of ['Dental discount', 'Vision discount', 'Legal help']) await choose(name).check()
    const told = page.getByText('That is more than 2. Uncheck some to continue.')
    await told.first().waitFor({ state: 'visible' })
    const box = await told.first().boundingBox()
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThan(10)
    await choose('Legal help').uncheck()
    await told.first().waitFor({ state: 'hidden' })
    await page.close()
  })
})

test('a full member has a way to swap at each benefit that waits for a place', async () => {
  await rig.running.publish(
    catalogueOf(
      ['one', 'two', 'three'].map(name => ({ name })),
      [{ offer: 'only', rank: 1, selectable: ['one', 'two', 'three'], slots: 1 }],
    ),
  )
  rig.running.advance(2000)
  await rig.newPerson()
  await rig.partner.client.createUser({
    userid: rig.userid(),
    offername: 'only',
    zipcode: '33131',
    state: 'FL',
    benefits: ['one'],
  })
  const visitor = await openLink(rig, { purpose: 'benefits', offername: '' })
  const { html } = await visitor.get('/register/benefits')
  for (const name of ['two', 'three']) expect(html).toContain(`href="/register/swap?in=${name}"`)
  const swap = await visitor.get('/register/swap?in=two')
  expect(swap.view).toBe('SWAP')
})
