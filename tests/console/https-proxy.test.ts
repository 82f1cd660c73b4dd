/// <reference lib="dom" />
import { request as ask } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { CERTIFICATES } from '../egress/certificates.ts'
import { forAllTests } from '../for-all-tests.ts'
import { freePort } from '../free-port.ts'
import { describeInBrowser, launchWholeBrowser } from '../page/browser.ts'
import { ada, startTestService } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { startIdentityProvider } from './identity-provider.ts'
import { newOperator } from './operator-browser.ts'

/** A proxy as operators put one before the console: it ends TLS and passes everything on, the Host included. */
type TlsProxy = {
  readonly url: string
  /** The port of this machine to which it passes requests on. */
  port: number
  /** What it says as Host in the place of what came. */
  host: string | undefined
  /** Who it says that asks. */
  caller: string
  readonly close: () => Promise<void>
}

async function startTlsProxy(): Promise<TlsProxy> {
  const server = createServer(CERTIFICATES.good, (request, response) => {
    const { method, url: path, headers } = request
    const passed = {
      ...headers,
      ...(proxy.host === undefined ? {} : { host: proxy.host }),
      'x-forwarded-for': proxy.caller,
    }
    const onward = ask({ host: '127.0.0.1', port: proxy.port, method, path, headers: passed }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const proxy: TlsProxy = {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    port: 0,
    host: undefined,
    caller: '192.0.2.1',
    close: () =>
      new Promise(closed => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
  return proxy
}

describeInBrowser('the console on https, behind a proxy', () => {
  const proxy = forAllTests(startTlsProxy)
  const identity = forAllTests(startIdentityProvider)
  const service = forAllTests(async () => {
    proxy.port = await freePort()
    return startTestService({
      console: { port: proxy.port, url: proxy.url },
      signIn: identity.settings,
      trustProxy: ['127.0.0.1'],
      startAt: Date.now(),
    })
  })
  let serviceid = ''
  beforeAll(async () => {
    identity.serve([proxy.url])
    const partner = await service.newPartner({ name: 'Harbor Rides' })
    const created = await partner.client.createUser({ ...ada, userid: 'secured-1', offername: 'starter' })
    serviceid = created.serviceid
  })
  const browser = forAllTests(launchWholeBrowser)

  const newPage = async () => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    return { context, page: await context.newPage() }
  }

  test('signs in, shows, acts and signs out, with cookies that travel over TLS alone', async () => {
    const { context, page } = await newPage()
    const { path, operatorId } = await newOperator(service, 'admin')
    await page.goto(proxy.url + path)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${proxy.url}/`)
    expect(await context.cookies()).toEqual([
      expect.objectContaining({
        name: '__Host-enrolment-console',
        secure: true,
        httpOnly: true,
        sameSite: 'Lax',
        path: '/',
      }),
    ])
    await page.getByLabel('Find a user, event or request').fill('secured-1')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.waitForURL(`${proxy.url}/users/${serviceid}`)
    await page.getByLabel('Show name, birth date and address, because').fill('ticket 9')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('Adacanary').waitFor()
    await page.goto(`${proxy.url}/users/${serviceid}/act/cancel`)
    await page.getByRole('button', { name: 'See what it would do' }).click()
    await page.getByLabel('Reason').fill('ticket 9')
    await page.getByRole('button', { name: 'Cancel it' }).click()
    await page.waitForURL(`${proxy.url}/users/${serviceid}`)
    expect(await page.textContent('#sentence')).toContain('canceled by an operator')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out').waitFor()
    expect(await context.cookies()).toEqual([])
    expect((await deedsOf(service, { operatorId })).map(({ action }) => action)).toEqual(
      expect.arrayContaining(['sign in', 'look at person', 'cancel user', 'sign out']),
    )
    await context.close()
  })

  test('leads to the identity provider and back to its own https address', async () => {
    identity.who = { sub: 'on-tls', name: 'Edith Clarke', groups: ['call-center'] }
    const { context, page } = await newPage()
    const asked: string[] = []
    page.on('request', request => asked.push(request.url()))
    await page.goto(`${proxy.url}/users/${serviceid}`)
    await page.getByRole('link', { name: 'Sign in at Harbor ID' }).click()
    await page.waitForURL(`${proxy.url}/users/${serviceid}`)
    expect(await page.textContent('.who')).toContain('Edith Clarke')
    const [began = ''] = asked.filter(url => url.startsWith(`${identity.issuer}/auth`))
    expect(new URL(began).searchParams.get('redirect_uri')).toBe(`${proxy.url}/sign-in/provider/return`)
    expect((await context.cookies(proxy.url)).every(({ secure }) => secure)).toBe(true)
    await context.close()
  })

  test('puts refused sign-ins on record by the network of the browser, not of the proxy', async () => {
    const { context, page } = await newPage()
    for (const caller of ['198.51.100.7', '203.0.113.9', '203.0.113.10']) {
      proxy.caller = caller
      const { path } = await newOperator(service, 'viewer')
      await page.goto(proxy.url + path)
      // The link ends before the button is pressed.
      await service.database.query(sql`delete from operator_links`)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'This link has ended' }).waitFor()
    }
    await expect
      .poll(
        async () => {
          const rows = await service.database.query<{ times: number }>(sql`
            select sum(times)::integer as times from audit_log where action = 'authenticate' and result = 'refused'
            group by source order by times`)
          return rows.map(row => row.times)
        },
        { timeout: 60_000 },
      )
      .toEqual([1, 2])
    await context.close()
  })

  test('takes a form from its own https pages alone, and no name but its own', async () => {
    const sent = async (headers: Record<string, string>, method = 'POST') =>
      new Promise<{ status: number | undefined; cookie: readonly string[] }>((resolve, reject) => {
        const options = { host: '127.0.0.1', port: proxy.port, path: '/sign-out', method, headers }
        ask(options, answer => {
          answer.resume()
          answer.on('end', () =>
            resolve({ status: answer.statusCode, cookie: answer.headers['set-cookie'] ?? [] }),
          )
        })
          .on('error', reject)
          .end()
      })
    const { host } = new URL(proxy.url)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const own = await sent({ ...form, host, origin: proxy.url })
    expect(own.status).toBe(200)
    expect(own.cookie).toEqual([expect.stringMatching(/^__Host-enrolment-console=; .*Secure/)])
    // The same name without TLS is another origin.
    expect((await sent({ ...form, host, origin: `http://${host}` })).status).toBe(403)
    expect((await sent({ ...form, host, origin: `http://127.0.0.1:${proxy.port}` })).status).toBe(403)
    // A caller that bypasses the proxy, and a proxy that passes on another Host than the browser's.
    const direct = `127.0.0.1:${proxy.port}`
    expect((await sent({ ...form, host: direct, origin: `http://${direct}` })).status).toBe(421)
    proxy.host = direct
    const { context, page } = await newPage()
    const answer = await page.goto(`${proxy.url}/`)
    proxy.host = undefined
    expect(answer?.status()).toBe(421)
    await context.close()
  })
})
