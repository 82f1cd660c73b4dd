import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Provider from 'oidc-provider'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { raiseTest } from '../../service/src/webhooks/api/test-event.ts'
import type { Dispatcher } from '../../service/src/webhooks/delivery/dispatcher.ts'
import { createResolver } from '../../service/src/webhooks/egress/resolver.ts'
import { changeEndpoint, type EndpointChanges } from '../../service/src/webhooks/endpoint/endpoints.ts'
import { findAttempts } from '../../service/src/webhooks/log/attempts.ts'
import { CERTIFICATES } from '../egress/certificates.ts'
import { startNameServer } from '../egress/name-server.ts'
import { freePort } from '../free-port.ts'
import { goByTicks } from '../ticks.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

const SECRET = 'a secret: +/%&'
const mTls = { clientcertificate: CERTIFICATES.wrong.cert, clientkey: CERTIFICATES.wrong.key }

async function startOwn(): Promise<Receiver> {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  return receiver
}

/** A server on loopback, which ends with the test. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  onTestFinished(
    () =>
      new Promise<void>(closed => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The token endpoint of somebody else's making, with one client, and how often it was asked. */
async function startProvider() {
  const asked: string[] = []
  let provider: Provider | undefined
  const address = await serve((request, response) => {
    asked.push(request.url ?? '')
    provider?.callback()(request, response)
  })
  provider = new Provider(address, {
    clients: [
      {
        client_id: 'benefits client',
        client_secret: SECRET,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    scopes: ['hooks'],
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
    ttl: { ClientCredentials: 600 },
  })
  return { provider, asked, tokenurl: `${address}/token` }
}

const oauth2 = { authorization: 'oauth2', clientid: 'benefits client', clientsecret: SECRET } as const
const NO_BASIC = { username: undefined, password: undefined }

async function attemptsAt(rig: DispatchRig, eventId: string | undefined) {
  const attempts = await findAttempts(rig.database, rig.partner, eventId ?? '')
  return attempts.map(one => [one.pair, one.status ?? one.error_class, one.answer])
}

/** Sends a test event, whose answer is kept although the rig's users have no keys. */
async function sendTest(rig: DispatchRig, dispatcher: Dispatcher, endpointId: string) {
  const { partnerId } = rig.partner
  const eventId = await rig.database.transaction(tx =>
    raiseTest(tx, { partnerId, endpointId, now: rig.now() }),
  )
  dispatcher.nudge()
  await dispatcher.idle()
  return attemptsAt(rig, eventId)
}

function change(rig: DispatchRig, endpointId: string, changes: EndpointChanges) {
  const context = { rules: { sandbox: true, allow: [] }, real: rig.now }
  return rig.database.transaction(tx =>
    changeEndpoint(tx, { partner: rig.partner, endpointId, changes }, context),
  )
}

test("a token of somebody else's token endpoint is fetched once, kept, and fetched anew after a 401", async () => {
  await using rig = await dispatchRig()
  const receiver = await startOwn()
  const { provider, asked, tokenurl } = await startProvider()
  await rig.addEndpoint(receiver.url, { ...NO_BASIC, ...oauth2, tokenurl, scope: 'hooks' })
  const dispatcher = rig.open()
  await rig.raise(Array.from({ length: 20 }, (_, index) => `u${index}`))
  await dispatcher.idle()
  const tokens = new Set(receiver.deliveries.map(one => one.authorization.replace('Bearer ', '')))
  expect([receiver.deliveries.length, tokens.size, asked]).toEqual([20, 1, ['/token']])
  const [token = ''] = tokens
  expect(await provider.ClientCredentials.find(token)).toMatchObject({
    clientId: 'benefits client',
    scope: 'hooks',
  })
  receiver.answer = delivery => (delivery.authorization === `Bearer ${token}` ? 401 : 200)
  const [eventId] = await rig.raise(['again'])
  await dispatcher.idle()
  rig.advance(10_000)
  await dispatcher.idle()
  expect((await attemptsAt(rig, eventId)).map(([, status]) => status)).toEqual([401, 200])
  expect(asked).toHaveLength(2)
})

test('from Basic to OAuth 2 and on to a bearer token no delivery fails, whichever the endpoint accepts', async () => {
  await using rig = await dispatchRig()
  const receiver = await startOwn()
  const { tokenurl } = await startProvider()
  const { webhookid } = await rig.addEndpoint(receiver.url)
  const dispatcher = rig.open()
  const deliver = async () => {
    const [eventId] = await rig.raise(['u'])
    await dispatcher.idle()
    return (await attemptsAt(rig, eventId)).map(([pair, status]) => [pair, status])
  }
  let kind = 'Basic'
  receiver.answer = delivery => (delivery.authorization.startsWith(kind) ? 200 : 401)
  expect(await deliver()).toEqual([['current', 200]])
  await change(rig, webhookid, { credentials: { ...oauth2, tokenurl } })
  expect(await deliver()).toEqual([
    ['next', 401],
    ['current', 200],
  ])
  kind = 'Bearer'
  expect(await deliver()).toEqual([['next', 200]])
  await change(rig, webhookid, { credentials: { authorization: 'bearer', token: 'static.token' } })
  kind = 'Bearer static.token'
  expect(await deliver()).toEqual([['next', 200]])
  // A token endpoint that refuses the new client is no gap either.
  await change(rig, webhookid, { credentials: { ...oauth2, tokenurl, clientsecret: 'wrong' } })
  expect(await deliver()).toEqual([
    ['next', 'token_refused'],
    ['current', 200],
  ])
})

const bearer = JSON.stringify({ access_token: 'x', token_type: 'bearer', expires_in: 60 })
test.each([
  [
    'refuses',
    'token_refused',
    'answered 400, invalid_client',
    [400, '{"error":"invalid_client","x":"SECRET"}'],
  ],
  ['redirects', 'token', 'answered 302', [302, bearer]],
  ['is gone', 'token_refused', 'answered 410', [410, '']],
  ['is broken', 'token', 'answered 500', [500, bearer]],
  ['answers no JSON', 'token', 'answered without a bearer token', [200, 'SECRET']],
  [
    'wants another kind of token',
    'token',
    'answered without a bearer token',
    [200, bearer.replace('bearer', 'mac')],
  ],
  [
    'splits a header',
    'token',
    'answered without a bearer token',
    [200, bearer.replace('"x"', '"x\\r\\nhost: a"')],
  ],
  ['never answers', 'token', 'did not answer: timeout', undefined],
] as const)(
  'a token endpoint that %s: the attempt failed, nothing reached the endpoint, and the cause is told without the answer',
  async (_name, error, note, answer) => {
    goByTicks()
    await using rig = await dispatchRig()
    const receiver = await startOwn()
    const tokenurl = await serve((_request, response) => {
      if (answer) response.writeHead(answer[0], { location: receiver.url }).end(answer[1])
    })
    const { webhookid } = await rig.addEndpoint(receiver.url, { ...NO_BASIC, ...oauth2, tokenurl })
    const dispatcher = rig.open({}, { deadlineMs: 1000 })
    expect(await sendTest(rig, dispatcher, webhookid)).toEqual([
      ['current', error, `The token endpoint ${note}.`],
    ])
    expect([receiver.deliveries.length, JSON.stringify(rig.logged)]).toEqual([
      0,
      expect.not.stringContaining('SECRET'),
    ])
  },
)

test('a token endpoint inside the network is not reached, and looks like a name that nobody knows', async () => {
  await using rig = await dispatchRig()
  const names = await startNameServer()
  onTestFinished(() => names.close())
  names.zones.set('inside.example.com', ['10.0.0.1'])
  const resolver = createResolver({ servers: [names.address] })
  const dispatcher = rig.open({}, { resolver })
  const answers = []
  for (const host of ['inside.example.com', 'unknown.example.com']) {
    const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook', {
      ...NO_BASIC,
      ...oauth2,
      tokenurl: `https://${host}/`,
    })
    answers.push((await sendTest(rig, dispatcher, webhookid))[0])
  }
  expect(answers[0]).toEqual(['current', 'token', 'The token endpoint has no public address.'])
  expect(answers[1]).toEqual(answers[0])
  resolver.close()
})

const hasNginx = spawnSync('nginx', ['-v']).status === 0
if (!hasNginx) console.warn('!!!! nginx is missing: client certificates and rates are not tried.')

/**
 * nginx in front of a receiver: it wants our client certificate, token and key, and refuses more than ten requests a second, with ten
 * more at once.
 */
async function startNginx(target: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'enrolment-gateway-'))
  const port = await freePort()
  const { good, wrong } = CERTIFICATES
  for (const [name, text] of Object.entries({ cert: good.cert, key: good.key, clients: wrong.cert }))
    writeFileSync(join(folder, name), text)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(name => `${name}_temp_path ${join(folder, name)};`)
    .join(' ')
  writeFileSync(
    join(folder, 'nginx.conf'),
    `pid ${folder}/pid; error_log stderr; daemon off; events {}
    http {
      access_log off; ${temporary}
      limit_req_zone $server_name zone=all:1m rate=10r/s;
      server {
        listen 127.0.0.1:${port} ssl; server_name gateway;
        ssl_certificate ${folder}/cert; ssl_certificate_key ${folder}/key;
        ssl_client_certificate ${folder}/clients; ssl_verify_client on;
        if ($http_authorization != "Bearer gate") { return 401; }
        if ($http_x_gateway_key != "k") { return 401; }
        location / { limit_req zone=all burst=10 nodelay; limit_req_status 429; proxy_pass ${new URL(target).origin}; proxy_set_header X-Client $ssl_client_s_dn; }
      }
    }`,
  )
  const nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  onTestFinished(async () => {
    nginx.kill()
    await new Promise(ended => nginx.once('close', ended))
    rmSync(folder, { recursive: true, force: true })
  })
  await expect.poll(() => isListening(port)).toBe(true)
  return `https://127.0.0.1:${port}/hook`
}

function isListening(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

test.runIf(hasNginx)(
  'behind nginx that wants a certificate, a token and a key, and bears ten requests a second, each delivery is accepted the first time',
  async () => {
    await using rig = await dispatchRig()
    const receiver = await startOwn()
    const url = await startNginx(receiver.url)
    const { webhookid } = await rig.addEndpoint(url, {
      ...NO_BASIC,
      authorization: 'bearer',
      token: 'gate',
      ...mTls,
      ratelimit: 8,
      headers: { 'X-Gateway-Key': 'k' },
    })
    // By the clock of nginx.
    const dispatcher = rig.open({}, { trusted: CERTIFICATES.good.cert, real: Date.now })
    const userids = Array.from({ length: 16 }, (_, index) => `u${index}`)
    const eventIds = await rig.raise(userids)
    await receiver.received(userids.length)
    await dispatcher.idle()
    const seen = receiver.deliveries.map(({ userid, headers }) => [userid, headers['x-client']])
    expect(new Set(seen)).toEqual(new Set(userids.map(userid => [userid, 'CN=wrong'])))
    const attempts = (await Promise.all(eventIds.map(id => attemptsAt(rig, id)))).flat()
    expect(attempts.map(([, status]) => status)).toEqual(eventIds.map(() => 200))
    // Without the certificate the gateway refuses, also on connections that were open before.
    await change(rig, webhookid, { clientcertificate: 'none' })
    const [eventId] = await rig.raise(['without'])
    // Its rate may hold it back for a moment, while the dispatcher has nothing else to do.
    const status = async () => (await attemptsAt(rig, eventId))[0]?.[1]
    await expect.poll(status).toBe(400)
  },
)

test('a changed rate holds at once, whatever would have waited by the former one', async () => {
  await using rig = await dispatchRig()
  const receiver = await startOwn()
  const { webhookid } = await rig.addEndpoint(receiver.url, { ratelimit: 0.001 })
  // No poll helps.
  const dispatcher = rig.open({ pollMs: 600_000 }, { real: Date.now })
  await rig.raise(['a', 'b', 'c', 'd'])
  await dispatcher.idle()
  expect(receiver.deliveries).toHaveLength(1)
  await change(rig, webhookid, { ratelimit: 20 })
  dispatcher.refresh()
  await receiver.received(4)
})

/** A proxy that says of each tunnel which address was asked for and with which credentials; `answer` refuses it. */
async function startProxy(answer?: string) {
  const asked: (string | undefined)[] = []
  const server = createServer()
  server.on('connect', (request, socket, head) => {
    asked.push(request.url, request.headers['proxy-authorization'])
    if (answer) return socket.end(`HTTP/1.1 ${answer}\r\n\r\n`)
    const { hostname, port } = new URL(`http://${request.url}`)
    const target = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      target.write(head)
      target.pipe(socket).pipe(target)
    })
    for (const end of [socket, target])
      end.on('error', () => target.destroy()).on('error', () => socket.destroy())
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return { asked, proxy: { host: '127.0.0.1', port, authorization: 'Basic cDpx' } }
}

test('through a proxy a delivery and the request for its token go to the address that was checked here', async () => {
  await using rig = await dispatchRig()
  const receiver = await startOwn()
  const { tokenurl } = await startProvider()
  const { asked, proxy } = await startProxy()
  await rig.addEndpoint(receiver.url.replace('127.0.0.1', 'localhost'), { ...NO_BASIC, ...oauth2, tokenurl })
  const dispatcher = rig.open({}, { proxy })
  const [eventId] = await rig.raise(['u'])
  await dispatcher.idle()
  expect(receiver.deliveries).toHaveLength(1)
  expect(await attemptsAt(rig, eventId)).toEqual([['current', 200, null]])
  const targets = [tokenurl, receiver.url].map(url => new URL(url).host)
  expect(asked).toEqual(targets.flatMap(host => [host, 'Basic cDpx']))
})

/** How each proxy is started as one that wants a user and a password, and records the addresses of tunnels in `log`. */
const PROXIES = {
  tinyproxy: {
    words: ['-d', '-c', 'conf'],
    settings: (port: number) => `Listen 127.0.0.1\nPort ${port}\nBasicAuth us-er pass-word\nLogFile "log"\n`,
  },
  squid: {
    words: ['-N', '-f', 'conf'],
    settings: (port: number, folder: string) => `
      http_port 127.0.0.1:${port}
      auth_param basic program /bin/sh ${folder}/known
      acl known proxy_auth REQUIRED
      http_access allow known
      access_log stdio:${folder}/log
      cache_log /dev/null
      pid_filename none
      cache deny all
      shutdown_lifetime 0 seconds
    `,
  },
}

describe.each(Object.entries(PROXIES))('through %s, which wants a user and a password', (program, proxy) => {
  const isHere = spawnSync(program, ['-v']).status === 0
  if (!isHere) console.warn(`!!!! ${program} is missing: deliveries are not sent through it.`)

  test.runIf(isHere)('a delivery reaches its receiver, and another password is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'enrolment-proxy-'))
    const port = await freePort()
    writeFileSync(join(folder, 'conf'), proxy.settings(port, folder))
    writeFileSync(
      join(folder, 'known'),
      'while read -r pair; do [ "$pair" = "us-er pass-word" ] && echo OK || echo ERR; done\n',
    )
    writeFileSync(join(folder, 'log'), '')
    // As root, squid becomes a user of its own, who must read here, and write the log.
    for (const file of ['', 'known', 'log']) chmodSync(join(folder, file), 0o777)
    const child = spawn(program, proxy.words, { cwd: folder, stdio: 'ignore' })
    onTestFinished(async () => {
      child.kill()
      await new Promise(ended => child.once('close', ended))
      rmSync(folder, { recursive: true, force: true })
    })
    await expect.poll(() => isListening(port)).toBe(true)
    const receiver = await startOwn()
    const deliver = async (password: string) => {
      await using rig = await dispatchRig()
      await rig.addEndpoint(receiver.url)
      const pair = Buffer.from(`us-er:${password}`).toString('base64')
      const dispatcher = rig.open({}, { proxy: { host: '127.0.0.1', port, authorization: `Basic ${pair}` } })
      const [eventId] = await rig.raise(['u'])
      await dispatcher.idle()
      return (await attemptsAt(rig, eventId))[0]
    }
    expect(await deliver('pass-word')).toEqual(['current', 200, null])
    expect(await deliver('wrong')).toEqual(['current', 'proxy', null])
    expect(receiver.deliveries).toHaveLength(1)
    await expect
      .poll(() => readFileSync(join(folder, 'log'), 'utf8'))
      .toContain(`CONNECT ${new URL(receiver.url).host}`)
  })
})

test.each([
  ['cannot connect', '503 Service Unavailable', 'connect'],
  ['wants other credentials', '407 Proxy Authentication Required', 'proxy'],
])(
  'a proxy that %s: the attempt counts only where the endpoint is to blame',
  async (_name, answer, error) => {
    goByTicks()
    await using rig = await dispatchRig()
    const receiver = await startOwn()
    const { webhookid } = await rig.addEndpoint(receiver.url)
    const { proxy } = await startProxy(answer)
    const dispatcher = rig.open({}, { proxy })
    expect(await sendTest(rig, dispatcher, webhookid)).toEqual([['current', error, null]])
    const [row] = await rig.database.query<{ attempts: number }>(sql`select attempts from deliveries`)
    expect([receiver.deliveries.length, row?.attempts]).toEqual([0, error === 'connect' ? 1 : 0])
  },
)

test('with a proxy, a name whose address is inside the network is refused here, before the proxy is asked', async () => {
  await using rig = await dispatchRig()
  const names = await startNameServer()
  onTestFinished(() => names.close())
  names.zones.set('inside.example.com', ['10.0.0.1'])
  const resolver = createResolver({ servers: [names.address] })
  onTestFinished(() => resolver.close())
  const { asked, proxy } = await startProxy()
  await rig.addEndpoint('https://inside.example.com/')
  const dispatcher = rig.open({}, { proxy, resolver })
  const [eventId] = await rig.raise(['u'])
  await dispatcher.idle()
  expect([await attemptsAt(rig, eventId), asked]).toEqual([[['current', 'blocked_address', null]], []])
})
