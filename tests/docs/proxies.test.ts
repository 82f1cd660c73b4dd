import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { freePort } from '../free-port.ts'
import { startTestService } from '../rig.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const host = 'benefits.example.com'
const consoleHost = 'console.example.com'
function has(program: string) {
  return spawnSync(program, ['-v']).status === 0
}
for (const program of ['nginx', 'haproxy'])
  if (!has(program)) console.warn(`!!!! ${program} is missing: its example in deploy/ is not tried.`)

const service = forAllTests(() => startTestService({ basePath: '/stage' }))
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'enrolment-proxy-'))
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      join(folder, 'key'),
      '-out',
      join(folder, 'cert'),
      '-days',
      '2',
      '-subj',
      `/CN=${host}`,
      '-addext',
      `subjectAltName=DNS:${host},DNS:${consoleHost}`,
    ],
    { stdio: 'ignore' },
  )
  writeFileSync(join(folder, 'both'), read('cert') + read('key'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
})
function read(name: string) {
  return readFileSync(join(folder, name), 'utf8')
}

/** The ports of a proxy and of the console behind it, and the network from which operators come. */
type Places = { readonly port: number; readonly consolePort: number; readonly operators: string }

/** The example of deploy/, with this test's paths in place of those of a machine. */
function exampleOf(name: string, { port, consolePort, operators }: Places): string {
  return readFileSync(join(root, 'deploy', name), 'utf8')
    .replaceAll('127.0.0.1:8080', new URL(service.baseUrl).host)
    .replaceAll('127.0.0.1:8081', `127.0.0.1:${consolePort}`)
    .replaceAll('10.0.0.0/8', operators)
    .replaceAll('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replaceAll('/var/log/nginx', folder)
    .replace('bind :443 ssl', `bind 127.0.0.1:${port} ssl`)
    .replaceAll(/\/etc\/ssl\/\w+\.example\.com\.pem/g, join(folder, 'cert'))
    .replaceAll(/\/etc\/ssl\/private\/\w+\.example\.com\.key/g, join(folder, 'key'))
    .replaceAll(/\/etc\/haproxy\/\w+\.example\.com\.pem/g, join(folder, 'both'))
}

test('the example of nginx writes no token of a live link into its log', () => {
  const [, pattern = ''] =
    /"~(.*)" "\$\{before\}…";/.exec(readFileSync(join(root, 'deploy/nginx.conf'), 'utf8')) ?? []
  const masked = (uri: string) => new RegExp(pattern).exec(uri)?.groups?.['before']
  expect(masked('/stage/register/link/be_lt_live_x')).toBe('/stage/register/link/')
  expect(masked('/sign-in/be_si_live_x?a')).toBe('/sign-in/')
  expect(masked('/stage/user/prefill')).toBeUndefined()
})

test('the example of HAProxy logs only a path that is cut before the token', () => {
  const example = readFileSync(join(root, 'deploy/haproxy.cfg'), 'utf8')
  const [, format = ''] = /^ {2}log-format '(.*)'$/m.exec(example) ?? []
  // Its variables, of which others have the whole request, path, address or query.
  const variables = ['ci', 'tr', 'HM', '[var(txn.path)]', 'HV', 'ST', 'B']
  expect([...format.matchAll(/%(\[.*?\]|\w+)/g)].map(([, name]) => name)).toEqual(variables)
  const cuts = [...example.matchAll(/set-var\(txn\.path\) str\((\S+)\) if \{ path_(?:sub|beg) (\S+) \}/g)]
  expect(cuts.map(([, to, where]) => [to, where])).toEqual([
    ['/register/link/', '/register/link/'],
    ['/sign-in/', '/sign-in/'],
  ])
})

function get(port: number, path: string, host: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      servername: host,
      headers: { host },
      ca: read('cert'),
      // A new connection for each request: a proxy may close a kept one just as it is used again.
      agent: false as const,
    }
    const sent = request(options, response => {
      let body = ''
      response.on('data', chunk => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

const starts: Record<string, (places: Places) => ChildProcess> = {
  nginx(places) {
    writeFileSync(join(folder, 'site.conf'), exampleOf('nginx.conf', places))
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      name => `${name}_temp_path ${join(folder, name)};`,
    )
    writeFileSync(
      join(folder, 'nginx.conf'),
      `pid ${join(folder, 'pid')}; error_log stderr; daemon off; events {} http { access_log off; ${folders.join(' ')} include ${join(folder, 'site.conf')}; }`,
    )
    return spawn('nginx', ['-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  },
  haproxy(places) {
    writeFileSync(join(folder, 'haproxy.cfg'), exampleOf('haproxy.cfg', places))
    return spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' })
  },
}

/** Starts the proxy, which ends with the test, and waits until it reaches the service. */
async function begin(program: string, places: Omit<Places, 'port'>): Promise<number> {
  const port = await freePort()
  const proxy = starts[program]?.({ port, ...places })
  onTestFinished(
    () =>
      new Promise(resolve => {
        proxy?.once('close', () => resolve())
        proxy?.kill()
      }),
  )
  await expect
    .poll(() =>
      get(port, '/stage/readyz', host).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
  return port
}

describe.each(['nginx', 'haproxy'])('the example for %s', program => {
  test.skipIf(!has(program))(
    'passes on the stage path and the metadata of RFC 8414, and nothing else',
    async () => {
      const port = await begin(program, { consolePort: 1, operators: '10.0.0.0/8' })
      const metadata = await get(port, '/.well-known/oauth-authorization-server/stage', host)
      expect(metadata.status).toBe(200)
      expect(JSON.parse(metadata.body)).toMatchObject({ issuer: expect.stringMatching(/\/stage$/) })
      for (const path of ['/stage', '/stage/', '/stage/docs']) {
        const { status, body } = await get(port, path, host)
        expect([path, status, body.includes('<html')]).toEqual([path, 200, true])
      }
      for (const path of ['/healthz', '/register', '/.well-known/oauth-authorization-server'])
        expect([path, (await get(port, path, host)).status]).toEqual([path, 404])
      expect(await get(port, '/', consoleHost)).toMatchObject({ status: 403 })
    },
  )

  test.skipIf(!has(program))(
    'passes on a bulk of more than 1 MiB, and answers to it while it is sent',
    async () => {
      const partner = await service.newPartner()
      const port = await begin(program, { consolePort: 1, operators: '10.0.0.0/8' })
      const sent = request({
        ...{ host: '127.0.0.1', port, path: '/stage/user/bulk', method: 'POST' },
        ...{ servername: host, ca: read('cert'), agent: false as const },
        headers: {
          ...{ host, authorization: `Bearer ${await partner.token()}`, 'x-api-key': partner.apiKey },
          'content-type': 'application/x-ndjson',
        },
      })
      const line = (nth: number) =>
        `${JSON.stringify({ operation: 'prefill', key: `k-${nth}`, body: { userid: `u-${nth}` } })}\n`
      sent.write(line(1))
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      const [first] = (await once(response, 'data')) as [Buffer]
      expect([response.statusCode, String(first)]).toEqual([
        200,
        '{"line":1,"status":200,"body":"prefill saved"}\n',
      ])
      const rest = text(response)
      for (let nth = 0; nth < 40; nth += 1) sent.write(`${' '.repeat(60_000)}\n`)
      sent.end(line(2))
      expect(await rest).toBe('{"line":42,"status":200,"body":"prefill saved"}\n')
    },
  )

  test.skipIf(!has(program))(
    'passes the console on to its own listener, with its host and the address of who asks',
    async () => {
      const listener = createServer((asked, answer) => {
        const { host, 'x-forwarded-for': from } = asked.headers
        answer.end(JSON.stringify({ path: asked.url, host, from }))
      }).listen(0, '127.0.0.1')
      await once(listener, 'listening')
      onTestFinished(() => void listener.close())
      const { port: consolePort } = listener.address() as AddressInfo
      const port = await begin(program, { consolePort, operators: '127.0.0.0/8' })
      const { status, body } = await get(port, '/users/1', consoleHost)
      expect(status).toBe(200)
      expect(JSON.parse(body)).toEqual({ path: '/users/1', host: consoleHost, from: '127.0.0.1' })
    },
  )
})
