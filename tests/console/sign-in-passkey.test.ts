// @whole

/// <reference lib="dom" />
import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { noPartner } from '../../service/src/audit/entries.ts'
import { sql } from '../../service/src/db/sql.ts'
import { removePasskeys } from '../../service/src/operators/passkey-store.ts'
import { disableOperator } from '../../service/src/operators/store.ts'
import { forAllTests } from '../for-all-tests.ts'
import { axe, violationsOf } from '../page/axe.ts'
import { describeInBrowser, launchWholeBrowser } from '../page/browser.ts'
import { startTestService } from '../rig.ts'
import { startIdentityProvider } from './identity-provider.ts'
import { consoleOf, newOperator } from './operator-browser.ts'

describeInBrowser('signing in, in a browser', () => {
  const identity = forAllTests(startIdentityProvider)
  const service = forAllTests(() => startTestService({ console: true, signIn: identity.settings }))
  let context: BrowserContext
  let base = ''
  beforeAll(async () => {
    // Browsers create passkeys only for host names.
    base = consoleOf(service).replace('127.0.0.1', 'localhost')
    identity.serve([base])
  })
  const browser = forAllTests(launchWholeBrowser)
  afterEach(async () => {
    await context.close()
    expect(JSON.stringify(service.logged)).not.toMatch(/eyJ|enr_o[ls]_/)
  })

  /** A page with an authenticator that verifies its user, or does not. */
  const open = async (isUserVerified = true) => {
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', message => message.type() === 'error' && faults.push(message.text()))
    const devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified,
        automaticPresenceSimulation: true,
      },
    })
    return { page, devtools, authenticatorId, faults }
  }
  const byLink = async (page: Page) => {
    const operator = await newOperator(service, 'support')
    await page.goto(base + operator.path)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${base}/`)
    return operator
  }
  const addPasskey = async (page: Page) => {
    await page.goto(`${base}/passkeys`)
    const before = await page.getByRole('row').count()
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(before + (before === 0 ? 2 : 1))
  }
  const signOut = async (page: Page) => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
    // Times are in milliseconds, and this clock hardly moves.
    service.advance(1000)
  }
  const recorded = async (operatorId: string) => {
    const rows = await service.database.query<{ action: string; result: string }>(sql`
      select action, result from audit_log where partner_id = ${noPartner} and actor = ${operatorId} order by entry_id`)
    return rows.map(({ action, result }) => (result === 'done' ? action : `${action}: ${result}`))
  }
  const credentialOf = async (devtools: CDPSession, authenticatorId: string) => {
    const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId })
    const [credential] = credentials
    if (!credential) throw new Error('the authenticator holds nothing')
    return credential
  }

  test('a passkey is added after a link, signs in without one where one wanted to be, and is removed', async () => {
    const { page, faults } = await open()
    const { operatorId, name } = await byLink(page)
    await addPasskey(page)
    await signOut(page)
    const wanted = await page.goto(`${base}/audit?who=all`)
    expect(wanted?.status()).toBe(401)
    await page.getByRole('link', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL(`${base}/audit?who=all`)
    await page.getByRole('link', { name }).click()
    await page.waitForURL(`${base}/passkeys`)
    expect(await page.getByRole('row').count()).toBe(2)
    await page.getByRole('button', { name: 'Remove' }).click()
    await expect.poll(() => page.textContent('main')).toContain('You have none yet.')
    await signOut(page)
    await page.goto(`${base}/sign-in/passkey`)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await expect.poll(() => page.textContent('main')).toContain('This passkey does not open the console')
    expect(await recorded(operatorId)).toEqual([
      'sign in',
      'add passkey',
      'sign out',
      'sign in by passkey',
      'look at audit: shown',
      'remove passkey',
      'sign out',
    ])
    // Only the two expected refusals, and nothing that the policy forbids.
    expect(faults.filter(fault => !/status of 40[13]/.test(fault))).toEqual([])
  })

  test('an authenticator that does not ask who it is adds nothing and signs nobody in', async () => {
    const { page, devtools, authenticatorId } = await open(false)
    await byLink(page)
    await page.goto(`${base}/passkeys`)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await expect.poll(() => page.textContent('main')).toContain('Your device gave no passkey')
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await addPasskey(page)
    await signOut(page)
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.goto(`${base}/sign-in/passkey`)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await expect.poll(() => page.textContent('main')).toContain('Your device gave no passkey')
  })

  test('an answer signs in once, and neither after 5 minutes nor from a copy whose counter is behind', async () => {
    const { page, devtools, authenticatorId } = await open()
    const { operatorId, name } = await byLink(page)
    await addPasskey(page)
    const first = await credentialOf(devtools, authenticatorId)
    await signOut(page)
    await page.goto(`${base}/sign-in/passkey`)
    const sent = page.waitForRequest(request => request.method() === 'POST')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    const body = (await sent).postData() ?? ''
    await page.waitForURL(`${base}/`)
    const again = await fetch(`${base}/sign-in/passkey`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: base, 'content-type': 'application/x-www-form-urlencoded' },
      body,
    })
    expect([again.status, again.headers.getSetCookie()]).toEqual([403, []])

    await signOut(page)
    await page.goto(`${base}/sign-in/passkey`)
    service.advance(5 * 60_000)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await expect.poll(() => page.textContent('main')).toContain('older than 5 minutes')

    const { signCount } = await credentialOf(devtools, authenticatorId)
    expect(signCount).toBeGreaterThan(first.signCount)
    await devtools.send('WebAuthn.removeCredential', { authenticatorId, credentialId: first.credentialId })
    await devtools.send('WebAuthn.addCredential', { authenticatorId, credential: { ...first, signCount: 0 } })
    await page.goto(`${base}/sign-in/passkey`)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await expect.poll(() => page.textContent('main')).toContain('This passkey does not open the console')
    expect(await recorded(operatorId)).toEqual([
      'sign in',
      'add passkey',
      'sign out',
      'sign in by passkey',
      'sign in by passkey: refused',
      'sign out',
      'sign in by passkey: refused',
      'sign in by passkey: refused',
    ])

    await devtools.send('WebAuthn.removeCredential', { authenticatorId, credentialId: first.credentialId })
    await devtools.send('WebAuthn.addCredential', {
      authenticatorId,
      credential: { ...first, signCount: signCount + 9 },
    })
    await disableOperator(service.database, name, service.now())
    await page.goto(`${base}/sign-in/passkey`)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await expect.poll(() => page.textContent('main')).toContain('This passkey does not open the console')
  })

  test('a passkey that was made for one session is none of another’s, and strangers’ answers are refused', async () => {
    const { page } = await open()
    const one = await byLink(page)
    await page.goto(`${base}/passkeys`)
    const sent = page.waitForRequest(request => request.url() === `${base}/passkeys/add`)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    const answer = new URLSearchParams((await sent).postData() ?? '').get('answer') ?? ''
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    const { signIn } = await import('./operator-browser.ts')
    const other = await signIn(service, 'admin')
    expect((await other.post('/passkeys/add', { answer })).status).toBe(409)
    for (const wrong of ['{}', '[]', 'null', '"', '{"id":1}', '{"id":"AA","response":{}}'])
      expect([wrong, (await other.post('/passkeys/add', { answer: wrong })).status]).toEqual([wrong, 409])
    const { id } = JSON.parse(answer) as { id: string }
    expect((await other.post('/passkeys/remove', { passkey: id })).status).toBe(404)
    for (const wrong of ['{}', 'null', '"', `{"id":"${id}"}`, answer]) {
      const refused = await fetch(`${base}/sign-in/passkey`, {
        method: 'POST',
        redirect: 'manual',
        headers: { origin: base, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ answer: wrong }),
      })
      expect([wrong, refused.status, refused.headers.getSetCookie()]).toEqual([wrong, 403, []])
    }
    expect((await recorded(one.operatorId)).slice(0, 2)).toEqual(['sign in', 'add passkey'])
    expect(await removePasskeys(service.database, one.operatorId)).toBe(1)
    await page.goto(`${base}/passkeys`)
    expect(await page.textContent('main')).toContain('You have none yet.')
  })

  test('with script off the page says so, and the link works', async () => {
    context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${base}/sign-in/passkey`)
    expect(await page.textContent('main')).toContain('A passkey needs script')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    expect(await page.textContent('main')).toContain('Open a sign-in link instead')
    await byLink(page)
    await page.goto(`${base}/passkeys`)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    expect(await page.textContent('main')).toContain('only a script can ask for a passkey')
  })

  test('signing in at the provider and out of both, by clicking alone', async () => {
    const { page, faults } = await open()
    identity.who = { sub: 'clicker', name: 'Click Hopper', groups: ['look'] }
    await page.goto(`${base}/webhooks`)
    await page.getByRole('link', { name: 'Sign in at Harbor ID' }).click()
    await page.waitForURL(`${base}/webhooks`)
    await page.goto(`${base}/passkeys`)
    expect(await page.textContent('main')).toContain('You sign in at your identity provider')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${identity.issuer}/session/end**`)
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.waitForURL(`${base}/signed-out`)
    expect(await page.textContent('main')).toContain('You are signed out')
    // The provider's own page has faults of its own.
    expect(faults.filter(fault => /Content Security Policy/.test(fault))).toEqual([])
  })

  test('axe finds nothing on the pages of signing in', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      context = await browser.newContext({
        colorScheme,
        bypassCSP: true,
        viewport: { width: 768, height: 900 },
      })
      const page = await context.newPage()
      await page.addInitScript(axe)
      const look = async (address: string) => {
        await page.goto(base + address)
        expect([address, colorScheme, await page.evaluate(violationsOf)]).toEqual([address, colorScheme, []])
      }
      for (const address of ['/', '/sign-in/passkey', '/signed-out', '/sign-in/provider/return'])
        await look(address)
      await byLink(page)
      await look('/passkeys')
      if (colorScheme === 'light') await context.close()
    }
  })
})
