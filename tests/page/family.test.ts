import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { startRig } from './rig.ts'
import { openLink } from './visitor.ts'
import { catalogues, forms } from './walks/given.ts'

const rig = forAllTests(() => startRig({ catalogue: catalogues['family'] ?? '' }))

test('whom somebody names in their family is in no plain column', async () => {
  await rig.newPerson()
  const visitor = await openLink(rig)
  await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', { add: 'dental' })
  expect((await visitor.post('/register/family/dental', forms['grace'])).html).toContain('Grace Canary')
  const [row = {}] = await rig.running.database.query<Record<string, unknown>>(
    sql`select * from users where userid = ${rig.userid()}`,
  )
  const stored = Object.values(row).map(one => (Buffer.isBuffer(one) ? one.toString('latin1') : String(one)))
  expect(stored.join()).not.toContain('Canary')
})

describeInBrowser('with script', () => {
  const browser = forAllTests(launchBrowser)

  test('the total follows the people ticked, of what is chosen and of what comes with the plan', async () => {
    await rig.newPerson()
    const page = await browser.newPage()
    await page.goto(await rig.mintLink())
    await page.getByRole('button', { name: 'Open my benefits' }).click()
    await page.waitForSelector('[data-view=DETAILS_REVIEW]')
    await page.goto(`${rig.service}/register/family/dental`)
    await page.getByLabel('First name').fill('Grace')
    await page.getByLabel('Last name').fill('King')
    await page.getByLabel('Relationship to you').selectOption('spouse')
    await page.getByLabel('Month').selectOption('5')
    await page.getByLabel('Day').fill('4')
    await page.getByLabel('Year').fill('1988')
    await page.getByRole('button', { name: 'Save' }).click()
    const total = page.locator('[data-total] strong')
    const at = (name: string) => page.locator(`#card-${name}`).getByLabel('Grace King')
    await expect.poll(() => total.textContent()).toBe('$20.00 a month')
    await page.getByLabel('Choose Dental').check()
    await expect.poll(() => total.textContent()).toBe('$65.00 a month')
    await at('dental').uncheck()
    await expect.poll(() => total.textContent()).toBe('$40.00 a month')
    await at('vision').check()
    await expect.poll(() => total.textContent()).toBe('$65.00 a month')
    await page.close()
  })
})
