import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { axe, colorViolationsOf, violationsOf } from './axe.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { heardByPartner, isEnrolled, pressIn, walk, words } from './journey.ts'
import { backTo, type Rig, startRig } from './rig.ts'
import { statesIn, statesStartAt } from './states.ts'

describeInBrowser('the hosted page', () => {
  const rig = forAllTests(() => startRig({ startAt: statesStartAt }))
  const receiver = forAllTests(startReceiver)
  beforeAll(() => rig.addWebhook(receiver.url))
  const browser = forAllTests(launchBrowser)
  beforeEach(() => rig.newPerson().then(() => undefined))

  type Opening = { script?: boolean; width?: number; link?: Parameters<Rig['mintLink']>[0] }

  async function openLink(options: Opening = {}): Promise<Page> {
    const { script = true, width = 1280, link = {} } = options
    const context = await browser.newContext({ javaScriptEnabled: script, viewport: { width, height: 800 } })
    const page = await context.newPage()
    await page.goto(await rig.mintLink(link))
    return page
  }

  const press = (page: Page, name: string) => pressIn(page, name)
  const heading = (page: Page) => page.locator('h1')

  test.each([
    ['en', true],
    ['es', false],
    ['en', false],
    ['es', true],
  ] as const)(
    'leads from the link to the webhook received, in %s, with script %s',
    async (language, script) => {
      const page = await openLink({ script, width: 320, link: { redirecturl: backTo } })
      if (language === 'es') await page.getByRole('button', { name: /Español/ }).click()
      await press(page, words[language].open)
      expect(page.url()).toBe(`${rig.service}/register/details`)
      await walk(page, language)
      const back = page.getByRole('link', { name: words[language].back })
      expect(await back.getAttribute('href')).toBe(backTo)
      await heardByPartner(receiver, rig)
      await isEnrolled(rig, language)
      await page.context().close()
    },
  )

  test.each([true, false])('keeps what was typed when the language changes, with script %s', async script => {
    const page = await openLink({ script })
    await press(page, 'Open my benefits')
    await page.goto(`${rig.service}/register/details/contact`)
    await page.getByLabel('Email').fill('half@')
    await page.getByRole('button', { name: /Español/ }).click()
    await page.getByRole('heading', { name: '¿Cuáles son su correo y su teléfono?' }).waitFor()
    expect(await page.getByLabel('Correo electrónico').inputValue()).toBe('half@')
    await page.goto(`${rig.service}/register/benefits`)
    await page.getByLabel('Elegir Descuento dental').check()
    await page.getByRole('button', { name: /English/ }).click()
    await page.getByRole('heading', { name: 'Choose your benefits' }).waitFor()
    expect(await page.getByLabel('Choose Dental discount').isChecked()).toBe(true)
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
    await go('Open my benefits', 'Check your details')
    await go('These are right', 'Choose your benefits')
    expect(await active()).toBe('Choose your benefits')
    await tabTo('Identity protection')
    await page.keyboard.press('Space')
    expect(await page.locator('#live').textContent()).toBe('1 of 2 chosen')
    await go('Continue', 'Check your answers')
    await tabTo('I agree to receive documents')
    await page.keyboard.press('Space')
    await tabTo('Enroll now')
    await page.keyboard.press('Enter')
    await page.locator('#problem').waitFor()
    expect(await page.evaluate('document.activeElement?.id')).toBe('problem')
    await tabTo('Select the box')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement?.id')).toBe('consent-identity')
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

  test.each([true, false])(
    'enrols once however often the button is pressed, with script %s',
    async script => {
      const page = await openLink({ script })
      await press(page, 'Open my benefits')
      await press(page, 'These are right – continue')
      await press(page, 'Continue')
      await page.getByLabel('I agree to receive documents electronically').check()
      await page.getByRole('button', { name: 'Enroll now' }).click({ clickCount: 3 })
      await page.getByRole('heading', { name: 'You are enrolled' }).waitFor()
      const reference = await page.locator('.reference strong').textContent()
      await page.goBack()
      await page.goto(`${rig.service}/register/check`)
      expect(await page.locator('.reference strong').textContent()).toBe(reference)
      expect((await rig.events()).filter(name => name === 'enrollment_successful')).toHaveLength(1)
      await page.context().close()
    },
  )

  test('has no fault of axe on any real view, light and dark', async () => {
    const context = await browser.newContext({
      bypassCSP: true,
      reducedMotion: 'reduce',
      viewport: { width: 320, height: 800 },
    })
    const page = await context.newPage()
    const faults: string[] = []
    const states = await statesIn('en')
    const known = new Set(
      await page.evaluate(
        piecesIn,
        states.map(({ html }) => html),
      ),
    )
    const check = async (view: string) => {
      await page.locator(`main[data-view=${view}]`).waitFor()
      await page.evaluate(axe)
      // The dark scheme only changes colors, as look.test.ts shows.
      const looks = { light: violationsOf, dark: colorViolationsOf }
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const found = await page.evaluate<readonly string[]>(looks[colorScheme])
        faults.push(...found.map(fault => `${view}, ${colorScheme}: ${fault}`))
      }
      const pieces = await page.evaluate(piecesIn, [await page.content()])
      faults.push(
        ...pieces.filter(piece => !known.has(piece)).map(piece => `${view}: no example has ${piece}`),
      )
      if (await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
        faults.push(`${view} scrolls`)
    }
    await page.goto(await rig.mintLink({ offername: '' }))
    await check('OPEN')
    await press(page, 'Open my benefits')
    await check('DETAILS_REVIEW')
    await press(page, 'These are right – continue')
    await check('PLAN')
    await page.getByLabel(/Plus/).check()
    await press(page, 'Continue')
    await check('BENEFITS')
    await page.getByLabel('Choose Identity protection').check()
    await press(page, 'Continue')
    await check('CHECK_ANSWERS')
    await page.getByLabel('I agree to receive documents electronically').check()
    await page.getByLabel('I have read this and I agree').check()
    await press(page, 'Enroll now')
    await check('DONE')
    for (const [path, view] of [
      ['overview', 'ALREADY_ENROLLED'],
      ['benefits', 'BENEFITS'],
      ['details/address', 'DETAILS_EDIT'],
      ['swap', 'SWAP'],
      ['swap/confirm?replace.identity=vision', 'SWAP_CONFIRM'],
      ['offer', 'OFFER_CHANGE'],
      ['offer/confirm?offername=premier', 'OFFER_CONFIRM'],
      ['cancel', 'CANCEL'],
      ['nowhere', 'PROBLEM'],
    ] as const) {
      await page.goto(`${rig.service}/register/${path}`)
      await check(view)
    }
    expect(faults).toEqual([])
    await context.close()
  })

  test('goes back and forward with the browser', async () => {
    const page = await openLink()
    await press(page, 'Open my benefits')
    await page.getByRole('link', { name: 'Change – Name' }).click()
    await page.getByLabel('First name').waitFor()
    await page.goBack()
    await heading(page).filter({ hasText: 'Check your details' }).waitFor()
    await page.goForward()
    await page.getByLabel('First name').waitFor()
    await page.context().close()
  })

  test('takes the last answer of two tabs, and shows all once more before anything is agreed to', async () => {
    const page = await openLink()
    await press(page, 'Open my benefits')
    await page.goto(`${rig.service}/register/details/name`)
    const other = await page.context().newPage()
    await other.goto(`${rig.service}/register/details/name`)
    await other.getByLabel('First name').fill('Eva')
    await press(other, 'Save and continue')
    await other.getByText('Eva Ruiz Delgado').waitFor()
    await page.getByLabel('First name').fill('Ann')
    await press(page, 'Save and continue')
    await page.getByText('Ann Ruiz Delgado').waitFor()
    await page.context().close()
  })

  test('never writes one person’s form into another’s answers', async () => {
    const page = await openLink()
    await press(page, 'Open my benefits')
    await page.goto(`${rig.service}/register/details/name`)
    const first = rig.userid()
    await rig.newPerson({ firstname: 'Bruno' })
    const other = await page.context().newPage()
    await other.goto(await rig.mintLink())
    await press(other, 'Open my benefits')
    await page.getByLabel('First name').fill('Eva')
    await press(page, 'Save and continue')
    await page.getByRole('heading', { name: 'Please check this page once more' }).waitFor()
    expect(await page.getByLabel('First name').inputValue()).toBe('Bruno')
    expect(first).not.toBe(rig.userid())
    await page.context().close()
  })

  test('keeps the draft: a fresh link on another device takes it up', async () => {
    const page = await openLink()
    await press(page, 'Open my benefits')
    await page.getByRole('link', { name: 'Change – Name' }).click()
    await page.getByLabel('First name').fill('Eva')
    await press(page, 'Save and continue')
    await press(page, 'These are right – continue')
    await page.getByLabel('Choose Dental discount').check()
    await press(page, 'Continue')
    await heading(page).filter({ hasText: 'Check your answers' }).waitFor()
    await page.context().close()
    const device = await openLink({ width: 320 })
    await press(device, 'Open my benefits')
    await heading(device).filter({ hasText: 'Check your answers' }).waitFor()
    await device.getByText('Eva Ruiz Delgado').waitFor()
    await device.getByText('Dental discount').first().waitFor()
    await device.context().close()
  })

  test('asks a person of whom nothing is known, and lets them choose a plan', async () => {
    await rig.newPerson('unknown')
    const page = await openLink({ link: { offername: '' } })
    await press(page, 'Open my benefits')
    await page.getByRole('heading', { name: 'We still need this from you' }).waitFor()
    await page.goto(`${rig.service}/register/benefits`)
    await heading(page).filter({ hasText: 'Check your details' }).waitFor()
    await page.getByRole('link', { name: 'Continue' }).click()
    const answer = async (asked: string, fill: () => Promise<unknown>) => {
      await heading(page).filter({ hasText: asked }).waitFor()
      await fill()
      await press(page, 'Save and continue')
    }
    await answer('What is your name?', async () => {
      await page.getByLabel('First name').fill('Zoë')
      await page.getByLabel('Last name').fill('O’Neill')
    })
    await answer('What is your date of birth?', async () => {
      await page.getByLabel('Month').selectOption('3')
      await page.getByLabel('Day').fill('9')
      await page.getByLabel('Year').fill('1985')
    })
    await answer('What are your email and phone?', () => page.getByLabel('Email').fill('zoe@example.com'))
    await answer('Where do you live?', async () => {
      await page.getByLabel('State').selectOption('NY')
      await page.getByLabel('ZIP code').fill('10001')
    })
    await press(page, 'These are right – continue')
    await heading(page).filter({ hasText: 'Choose your plan' }).waitFor()
    expect(await page.getByLabel(/Premier/).count()).toBe(0)
    await press(page, 'Continue')
    await page.getByRole('link', { name: 'Choose a plan' }).waitFor()
    await page.getByLabel(/Plus/).check()
    await press(page, 'Continue')
    await page.getByText('Hospital cash is not offered in New York.').waitFor()
    await press(page, 'Continue')
    await page.getByLabel('I agree to receive documents electronically').check()
    await press(page, 'Enroll now')
    await heading(page).filter({ hasText: 'You are enrolled' }).waitFor()
    const user = await rig.partner.client.getUser({ userid: rig.userid() })
    expect(user).toMatchObject({ currentofferdetails: { offer: 'plus' } })
    await page.context().close()
  })

  test('says why when nothing fits, and lets the person correct what is wrong', async () => {
    await rig.newPerson({ dob: '2015-03-27' })
    const page = await openLink({ link: { locale: 'es' } })
    await press(page, 'Abrir mis beneficios')
    await press(page, 'Todo está bien: continuar')
    await page.getByText('Debe tener 18 años o más para inscribirse.').waitFor()
    await page.getByRole('link', { name: 'Revisar mis datos' }).click()
    await heading(page).filter({ hasText: 'Revise sus datos' }).waitFor()
    await page.context().close()
  })

  test('warns two minutes ahead, stays with one key, and closes when nobody is there', async () => {
    const page = await openLink()
    await page.clock.install()
    await press(page, 'Open my benefits')
    await page.getByRole('button', { name: 'These are right – continue' }).waitFor()
    await page.clock.runFor(3_485_000)
    await page.getByRole('heading', { name: 'Are you still there?' }).waitFor()
    const stayed = page.waitForResponse(response => response.url().endsWith('/register/stay'))
    await page.keyboard.press('Enter')
    expect((await stayed).status()).toBe(204)
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.clock.runFor(3_485_000)
    await page.locator('dialog').waitFor()
    const said = page.locator('dialog [role=status]')
    expect(await said.textContent()).toBe('')
    await page.clock.runFor(60_000)
    expect(await page.locator('[data-left]').textContent()).toMatch(/^0:(4\d|5\d)$/)
    expect(await said.textContent()).toBe('One minute left.')
    await page.clock.runFor(45_000)
    expect(await said.textContent()).toBe('15 seconds left.')
    await rig.endSessions()
    await page.clock.runFor(25_000)
    await page.getByRole('heading', { name: 'This page is closed' }).waitFor()
    expect(await page.content()).not.toContain('Ruiz')
    await page.context().close()
  })

  test('shows a helpful page when the session ends in the middle, and a fresh link goes on', async () => {
    const page = await openLink({ script: false })
    await press(page, 'Open my benefits')
    await page.getByRole('link', { name: 'Change – Name' }).click()
    await page.getByLabel('First name').fill('Eva')
    await press(page, 'Save and continue')
    await rig.endSessions()
    await press(page, 'These are right – continue')
    await page.getByRole('heading', { name: 'This page is closed' }).waitFor()
    await page.goto(await rig.mintLink())
    await press(page, 'Open my benefits')
    await page.getByText('Eva Ruiz Delgado').waitFor()
    await page.context().close()
  })
})

/** The pieces of pages: every element with its classes. Runs in the browser. */
function piecesIn(documents: readonly string[]): string[] {
  const pieces = documents.flatMap(markup => {
    const page = new DOMParser().parseFromString(markup, 'text/html')
    return [...page.querySelectorAll('#page *')].map(element =>
      [element.localName, ...element.classList].join('.'),
    )
  })
  return [...new Set(pieces)]
}
