import { beforeEach, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser, launchWholeBrowser } from './browser.ts'
import { enrol, exchangesOf, frameOf, heard, names, openHost, press } from './embed-host.ts'
import { startRig } from './rig.ts'

describeInBrowser('the embed, among strangers and where something fails', () => {
  const rig = forAllTests(startRig)
  const browser = forAllTests(launchWholeBrowser)
  // What the embed does by itself: in a whole browser each window takes five times the work.
  const shell = forAllTests(launchBrowser)
  beforeEach(() => rig.newPerson().then(() => undefined))

  test('works when every storage of the frame is blocked', async () => {
    const context = await browser.newContext()
    await context.addInitScript(`
      const blocked = { get() { throw new DOMException('blocked', 'SecurityError') } }
      for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches', 'cookieStore'])
        Object.defineProperty(window, name, blocked)
      Object.defineProperty(document, 'cookie', { ...blocked, set() { throw new Error('blocked') } })`)
    const page = await context.newPage()
    await page.goto(rig.host)
    await page.evaluate(`tokens.push('${await rig.mintToken()}'); make()`)
    await page.getByRole('button', { name: 'My benefits' }).click()
    await enrol(page)
    expect(await rig.events()).toContain('enrollment_successful')
    await context.close()
  })

  test('keeps what was typed when the session ends under it', async () => {
    const page = await openHost({ browser: shell, rig })
    await page.evaluate('embed.open()')
    await frameOf(page).getByRole('link', { name: 'Change – Name' }).click()
    await frameOf(page).getByLabel('First name').fill('Eva')
    await rig.endSessions()
    await page.evaluate(`tokens.splice(0, 9, '${await rig.mintToken()}')`)
    await press(page, 'Save and continue')
    await frameOf(page).getByText('Eva Ruiz Delgado').waitFor()
    expect(await names(page)).toContain('SESSION_EXPIRED')
    expect(await page.evaluate('asked')).toBe(2)
    await page.context().close()
  })

  test('keeps what was typed, too, while the host cannot fetch a token', async () => {
    const page = await openHost({ browser, rig })
    await page.evaluate('embed.open()')
    await frameOf(page).getByRole('link', { name: 'Change – Name' }).click()
    await frameOf(page).getByLabel('First name').fill('Eva')
    await rig.endSessions()
    await page.evaluate('tokens.splice(0, 9)')
    await press(page, 'Save and continue')
    await frameOf(page).getByRole('heading', { name: 'You seem to be offline' }).waitFor()
    expect(await heard(page)).toContainEqual(expect.objectContaining({ code: 'TOKEN_FETCH_FAILED' }))
    await page.evaluate(`tokens.push('${await rig.mintToken()}')`)
    await press(page, 'Try again')
    await frameOf(page).getByText('Eva Ruiz Delgado').waitFor()
    await page.context().close()
  })

  test('loses nothing without a network, before the first view and after it', async () => {
    const page = await openHost({ browser: shell, rig })
    await page.route('**/embed/session', route => route.abort())
    await page.evaluate('embed.open()')
    await frameOf(page).getByRole('heading', { name: 'You seem to be offline' }).waitFor()
    await page.unroute('**/embed/session')
    await press(page, 'Try again')
    await frameOf(page).getByRole('link', { name: 'Change – Name' }).click()
    await frameOf(page).getByLabel('First name').fill('Eva')
    await page.route('**/details/name', route => route.abort())
    await press(page, 'Save and continue')
    await frameOf(page).getByRole('heading', { name: 'You seem to be offline' }).waitFor()
    await page.unroute('**/details/name')
    await press(page, 'Try again')
    await frameOf(page).getByText('Eva Ruiz Delgado').waitFor()
    expect(await page.evaluate('asked')).toBe(1)
    await page.context().close()
  })

  test('shows nothing to an origin that is not registered, and says why', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const exchanges = exchangesOf(page)
    await page.goto(rig.hostile)
    await page.evaluate(`tokens.push('${await rig.mintToken()}'); make(); embed.open()`)
    await expect
      .poll(() => heard(page))
      .toContainEqual(expect.objectContaining({ name: 'ERROR', code: 'ORIGIN_NOT_ALLOWED' }))
    expect(exchanges).toEqual([])
    await context.close()
  })

  test('gives its port to nobody but the frame it made', async () => {
    const page = await openHost({ browser, rig })
    await page.evaluate(`
      const stranger = document.createElement('iframe')
      stranger.src = ${JSON.stringify(rig.hostile)}
      document.body.append(stranger)
      globalThis.loaded = new Promise(done => { stranger.onload = done })`)
    await page.evaluate('loaded')
    const stranger = page.frames().find(frame => frame.url().startsWith(rig.hostile))
    if (!stranger) throw new Error('no stranger')
    await stranger.evaluate('globalThis.got = []; onmessage = event => got.push(event.data)')
    await page.evaluate('embed.open()')
    await stranger.evaluate("parent.postMessage('benefit-enrolment/1 hello', '*')")
    await page.evaluate("postMessage('benefit-enrolment/1 hello', '*')")
    await frameOf(page).nth(0).owner().waitFor()
    await page
      .frameLocator('dialog iframe')
      .getByRole('button', { name: 'These are right – continue' })
      .waitFor()
    expect(await stranger.evaluate('got')).toEqual([])
    await page.context().close()
  })

  test('takes a port from nobody but the host that holds it', async () => {
    const page = await openHost({ browser, rig })
    const exchanges = exchangesOf(page)
    await page.evaluate('embed.open()')
    await frameOf(page).getByRole('button', { name: 'These are right – continue' }).waitFor()
    await page.evaluate(`
      const { port1, port2 } = new MessageChannel()
      const frame = document.querySelector('body > div:last-of-type').shadowRoot.querySelector('iframe')
      frame.contentWindow.postMessage('benefit-enrolment/1 port', '*', [port2])
      port1.postMessage({ say: 'start', token: 'lt_stolen', focus: true })`)
    await frameOf(page).getByRole('heading', { name: 'Check your details' }).waitFor()
    expect(exchanges).toHaveLength(1)
    await page.context().close()
  })

  test('says so when the service speaks another version', async () => {
    const page = await openHost({ browser: shell, rig })
    await page.route('**/page/page.*.js', route =>
      route.fulfill({
        contentType: 'text/javascript',
        body: "parent.postMessage('benefit-enrolment/2 hello', '*')",
      }),
    )
    await page.evaluate('embed.open()')
    await expect
      .poll(() => heard(page))
      .toContainEqual(expect.objectContaining({ name: 'ERROR', code: 'VERSION_MISMATCH' }))
    await page.context().close()
  })

  test('says so when the service does not answer', async () => {
    const page = await openHost({ browser: shell, rig })
    await page.clock.install()
    let answer: (() => Promise<void>) | undefined
    await page.route('**/embed/frame*', route => {
      answer = () => route.continue()
    })
    await page.evaluate('embed.open()')
    await page.clock.runFor(21_000)
    expect(await heard(page)).toContainEqual(expect.objectContaining({ name: 'ERROR', code: 'LOAD_TIMEOUT' }))
    const message = page.getByRole('alert').filter({ hasText: 'Your benefits cannot be shown right now' })
    await message.waitFor()
    await expect.poll(() => answer).toBeDefined()
    await answer?.()
    await frameOf(page).getByRole('button', { name: 'These are right – continue' }).waitFor()
    expect(await message.count()).toBe(0)
    await page.context().close()
  })
})
