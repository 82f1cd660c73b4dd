// @ts-check
// Harbor Rides, a made-up platform for drivers: everything that a partner's server needs to integrate the service.
// benefits.mjs calls the service, inbox.mjs receives webhooks, and this file is the platform's own web server.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { openBenefits, sentenceOf } from './benefits.mjs'
import { openInbox } from './inbox.mjs'

/**
 * @typedef {object} Settings
 * @property {string} service the service's base URL
 * @property {string} [calls] where this server itself reaches the service, if not at its base URL
 * @property {string} partnerId
 * @property {string} clientId
 * @property {string} clientSecret
 * @property {string} apiKey
 * @property {{ port: number, username: string, password: string }} webhook where it listens, and who may send
 */

/**
 * Starts the platform on a loopback port: the one in the settings, or a free one when that is taken. @param
 * {Settings} settings
 */
export async function startPlatform(settings) {
  const inbox = openInbox(settings.webhook)
  const benefits = await openBenefits(settings, call => inbox.tell('call', call))
  /** Who is signed in, by the cookie. A real platform keeps this in its database. @type {Map<string, Driver>} */
  const signedIn = new Map()
  let origins = ['']

  /** @type {Record<string, (exchange: Exchange) => Promise<unknown> | unknown>} */
  const routes = {
    'GET /demo': ({ response }) => sendPage(response, benefits),
    'GET /demo/app.js': ({ response }) => sendFile(response, 'app.js', 'text/javascript'),
    'GET /demo/inbox.js': ({ response }) => sendFile(response, 'inbox.js', 'text/javascript'),
    'GET /demo/looks.js': ({ response }) => sendFile(response, 'looks.js', 'text/javascript'),
    'GET /demo/words.js': ({ response }) => sendFile(response, 'words.js', 'text/javascript'),
    'GET /demo/style.css': ({ response }) => sendFile(response, 'style.css', 'text/css'),
    'GET /favicon.ico': ({ response }) => response.writeHead(204).end(),
    'GET /demo/inbox': ({ response }) => send(response, 200, inbox.received()),
    'GET /demo/live': ({ response }) => inbox.follow(response),
    'POST /webhook': ({ request, response }) => inbox.receive(request, response),

    // The routes below answer the platform's own page.
    'GET /demo/api/me': async ({ response, driver }) =>
      send(response, 200, driver ? { driver, ...(await benefits.standingOf(driver)) } : {}),
    'POST /demo/api/drivers': async ({ request, response }) => {
      const driver = { ...(await readJson(request)), userid: `driver-${randomBytes(4).toString('hex')}` }
      await benefits.share(driver)
      const session = randomBytes(24).toString('base64url')
      signedIn.set(session, driver)
      response.setHeader('set-cookie', `driver=${session}; Path=/demo; HttpOnly; SameSite=Lax`)
      send(response, 200, { driver })
    },
    'POST /demo/api/leave': ({ response }) => {
      response.setHeader('set-cookie', 'driver=; Path=/demo; Max-Age=0')
      send(response, 200, {})
    },
    'POST /demo/api/linktoken': withDriver(async ({ request, response }, driver) => {
      const { deeplinkdata, purpose, hosted } = await readJson(request)
      // The platform's own session says whose link it is, never the browser.
      send(
        response,
        200,
        await benefits.linkFor(driver, { deeplinkdata, purpose, backTo: hosted && `${origins[0]}/demo` }),
      )
    }),
    'POST /demo/api/result': withDriver(async ({ request, response }, driver) => {
      const { resulttoken } = await readJson(request)
      send(response, 200, await benefits.resultFor(driver, resulttoken))
    }),
    'POST /demo/api/nextmonth': withDriver(async ({ response }) =>
      send(response, 200, await benefits.nextMonth()),
    ),
  }

  const server = createServer((request, response) => {
    // `new URL` is not used, because it throws for requests such as `GET //`, which would end the process.
    const [pathname] = (request.url ?? '/').split('?')
    const name = `${request.method} ${pathname}`
    const route = Object.hasOwn(routes, name) ? routes[name] : undefined
    // A request under another host name comes from another site's page, whose name resolves to this machine (DNS
    // rebinding).
    if (!origins.includes(`http://${request.headers.host}`))
      return send(response, 421, { error: 'This server has another name.' })
    const session = /(?:^|; )driver=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
    const exchange = { request, response, driver: signedIn.get(session) }
    if (!route) return send(response, 404, { error: 'There is no such page.' })
    // Only the platform's own pages may use the platform's API.
    const { origin } = request.headers
    if (pathname !== '/webhook' && origin && !origins.includes(origin))
      return send(response, 403, { error: 'This came from another site.' })
    Promise.resolve()
      .then(() => route(exchange))
      .catch(error => send(response, 502, { error: sentenceOf(error) }))
  })
  await listen(server, settings.webhook.port).catch(() => listen(server, 0))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  origins = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]
  return {
    port,
    url: `http://127.0.0.1:${port}/webhook`,
    inbox: `http://127.0.0.1:${port}/demo/inbox`,
    site: `${origins[0]}/demo`,
    close: () =>
      new Promise(closed => {
        server.close(closed)
        server.closeAllConnections()
      }),
  }
}

/** @typedef {import('./benefits.mjs').Driver} Driver */
/** @typedef {{ request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse, driver: Driver | undefined }} Exchange */

/** @param {(exchange: Exchange, driver: Driver) => Promise<unknown>} work */
function withDriver(work) {
  return (/** @type {Exchange} */ exchange) =>
    exchange.driver
      ? work(exchange, exchange.driver)
      : send(exchange.response, 401, {
          error: 'Sign up first: the demo forgets its drivers when it restarts.',
        })
}

/** @param {import('node:http').ServerResponse} response @param {Awaited<ReturnType<typeof openBenefits>>} benefits */
async function sendPage(response, { service, partnerId, dropIn }) {
  const page = await readFile(new URL('site/index.html', import.meta.url), 'utf8')
  const { origin } = new URL(service)
  // Even this strict policy works: the drop-in needs the service in script-src and frame-src, and nothing else.
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${origin}`,
    `frame-src ${origin}`,
    `img-src 'self' ${origin}`,
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
  ]
  response.setHeader('content-security-policy', policy.join('; '))
  response.setHeader('cache-control', 'no-store')
  const filled = page
    .replaceAll(
      '{{dropin}}',
      service + dropIn.path.slice(new URL(service).pathname.replace(/\/$/, '').length),
    )
    .replaceAll('{{integrity}}', dropIn.integrity)
    .replaceAll('{{partner}}', partnerId)
    .replaceAll('{{service}}', service)
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(filled)
}

/** @param {import('node:http').ServerResponse} response @param {string} name @param {string} type */
async function sendFile(response, name, type) {
  const content = await readFile(new URL(`site/${name}`, import.meta.url))
  response
    .writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' })
    .end(content)
}

/** @param {import('node:http').ServerResponse} response @param {number} status @param {unknown} body */
function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(`${JSON.stringify(body, null, 2)}\n`)
}

/** @param {import('node:http').IncomingMessage} request */
async function readJson(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}')
}

/** @param {import('node:http').Server} server @param {number} port @returns {Promise<void>} */
function listen(server, port) {
  return new Promise((ready, failed) => {
    server.once('error', failed)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed)
      ready()
    })
  })
}
