import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { type Rig, startRig } from './rig.ts'

describeInBrowser('the hosted page', () => {
  let rig: Rig
  let browser: Browser

  beforeAll(async () => {
    rig = await startRig()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await rig.close()
  })
  beforeEach(() => rig.reset())

  async function openLink(options: { script?: boolean; width?: number } = {}): Promise<Page> {
    const { script = true, width = 1280 } = options
    const context = await browser.newContext({ javaScriptEnabled: script, viewport: { width, height: 800 } })
    const page = await context.newPage()
    await page.goto(`${rig.service}/register/link/${rig.mintToken()}`)
    return page
  }

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const heading = (page: Page) => page.locator('h1')

  test.each([true, false])('leads from the link to enrolled, with script %s', async script => {
    const page = await openLink({ script, width: 320 })
    await press(page, 'Open my benefits')
    expect(page.url()).not.toContain('lt_')
    await press(page, 'Start')
    await page.getByRole('link', { name: 'Change – Date of birth' }).click()
    await page.getByLabel('Day').fill('31')
    await page.getByLabel('Month').selectOption('2')
    await press(page, 'Save and continue')
    await expect.poll(() => page.title()).toMatch(/^Error: /)
    expect(await page.getByLabel('Day').inputValue()).toBe('31')
    await page.getByLabel('Day').fill('7')
    await press(page, 'Save and continue')
    await page.getByText('February 7, 1990').waitFor()
    await press(page, 'These are right – continue')
    await page.getByLabel('Choose Accident cover').check()
    await press(page, 'Continue')
    await press(page, 'Enroll now')
    await page.getByRole('link', { name: 'Select the box to agree before enrolling' }).waitFor()
    expect(rig.enrolled).toBe(0)
    await page.getByLabel('I have read this and I agree').check()
    await press(page, 'Enroll now')
    await page.getByText('HR-7K2M-94QD').waitFor()
    expect(rig.enrolled).toBe(1)
    await page.context().close()
  })

  test('speaks Spanish from the link to enrolled', async () => {
    const page = await openLink()
    await page.getByRole('button', { name: /Español/ }).click()
    await press(page, 'Abrir mis beneficios')
    await page.getByRole('button', { name: /Español/ }).click()
    await press(page, 'Empezar')
    await press(page, 'Todo está bien: continuar')
    await press(page, 'Continuar')
    await page.getByLabel('Leí este texto y acepto').check()
    await press(page, 'Inscribirme ahora')
    await page.getByRole('heading', { name: 'Su inscripción está lista' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('es')
    await page.context().close()
  })

  test.each([true, false])('keeps what was typed when the language changes, with script %s', async script => {
    const page = await openLink({ script })
    await press(page, 'Open my benefits')
    await page.goto(`${rig.service}/register/details/contact`)
    await page.getByLabel('Email').fill('half@')
    await page.getByRole('button', { name: /Español/ }).click()
    await page.getByRole('heading', { name: '¿Cómo podemos comunicarnos con usted?' }).waitFor()
    expect(await page.getByLabel('Correo electrónico').inputValue()).toBe('half@')
    await page.goto(`${rig.service}/register/benefits`)
    await page.getByLabel('Elegir Cuidado dental').check()
    await page.getByRole('button', { name: /English/ }).click()
    await page.getByRole('heading', { name: 'Choose your benefits' }).waitFor()
    expect(await page.getByLabel('Choose Dental care').isChecked()).toBe(true)
    await page.context().close()
  })

  test('goes on with the Enter key, not to another language', async () => {
    const page = await openLink()
    await press(page, 'Open my benefits')
    await page.goto(`${rig.service}/register/details/name`)
    await page.getByLabel('First name').fill('Eva')
    await page.keyboard.press('Enter')
    await page.getByText('Eva Ruiz Delgado').waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    await page.context().close()
  })

  test('can be gone through by keyboard alone, and each view starts at its heading', async () => {
    const page = await openLink()
    const active = () => page.evaluate<string>("document.activeElement?.textContent?.trim() ?? ''")
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 60; presses++) {
        await page.keyboard.press('Tab')
        const found = await page.evaluate<string>(
          "(document.activeElement?.labels?.[0] ?? document.activeElement)?.textContent?.trim() ?? ''",
        )
        if (found.startsWith(name)) return
      }
      throw new Error(`the Tab key never reaches ${name}`)
    }
    const go = async (name: string, next: string) => {
      await tabTo(name)
      await page.keyboard.press('Enter')
      await heading(page).filter({ hasText: next }).waitFor()
    }
    await go('Open my benefits', 'Hello, Ana')
    await go('Start', 'Check your details')
    expect(await active()).toBe('Check your details')
    await go('These are right', 'Choose your benefits')
    expect(await active()).toBe('Choose your benefits')
    await tabTo('Choose Accident cover')
    await page.keyboard.press('Space')
    expect(await page.locator('#live').textContent()).toBe('1 of 2 chosen')
    await go('Continue', 'Check your answers')
    await tabTo('Enroll now')
    await page.keyboard.press('Enter')
    await page.locator('#problem').waitFor()
    expect(await page.evaluate('document.activeElement?.id')).toBe('problem')
    await tabTo('Select the box')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement?.id')).toBe('consent-terms')
    await page.keyboard.press('Space')
    await go('Enroll now', 'You are enrolled')
    expect(await active()).toBe('You are enrolled')
    await page.context().close()
  })

  test('loses nothing without a network, and goes on with one button', async () => {
    const page = await openLink()
    await press(page, 'Open my benefits')
    await page.goto(`${rig.service}/register/details/name`)
    await page.getByLabel('First name').fill('Eva')
    await page.context().setOffline(true)
    await press(page, 'Save and continue')
    await page.getByRole('heading', { name: 'You seem to be offline' }).waitFor()
    expect(await page.evaluate('document.activeElement?.id')).toBe('offline')
    expect(await page.getByLabel('First name').inputValue()).toBe('Eva')
    await page.context().setOffline(false)
    await press(page, 'Try again')
    await page.getByText('Eva Ruiz Delgado').waitFor()
    await page.context().close()
  })

  test('enrols once however often the button is pressed', async () => {
    const page = await openLink()
    await press(page, 'Open my benefits')
    await page.goto(`${rig.service}/register/check`)
    await page.getByLabel('I have read this and I agree').check()
    await page.getByRole('button', { name: 'Enroll now' }).click({ clickCount: 3 })
    await page.getByText('HR-7K2M-94QD').waitFor()
    expect(rig.requests.filter(request => request === 'POST /register/enrol')).toHaveLength(1)
    await page.context().close()
  })

  test('goes back and forward with the browser', async () => {
    const page = await openLink()
    await press(page, 'Open my benefits')
    await press(page, 'Start')
    await heading(page).filter({ hasText: 'Check your details' }).waitFor()
    await page.goBack()
    await heading(page).filter({ hasText: 'Hello, Ana' }).waitFor()
    await page.goForward()
    await heading(page).filter({ hasText: 'Check your details' }).waitFor()
    await page.context().close()
  })

  test('warns two minutes ahead, stays with one key, and closes when nobody is there', async () => {
    const page = await openLink()
    await page.clock.install()
    await press(page, 'Open my benefits')
    await page.getByRole('button', { name: 'Start' }).waitFor()
    await page.clock.runFor(3_485_000)
    await page.getByRole('heading', { name: 'Are you still there?' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => rig.requests.includes('POST /register/stay')).toBe(true)
    expect(await page.locator('dialog').count()).toBe(0)
    await page.clock.runFor(3_485_000)
    await page.locator('dialog').waitFor()
    rig.endSessions()
    await page.clock.runFor(125_000)
    await page.getByRole('heading', { name: 'You were away for a while' }).waitFor()
    expect(await page.content()).not.toContain('Ruiz')
    await page.context().close()
  })

  test('tells nothing about a link that was used', async () => {
    const page = await openLink()
    await press(page, 'Open my benefits')
    const token = rig.mintToken()
    rig.endToken(token)
    const used = await (await page.goto(`${rig.service}/register/link/${token}`))?.text()
    const unknown = await (await page.goto(`${rig.service}/register/link/lt_unknown`))?.text()
    expect(used).toBe(unknown)
    await page.context().close()
  })
})
