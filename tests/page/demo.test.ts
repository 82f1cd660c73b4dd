import type { Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changePartner } from '../../service/src/partners/administer.ts'
import { forAllTests } from '../for-all-tests.ts'
import { axe, violationsOf } from './axe.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { startRig } from './rig.ts'

type Platform = {
  readonly port: number
  readonly url: string
  readonly site: string
  close(): Promise<void>
}

describeInBrowser('the example platform', () => {
  // The middle of a month, because on its last day swaps are closed.
  const rig = forAllTests(() => startRig())
  let platform: Platform
  beforeAll(async () => {
    const { partnerId, clientId, clientSecret, apiKey } = rig.partner
    const example = new URL('../../examples/gig-platform/platform.mjs', import.meta.url)
    const { startPlatform } = (await import(example.href)) as {
      startPlatform(settings: object): Promise<Platform>
    }
    platform = await startPlatform({
      service: rig.service,
      partnerId,
      clientId,
      clientSecret,
      apiKey,
      webhook: { port: 0, username: 'harbor', password: 'pilot' },
    })
    const origins = [`http://localhost:${platform.port}`]
    await changePartner(partnerId, { origins, redirects: [platform.site] }, rig.running.manage)
    await rig.addWebhook(platform.url)
  })
  afterAll(() => platform.close())
  const browser = forAllTests(launchBrowser)

  test('leads from its own form to enrolled, and shows each webhook with its headers', async () => {
    const context = await browser.newContext({ bypassCSP: true })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
    await page.goto(platform.site)
    await page.locator('body.ready').waitFor()
    // The first answer after the sign-up comes when the driver is enrolled, and paints nothing over what came since.
    let sendLate = () => {}
    const late = new Promise<void>(resolve => {
      sendLate = resolve
    })
    const hold = async (route: Route) => {
      const response = await route.fetch()
      await late
      await route.fulfill({ response })
    }
    await page.route('**/demo/api/me', hold, { times: 1 })
    await page.getByRole('button', { name: 'Create my driver account' }).click()
    await page.getByRole('button', { name: 'Set up my benefits' }).waitFor()
    expect(await page.locator('.tile').count()).toBeGreaterThan(8)
    await page.evaluate(axe)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await page.evaluate(violationsOf)).toEqual([])
    }
    await page.getByRole('button', { name: 'Choose: Dental discount' }).click()
    const frame = page.frameLocator('iframe')
    const press = (name: string) => frame.getByRole('button', { name, exact: true }).click()
    await press('These are right – continue')
    expect(await frame.getByLabel(/Starter/).isChecked()).toBe(true)
    await press('Continue')
    expect(await frame.getByLabel('Choose Dental discount').isChecked()).toBe(true)
    await press('Continue')
    await frame.getByLabel('I agree to receive documents electronically').check()
    await press('Enroll now')
    await frame.getByRole('heading', { name: 'You are enrolled' }).waitFor()
    await page.getByText(/The service confirms the enrollment, reference BE-/).waitFor()
    const events = () => page.locator('#inbox summary code').allTextContents()
    await expect
      .poll(async () => (await events()).sort())
      .toEqual(['enrollment_request_received', 'enrollment_successful', 'offer_activiation_successful'])
    expect(await page.locator('#inbox pre').first().textContent()).toMatch(
      /^idempotency-key: [0-9a-f-]{36}\n/,
    )
    const lateAnswer = page.waitForResponse('**/demo/api/me')
    sendLate()
    await (await lateAnswer).finished()
    expect(await page.locator('#open').textContent()).toBe('Manage my benefits')
    expect(complaints).toEqual([])
    await context.close()
  })

  test('tells the story from sign-up to a swap at the month’s end, the visitor’s own events first', async () => {
    // Elsewhere than the platform: its dates are those of its own zone.
    const timezoneId = 'America/Los_Angeles'
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, timezoneId })
    const page = await context.newPage()
    await page.addInitScript(`globalThis.shifted = 0
new PerformanceObserver(list => { for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifted += value })
  .observe({ type: 'layout-shift', buffered: true })`)
    // Somebody else of this partner has events, too.
    await rig.newPerson()
    await page.goto(platform.site)
    await page.getByRole('button', { name: 'Create my driver account' }).click()
    await page.getByRole('button', { name: 'Set up my benefits' }).click()
    const frame = page.frameLocator('iframe')
    const press = (name: string) => frame.getByRole('button', { name, exact: true }).click()
    await press('These are right – continue')
    await frame.getByLabel(/Starter/).check()
    await press('Continue')
    await frame.getByLabel('Choose Dental discount').check()
    await frame.getByLabel('Choose Telehealth').check()
    await press('Continue')
    await frame.getByLabel('I agree to receive documents electronically').check()
    await press('Enroll now')
    await press('Close')
    const current = page.locator('#story [aria-current]')
    await current.getByText('Swap').waitFor()
    await page.getByRole('button', { name: 'Swap a benefit' }).click()
    await frame.getByLabel(/Dental discount/).check()
    await frame.getByLabel(/Vision discount/).check()
    await press('Continue')
    await press('Confirm swap')
    await frame.getByRole('heading', { name: 'Your swap is set for April 1, 2027' }).waitFor()
    await press('Close')
    await current.getByText('Move the clock').waitFor()
    await page.getByText('Swaps in Apr 1').waitFor()
    await page.getByRole('button', { name: 'Swap a benefit' }).click()
    await press('Undo this swap')
    await press('Close')
    await page.getByText(/The service confirms that the change is taken back, reference BE-/).waitFor()
    await page.getByRole('button', { name: 'Swap a benefit' }).click()
    await frame.getByLabel(/Dental discount/).check()
    await frame.getByLabel(/Vision discount/).check()
    await press('Continue')
    await press('Confirm swap')
    await press('Close')
    await page.getByText('Swaps in Apr 1').waitFor()
    await page.getByRole('button', { name: 'Move to next month' }).click()
    await page.getByText('In this sandbox it is now April 1, 2027.').waitFor()
    await page.locator('#inbox').getByText('Swap done').waitFor()
    await expect.poll(() => page.locator('#story .done').count()).toBe(4)
    const userids = await page
      .locator('#inbox [data-userid]')
      .evaluateAll(all => all.map(one => (one as unknown as { dataset: { userid: string } }).dataset.userid))
    expect(new Set(userids).size).toBe(1)
    expect(await page.locator('#others').textContent()).toContain('Details shared')
    await page.reload()
    await page.getByText('Vision discount').first().waitFor()
    expect(await page.evaluate('shifted')).toBeLessThan(0.01)
    await context.close()
  })

  test('is whole on a phone, by keyboard, and in each look', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 800 }, bypassCSP: true })
    const page = await context.newPage()
    await page.goto(platform.site)
    await page.getByRole('button', { name: 'Create my driver account' }).click()
    await page.getByRole('link', { name: 'Behind the scenes: 1 of your events' }).click()
    await page.locator('#inbox strong').first().waitFor()
    expect(await page.locator('#behind').evaluate(one => one.getBoundingClientRect().top)).toBeLessThan(800)
    const reachable = await page.locator('.scrolls').evaluateAll(all => all.map(one => one.tabIndex))
    expect(new Set(reachable)).toEqual(new Set([0]))
    await page.evaluate(axe)
    for (const look of ['harbor', 'forest', 'plum'])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.locator('#look').selectOption(look)
        expect(await page.evaluate(violationsOf)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      }
    await context.close()
  })

  test('takes a webhook from nobody without the password, and a form from no other site', async () => {
    const forged = await fetch(platform.url, { method: 'POST', body: '{}' })
    expect(forged.status).toBe(401)
    const foreign = await fetch(platform.site.replace('/demo', '/demo/api/linktoken'), {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
      body: '{}',
    })
    expect(foreign.status).toBe(403)
    const stranger = await fetch(platform.site.replace('/demo', '/demo/api/linktoken'), {
      method: 'POST',
      body: '{}',
    })
    expect(stranger.status).toBe(401)
  })
})
