import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { type Rig, startRig } from './rig.ts'
import { newVisitor, type Visitor } from './visitor.ts'

const rig = forAllTests(startRig)

async function open(link: Parameters<Rig['mintLink']>[0]): Promise<Visitor> {
  await rig.newPerson()
  const visitor = newVisitor(rig.service)
  await visitor.post(await rig.mintLink(link))
  return visitor
}
describe('what a person must see before agreeing', () => {
  test.each(['en', 'es'] as const)(
    'has documents in its language, as they are served, in %s',
    async locale => {
      const visitor = await open({ offername: 'plus', locale })
      const { html } = await visitor.get('/register/benefits')
      const [address = ''] = new RegExp(`/files/[^"]+/critical-${locale}.pdf`).exec(html) ?? []
      expect(html).not.toContain(`/critical-${locale === 'en' ? 'es' : 'en'}.pdf`)
      expect((await fetch(rig.service + address)).headers.get('content-type')).toBe('application/pdf')
    },
  )

  test('is part of no answer of the API', async () => {
    await rig.newPerson()
    const asks = { age: 36, state: 'FL', zipcode: '33131', partnername: '', offername: 'plus' } as const
    const tiles = await rig.partner.client.getBenefits({ userid: rig.userid(), ...asks })
    expect(JSON.stringify(tiles)).not.toMatch(/Seaview|\.pdf|waitingperiod|weekly payout/)
  })
})

describeInBrowser('the running total', () => {
  const browser = forAllTests(launchBrowser)

  test('tells of too many chosen where everyone sees it, not to screen readers alone, until one is cleared', async () => {
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
