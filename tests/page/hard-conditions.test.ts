import type { CDPSession, Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { heardByPartner, isEnrolled, pressIn, walk, words } from './journey.ts'
import { startRig } from './rig.ts'
import { openStage } from './show.ts'
import { statesIn, statesStartAt } from './states.ts'

/** The CSS pixels that are left of a window of 1280 × 1024 at 400 %. */
const zoomed = { width: 320, height: 256, deviceScaleFactor: 4, mobile: false }

describeInBrowser('under hard conditions', () => {
  const rig = forAllTests(() => startRig({ startAt: statesStartAt }))
  const receiver = forAllTests(startReceiver)
  beforeAll(() => rig.addWebhook(receiver.url))
  const browser = forAllTests(launchBrowser)
  beforeEach(() => rig.newPerson().then(() => undefined))

  async function openPage(): Promise<{ page: Page; devtools: CDPSession }> {
    const context = await browser.newContext({ viewport: null, reducedMotion: 'reduce' })
    const page = await context.newPage()
    return { page, devtools: await context.newCDPSession(page) }
  }

  const openZoomed = async (): Promise<Page> => {
    const { page, devtools } = await openPage()
    await devtools.send('Emulation.setDeviceMetricsOverride', zoomed)
    return page
  }

  test.each(['en', 'es'] as const)(
    'at 400 percent no view in %s scrolls sideways, and nothing covers what has the focus',
    async locale => {
      const page = await openZoomed()
      const stage = await openStage(page, rig)
      expect(await page.evaluate('[innerWidth, innerHeight, devicePixelRatio]')).toEqual([320, 256, 4])
      const faults: string[] = []
      for (const state of await statesIn(locale)) {
        await stage.show(state)
        const found = await page.evaluate<readonly string[]>(faultsWhenZoomed)
        faults.push(...found.map(fault => `${state.name}: ${fault}`))
      }
      expect(faults).toEqual([])
      await page.context().close()
    },
  )

  test('beside a long name a link keeps its words whole on a narrow phone', async () => {
    const context = await browser.newContext({ viewport: { width: 320, height: 640 } })
    const page = await context.newPage()
    const stage = await openStage(page, rig)
    const [state] = await statesIn('es', name => name === 'check')
    if (!state) throw new Error('the state is missing')
    await stage.show(state)
    expect(await page.evaluate<readonly string[]>(brokenBesideLongNames)).toEqual([])
    await context.close()
  })

  test('in forced colors the buttons of the header, which then have borders, do not overlap', async () => {
    const context = await browser.newContext({ forcedColors: 'active' })
    const page = await context.newPage()
    await page.goto(await rig.mintLink())
    await pressIn(page, words.en.open)
    await page.getByRole('heading', { name: 'Check your details' }).waitFor()
    for (const width of [360, 390, 412]) {
      await page.setViewportSize({ width, height: 700 })
      expect(await page.evaluate<boolean>(doHeaderButtonsOverlap), `${width} px`).toBe(false)
    }
    await context.close()
  })

  test.each(['en', 'es'] as const)(
    'with text of twice the size no view in %s scrolls sideways on a phone, or shows its skip link unasked',
    async locale => {
      const context = await browser.newContext({ viewport: { width: 375, height: 700 } })
      const page = await context.newPage()
      const stage = await openStage(page, rig)
      const faults: string[] = []
      for (const state of await statesIn(locale)) {
        await stage.show(state)
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
        if (wide > 375) faults.push(`${state.name}: ${wide}`)
        const seen = await page.evaluate<number>(
          "document.querySelector('.skip').getBoundingClientRect().bottom",
        )
        if (seen > 0) faults.push(`${state.name}: ${seen} pixels of the skip link`)
      }
      expect(faults).toEqual([])
      await context.close()
    },
  )

  test('at 400 percent the whole way can be gone, on its own page and in a partner’s dialog', async () => {
    const page = await openZoomed()
    await page.goto(await rig.mintLink({ locale: 'es' }))
    await pressIn(page, words.es.open)
    await walk(page, 'es')
    expect(await page.evaluate<readonly string[]>(faultsWhenZoomed)).toEqual([])
    await rig.newPerson()
    await page.goto(rig.host)
    await page.evaluate(`tokens.push('${await rig.mintToken()}'); make({ locale: 'es' }); embed.open()`)
    const frame = page.frameLocator('iframe')
    await walk(frame, 'es')
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const inFrame = page.frames().find(found => found.url().startsWith(`${rig.service}/embed/frame`))
    expect(await inFrame?.evaluate<readonly string[]>(faultsWhenZoomed)).toEqual([])
    const cross = await page.getByRole('button', { name: 'Cerrar', exact: true }).boundingBox()
    const heading = await frame.getByRole('button', { name: /English/ }).boundingBox()
    if (!cross || !heading) throw new Error('not shown')
    // The header may have scrolled out of view; if both are visible, they are side by side.
    expect(
      heading.x + heading.width <= cross.x ||
        heading.y + heading.height <= cross.y ||
        heading.y >= cross.y + cross.height,
    ).toBe(true)
    await isEnrolled(rig, 'es')
    await page.context().close()
  })

  test('on a slow line, offline in the middle and with a lost answer, two presses enrol once', async () => {
    const { page, devtools } = await openPage()
    const line = (offline: boolean) =>
      devtools.send('Network.emulateNetworkConditions', {
        offline,
        latency: 400,
        downloadThroughput: 50_000,
        uploadThroughput: 50_000,
      })
    await devtools.send('Network.enable')
    await line(false)
    const posts: string[] = []
    page.on('request', request => request.method() === 'POST' && posts.push(new URL(request.url()).pathname))
    const posted = (path: string) => posts.filter(found => found === `/register/${path}`).length
    await page.goto(await rig.mintLink())
    await pressIn(page, 'Open my benefits')
    await page.getByRole('link', { name: 'Change – Name' }).click()
    await page.getByLabel('First name').fill('Eva')
    await line(true)
    for (let presses = 0; presses < 2; presses += 1) {
      await pressIn(page, 'Save and continue')
      await page.getByRole('heading', { name: 'You seem to be offline' }).waitFor()
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1)
      expect(await page.getByLabel('First name').inputValue()).toBe('Eva')
    }
    await line(false)
    await pressIn(page, 'Try again')
    await page.getByText('Eva Ruiz Delgado').waitFor()
    await pressIn(page, 'These are right – continue')
    await page.getByLabel('Choose Dental discount').check()
    await page.getByRole('button', { name: 'Continue', exact: true }).dblclick()
    await page.getByRole('heading', { name: 'Check your answers' }).waitFor()
    expect(posted('benefits')).toBe(1)
    // The first answer is lost after the service has done its work.
    let lost = 0
    await page.route('**/register/enrol', async route => {
      if (lost > 0) return route.continue()
      lost += 1
      await route.fetch()
      await route.abort('connectionreset')
    })
    await page.getByLabel('I agree to receive documents electronically').check()
    await page.getByRole('button', { name: 'Enroll now' }).dblclick()
    await page.getByRole('heading', { name: 'You seem to be offline' }).waitFor()
    expect(posted('enrol')).toBe(1)
    await pressIn(page, 'Try again')
    await page.getByRole('heading', { name: 'You are enrolled' }).waitFor()
    expect(posted('enrol')).toBe(2)
    await heardByPartner(receiver, rig)
    await page.context().close()
  })
})

/**
 * What would be unusable at 400 %: a page that scrolls sideways, text that is cut off, or a control that something
 * still covers once it has the focus.
 */
const faultsWhenZoomed = `(() => {
  const faults = []
  for (const folded of document.querySelectorAll('details')) folded.open = true
  const told = element => element.outerHTML.slice(0, 120)
  const root = document.documentElement
  if (root.scrollWidth > innerWidth) faults.push('scrolls sideways: ' + root.scrollWidth)
  for (const element of document.querySelectorAll('#page *')) {
    if (element.closest('.unseen, .skip, template') || !element.offsetParent) continue
    const { left, right, width } = element.getBoundingClientRect()
    if (width > 0 && (left < -1 || right > innerWidth + 1)) faults.push('beyond the edge: ' + told(element))
  }
  for (const element of (document.querySelector('dialog[open]') ?? document).querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')) {
    if (!element.offsetParent || element.matches('.default, .skip, [type=hidden]')) continue
    element.focus()
    const { left, top, width, height } = element.getBoundingClientRect()
    if (top + height / 2 < 0 || top + height / 2 > innerHeight) { faults.push('not in sight: ' + told(element)); continue }
    const over = document.elementFromPoint(left + width / 2, top + height / 2)
    const same = over && (over === element || element.contains(over) || over.contains(element) || over.closest('label')?.contains(element))
    if (!same) faults.push('covered: ' + told(element) + ' by ' + (over ? told(over) : 'nothing'))
    else if (over.contains(element) && over !== element && !over.closest('label')) faults.push('covered by its parent: ' + told(element))
  }
  return faults
})()`

/** The words of links beside a long name that are broken over two lines. */
const brokenBesideLongNames = `(() => {
  for (const name of document.querySelectorAll('.heading h3')) name.textContent = 'Protección internacional contra enfermedades'
  return [...document.querySelectorAll('.heading a, .act a')].flatMap(link => {
    const text = link.firstChild
    return [...text.data.matchAll(/\\S+/g)].flatMap(({ 0: word, index }) => {
      const range = document.createRange()
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      return range.getClientRects().length > 1 ? [word] : []
    })
  })
})()`

const doHeaderButtonsOverlap = `(() => {
  const [one, other] = [...document.querySelectorAll('header button')].map(button => button.getBoundingClientRect())
  return one.bottom > other.top && one.right > other.left
})()`
