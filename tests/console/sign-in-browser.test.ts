import type { BrowserContext } from 'playwright-core'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { axe, violationsOf } from '../page/axe.ts'
import { describeInBrowser, launchBrowser } from '../page/browser.ts'
import { startTestService } from '../rig.ts'
import { startIdentityProvider } from './identity-provider.ts'
import { consoleOf, newOperator } from './operator-browser.ts'

describeInBrowser('signing in, in a browser', () => {
  const identity = forAllTests(startIdentityProvider)
  const service = forAllTests(() =>
    startTestService({ console: true, signIn: identity.settings, startAt: Date.now() }),
  )
  const browser = forAllTests(launchBrowser)
  let context: BrowserContext
  let base = ''
  beforeAll(() => {
    base = consoleOf(service)
    identity.serve([base])
  })
  afterEach(async () => {
    await context.close()
    expect(JSON.stringify(service.logged)).not.toMatch(/eyJ|enr_o[ls]_/)
  })

  test('signing in at the provider and out of both, by clicking alone', async () => {
    context = await browser.newContext()
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', message => message.type() === 'error' && faults.push(message.text()))
    identity.who = { sub: 'clicker', name: 'Click Hopper', groups: ['look'] }
    await page.goto(`${base}/webhooks`)
    await page.getByRole('link', { name: 'Sign in at Harbor ID' }).click()
    await page.waitForURL(`${base}/webhooks`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${identity.issuer}/session/end**`)
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.waitForURL(`${base}/signed-out`)
    expect(await page.textContent('main')).toContain('You are signed out')
    // The provider's own page has faults of its own.
    expect(faults.filter(fault => /Content Security Policy/.test(fault))).toEqual([])
  })

  test('axe finds nothing on the pages of signing in', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      context = await browser.newContext({
        colorScheme,
        bypassCSP: true,
        viewport: { width: 768, height: 900 },
      })
      const page = await context.newPage()
      await page.addInitScript(axe)
      const look = async (address: string) => {
        await page.goto(base + address)
        expect([address, colorScheme, await page.evaluate(violationsOf)]).toEqual([address, colorScheme, []])
      }
      for (const address of ['/', '/signed-out', '/sign-in/provider/return']) await look(address)
      await page.goto(base + (await newOperator(service, 'support')).path)
      expect(await page.evaluate(violationsOf)).toEqual([])
      if (colorScheme === 'light') await context.close()
    }
  })
})
