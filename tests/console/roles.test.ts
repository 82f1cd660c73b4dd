// @nightly

/// <reference lib="dom" />
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from '../page/browser.ts'
import { ada, startTestService } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { consoleOf } from './operator-browser.ts'
import { CANARIES, populate } from './populated.ts'
import { canariesIn, identifiersIn, openWalks, pathsOf, patternOf, routesOf } from './walks.ts'

describeInBrowser('viewer and support in a browser, by keyboard alone', () => {
  const service = forAllTests(() => startTestService({ console: true }))
  const populated = forAllTests(() => populate(service))
  const browser = forAllTests(launchBrowser)
  const { enter, looksRight, followLinks, addressOf, findUser, act, actsOf, missedOf } = openWalks(
    populated,
    browser,
  )
  const nothing = async () => {}

  // isolation.test.ts shows the same of each address without a browser, in `npm test`.
  test('a viewer opens all that it may, sees nobody anywhere, and is refused the rest', async () => {
    const { keyboard, page, operatorId, texts, context } = await enter('viewer')
    for (const [key, path] of Object.entries({
      d: '/due',
      m: '/statements',
      w: '/webhooks',
      f: '/feeds',
      p: '/partners',
      c: '/catalogue',
      a: '/audit',
      u: '/',
    })) {
      await keyboard.go(key)
      expect(new URL(page.url()).pathname).toBe(path)
    }
    await findUser(keyboard, 'userid-canary')
    expect(await page.locator('h1').textContent()).toBe('User')
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
      const answer = await page.goto(addressOf(path))
      expect([path, answer?.status()]).toEqual([path, 403])
      expect(await page.textContent('main')).toMatch(
        /This needs the role (support|admin), and yours is viewer\./,
      )
    }
    // No answer repeats what the browser typed.
    expect(canariesIn(await texts())).toEqual([])
    expect(identifiersIn(await texts())).toEqual([])
    const deeds = await deedsOf(service, { operatorId })
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

  test('support does all that it may to a user, and a second person decides what needs one', async () => {
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

    // Whoever was shown a birth date makes no link for that person.
    await findUser(keyboard, 'userid-canary-2')
    await keyboard.follow(keyboard.link('Make a link'))
    await looksRight(page)
    await keyboard.choose('It opens', 'Change the offer')
    await keyboard.send('Make the link', 'reason-canary lost the mail')
    await looksRight(page)
    expect(await page.textContent('.secret')).toContain('/register/link/')

    await findUser(keyboard, 'userid-canary')
    await keyboard.fetchFile(`/users/${serviceid}/statements.csv`)
    await keyboard.fetchFile('/feeds.csv')
    await findUser(keyboard, 'userid-canary')
    const event = page.locator('.steps summary', { hasText: 'waiting' }).first()
    await keyboard.tabTo(event)
    await page.keyboard.press('Enter')
    await keyboard.follow(keyboard.link('send again').first())
    await looksRight(page)
    await keyboard.send('Send it again', 'reason-canary they lost it')

    await findUser(keyboard, serviceid)
    await keyboard.unfold('More')
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
      () => keyboard.type('Last day of cover', '12312027'),
      'Ask a second person',
    )
    await decide('Refuse')
    await findUser(keyboard, 'userid-canary-2')
    await act(keyboard, 'Take back an enrollment', nothing, 'Ask a second person')
    await keyboard.send('Withdraw it')
    await findUser(keyboard, 'userid-canary-2')
    await act(keyboard, 'Take back an enrollment', nothing, 'Ask a second person')
    await decide('Do it')
    await findUser(keyboard, 'userid-canary-2')
    await keyboard.unfold('More')
    await keyboard.follow(keyboard.link('Erase for good'))
    await looksRight(page)
    await keyboard.send('Ask a second person', 'reason-canary letter')
    await decide('Do it')
    await page.goto(`${consoleOf(service)}/users/${populated.waitingid}`)
    await looksRight(page)
    const proof = await keyboard.download(keyboard.link('Certificate of erasure'))
    expect(await readFile(await proof.path(), 'utf8')).toContain(`service id ${populated.waitingid}`)

    const email = 'several@example.com'
    await populated.otherPartner.client.prefillUser({ ...ada, email, userid: 'rider-several' })
    for (let at = 1; at < 8; at += 1)
      await populated.partner.client.prefillUser({ ...ada, email, userid: `rider-several-${at}` })
    await page.keyboard.press('/')
    await page.keyboard.type(email)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Several users' }).waitFor()
    await looksRight(page)
    // A table of more than a few rows is sorted by the heading that is pressed.
    await keyboard.button('Partner').press('Enter')
    expect(await page.textContent('tbody tr')).toContain('Corner Bank')

    await keyboard.go('w')
    await keyboard.follow(keyboard.link(new URL(populated.receiver.url).host))
    expect(await page.textContent('main')).toContain('answer-canary of the receiver')
    await keyboard.send('Count what was given up')
    const save = async (file: string, path = `${new URL(page.url()).pathname}.csv`) => {
      const csv = await keyboard.fetchFile(path)
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

    for (const path of pathsOf('support').closed) {
      const answer = await page.goto(addressOf(path))
      expect([path, answer?.status()]).toEqual([path, 403])
    }
    // What no viewer may see is shown to support, so the search above would have found it.
    expect(canariesIn(await texts())).toEqual(CANARIES)
    expect(identifiersIn(await texts())).toEqual([])
    expect(await actsOf(operatorId)).toEqual([
      ...['cancel', 'reinstate', 'swap', 'swapoff', 'offer'].map(name => `${name} user done because`),
      'make link done because',
      'export lines of user done',
      'export feeds done',
      ...['resend event', 'export user', 'consent user'].map(name => `${name} done because`),
      'ask for move asked because',
      'ask for void asked because',
      'withdraw void done',
      'ask for void asked because',
      'void on request done because',
      'ask for erase asked because',
      'erase on request done because',
      'download certificate done',
      ...['deliveries', 'what is due', 'webhooks', 'partners', 'audit', 'requests'].map(
        name => `export ${name} done`,
      ),
      'export catalogue done',
      ...pathsOf('support').closed.map(path => `GET ${path} refused`),
    ])
    expect(await actsOf(second.operatorId)).toEqual([
      'refuse move done because',
      'confirm void done because',
      'confirm erase done because',
    ])
    await second.context.close()
    await context.close()
  })

  test('who works for another partner finds nothing of this one at any of its addresses', async () => {
    const { page, texts, context } = await enter('admin', [populated.otherPartner.partnerId])
    // Of the service as a whole, who works for one partner sees nothing.
    const opened = await followLinks(page)
    expect(opened.length).toBeGreaterThan(5)
    for (const path of pathsOf('admin').open.filter(path => /:|audit|due/.test(path))) {
      if (path.startsWith('/catalogue')) continue
      const answer = await page.goto(addressOf(path))
      expect([path, answer?.status()]).toEqual([path, 404])
    }
    expect(canariesIn(await texts())).toEqual([])
    expect((await texts()).some(text => text.includes('Harbor Rides'))).toBe(false)
    await context.close()
  })

  test('each of their addresses and acts was opened or sent in these walks', () => {
    // statements.test.ts, feeds.test.ts and operator-links.test.ts send these, with months, runs and links of their own.
    const elsewhere =
      /^(GET \/statements(\/lines)?\.csv|POST \/feeds\/:feed\/\w+|POST \/users\/:serviceid\/date-and-link)$/
    expect(missedOf(routesOf('others').filter(route => !elsewhere.test(route)))).toEqual([])
  })
})
