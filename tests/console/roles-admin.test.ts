// @nightly

/// <reference lib="dom" />
import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from '../page/browser.ts'
import { startTestService } from '../rig.ts'
import { consoleOf, newOperator } from './operator-browser.ts'
import { populate } from './populated.ts'
import { openWalks, pathsOf, routesOf } from './walks.ts'

describeInBrowser('admins in a browser, by keyboard alone', () => {
  const service = forAllTests(() => startTestService({ console: true }))
  const populated = forAllTests(() => populate(service))
  const browser = forAllTests(launchBrowser)
  const { enter, looksRight, followLinks, actsOf, missedOf } = openWalks(populated, browser)

  test('an admin does all that it may to webhooks and partners', async () => {
    const { keyboard, page, operatorId, context } = await enter('admin')
    const opened = await followLinks(page)
    expect(pathsOf('admin').closed).toEqual([])
    expect(opened).toEqual(expect.arrayContaining(['/requests']))
    const toEndpoint = async () => {
      await keyboard.go('w')
      await keyboard.follow(keyboard.link(new URL(populated.receiver.url).host))
    }
    const why = 'ticket 12'
    await toEndpoint()
    await keyboard.send('Pause', why)
    await keyboard.send('Enable', why)
    const today = new Date(service.now())
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
    // What was held while the endpoint was paused is counted once it has left.
    const counted = async () => {
      await keyboard.send('Count')
      return page.locator('#why-replay').count()
    }
    await expect.poll(counted).toBe(1)
    await looksRight(page)
    await keyboard.send('Send them again', why)
    await page.getByText(/events? (is|are) sent again/).waitFor()

    const toPartner = async (name: string) => {
      await keyboard.go('p')
      await keyboard.follow(keyboard.link(name))
    }
    await toPartner('Corner Bank')
    await keyboard.follow(keyboard.link('Change settings, help and look'))
    await keyboard.type('Help by phone', '+1 305 555 0100')
    await keyboard.send('Save the settings', why)
    expect(await page.textContent('main')).toContain('305 555 0100')
    await toPartner('Corner Bank')
    await keyboard.unfold('Revoke')
    await keyboard.send('Revoke the last one', why)
    await keyboard.send('Stop it now', why)
    await looksRight(page)
    expect(await page.textContent('main')).toContain('ticket 12')
    await keyboard.send('Enable', why)

    await populated.partner.client.eraseUser({ userid: 'userid-canary-2' })
    await page.goto(`${consoleOf(service)}/users/${populated.waitingid}`)
    await keyboard.follow(keyboard.link('Read them'))
    await looksRight(page)
    await keyboard.send('Show', why)
    await looksRight(page)
    expect(await page.textContent('main')).toContain('Dates of cover')

    expect(await actsOf(operatorId)).toEqual([
      ...['pause webhook', 'enable webhook', 'replay', 'change partner'].map(name => `${name} done because`),
      ...['revoke credential', 'disable partner', 'enable partner'].map(name => `${name} done because`),
    ])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page
      .getByText(/signed out/i)
      .first()
      .waitFor()
    const { path } = await newOperator(service, 'viewer')
    await page.goto(consoleOf(service) + path)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${consoleOf(service)}/`)
    await context.close()
  })

  test('each address and act that only an admin has, and signing in and out, was opened or sent in these walks', () => {
    expect(missedOf(routesOf('admin'))).toEqual([])
  })
})
