/// <reference lib="dom" />
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { axe, inThisLook, violationsOf } from '../page/axe.ts'
import { describeInBrowser, launchBrowser } from '../page/browser.ts'
import { ada, startTestService } from '../rig.ts'
import { consoleOf, newOperator, signIn } from './operator-browser.ts'

describeInBrowser('the console in a browser', () => {
  const service = forAllTests(() => startTestService({ console: true }))
  const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
  let serviceid = ''
  let webhookid = ''
  let requested = ''
  let erased = ''
  beforeAll(async () => {
    const created = await partner.client.createUser({
      ...ada,
      userid: 'rider-1',
      offername: 'starter',
      benefits: ['telehealth'],
    })
    serviceid = created.serviceid
    const made = await partner.client.createWebhook({
      url: 'http://127.0.0.1:9/hook',
      username: 'harbor',
      password: 'pilot',
    })
    webhookid = made.webhookid
    const support = await signIn(service, 'support')
    const erase = `/users/${serviceid}/act/erase`
    const seen = /name="seen" value="([^"]+)"/.exec((await support.get(erase)).text)?.[1] ?? ''
    const asked = await support.post(erase, { seen: seen.replaceAll('&quot;', '"'), reason: 'letter 1' })
    requested = asked.path
    const keeping = await service.newPartner({ name: 'Keeping', retain: '7y' })
    erased = (await keeping.client.createUser({ userid: 'gone', ...ada, offername: 'plus' })).serviceid
    await keeping.client.eraseUser({ userid: 'gone' })
  })
  const browser = forAllTests(launchBrowser)

  const open = async (
    options: Parameters<Browser['newContext']>[0] = {},
    newcomer = newOperator(service, 'admin'),
  ): Promise<{ context: BrowserContext; page: Page }> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    const page = await context.newPage()
    const { path } = await newcomer
    await page.goto(consoleOf(service) + path)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(/\/(partners\/[\da-f-]+)?$/)
    return { context, page }
  }

  const addresses = () => [
    '/',
    `/users/${serviceid}`,
    '/due?days=30',
    '/statements',
    '/webhooks',
    `/webhooks/${webhookid}`,
    '/feeds',
    '/feeds/seaview',
    '/partners',
    `/partners/${partner.partnerId}`,
    '/audit',
    `/users/${serviceid}/act/cancel`,
    `/users/${serviceid}/act/offer`,
    `/users/${serviceid}/link`,
    ...['swap', 'swapoff', 'consent'].map(name => `/users/${serviceid}/act/${name}`),
    `/users/${serviceid}/export`,
    `/users/${serviceid}/act/erase`,
    `/partners/${partner.partnerId}/settings`,
    '/catalogue',
    '/catalogue/versions/1',
    '/catalogue/diff?from=1&to=1',
    '/requests',
    requested,
    `/users/${erased}`,
    `/users/${erased}/retained`,
    `/users/${serviceid}/act/void`,
    `/users/${serviceid}/act/move`,
  ]

  const overflowOf = () => document.documentElement.scrollWidth - window.innerWidth
  const looks = [
    ['light', 768],
    ['dark', 1280],
  ] as const
  test('axe finds nothing on any screen, at 768 by day and at 1280 in the dark, and none is wider than a phone', async () => {
    // With motion, a color is on its way for a moment after the scheme has changed.
    const settled = { bypassCSP: true, reducedMotion: 'reduce' } as const
    const admin = await open(settled)
    const developer = await open(settled, newOperator(service, 'developer', [partner.partnerId]))
    const developers = [`/partners/${partner.partnerId}`, `/webhooks/${webhookid}`]
    const all = [
      ...addresses().map(one => [one, admin] as const),
      ...developers.map(one => [one, developer] as const),
    ]
    for (const [address, { page }] of all) {
      await page.goto(consoleOf(service) + address)
      await page.evaluate(axe)
      for (const [colorScheme, width] of looks) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 900 })
        const found = await page.evaluate(inThisLook(violationsOf))
        expect([address, width, colorScheme, found]).toEqual([address, width, colorScheme, []])
        const overflow = await page.evaluate(overflowOf)
        expect([address, width, overflow <= 0]).toEqual([address, width, true])
      }
      await page.setViewportSize({ width: 320, height: 900 })
      expect([address, await page.evaluate(overflowOf)]).toEqual([address, 0])
    }
    await admin.context.close()
    await developer.context.close()
  })

  test('keys find, show and go, without a mouse', async () => {
    const { context, page } = await open()
    await page.keyboard.press('/')
    await page.keyboard.type('rider-1')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/users/${serviceid}`)
    expect(await page.locator('#sentence').textContent()).toMatch(/^Active on Starter since/)
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.waitForURL('**/audit')
    await page.keyboard.press('g')
    await page.keyboard.press('u')
    await page.waitForURL('**/')
    await context.close()
  })

  test('the head of a page is two lines at 768 and 1280, whoever is signed in', async () => {
    for (const width of [768, 1280]) {
      const { context, page } = await open({ viewport: { width, height: 900 } })
      await service.database.query(sql`
        update operators set name = 'Augusta Ada King, Countess of Lovelace ' || operator_id where role = 'admin'`)
      await page.reload()
      const tops = await page
        .locator('.brand, #find, .find button, .who button')
        .evaluateAll(all =>
          all.map(one => one.getBoundingClientRect()).map(({ top, height }) => top + height / 2),
        )
      expect(tops).toHaveLength(4)
      expect([width, Math.max(...tops) - Math.min(...tops) < 4]).toEqual([width, true])
      const entries = await page
        .locator('nav a')
        .evaluateAll(all => all.map(one => one.getBoundingClientRect().top))
      expect(entries).toHaveLength(9)
      expect([width, new Set(entries).size]).toEqual([width, 1])
      await context.close()
    }
  })

  test('the longest userid leaves every column of a table in sight', async () => {
    const userid = `longest-${'x'.repeat(120)}`
    await partner.client.createUser({ ...ada, userid, offername: 'starter', benefits: [] })
    await partner.client.cancelUser({ userid })
    for (const width of [768, 1280]) {
      const { context, page } = await open({ viewport: { width, height: 900 } })
      await page.goto(`${consoleOf(service)}/due?days=30&partner=${partner.partnerId}`)
      await page.getByRole('link', { name: userid }).waitFor()
      const hidden = await page
        .locator('.scroll')
        .evaluateAll(all => all.map(one => one.scrollWidth - one.clientWidth).filter(more => more > 0))
      expect([width, hidden]).toEqual([width, []])
      await context.close()
    }
  })

  test('works with script off, and the back button leads back', async () => {
    const { context, page } = await open({ javaScriptEnabled: false })
    await page.getByLabel('Find a user, event or request').fill('rider-1')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.waitForURL(`**/users/${serviceid}`)
    await page.getByLabel('Show name, birth date and address, because').fill('ticket 9')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await page.textContent('main')).toContain('Adacanary')
    await page.goBack()
    expect(await page.textContent('main')).not.toContain('Adacanary')
    await page.getByRole('button', { name: 'Sign out' }).click()
    expect(await page.textContent('main')).toContain('You are signed out')
    await context.close()
  })

  test('a form whose answer is a file can be sent again, and says each time why', async () => {
    const { context, page } = await open()
    await page.goto(`${consoleOf(service)}/users/${serviceid}/export`)
    const again = page.getByRole('button', { name: 'Download the file' })
    for (const reason of ['request of access 1', 'request of access 2']) {
      await page.getByLabel('Reason').fill(reason)
      const [file] = await Promise.all([page.waitForEvent('download'), again.click()])
      expect(file.suggestedFilename()).toBe(`user-${serviceid}.json`)
      expect(await again.isEnabled()).toBe(true)
    }
    await context.close()
  })
})
