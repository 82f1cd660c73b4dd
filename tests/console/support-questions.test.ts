/// <reference lib="dom" />
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { Role } from '../../service/src/operators/operator.ts'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from '../page/browser.ts'
import { ada, startTestService } from '../rig.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { consoleOf, newOperator } from './operator-browser.ts'

// `npm run screenshots:console` takes the pictures of docs/support.md while this test runs.
const pictures = process.env['CONSOLE_PICTURES']
const guide = readFileSync(new URL('../../docs/support.md', import.meta.url), 'utf8')
const MOST_STEPS = 3

describeInBrowser('the eleven questions of support', () => {
  const asked = new Set<string>()

  const service = forAllTests(() => startTestService({ console: true }))
  const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
  const receiver = forAllTests(startReceiver)
  beforeAll(async () => {
    await partner.client.createWebhook({
      url: receiver.url,
      username: 'harbor',
      password: 'pilot',
      events: ['all'],
    })
  })
  const browser = forAllTests(launchBrowser)

  async function signedIn(role: Role): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 860 },
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    const { path } = await newOperator(service, role)
    await page.goto(consoleOf(service) + path)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${consoleOf(service)}/`)
    return page
  }

  /** Performs a section of the guide: no more steps than allowed, and a picture at the end. */
  async function walk(
    section: string,
    picture: string | undefined,
    page: Page,
    steps: readonly (() => Promise<unknown>)[],
  ) {
    expect(guide).toContain(`## ${section}\n`)
    if (picture !== undefined) expect(guide).toContain(`(pictures/console-${picture}.webp)`)
    expect(steps.length).toBeLessThanOrEqual(MOST_STEPS)
    for (const step of steps) await step()
    asked.add(section)
    if (pictures === undefined || picture === undefined) return
    mkdirSync(pictures, { recursive: true })
    const devtools = await page.context().newCDPSession(page)
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 40 })
    writeFileSync(`${pictures}/console-${picture}.webp`, Buffer.from(data, 'base64'))
  }

  function enrol(userid: string, person = {}) {
    return partner.client.createUser({
      ...ada,
      ...person,
      userid,
      offername: 'starter',
      benefits: ['telehealth'],
    })
  }
  async function find(page: Page, what: string) {
    await page.keyboard.press('/')
    await page.keyboard.type(what)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/users/*')
  }
  async function press(page: Page, name: string) {
    await page.getByRole('button', { name, exact: true }).click()
    await page.waitForLoadState()
  }
  const shows = (page: Page, text: string) => page.getByText(text).first().waitFor({ state: 'attached' })
  const status = async (userid: string) => (await partner.client.getUser({ userid })).status

  /** A second operator opens the first waiting request and confirms it. */
  async function confirmFirst(title: string) {
    const second = await signedIn('support')
    await second.goto(`${consoleOf(service)}/requests`)
    await second.getByRole('link', { name: title }).first().click()
    await second.getByLabel('Because').fill('checked, ticket 9')
    await press(second, 'Do it')
    return second
  }

  test('why is this person not enrolled', async () => {
    await enrol('rider-old', { dob: '1950-01-01' })
    const page = await signedIn('support')
    await walk('Why is this person not enrolled?', 'why-not', page, [
      () => find(page, 'rider-old'),
      () => shows(page, 'Too old'),
      async () => {
        await page.getByLabel('Show name, birth date and address, because').fill('ticket 1')
        await press(page, 'Show')
        await shows(page, 'needs age')
      },
    ])
    await page.context().close()
  })

  test('did they get our webhook, and what did they say', async () => {
    receiver.answer = () => response => response.writeHead(422).end('no such rider')
    await enrol('rider-hook')
    const page = await signedIn('support')
    await find(page, 'rider-hook')
    await expect
      .poll(
        async () => {
          await page.reload()
          return page.content()
        },
        { timeout: 240_000, interval: 500 },
      )
      .toContain('waiting after HTTP 422')
    await page.goto(`${consoleOf(service)}/`)
    await walk('Did they get our webhook, and what did they say?', 'webhook', page, [
      () => find(page, 'rider-hook'),
      () => shows(page, 'waiting after HTTP 422'),
      async () => {
        await page.locator('summary', { hasText: 'waiting after HTTP 422' }).first().click()
        await page.getByText('no such rider').first().waitFor()
      },
    ])
    receiver.answer = () => 200
    await page.context().close()
  })

  test('who changed this', async () => {
    await enrol('rider-changed')
    await partner.client.cancelUser({ userid: 'rider-changed', reason: 'nonpayment' })
    const page = await signedIn('support')
    await walk('Who changed this?', 'who', page, [
      () => find(page, 'rider-changed'),
      () => shows(page, 'The membership is canceled because of nonpayment.'),
      () => shows(page, 'Who looked and worked here'),
    ])
    await page.context().close()
  })

  test('who changed the last day, and what the person pays this month', async () => {
    await partner.client.createUser({
      ...ada,
      userid: 'rider-ends',
      offername: 'plus',
      benefits: ['critical'],
    })
    await partner.client.cancelUser({ userid: 'rider-ends', reason: 'nonpayment' })
    const page = await signedIn('support')
    await walk('Who changed the last day?', undefined, page, [
      () => find(page, 'rider-ends'),
      () => shows(page, 'The membership is canceled because of nonpayment. The last day is'),
      () => shows(page, 'by Harbor Rides'),
    ])
    await page.goto(`${consoleOf(service)}/`)
    await walk('What does this person pay this month?', undefined, page, [
      () => find(page, 'rider-ends'),
      () => shows(page, 'Critical illness: $6.50 a month'),
    ])
    await page.context().close()
  })

  test('undo a mistake', async () => {
    await enrol('rider-undo')
    await partner.client.cancelUser({ userid: 'rider-undo' })
    const page = await signedIn('support')
    await walk('Undo a mistake', 'undo', page, [
      () => find(page, 'rider-undo'),
      async () => {
        await page.getByRole('link', { name: 'Take the cancel back' }).click()
        await press(page, 'See what it would do')
        await shows(page, 'The partner is told.')
      },
      async () => {
        await page.getByLabel('Reason').fill('cancelled by mistake, ticket 2')
        await press(page, 'Take it back')
        await page.waitForURL('**/users/*')
      },
    ])
    expect((await partner.client.getUser({ userid: 'rider-undo' })).status).toBe('active')
    await page.context().close()
  })

  test('wrong effective date', async () => {
    await enrol('rider-date')
    const page = await signedIn('support')
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' })
    await walk('Wrong effective date', 'date', page, [
      async () => {
        await find(page, 'rider-date')
        await page.getByText('More', { exact: true }).click()
        await page.getByRole('link', { name: 'Move a date' }).click()
        await page.getByLabel('First day of cover').fill(day.format(service.now() - 3 * 86_400_000))
      },
      async () => {
        await press(page, 'See what it would do')
        await shows(page, 'benefit_enrollment_corrected')
      },
      async () => {
        await page.getByLabel('Reason').fill('wrong day, ticket 3')
        await press(page, 'Ask a second person')
        await page.waitForURL('**/requests/*')
      },
    ])
    const second = await confirmFirst('Move a date')
    const { events } = await partner.client.listEvents({ userid: 'rider-date' })
    expect(events.map(({ eventname }) => eventname)).toContain('benefit_enrollment_corrected')
    await second.context().close()
    await page.context().close()
  })

  test('erase, and prove it', async () => {
    await enrol('rider-erased')
    const page = await signedIn('support')
    let second = page
    await walk('Erase a person, and prove it', 'erase', page, [
      async () => {
        await find(page, 'rider-erased')
        await page.getByText('More', { exact: true }).click()
        await page.getByRole('link', { name: 'Erase for good' }).click()
        await page.getByLabel('Reason').fill('letter, ticket 4')
        await press(page, 'Ask a second person')
        await page.waitForURL('**/requests/*')
      },
      async () => {
        second = await confirmFirst('Erase for good')
        expect(await status('rider-erased')).toBe('erased')
      },
      async () => {
        await page.goto(second.url())
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('link', { name: 'Certificate of erasure' }).click(),
        ])
        expect(readFileSync(await file.path(), 'utf8')).toContain('Certificate of erasure')
      },
    ])
    await second.context().close()
    await page.context().close()
  })

  test('who loses cover at the end of the month', async () => {
    await enrol('rider-leaving')
    await partner.client.cancelUser({ userid: 'rider-leaving' })
    const page = await signedIn('support')
    await walk('Who loses cover at the end of the month?', 'due', page, [
      async () => {
        await page.keyboard.press('g')
        await page.keyboard.press('d')
        await page.waitForURL('**/due')
        await page.getByLabel('Next').selectOption('30')
        await page.getByLabel('What').selectOption('membership ends')
        await press(page, 'Show')
      },
      async () => {
        await shows(page, 'rider-leaving')
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('link', { name: 'CSV' }).click(),
        ])
        expect(readFileSync(await file.path(), 'utf8')).toContain('rider-leaving')
      },
    ])
    await page.context().close()
  })

  test('send yesterday again to one partner', async () => {
    await enrol('rider-again')
    const page = await signedIn('support')
    await walk('Send yesterday again to one partner', 'again', page, [
      async () => {
        await page.goto(`${consoleOf(service)}/webhooks`)
        await page
          .getByRole('link', { name: new URL(receiver.url).host })
          .first()
          .click()
        await page.waitForURL('**/webhooks/*')
      },
      async () => {
        const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(service.now())
        await page.getByLabel('From').fill(day)
        await page.getByLabel('Until, included').fill(day)
        await press(page, 'Count')
        await shows(page, 'would be sent again')
      },
      async () => {
        await page.getByLabel('Reason').first().fill('they lost a day, ticket 5')
        await press(page, 'Send them again')
        await shows(page, 'sent again.')
      },
    ])
    await page.context().close()
  })

  test('stop a partner now', async () => {
    const other = await service.newPartner({ name: 'Stopped Foods' })
    await other.client.prefillUser({ ...ada, userid: 'before' })
    const page = await signedIn('admin')
    await walk('Stop a partner now', 'stop', page, [
      async () => {
        await page.goto(`${consoleOf(service)}/partners`)
        await page.getByRole('link', { name: 'Stopped Foods' }).click()
        await page.waitForURL('**/partners/*')
      },
      async () => {
        await page.locator('#why-disable').fill('contract ended, ticket 6')
        await press(page, 'Stop it now')
        await shows(page, 'Disabled since')
      },
    ])
    // Each process keeps what it knows of a partner for a second.
    service.advance(1000)
    await expect(other.client.prefillUser({ ...ada, userid: 'after' })).rejects.toMatchObject({ status: 401 })
    await page.context().close()
  })

  test('are all asked', () => {
    expect(asked.size).toBe(11)
  })
})
