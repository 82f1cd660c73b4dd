import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { axe, violationsOf } from '../page/axe.ts'
import { describeInBrowser, launchBrowser } from '../page/browser.ts'
import { startTestService } from '../rig.ts'

describeInBrowser('the docs in a browser', () => {
  const service = forAllTests(startTestService)
  const browser = forAllTests(launchBrowser)

  const paths = [
    '/',
    '/docs',
    '/docs/quick-start',
    '/docs/webhooks',
    '/docs/embed',
    '/docs/errors/bad_request',
    '/docs/reference/webhooks',
    '/docs/search?q=idempotency',
    '/changelog',
  ]
  test.each([
    ['a phone in the dark', 320, 'dark'],
    ['a desk by daylight', 1280, 'light'],
  ] as const)(
    'have no fault that axe finds on %s, and never scroll sideways',
    async (_where, width, colorScheme) => {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme })
      const faults: string[] = []
      page.on('console', message => faults.push(message.text()))
      for (const path of paths) {
        await page.goto(service.baseUrl + path)
        await page.evaluate(axe)
        expect([path, await page.evaluate(violationsOf)]).toEqual([path, []])
        const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect([path, wider]).toEqual([path, 0])
      }
      expect(faults).toEqual([])
      await page.close()
    },
  )

  test('are read and searched without script', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${service.baseUrl}/docs`)
    await page.fill('#q', 'prefill_superseded')
    await page.click('header button')
    await page.click('main a:has-text("prefill_superseded")')
    expect(await page.locator('h1').innerText()).toBe('prefill_superseded')
    await context.close()
  })

  test('show what is found while a word is typed, and a button that copies a sample', async () => {
    const page = await browser.newPage()
    await page.goto(`${service.baseUrl}/docs/quick-start`)
    await page.fill('#q', 'rotate')
    await page.locator('#found a').first().click()
    await page.waitForURL(/\/docs\/authentication/)
    expect(await page.locator('main button:has-text("Copy")').count()).toBeGreaterThan(0)
    await page.close()
  })

  test('show all samples in the language that was chosen once, and set no cookie', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${service.baseUrl}/docs/swap`)
    await page.selectOption('header select', 'Python')
    await page.goto(`${service.baseUrl}/docs/reference/benefits`)
    const shown = await page.locator('main .sample:visible summary').allInnerTexts()
    expect([new Set(shown), await context.cookies()]).toEqual([new Set(['Python']), []])
    await context.close()
  })
})
