import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { describeInBrowser, launchBrowser, launchWholeBrowser } from './browser.ts'
import { enrol, frameOf, heard, names, openHost, press } from './embed-host.ts'
import { heardByPartner, isEnrolled, walk, words } from './journey.ts'
import { startRig } from './rig.ts'

describeInBrowser('the embed', () => {
  const rig = forAllTests(startRig)
  const receiver = forAllTests(startReceiver)
  beforeAll(() => rig.addWebhook(receiver.url))
  const browser = forAllTests(launchWholeBrowser)
  // What the embed does by itself: in a whole browser each window takes five times the work.
  const shell = forAllTests(launchBrowser)
  beforeEach(() => rig.newPerson().then(() => undefined))

  /**
   * Presses a key in a frame that disappears because of it: Chromium may never answer, so the end of the frame is
   * awaited.
   */
  async function pressLast(page: Page, key: string): Promise<void> {
    void page.keyboard.press(key).catch(() => undefined)
    await page.locator('iframe').waitFor({ state: 'detached' })
  }

  async function leave(page: Page, close: string = words.en.close): Promise<void> {
    await frameOf(page).getByRole('button', { name: close, exact: true }).focus()
    await pressLast(page, 'Enter')
  }

  test.each(['en', 'es'] as const)(
    'leads from a button to the webhook received, in %s, tells the host what happened, and gives the focus back',
    async language => {
      const page = await openHost({ browser, rig }, { make: `{ locale: '${language}' }` })
      await page.getByRole('button', { name: 'My benefits' }).click()
      await walk(frameOf(page), language)
      await leave(page, words[language].close)
      await page.locator('iframe').waitFor({ state: 'detached' })
      await heardByPartner(receiver, rig)
      await isEnrolled(rig, language)
      const all = await heard(page)
      expect(
        all.filter(({ name }) => name).map(({ name, view }) => (view ? `${name} ${view}` : name)),
      ).toEqual([
        'OPEN',
        'READY',
        'VIEW DETAILS_REVIEW',
        'VIEW DETAILS_EDIT',
        'SUBMIT DETAILS_EDIT',
        'VIEW DETAILS_EDIT',
        'SUBMIT DETAILS_EDIT',
        'VIEW DETAILS_REVIEW',
        'SUBMIT DETAILS_REVIEW',
        'VIEW BENEFITS',
        'SUBMIT BENEFITS',
        'VIEW CHECK_ANSWERS',
        'SUBMIT CHECK_ANSWERS',
        'VIEW CHECK_ANSWERS',
        'SUBMIT CHECK_ANSWERS',
        'VIEW DONE',
        'ENROLLED',
        'EXIT',
      ])
      const { success } = all.find(heard => heard.success) ?? {}
      expect(success).toMatchObject({ outcome: 'enrolled' })
      expect(
        await rig.partner.client.exchangeResult({ resulttoken: success?.resulttoken ?? '' }),
      ).toMatchObject({
        userid: rig.userid(),
        outcome: 'enrolled',
        reference: expect.stringMatching(/^BE-/),
      })
      expect(all.at(-1)).toMatchObject({ exit: { outcome: 'enrolled' } })
      expect(JSON.stringify(all)).not.toMatch(/Ruiz|1990|305555|example\.com|Brickell|BE-/)
      expect(await page.evaluate('document.activeElement.id')).toBe('open')
      await page.context().close()
    },
  )

  test('tells the partner’s server that a person left with nothing done, and what they did when they came back', async () => {
    const page = await openHost({ browser, rig })
    await page.evaluate('embed.open()')
    await frameOf(page).getByRole('heading', { name: 'Check your details' }).waitFor()
    await page.evaluate('embed.exit()')
    const left = (await heard(page)).at(-1)?.exit
    expect(left).toMatchObject({ outcome: 'exited' })
    const ask = (resulttoken = '') => rig.partner.client.exchangeResult({ resulttoken })
    const answer = await ask(left?.resulttoken)
    expect(answer).toMatchObject({
      userid: rig.userid(),
      outcome: 'exited',
      reference: null,
      completedat: null,
    })
    expect((await heard(page)).find(({ name }) => name === 'READY')).toMatchObject({
      sessionid: answer.sessionid,
    })
    await page.evaluate('embed.open()')
    await enrol(page)
    await page.evaluate('embed.exit()')
    const done = (await heard(page)).at(-1)?.exit
    expect(done).toMatchObject({ outcome: 'enrolled' })
    expect(await ask(done?.resulttoken)).toMatchObject({ outcome: 'enrolled' })
    expect(await ask(left?.resulttoken)).toMatchObject({ outcome: 'exited' })
    await page.context().close()
  })

  test('puts the token into no address, and nothing into cookies or storage', async () => {
    const page = await openHost({ browser, rig })
    const addresses: string[] = []
    page.on('request', request => addresses.push(request.url(), request.headers()['referer'] ?? ''))
    await page.getByRole('button', { name: 'My benefits' }).click()
    await enrol(page)
    expect(addresses.join()).not.toMatch(/_lt_|_rt_|_sh_/)
    expect(addresses.some(address => address.includes(`/embed/frame?partner=${rig.partner.partnerId}`))).toBe(
      true,
    )
    expect(await page.context().cookies()).toEqual([])
    expect(await page.context().storageState()).toEqual({ cookies: [], origins: [] })
    await page.context().close()
  })

  test('lets a person read the documents before they agree to them', async () => {
    const page = await openHost({ browser, rig })
    await page.getByRole('button', { name: 'My benefits' }).click()
    await press(page, 'These are right – continue')
    await frameOf(page).getByRole('heading', { name: 'Choose' }).waitFor()
    await frameOf(page).locator('summary').first().click()
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      frameOf(page).getByRole('link', { name: 'Summary of benefits (PDF)' }).first().click(),
    ])
    expect(saved.suggestedFilename()).toMatch(/-en\.pdf$/)
    expect(await saved.failure()).toBeNull()
    await page.context().close()
  })

  test('speaks as it should on a page in any encoding', async () => {
    const page = await openHost({ browser: shell, rig }, { make: "{ locale: 'es' }", tokens: 0 })
    expect(await page.evaluate('document.characterSet')).toBe('windows-1252')
    await page.evaluate('embed.open()')
    await page.getByRole('alert').filter({ hasText: 'No se perdió nada. Inténtelo de nuevo.' }).waitFor()
    expect(await page.getByRole('button', { name: 'Cerrar' }).textContent()).toBe('\u00d7')
    await page.context().close()
  })

  test('has a frame with exactly the rights it needs', async () => {
    const page = await openHost({ browser, rig })
    await page.getByRole('button', { name: 'My benefits' }).click()
    const frame = page.locator('iframe')
    expect(await frame.getAttribute('sandbox')).toBe(
      'allow-scripts allow-same-origin allow-forms allow-popups allow-downloads',
    )
    expect(await frame.getAttribute('allow')).toBe('')
    expect(await frame.getAttribute('referrerpolicy')).toBe('no-referrer')
    expect(await frame.getAttribute('title')).toBe('Your benefits')
    await page.context().close()
  })

  test.each(['/', '/?isolated', '/nested'])(
    "works on the host's %s under the strictest policy",
    async path => {
      const context = await browser.newContext({ viewport: { width: 1000, height: 900 } })
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
      await page.goto(rig.host + path)
      const inner =
        path === '/nested' ? page.frames().find(frame => frame !== page.mainFrame()) : page.mainFrame()
      if (!inner) throw new Error('no inner frame')
      await inner.waitForFunction('globalThis.make')
      if (path === '/?isolated') expect(await inner.evaluate('crossOriginIsolated')).toBe(true)
      await inner.evaluate(`tokens.push('${await rig.mintToken()}'); make()`)
      await inner.getByRole('button', { name: 'My benefits' }).click()
      await inner.frameLocator('iframe').getByRole('button', { name: 'These are right – continue' }).click()
      await inner.frameLocator('iframe').getByRole('heading', { name: 'Choose your benefits' }).waitFor()
      expect(complaints.filter(text => !text.includes('favicon'))).toEqual([])
      await context.close()
    },
  )

  test('closes with the Escape key on either side, and its own button', async () => {
    const page = await openHost({ browser, rig })
    const opener = page.getByRole('button', { name: 'My benefits' })
    for (const close of ['dialog', 'button', 'frame']) {
      await opener.click()
      await frameOf(page).getByRole('button', { name: 'These are right – continue' }).waitFor()
      if (close === 'dialog') await page.getByRole('button', { name: 'Close', exact: true }).focus()
      if (close === 'button') await page.getByRole('button', { name: 'Close', exact: true }).click()
      else await pressLast(page, 'Escape')
      await page.locator('iframe').waitFor({ state: 'detached' })
      expect(await page.evaluate('document.activeElement.id')).toBe('open')
    }
    expect((await names(page)).filter(name => name === 'EXIT')).toHaveLength(3)
    await page.context().close()
  })

  test('moves the focus into the frame of a dialog, and leaves it alone inline', async () => {
    const page = await openHost({ browser, rig })
    await page.getByRole('button', { name: 'My benefits' }).click()
    await frameOf(page).getByRole('button', { name: 'These are right – continue' }).waitFor()
    expect(
      await frameOf(page)
        .locator('h1')
        .evaluate(h1 => h1 === document.activeElement),
    ).toBe(true)
    await page.evaluate('embed.destroy(); make({ inline: true })')
    await page.getByRole('button', { name: 'My benefits' }).click()
    await frameOf(page).getByRole('button', { name: 'These are right – continue' }).waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('open')
    await press(page, 'These are right – continue')
    await frameOf(page).getByRole('heading', { name: 'Choose your benefits' }).waitFor()
    expect(
      await frameOf(page)
        .locator('h1')
        .evaluate(h1 => h1 === document.activeElement),
    ).toBe(true)
    await page.context().close()
  })

  test('is as high as its content inline', async () => {
    const page = await openHost({ browser: shell, rig }, { make: '{ inline: true }' })
    await page.getByRole('button', { name: 'My benefits' }).click()
    await frameOf(page).getByRole('button', { name: 'These are right – continue' }).waitFor()
    const fits = () =>
      frameOf(page)
        .locator('html')
        .evaluate(html => Math.abs(html.scrollHeight - window.innerHeight) <= 1)
    await expect.poll(fits).toBe(true)
    await frameOf(page).getByRole('heading', { name: 'Check your details' }).waitFor()
    // A frame that is still changing its height moves under the mouse.
    await expect.poll(fits).toBe(true)
    await press(page, 'These are right – continue')
    await frameOf(page).getByRole('heading', { name: 'Choose your benefits' }).waitFor()
    await expect.poll(fits).toBe(true)
    await page.context().close()
  })

  test('warns inline of the time-out where the person is looking, also after they have scrolled on', async () => {
    const page = await openHost({ browser: shell, rig }, { make: '{ inline: true }' })
    await page.getByRole('button', { name: 'My benefits' }).click()
    await press(page, 'These are right – continue')
    await frameOf(page).getByRole('heading', { name: 'Choose your benefits' }).waitFor()
    // The view as the service sends it, but with seconds left.
    await frameOf(page)
      .locator('main')
      .evaluate(main => {
        const soon = main.cloneNode(true)
        if (soon instanceof HTMLElement) soon.dataset['idle'] = '120'
        main.replaceWith(soon)
      })
    const stay = frameOf(page).getByRole('button', { name: 'Stay on this page' })
    const isSeen = async () => {
      const { y = -1, height = 0 } = (await stay.boundingBox()) ?? {}
      return y >= 0 && y + height <= 900
    }
    await expect.poll(isSeen).toBe(true)
    expect(await stay.evaluate(button => button === document.activeElement)).toBe(true)
    for (const at of [9_999, 0]) {
      await page.evaluate(`scrollTo(0, ${at})`)
      await expect.poll(isSeen).toBe(true)
    }
    // Whoever stays has a quarter of an hour again; with two minutes the warning would come back within a second.
    await frameOf(page)
      .locator('main')
      .evaluate(main => main.setAttribute('data-idle', '900'))
    await stay.press('Enter')
    await stay.waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('tells its host of a confirmation once, also when it is then read in another language', async () => {
    const page = await openHost({ browser: shell, rig })
    await page.evaluate('embed.open()')
    await enrol(page)
    await frameOf(page).getByRole('button', { name: 'Español' }).click()
    await frameOf(page).getByRole('heading', { name: words.es.enrolled }).waitFor()
    await expect.poll(() => names(page)).toContain('LANGUAGE')
    const all = await heard(page)
    expect(all.filter(({ name }) => name === 'ENROLLED')).toHaveLength(1)
    expect(all.filter(({ success }) => success)).toHaveLength(1)
    await page.context().close()
  })

  test('leaves nothing behind when destroyed, at whatever moment', async () => {
    const page = await openHost({ browser: shell, rig })
    const before = await page.content()
    for (const when of ['OPEN', 'READY', 'VIEW']) {
      await page.evaluate('make(); heard.length = 0; embed.open()')
      await expect.poll(() => names(page)).toContain(when)
      await page.evaluate('embed.destroy()')
      expect(await page.content()).toBe(before)
    }
    const known = (await heard(page)).length
    await page.evaluate('new Promise(later => setTimeout(later, 300))')
    expect(await heard(page)).toHaveLength(known)
    expect(
      await page.evaluate('(() => { try { embed.open() } catch (error) { return error.message } })()'),
    ).toBe('this embed was destroyed')
    await page.context().close()
  })

  test('fetches a new token once when the first has ended', async () => {
    const page = await openHost({ browser: shell, rig }, { tokens: 0 })
    const ended = await rig.mintToken()
    await rig.endSessions()
    await page.evaluate(`tokens.push('${ended}', '${await rig.mintToken()}'); embed.open()`)
    await frameOf(page).getByRole('button', { name: 'These are right – continue' }).waitFor()
    expect(await page.evaluate('asked')).toBe(2)
    expect(await names(page)).not.toContain('ERROR')
    await page.context().close()
  })

  test('says that the link has ended when the second token has ended, too', async () => {
    const page = await openHost({ browser: shell, rig }, { tokens: 0 })
    await page.evaluate(`tokens.push('lt_one', 'lt_two', 'lt_three'); embed.open()`)
    await frameOf(page).getByRole('heading', { name: 'This link does not work anymore' }).waitFor()
    expect(await page.evaluate('asked')).toBe(2)
    expect((await heard(page)).filter(({ name }) => name === 'ERROR')).toMatchObject([
      { code: 'LINK_TOKEN_ENDED' },
    ])
    await leave(page)
    await expect
      .poll(async () => (await heard(page)).at(-1))
      .toEqual({
        exit: { outcome: 'exited', error: 'LINK_TOKEN_ENDED' },
      })
    await page.context().close()
  })

  test('never fetches when the token is a text', async () => {
    const page = await openHost({ browser: shell, rig }, { make: "{ token: 'lt_unknown' }" })
    await page.evaluate('embed.open()')
    await frameOf(page).getByRole('heading', { name: 'This link does not work anymore' }).waitFor()
    expect(await heard(page)).toContainEqual(
      expect.objectContaining({ name: 'ERROR', code: 'LINK_TOKEN_ENDED' }),
    )
    await page.context().close()
  })

  test('says so when the token cannot be fetched', async () => {
    const page = await openHost({ browser: shell, rig }, { tokens: 0 })
    await page.evaluate('embed.open()')
    await page.getByRole('alert').filter({ hasText: 'Your benefits cannot be shown right now' }).waitFor()
    expect(await heard(page)).toContainEqual(
      expect.objectContaining({ name: 'ERROR', code: 'TOKEN_FETCH_FAILED' }),
    )
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    expect(await page.locator('iframe').count()).toBe(0)
    await page.context().close()
  })

  test('changes its language while open, and accepts a look without effect', async () => {
    const page = await openHost(
      { browser: shell, rig },
      { make: "{ appearance: { light: { accent: '#ffd500' } } }" },
    )
    await page.evaluate('embed.open()')
    await frameOf(page).getByRole('link', { name: 'Change – Name' }).click()
    await frameOf(page).getByLabel('First name').fill('Eva')
    await page.evaluate("embed.update({ locale: 'es', appearance: { radius: 4 } })")
    await frameOf(page).getByRole('heading', { name: '¿Cómo se llama?' }).waitFor()
    expect(await frameOf(page).getByLabel('Nombre', { exact: true }).inputValue()).toBe('Eva')
    const accent = await frameOf(page)
      .locator('html')
      .evaluate(html => getComputedStyle(html).getPropertyValue('--accent').trim())
    expect(accent).toBe('#0b6650')
    expect((await heard(page)).map(({ name }) => name)).not.toContain('APPEARANCE_REFUSED')
    await page.context().close()
  })

  test('is an element, too', async () => {
    const page = await openHost({ browser: shell, rig })
    await page.evaluate(`
      const element = document.createElement('benefit-enrolment')
      element.setAttribute('inline', '')
      element.setAttribute('locale', 'es')
      element.token = async () => tokens.shift()
      element.addEventListener('event', ({ detail }) => heard.push(detail))
      document.getElementById('place').append(element)`)
    await frameOf(page).getByRole('heading', { name: 'Revise sus datos' }).waitFor()
    expect(await names(page)).toContain('READY')
    await page.evaluate("document.querySelector('benefit-enrolment').remove()")
    expect(await page.locator('iframe').count()).toBe(0)
    await page.context().close()
  })

  test('is an element that takes a new text as token, each time it opens', async () => {
    const page = await openHost({ browser: shell, rig })
    await page.evaluate("document.body.append(document.createElement('benefit-enrolment'))")
    for (const _ of ['first', 'second']) {
      await page.evaluate(`
        const element = document.querySelector('benefit-enrolment')
        element.token = tokens.shift()
        element.open()`)
      await frameOf(page).getByRole('button', { name: 'These are right – continue' }).waitFor()
      await page.evaluate("document.querySelector('benefit-enrolment').exit()")
      await page.locator('iframe').waitFor({ state: 'detached' })
    }
    await page.context().close()
  })

  test('takes a new text as token from React, each time it opens', async () => {
    const context = await shell.newContext()
    const page = await context.newPage()
    const given = [await rig.mintToken(), await rig.mintToken()]
    await page.addInitScript(`globalThis.given = ${JSON.stringify(given)}`)
    const query = new URLSearchParams({ service: rig.service, partner: rig.partner.partnerId, given: '1' })
    await page.goto(`${rig.host}/react?${query}`)
    for (const _ of ['first', 'second']) {
      await page.getByRole('button', { name: 'My benefits' }).click()
      await frameOf(page).getByRole('button', { name: 'These are right – continue' }).waitFor()
      await pressLast(page, 'Escape')
      await page.getByRole('button', { name: 'New token' }).click()
    }
    await context.close()
  })

  test.each(['hook', 'component'])('is safe in StrictMode as a %s', async form => {
    const context = await shell.newContext()
    const page = await context.newPage()
    const token = await rig.mintToken()
    await page.addInitScript(`globalThis.nextToken = async () => '${token}'`)
    const query = new URLSearchParams({
      service: rig.service,
      partner: rig.partner.partnerId,
      ...(form === 'component' ? { inline: '1' } : {}),
    })
    await page.goto(`${rig.host}/react?${query}`)
    if (form === 'hook') await page.getByRole('button', { name: 'My benefits' }).click()
    await frameOf(page).getByRole('button', { name: 'These are right – continue' }).waitFor()
    expect(await page.locator('iframe').count()).toBe(1)
    expect(await page.evaluate('asked')).toBe(1)
    if (form === 'component') {
      await page.getByRole('button', { name: 'In Spanish' }).click()
      await frameOf(page).getByRole('button', { name: 'Todo está bien: continuar' }).waitFor()
    }
    await page.getByRole('button', { name: 'Take away' }).dispatchEvent('click')
    await page.locator('iframe').waitFor({ state: 'detached' })
    await context.close()
  })
})
