// @whole

import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { demoCatalogue } from '../rig.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { type Rig, startRig } from './rig.ts'
import { newVisitor, recordsAgreed, type Visitor } from './visitor.ts'

const rig = forAllTests(startRig)

async function open(link: Parameters<Rig['mintLink']>[0]): Promise<Visitor> {
  await rig.newPerson()
  const visitor = newVisitor(rig.service)
  await visitor.post(await rig.mintLink(link))
  return visitor
}
/** The words of a page, without tags and with single spaces. */
function textOf(html: string) {
  return html
    .replace(/<script[\s\S]*?<\/script>|<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replace(/\s+/g, ' ')
}

describe('what a person must see before agreeing', () => {
  test('stands on the card: insurer, licence, waiting period, documents of the state, and how the price is taken', async () => {
    const visitor = await open({ offername: 'plus' })
    const { html } = await visitor.get('/register/benefits')
    const card = /<article class="row[^"]*" id="card-critical">[\s\S]*?<\/article>/.exec(html)?.[0] ?? ''
    expect(textOf(card)).toContain('Your cost $6.50 a month Taken from your weekly payout by Harbor Rides')
    expect(textOf(card)).toContain('Insurer Seaview Mutual Insurance Company Underwritten by Seaview Mutual')
    expect(textOf(card)).toContain('Waiting period 30 days An illness found in this time is not paid.')
    expect(textOf(card)).toContain('Summary of benefits (PDF) Florida fraud notice (PDF)')
    const [, address = ''] = /href="(\/files\/[^"]+)"/.exec(card) ?? []
    expect((await fetch(rig.service + address)).headers.get('content-type')).toBe('application/pdf')
  })

  test('leaves out the notice of another state, and takes the document in the page’s language', async () => {
    await rig.newPerson({ address: { state: 'GA', zipcode: '30301' } as never, zipcode: '30301' })
    const visitor = newVisitor(rig.service)
    await visitor.post(await rig.mintLink({ offername: 'plus', locale: 'es' }))
    const { html } = await visitor.get('/register/benefits')
    expect(html).not.toContain('fraud-notice')
    expect(html).toContain('/critical-es.pdf')
    expect(html).not.toContain('/critical-en.pdf')
    expect(textOf(html)).toContain('Harbor Rides lo cobra de su pago semanal')
  })

  test('adds up: on the next view without a script, and on the confirmation', async () => {
    const visitor = await open({ offername: 'plus' })
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: ['critical', 'income'] })
    const sentence = 'You pay $19.00 a month, taken from your weekly payout by Harbor Rides.'
    expect(check.view).toBe('CHECK_ANSWERS')
    expect(textOf(check.html)).toContain(`Your total ${sentence}`)
    expect(textOf(check.html)).toContain(
      'What you should know Seaview Mutual Insurance Company Insures: Accident coverage',
    )
    const done = await visitor.post('/register/enrol', recordsAgreed)
    expect(done.view).toBe('DONE')
    expect(textOf(done.html)).toContain(sentence)
  })

  test('is told to a former member before one press brings all of it back', async () => {
    const visitor = await open({ offername: 'plus' })
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', { benefit: ['critical', 'income', 'identity'] })
    const agreed = { ...recordsAgreed, 'consent.identity': '2026-01' }
    expect((await visitor.post('/register/enrol', agreed)).view).toBe('DONE')
    await visitor.get('/register/cancel')
    await visitor.post('/register/cancel', { effective: 'immediate' })
    const back = newVisitor(rig.service)
    await back.post(await rig.mintLink({}))
    const { html } = await back.get('/register/details')
    const [before = '', after] = html.split('Bring my benefits back')
    expect(after).toBeDefined()
    expect(textOf(before)).toContain('What you should know')
    expect(textOf(before)).toContain('Seaview Mutual Insurance Company Insures: ')
    expect(textOf(before)).toContain('Summary of benefits (PDF)')
    expect(textOf(before)).toContain(
      'Your total You pay $19.00 a month, taken from your weekly payout by Harbor Rides.',
    )
    expect(textOf(before)).toContain('Starts on')
    expect(textOf(before)).toContain('What you agreed to before holds again.')
  })

  test('is one word where all is free', async () => {
    const visitor = await open({ offername: 'starter' })
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: ['dental'] })
    expect(check.html).toContain('<h2>Your total</h2><p>Free</p>')
  })

  test('is said of each plan: what is in it, what it costs and what can be chosen', async () => {
    const visitor = await open({ offername: '' })
    const text = textOf((await visitor.get('/register/plan')).html)
    expect(text).toContain('Comes with Accident coverage and Hospital cash.')
    expect(text).toContain('Choose up to 3 more benefits')
    // Its picks can cost something.
    expect(text).not.toMatch(/Plus Free/)
    expect(text).toMatch(/Starter Free/)
    expect(text).toContain('Critical illness ($6.50 a month)')
  })

  test('is not said of a plan that includes nothing, because what is chosen may cost something', async () => {
    const bare = demoCatalogue.replace(
      'fixed: [accident]\n    selectable: [telehealth,',
      'fixed: []\n    selectable: [critical,',
    )
    expect(bare).not.toBe(demoCatalogue)
    await rig.running.publish(bare)
    rig.running.advance(1000)
    const visitor = await open({ offername: '' })
    const text = textOf((await visitor.get('/register/plan')).html)
    expect(text).toMatch(
      /Starter Accident coverage from the first day.* Choose up to 2 benefits : Starter Critical illness/,
    )
    await rig.running.publish(demoCatalogue)
    rig.running.advance(1000)
  })

  test('is part of no answer of the API', async () => {
    await rig.newPerson()
    const asks = { age: 36, state: 'FL', zipcode: '33131', partnername: '', offername: 'plus' } as const
    const tiles = await rig.partner.client.getBenefits({ userid: rig.userid(), ...asks })
    expect(JSON.stringify(tiles)).not.toMatch(/Seaview|\.pdf|waitingperiod|weekly payout/)
  })
})

describeInBrowser('the running total', () => {
  const browser = forAllTests(launchBrowser)

  test('follows each choice, and nothing says that the total comes later', async () => {
    await rig.newPerson()
    const page = await browser.newPage()
    await page.goto(await rig.mintLink({ offername: 'plus' }))
    await page.getByRole('button', { name: 'Open my benefits' }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.goto(`${rig.service}/register/benefits`)
    const total = page.locator('[data-total] strong')
    expect(await total.textContent()).toBe('Free')
    await page.getByLabel('Choose Critical illness').check()
    expect(await total.textContent()).toBe('$6.50 a month')
    await page.getByLabel('Choose Income coverage').check()
    expect(await total.textContent()).toBe('$19.00 a month')
    await page.getByLabel('Choose Critical illness').uncheck()
    expect(await total.textContent()).toBe('$12.50 a month')
    expect(await page.locator('[data-count]').isVisible()).toBe(true)
    expect(await page.getByText('Your total is on the next page.').isVisible()).toBe(false)
    await page.close()
  })

  test.each([
    ['en', 'plus', 'Choose Critical illness', 'Your total is on the next page.'],
    ['es', 'plus', 'Elegir Enfermedades graves', 'Su total está en la página siguiente.'],
  ] as const)('without a script no count or total is shown that would be false, in %s', async (...told) => {
    const [locale, offername, box, where] = told
    await rig.newPerson()
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(await rig.mintLink({ offername, locale }))
    await page.getByRole('button').last().click()
    await page.goto(`${rig.service}/register/benefits`)
    await page.getByLabel(box).check()
    expect(await page.locator('[data-total]').isVisible()).toBe(false)
    expect(await page.locator('[data-count]').isVisible()).toBe(false)
    expect(await page.getByText(where).isVisible()).toBe(true)
    await context.close()
  })
})
