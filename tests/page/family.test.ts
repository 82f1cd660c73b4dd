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

describeInBrowser('in a browser', () => {
  const browser = forAllTests(launchBrowser)

  test('somebody is named, chosen and enrolled without script, in Spanish, on a phone of 360 px', async () => {
    await rig.newPerson()
    const context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 360, height: 740 },
    })
    const page = await context.newPage()
    await page.goto(await rig.mintLink({ locale: 'es' }))
    await page.locator('main .primary').click()
    await page.goto(`${rig.service}/register/benefits`)
    await page.getByLabel('Elegir Dental').check()
    await page.locator('#card-dental').getByRole('button', { name: 'Agregar a una persona' }).click()
    const field = (name: string) => page.locator(`[name="person1.${name}"]`)
    await field('firstname').fill('Grace')
    await field('lastname').fill('King')
    await field('relationship').selectOption('spouse')
    await field('dobmonth').selectOption('5')
    await field('dobday').fill('4')
    await field('dobyear').fill('1988')
    await page.getByRole('button', { name: 'Guardar' }).click()
    expect(await page.getByLabel('Elegir Dental').isChecked()).toBe(true)
    expect(await page.locator('#card-dental').getByLabel('Grace King').isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Continuar' }).click()
    for (const box of await page.locator('main input[type=checkbox]').all()) await box.check()
    await page.getByRole('button', { name: 'Inscribirme ahora' }).click()
    await page.locator('main[data-view=DONE]').waitFor()
    expect(await page.locator('main').innerText()).toContain('Cubre a usted y Grace King')
    await context.close()
  })

  test('with script the total follows the people ticked, of what is chosen and of what comes with the plan', async () => {
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
