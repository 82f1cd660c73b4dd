import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changePartner } from '../../service/src/partners/manage.ts'
import { axe, violationsOf } from './axe.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { type Rig, startRig } from './rig.ts'

interface Platform {
  readonly port: number
  readonly url: string
  readonly site: string
  close(): Promise<void>
}

describeInBrowser('the example platform', () => {
  let rig: Rig
  let browser: Browser
  let platform: Platform

  beforeAll(async () => {
    rig = await startRig()
    const { partnerId, clientId, clientSecret, apiKey } = rig.partner
    const example = new URL('../../examples/gig-platform/platform.mjs', import.meta.url)
    const { startPlatform } = (await import(example.href)) as {
      startPlatform(settings: object): Promise<Platform>
    }
    platform = await startPlatform({
      ...{ service: rig.service, partnerId, clientId, clientSecret, apiKey },
      webhook: { port: 0, username: 'harbor', password: 'pilot' },
    })
    const origins = [`http://localhost:${platform.port}`]
    await changePartner(partnerId, { origins, redirects: [platform.site] }, rig.running.manage)
    await rig.addWebhook(platform.url)
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await platform.close()
    await rig.close()
  })

  test('leads from its own form to enrolled, and shows each webhook with its headers', async () => {
    const context = await browser.newContext({ bypassCSP: true })
    const page = await context.newPage()
    page.setDefaultTimeout(50_000)
    const complaints: string[] = []
    page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
    await page.goto(platform.site)
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
    await press('Start')
    await press('These are right – continue')
    expect(await frame.getByLabel(/Starter/).isChecked()).toBe(true)
    await press('Continue')
    expect(await frame.getByLabel('Choose Dental discount').isChecked()).toBe(true)
    await press('Continue')
    await press('Enroll now')
    await frame.getByRole('heading', { name: 'You are enrolled' }).waitFor()
    await page.getByText(/The service confirms: enrolled, reference BE-/).waitFor()
    const events = () => page.locator('#inbox summary code').allTextContents()
    await expect
      .poll(async () => (await events()).sort())
      .toEqual(['enrollment_request_received', 'enrollment_successful', 'offer_activiation_successful'])
    expect(await page.locator('#inbox pre').first().textContent()).toMatch(
      /^idempotency-key: [0-9a-f-]{36}\n/,
    )
    expect(complaints).toEqual([])
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
