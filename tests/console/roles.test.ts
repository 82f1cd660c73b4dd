/// <reference lib="dom" />
import { readFile } from 'node:fs/promises'
import type { Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import { acts } from '../../service/src/console/acts/all.ts'
import { ROLES, type Role } from '../../service/src/console/operators/operator.ts'
import { screens } from '../../service/src/console/screens.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ciTest, isLong, wholeRunTest } from '../long.ts'
import { axe, violationsOf } from '../page/axe.ts'
import { describeInBrowser, launchBrowser } from '../page/browser.ts'
import { ada, demoCatalogue } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { type Keyboard, openKeyboard } from './keyboard.ts'
import { consoleOf, newOperator } from './operator-browser.ts'
import { CANARIES, signInPage, startPopulatedConsole } from './populated.ts'

const looks = [
  ['light', 768],
  ['dark', 1280],
  ['light', 1280],
  ['dark', 768],
] as const

describeInBrowser('each role in a browser, by keyboard alone', () => {
  const populated = forAllTests(startPopulatedConsole)
  const browser = forAllTests(launchBrowser)

  /** How often each address was opened or sent to in these walks, less the refusals. */
  const walked = new Map<string, number>()
  const count = (request: Request, by: 1 | -1) => {
    if (!request.isNavigationRequest()) return
    const address = `${request.method()} ${new URL(request.url()).pathname}`
    walked.set(address, (walked.get(address) ?? 0) + by)
  }
  function countWalk(page: Page) {
    page.on('request', request => count(request, 1))
    page.on('response', response => response.status() >= 400 && count(response.request(), -1))
  }

  /** Signs in, and keeps the text of every answer that the browser gets. */
  async function enter(role: Role, partners?: readonly string[]) {
    const { service } = populated
    const signedIn = await signInPage({ browser, service }, role, {
      bypassCSP: true,
      ...(partners ? { partners } : {}),
    })
    const { page } = signedIn
    countWalk(page)
    await page.addInitScript(axe)
    await page.reload()
    const answers: Promise<string>[] = []
    page.on('response', response => answers.push(response.text().catch(() => '')))
    const texts = async () => [...(await Promise.all(answers)), await page.content()]
    return { ...signedIn, keyboard: openKeyboard(page), texts }
  }

  let turn = 0
  /** Axe on the page as it is, and whether all of it fits: in the next of the four looks, or in each of them by night. */
  async function looksRight(page: Page) {
    turn += 1
    const one = looks[turn % looks.length] ?? looks[0]
    for (const [colorScheme, width] of isLong ? looks : [one]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      const found = await page.evaluate(violationsOf)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      expect([page.url(), width, colorScheme, found, overflow <= 0]).toEqual([
        page.url(),
        width,
        colorScheme,
        [],
        true,
      ])
    }
  }

  /** Opens all that links lead to, from the first page on, of which these are refused; gives the addresses. */
  async function followLinks(page: Page, refused: readonly string[] = []): Promise<readonly string[]> {
    const base = consoleOf(populated.service)
    const waiting = ['/']
    // A list has as many addresses as it can be sorted and filtered; one of each kind is enough.
    const kinds = new Set(waiting)
    const opened: string[] = []
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const answer = await page.goto(base + next)
      expect([next, answer?.status()]).toEqual([next, refused.includes(next) ? 403 : 200])
      opened.push(next)
      const links = await page
        .locator('a[href]')
        .evaluateAll(all => all.map(one => (one as HTMLAnchorElement).href))
      for (const link of links) {
        const { origin, pathname, searchParams, search } = new URL(link)
        const kind = `${pathname} ${[...searchParams.keys()].join(' ')}`
        if (origin !== base || kinds.has(kind) || /\.csv$|certificate$/.test(pathname)) continue
        kinds.add(kind)
        waiting.push(pathname + search)
      }
    }
    return opened
  }

  function patternOf(path: string): RegExp {
    return new RegExp(`^${path.replace(/:\w+/g, '[^/?]+')}(\\?|$)`)
  }
  /** The screens that a role may open, and those that it may not, by their paths. */
  function pathsOf(role: Role) {
    const shown = screens.filter(({ method, path }) => method === 'GET' && !path.endsWith('.csv'))
    const may = (least: Role) => ROLES.indexOf(role) >= ROLES.indexOf(least)
    return {
      open: shown.filter(one => may(one.role)).map(({ path }) => path),
      closed: screens.filter(one => one.method === 'GET' && !may(one.role)).map(({ path }) => path),
    }
  }
  function addressOf(path: string): string {
    const { serviceid, webhookid, partner } = populated
    const values: Readonly<Record<string, string>> = {
      serviceid,
      endpointid: webhookid,
      partnerid: partner.partnerId,
      act: 'cancel',
      version: '1',
      eventid: serviceid,
      requestid: serviceid,
    }
    const query = /audit|due/.test(path) ? `?partner=${partner.partnerId}` : ''
    return path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '') + query
  }
  function canariesIn(texts: readonly string[]) {
    return CANARIES.filter(canary => texts.some(text => text.includes(canary)))
  }
  /** What an operator did, without what it looked at. */
  async function actsOf(operatorId: string) {
    const deeds = await deedsOf(populated.service, { operatorId })
    return deeds
      .filter(({ action }) => !/^look|^find$|^sign/.test(action))
      .map(({ action, result, because }) => `${action} ${result}${because ? ' because' : ''}`)
  }

  async function findUser({ page }: Keyboard, what: string) {
    await page.keyboard.press('/')
    await page.keyboard.type(what)
    await Promise.all([page.waitForURL('**/users/*'), page.keyboard.press('Enter')])
  }
  /** Goes through an act: choose, see what it would do, say why, do it. */
  async function act(keyboard: Keyboard, title: string, fill: () => Promise<void>, button: string) {
    const { page } = keyboard
    await keyboard.follow(keyboard.link(title))
    await looksRight(page)
    await fill()
    await keyboard.send('See what it would do')
    await page.getByRole('heading', { name: 'What would happen' }).waitFor()
    await looksRight(page)
    await keyboard.send(button, `reason-canary ${title}`)
  }
  const nothing = async () => {}

  // isolation.test.ts shows the same of each address without a browser, and sign-in-passkey.test.ts has one passkey, in `npm test`.
  ciTest('a viewer opens all that it may, sees nobody anywhere, and is refused the rest', async () => {
    const { keyboard, page, operatorId, texts, context } = await enter('viewer')
    for (const [key, path] of Object.entries({
      d: '/due',
      w: '/webhooks',
      p: '/partners',
      c: '/catalogue',
      a: '/audit',
      s: '/service',
      u: '/',
    })) {
      await keyboard.go(key)
      expect(new URL(page.url()).pathname).toBe(path)
    }
    await findUser(keyboard, 'userid-canary')
    expect(await page.title()).toBe('User – Benefits console')
    expect(await page.locator('#sentence').textContent()).toMatch(/^Active on Starter since/)
    await keyboard.go('c')
    await keyboard.send('Compare')
    await keyboard.go('a')
    await keyboard.send('Compare the record with its signatures')
    const opened = await followLinks(page)
    const { open, closed } = pathsOf('viewer')
    const missed = open.filter(
      path => path !== '/catalogue/diff' && !opened.some(one => patternOf(path).test(one)),
    )
    expect(missed).toEqual([])
    for (const path of closed) {
      const answer = await page.goto(consoleOf(populated.service) + addressOf(path))
      expect([path, answer?.status()]).toEqual([path, 403])
      expect(await page.textContent('main')).toMatch(
        /This needs the role (support|admin), and yours is viewer\./,
      )
    }
    // What the browser typed is no more than that: it came back in no answer.
    expect(canariesIn(await texts())).toEqual([])
    const deeds = await deedsOf(populated.service, { operatorId })
    expect(deeds.filter(({ result }) => result === 'refused').map(({ action }) => action)).toEqual(
      closed.map(path => `GET ${path}`),
    )
    expect(deeds).toContainEqual({
      action: 'look at user',
      result: 'shown',
      serviceId: populated.serviceid,
      because: false,
    })
    await context.close()
  })

  wholeRunTest(
    'support does all that it may to a user, and a second person decides what needs one',
    async () => {
      const { keyboard, page, operatorId, texts, context } = await enter('support')
      const { serviceid } = populated
      await followLinks(page)
      await findUser(keyboard, 'userid-canary')
      await keyboard.send('Show', 'reason-canary caller asked')
      expect(await page.textContent('main')).toContain('Adacanary')
      await looksRight(page)
      await findUser(keyboard, 'userid-canary')
      await act(
        keyboard,
        'Cancel the membership',
        () => keyboard.choose('Because of', 'nonpayment'),
        'Cancel it',
      )
      expect(await page.textContent('#sentence')).toContain('reason nonpayment')
      await act(keyboard, 'Take the cancel back', nothing, 'Take it back')
      await act(
        keyboard,
        'Swap benefits',
        async () => {
          await keyboard.choose('Telehealth is swapped for', 'Dental')
          await keyboard.choose('Into a free place comes', 'Vision')
        },
        'Swap them',
      )
      await act(keyboard, 'Call the swap off', nothing, 'Call it off')
      await act(keyboard, 'Change the offer', () => keyboard.choose('To', 'Plus'), 'Change it')
      expect(await page.textContent('#sentence')).toContain('Plus')

      await keyboard.follow(keyboard.link('Make a link'))
      await looksRight(page)
      await keyboard.choose('It opens', 'Change the offer')
      await keyboard.send('Make the link', 'reason-canary lost the mail')
      await looksRight(page)
      expect(await page.textContent('.secret')).toContain('/register/link/')

      await findUser(keyboard, 'userid-canary')
      for (const file of ['benefits', 'links'])
        await keyboard.download(page.locator(`main a[href*="/${file}.csv"]`))
      const event = page.locator('.events summary').first()
      await keyboard.tabTo(event)
      await page.keyboard.press('Enter')
      await keyboard.follow(keyboard.link('send again').first())
      await looksRight(page)
      await keyboard.send('Send it again', 'reason-canary they lost it')

      await findUser(keyboard, serviceid)
      await keyboard.follow(keyboard.link('Export all we hold'))
      await looksRight(page)
      await keyboard.type('Reason', 'reason-canary request of access')
      const exported = await keyboard.download(keyboard.button('Download the file'))
      expect(JSON.parse(await readFile(await exported.path(), 'utf8'))).toMatchObject({
        user: { userid: 'userid-canary' },
        documents: { profile: { firstname: 'Adacanary' } },
      })

      await findUser(keyboard, 'userid-canary-2')
      await act(
        keyboard,
        'Put a consent on record',
        async () => {
          await keyboard.choose('How it was given', 'On paper')
          await keyboard.type('On which day', '01052026')
          await keyboard.type('Evidence', 'evidence-canary in folder 7')
        },
        'Put it on record',
      )
      expect(await page.textContent('main')).toContain('on paper')
      await keyboard.download(page.locator('main a[href*="/consents.csv"]'))

      const second = await enter('support')
      const decide = async (button: string) => {
        await second.keyboard.go('r')
        await looksRight(second.page)
        await second.keyboard.follow(second.page.locator('main a[href^="/requests/"]').first())
        await looksRight(second.page)
        await second.keyboard.send(button, 'reason-canary read it')
      }
      await act(
        keyboard,
        'Move a date',
        () => keyboard.type('Last day of cover', '12312026'),
        'Ask a second person',
      )
      await decide('Refuse it')
      await findUser(keyboard, 'userid-canary-2')
      await act(keyboard, 'Void an enrollment', nothing, 'Ask a second person')
      await keyboard.send('Withdraw it')
      await findUser(keyboard, 'userid-canary-2')
      await act(keyboard, 'Void an enrollment', nothing, 'Ask a second person')
      await decide('Confirm and do it')
      await findUser(keyboard, 'userid-canary-2')
      await keyboard.follow(keyboard.link('Erase for good'))
      await looksRight(page)
      await keyboard.send('Ask a second person', 'reason-canary letter')
      await decide('Confirm and do it')
      await page.goto(`${consoleOf(populated.service)}/users/${populated.waitingid}`)
      await looksRight(page)
      const proof = await keyboard.download(keyboard.link('Certificate of erasure'))
      expect(await readFile(await proof.path(), 'utf8')).toContain(`serviceid  ${populated.waitingid}`)

      for (const { client } of [populated.partner, populated.otherPartner])
        await client.prefillUser({ ...ada, userid: 'rider-several' })
      await page.keyboard.press('/')
      await page.keyboard.type('rider-several')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Several users' }).waitFor()
      await looksRight(page)
      await keyboard.send('Partner')
      expect(await page.textContent('tbody tr')).toContain('Corner Bank')
      const several = await keyboard.download(keyboard.button('CSV'))
      expect(several.suggestedFilename()).toBe('found.csv')

      await keyboard.go('w')
      await keyboard.follow(keyboard.link(new URL(populated.receiver.url).host))
      expect(await page.textContent('main')).toContain('answer-canary of the receiver')
      await keyboard.send('Count what was given up')
      const save = async (file: string, place = 0) => {
        const csv = await keyboard.download(keyboard.link('CSV').nth(place))
        expect(csv.suggestedFilename()).toContain(file)
      }
      await keyboard.follow(keyboard.link('All that waits'))
      await looksRight(page)
      await save('waiting')
      for (const [key, file] of [
        ['d', 'due'],
        ['w', 'webhooks'],
        ['p', 'partners'],
        ['a', 'audit'],
        ['r', 'requests'],
        ['c', 'catalogue'],
      ] as const) {
        await keyboard.go(key)
        await save(file)
      }
      await keyboard.follow(keyboard.link('from 1 to 2'))
      await save('catalogue-1-2')
      await keyboard.go('p')
      await keyboard.follow(keyboard.link('Corner Bank'))
      await save('credentials')
      await keyboard.go('c')
      await keyboard.follow(keyboard.link('2'))
      await save('offers-of-version-2')
      await save('benefits-of-version-2', 1)

      for (const path of pathsOf('support').closed) {
        const answer = await page.goto(consoleOf(populated.service) + addressOf(path))
        expect([path, answer?.status()]).toEqual([path, 403])
      }
      // What a viewer is looked through for is there to be seen.
      expect(canariesIn(await texts())).toEqual(CANARIES)
      expect(await actsOf(operatorId)).toEqual([
        ...['cancel', 'reinstate', 'swap', 'swapoff', 'offer'].map(name => `${name} user done because`),
        'make link done because',
        ...['benefits', 'links'].map(name => `export ${name} of user done`),
        ...['resend event', 'export user', 'consent user'].map(name => `${name} done because`),
        'export consents of user done',
        'ask for move asked because',
        'ask for void asked because',
        'withdraw void done',
        'ask for void asked because',
        'void on request done because',
        'ask for erase asked because',
        'erase on request done because',
        'download certificate done',
        'export found users found',
        ...['deliveries', 'what is due', 'webhooks', 'partners', 'audit', 'requests'].map(
          name => `export ${name} done`,
        ),
        ...['catalogue', 'catalogue', 'credentials', 'catalogue', 'catalogue'].map(
          name => `export ${name} done`,
        ),
        ...pathsOf('support').closed.map(path => `GET ${path} refused`),
      ])
      expect(await actsOf(second.operatorId)).toEqual([
        'refuse move done because',
        'confirm void done because',
        'confirm erase done because',
      ])
      await second.context.close()
      await context.close()
    },
  )

  wholeRunTest('an admin does all that it may to webhooks, partners and the catalogue', async () => {
    const { keyboard, page, operatorId, context } = await enter('admin')
    const opened = await followLinks(page)
    expect(pathsOf('admin').closed).toEqual([])
    expect(opened).toEqual(expect.arrayContaining(['/requests', '/service', '/passkeys']))
    const toEndpoint = async () => {
      await keyboard.go('w')
      await keyboard.follow(keyboard.link(new URL(populated.receiver.url).host))
    }
    const why = 'ticket 12'
    await toEndpoint()
    await keyboard.send('Pause', why)
    await keyboard.send('Enable', why)
    const today = new Date(populated.service.now())
    const day = today
      .toLocaleDateString('en-US', {
        timeZone: 'America/New_York',
        day: '2-digit',
        month: '2-digit',
        year: 'numeric',
      })
      .replaceAll('/', '')
    await keyboard.type('From', day)
    await keyboard.type('Until, included', day)
    await keyboard.send('Count')
    await looksRight(page)
    await page.locator('#why-replay').waitFor()
    await keyboard.send('Send them again', why)
    await page.getByText('events are sent again').waitFor()

    const toPartner = async (name: string) => {
      await keyboard.go('p')
      await keyboard.follow(keyboard.link(name))
    }
    await toPartner('Corner Bank')
    await keyboard.follow(keyboard.link('Change settings, help and look'))
    await keyboard.type('Help by phone', '+1 305 555 0100')
    await keyboard.send('Save the settings', why)
    expect(await page.textContent('main')).toContain('305 555 0100')
    await keyboard.unfold('Make another secret or key')
    await keyboard.choose('Which', 'API key')
    await keyboard.send('Make it', 'leaked')
    await looksRight(page)
    expect(await page.textContent('.secret')).toContain('enr_ak_sandbox_')
    await toPartner('Corner Bank')
    await keyboard.unfold('Revoke')
    await keyboard.send('Revoke at once', why)
    await keyboard.send('Stop it now', why)
    await looksRight(page)
    expect(await page.textContent('main')).toContain('ticket 12')
    await keyboard.send('Enable', why)

    // Erased by the walk before.
    await page.goto(`${consoleOf(populated.service)}/users/${populated.waitingid}`)
    await keyboard.follow(keyboard.link('Read them'))
    await looksRight(page)
    await keyboard.send('Show', why)
    await looksRight(page)
    expect(await page.textContent('main')).toContain('Dates of cover')

    await keyboard.go('c')
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      keyboard.tabTo(page.getByLabel('Catalogue', { exact: true })).then(() => page.keyboard.press('Enter')),
    ])
    const buffer = Buffer.from(demoCatalogue.replace('slots: 2', 'slots: 1'))
    await chooser.setFiles({ name: 'next.yaml', mimeType: 'application/yaml', buffer })
    await keyboard.send('Check it')
    const draft = await keyboard.download(keyboard.button('CSV'))
    expect(draft.suggestedFilename()).toBe('catalogue-draft-after-2.csv')
    await keyboard.send('Look again')
    await looksRight(page)
    await keyboard.send('Ask a second person', why)
    await looksRight(page)
    const asked = page.url()
    const second = await enter('admin')
    await second.page.goto(asked)
    await looksRight(second.page)
    await second.keyboard.send('Confirm and do it', 'reason-canary looked at it')
    expect(new URL(second.page.url()).pathname).toBe('/catalogue/versions/3')
    expect(await actsOf(operatorId)).toEqual([
      ...['pause webhook', 'enable webhook', 'replay', 'change partner', 'make api_key'].map(
        name => `${name} done because`,
      ),
      ...['revoke credential', 'disable partner', 'enable partner'].map(name => `${name} done because`),
      'check catalogue done',
      'export catalogue done',
      'ask for publish asked because',
      'publish on request done because',
    ])
    expect(await actsOf(second.operatorId)).toEqual(['confirm publish done because'])
    await second.context.close()
    await context.close()
  })

  ciTest('who works for another partner finds nothing of this one at any of its addresses', async () => {
    const { page, texts, context } = await enter('admin', [populated.otherPartner.partnerId])
    // Of the service as a whole, who works for one partner sees nothing.
    const opened = await followLinks(page, ['/service'])
    expect(opened.length).toBeGreaterThan(5)
    for (const path of pathsOf('admin').open.filter(path => /:|audit|due/.test(path))) {
      if (path.startsWith('/catalogue')) continue
      const answer = await page.goto(consoleOf(populated.service) + addressOf(path))
      expect([path, answer?.status()]).toEqual([path, 404])
    }
    expect(canariesIn(await texts())).toEqual([])
    expect((await texts()).some(text => text.includes('Harbor Rides'))).toBe(false)
    await context.close()
  })

  ciTest.each(ROLES)('as %s a passkey is added, signs in without a link, and is removed', async role => {
    // Browsers create passkeys only for host names.
    const base = consoleOf(populated.service).replace('127.0.0.1', 'localhost')
    const context = await browser.newContext({ bypassCSP: true, reducedMotion: 'reduce' })
    const page = await context.newPage()
    await page.addInitScript(axe)
    countWalk(page)
    const devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    const keyboard = openKeyboard(page)
    const { path, operatorId, name } = await newOperator(populated.service, role)
    await page.goto(base + path)
    await keyboard.send('Sign in')
    const toPasskeys = () => keyboard.follow(page.getByRole('link', { name }))
    const signOut = async () => {
      await keyboard.follow(page.getByRole('button', { name: 'Sign out' }))
      await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
      // Times are in milliseconds, and this clock hardly moves.
      populated.service.advance(1000)
    }
    await toPasskeys()
    await keyboard.send('Add a passkey')
    await looksRight(page)
    await signOut()
    await keyboard.follow(keyboard.link('Sign in with a passkey'))
    await looksRight(page)
    await keyboard.send('Use a passkey')
    expect([new URL(page.url()).pathname, await page.textContent('.who .hint')]).toEqual(['/', role])
    await toPasskeys()
    await keyboard.send(/^Remove/)
    expect(await page.textContent('main')).toContain('You have none yet.')
    await signOut()
    const deeds = await deedsOf(populated.service, { operatorId })
    expect(deeds.map(({ action, result }) => `${action} ${result}`)).toEqual(
      ['sign in', 'add passkey', 'sign out', 'sign in by passkey', 'remove passkey', 'sign out'].map(
        action => `${action} done`,
      ),
    )
    await context.close()
  })

  wholeRunTest('each address of the console and each act was opened or sent in these walks', () => {
    const routes = screens.flatMap(({ method, path }) =>
      path.endsWith('/:act')
        ? acts.map(one => `${method} ${path.replace(':act', one.name)}`)
        : [`${method} ${path}`],
    )
    // Signing in at an identity provider has walks of its own, in sign-in-passkey.test.ts and https-proxy.test.ts.
    const signing = ['GET', 'POST'].flatMap(method => [
      `${method} /sign-in/:token`,
      `${method} /sign-in/passkey`,
    ])
    const missed = [...routes, ...signing, 'POST /sign-out'].filter(route => {
      const [method = '', path = ''] = route.split(' ')
      return ![...walked].some(
        ([address, times]) =>
          times > 0 &&
          address.startsWith(`${method} `) &&
          patternOf(path).test(address.slice(method.length + 1)),
      )
    })
    expect(missed).toEqual([])
  })
})
