import { randomBytes } from 'node:crypto'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../client/src/index.ts'
import { openDatabase } from '../../service/src/db/database.ts'
import { readMigrations } from '../../service/src/db/migrations.ts'
import { wholeRunTest } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, adaAsks } from '../rig.ts'
import { type Created, clientOf, codeOf, newWorkplace, type Workplace } from './place.ts'
import {
  root,
  run,
  runJson,
  runRefused,
  type ServiceProcess,
  startKeptProcess,
  startProcess,
} from './process.ts'

// Only catches a hang: each test runs many processes, on a machine that may be busy.
// One production service of its own process, and the operator's commands beside it.
let place: Workplace
let service: ServiceProcess
const endings: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const { place: made, remove } = await newWorkplace()
  place = made
  service = await startKeptProcess(['serve', '--port', '0'], { ...place, env: { ...place.env, ...limits } })
  endings.push(() => service.stop(), remove)
})
afterAll(async () => {
  for (const end of endings) await end()
})

// Each with a different value, so that the test sees where it appears.
const limits = {
  ENROLMENT_BODY_KIB: '61',
  ENROLMENT_BODY_NESTING: '7',
  ENROLMENT_HEADERS: '62',
  ENROLMENT_HEADERS_KIB: '9',
  ENROLMENT_HEADERS_SECONDS: '11',
  ENROLMENT_REQUEST_SECONDS: '14',
  ENROLMENT_FAILED_AUTHENTICATIONS: '59',
}

test('the limits of the environment are those of the service', async () => {
  const { info } = (await (await fetch(`${service.address}/openapi.json`)).json()) as {
    info: { description: string }
  }
  expect(info.description).toContain(
    'A body has at most 61 KiB and is nested at most 7 deep; a request has at most 62 headers, of 9 KiB together. ' +
      'The headers have to arrive within 11 seconds, the whole request within 14. After 59 failed',
  )
})

const demoCatalogue = join(root, 'service/assets/demo-catalogue.yaml')
function refusal(...words: string[]): Promise<string> {
  return runRefused(words, place)
}

test('migrate brings the schema up, and may be run twice at once', async () => {
  const { place: empty, remove } = await newWorkplace({}, { empty: true })
  endings.push(remove)
  const both = await Promise.all([
    runJson<{ applied: string[] }>(['migrate'], empty),
    runJson<{ applied: string[] }>(['migrate'], empty),
  ])
  // Each file was applied by exactly one of the two.
  const applied = both.flatMap(one => one.applied)
  expect(applied.sort()).toEqual((await readMigrations()).map(({ name }) => name))
  expect(await run(['migrate'], empty)).toEqual({
    code: 0,
    stdout: 'The schema is up to date.\n',
    stderr: '',
  })
  expect(await runJson(['partner', 'list'], empty)).toEqual({ partners: [] })
})

describe('the catalogue', () => {
  test('is checked without being published, then published once', async () => {
    expect(await runJson(['catalogue', 'check', demoCatalogue], place)).toEqual({
      ok: true,
      benefits: expect.any(Number),
      offers: 3,
    })
    expect(await runJson(['catalogue', 'publish', demoCatalogue], place)).toEqual({
      version: 1,
      published: true,
    })
    expect(await runJson(['catalogue', 'publish', demoCatalogue], place)).toEqual({
      version: 1,
      published: false,
    })
  })

  test('with mistakes is refused with line and remedy of each', async () => {
    const file = join(place.cwd, 'broken.yaml')
    await copyFile(demoCatalogue, file)
    const text = await readFile(file, 'utf8')
    await writeFile(
      file,
      text.replace(/benefittype: \w+/, 'benefittype: gold').replace(/rank: 10/, 'rank: ten'),
    )
    for (const verb of ['check', 'publish'])
      expect(await run(['catalogue', verb, file], place)).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^2 problems in the catalogue:\nline \d+: [^{]*\nline \d+: [^{]*\n$/),
      })
    await writeFile(file, 'offers: [}')
    expect(await run(['catalogue', 'check', file], place)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^1 problem in the catalogue:\nline 1: .*\n$/),
    })
  })
})

describe('partners', () => {
  test('are made with credentials that work at once in the running service', async () => {
    const created = await runJson<Created>(['partner', 'create', '--name', 'Corner Bank'], place)
    expect(created).toEqual({
      partnerid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      partnername: 'Corner Bank',
      clientid: expect.stringMatching(/^enr_client_\w{22}$/),
      clientsecret: expect.stringMatching(/^enr_cs_live_\w+$/),
      apikey: expect.stringMatching(/^enr_ak_live_\w+$/),
    })
    const client = clientOf(service, created)
    expect(await client.prefillUser({ userid: 'u1', ...ada }, { idempotencyKey: 'k1' })).toBe('prefill saved')
    expect((await client.getBenefits({ userid: 'u1', ...adaAsks })).length).toBeGreaterThan(0)
  })

  test('are shown as contract §14 says, and never with their secrets', async () => {
    const created = await runJson<Created>(
      [
        'partner',
        'create',
        '--name',
        'Harbour',
        '--alias',
        'harbor',
        '--timezone',
        'America/Chicago',
        '--origin',
        'https://app.harbour.example',
        '--redirect',
        'https://app.harbour.example/back',
        '--offer',
        'plus',
        '--offer',
        'starter',
        '--scope',
        'prefill:write',
        '--locale',
        'es',
        '--rate',
        '50/s',
      ],
      place,
    )
    const shown = await runJson<{ credentials: { id: string; kind: string }[] }>(
      ['partner', 'show', created.partnerid],
      place,
    )
    expect(shown).toMatchObject({
      partnerid: created.partnerid,
      partnername: 'Harbour',
      aliases: ['harbor'],
      clientid: created.clientid,
      timezone: 'America/Chicago',
      locale: 'es',
      origins: ['https://app.harbour.example'],
      redirects: ['https://app.harbour.example/back'],
      scopes: ['prefill:write'],
      apikeyoptional: false,
      ratepersecond: 50,
      disabled: false,
      createdat: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    const offers = (shown as unknown as { offers: { offer: string; rank: number }[] }).offers
    expect(offers.map(offer => offer.offer)).toEqual(['starter', 'plus'])
    for (const offer of offers) expect(offer).toEqual({ offer: offer.offer, rank: expect.any(Number) })
    expect(shown.credentials.map(one => one.kind).sort()).toEqual(['api_key', 'client_secret'])
    const text = JSON.stringify(shown) + (await run(['partner', 'show', created.clientid], place)).stdout
    expect(text).not.toContain(created.clientsecret)
    expect(text).not.toContain(created.apikey)
  })

  test('are listed, changed, disabled and enabled again, each within a second', async () => {
    const created = await runJson<Created>(['partner', 'create', '--name', 'Old Name'], place)
    expect(
      await runJson(
        [
          'partner',
          'update',
          created.partnerid,
          '--name',
          'New Name',
          '--api-key-optional',
          '--help-phone',
          '1-800-555-0142',
          '--help-email',
          'help@new.example',
        ],
        place,
      ),
    ).toMatchObject({
      partnername: 'New Name',
      apikeyoptional: true,
      timezone: 'America/New_York',
      help: { phone: '1-800-555-0142', email: 'help@new.example' },
    })
    expect(await runJson(['partner', 'update', created.partnerid, '--help-phone', ''], place)).toMatchObject({
      partnername: 'New Name',
      help: { email: 'help@new.example' },
    })
    const { partners } = await runJson<{ partners: object[] }>(['partner', 'list'], place)
    expect(partners).toContainEqual({
      partnerid: created.partnerid,
      partnername: 'New Name',
      timezone: 'America/New_York',
      disabled: false,
    })
    const { apikey: _withoutKey, ...credentials } = created
    const client = createClient({
      baseUrl: service.address,
      clientId: credentials.clientid,
      clientSecret: credentials.clientsecret,
      tries: 1,
    })
    await client.prefillUser({ userid: 'u1' })
    expect(await runJson(['partner', 'disable', created.partnerid], place)).toEqual({
      partnerid: created.partnerid,
      disabled: true,
    })
    await expect.poll(() => codeOf(client.prefillUser({ userid: 'u2' })), soon).toBe('invalid_client')
    expect(await runJson(['partner', 'update', created.partnerid, '--enable'], place)).toMatchObject({
      disabled: false,
    })
    await expect.poll(() => codeOf(client.prefillUser({ userid: 'u3' })), soon).toBe('')
  })

  test('with wrong settings are refused in a sentence that names the setting', async () => {
    const create = (...words: string[]) => refusal('partner', 'create', '--name', 'Wrong', ...words)
    expect(await refusal('partner', 'create')).toMatch(/--name is needed/)
    expect(await create('--timezone', 'Mars/Olympus')).toMatch(/"Mars\/Olympus" is not a time zone/)
    expect(await create('--offer', 'gold')).toMatch(/no offer "gold" in the catalogue; there are starter/)
    expect(await create('--scope', 'all')).toMatch(/no scope "all"; there are prefill:write/)
    expect(await create('--rate', 'fast')).toMatch(/--rate must look like 100\/s/)
    expect(await create('--origin', 'http://app.example.com')).toMatch(/http:\/\/app\.example\.com/)
    expect(await create('--redirect', 'javascript:alert(1)')).toMatch(/javascript/)
    expect(await create('--locale', 'fr')).toMatch(/--locale must be en or es/)
    expect(await create('--help-url', 'http://example.com')).toMatch(/--help-url must be an https address/)
    const { partners } = await runJson<{ partners: { partnername: string }[] }>(['partner', 'list'], place)
    expect(partners.map(partner => partner.partnername)).not.toContain('Wrong')
    for (const id of ['none', '01890000-0000-7000-8000-000000000000']) {
      expect(await refusal('partner', 'show', id)).toBe(
        `There is no partner ${id}: see \`enrolment partner list\`.`,
      )
      expect(await refusal('partner', 'disable', id)).toContain('There is no partner')
      expect(await refusal('key', 'rotate', id)).toContain('There is no partner')
    }
  })
})

type Rotated = {
  kind: string
  secret: string
  clientsecret: string
  id: string
  live: string[]
  older: string[]
}

describe('webhooks', () => {
  type Listed = { webhookid: string; url: string; events: unknown; disabled?: unknown }
  const settings = ['--username', 'hook', '--password', 'very:secret']
  const list = (partner: string) =>
    runJson<{ webhooks: Listed[] }>(['webhook', 'list', partner], place).then(listed => listed.webhooks)

  test('come with a partner or later; the signing secret is shown once, the password never', async () => {
    const created = await runJson<Created & { webhookid: string; webhooksecret: string }>(
      [
        'partner',
        'create',
        '--name',
        'Hooked',
        '--webhook-url',
        'https://hooks.example.com/a',
        '--webhook-username',
        'hook',
        '--webhook-password',
        'very:secret',
        '--events',
        'all',
      ],
      place,
    )
    expect(created).toMatchObject({
      webhookid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      webhooksecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    const added = await runJson<{ webhookid: string; webhooksecret: string }>(
      ['webhook', 'add', created.partnerid, '--url', 'https://hooks.example.com/b', ...settings],
      place,
    )
    expect(added).toEqual({
      webhookid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      webhooksecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    const listed = await list(created.partnerid)
    expect(listed.map(one => one.webhookid).sort()).toEqual([created.webhookid, added.webhookid].sort())
    const shown = (await clientOf(service, created).listWebhooks({})).webhooks
    expect(listed).toEqual(shown.map(one => ({ ...one, certificateendsattimestamp: null })))
    const text = JSON.stringify(listed)
    for (const hidden of ['very:secret', created.webhooksecret, added.webhooksecret])
      expect(text).not.toContain(hidden)
    for (const verb of ['disable', 'enable']) {
      const before = await list(created.partnerid)
      expect(await runJson(['webhook', verb, created.partnerid, added.webhookid], place)).toMatchObject({
        webhookid: added.webhookid,
        status: `${verb}d`,
      })
      expect(await list(created.partnerid)).not.toEqual(before)
    }
  })

  test('that are wrong are refused, and no partner is left behind', async () => {
    const { partnerid } = await runJson<Created>(['partner', 'create', '--name', 'Hookless'], place)
    const add = (url: string, ...more: string[]) =>
      refusal('webhook', 'add', partnerid, '--url', url, ...settings, ...more)
    expect(await add('http://hooks.example.com/')).toMatch(/https/)
    expect(await add('https://10.0.0.1/')).toMatch(/address/)
    expect(await add('https://hooks.example.com/', '--events', 'nothing')).toMatch(/no event "nothing"/)
    expect(await add('https://hooks.example.com/', '--ordering', 'random')).toMatch(/--ordering must be/)
    expect(await refusal('webhook', 'add', partnerid, ...settings)).toMatch(/--url is needed/)
    expect(
      await refusal('partner', 'create', '--name', 'Half', '--webhook-url', 'https://hooks.example.com/'),
    ).toMatch(/--webhook-username/)
    expect(await list(partnerid)).toEqual([])
    const { partners } = await runJson<{ partners: { partnername: string }[] }>(['partner', 'list'], place)
    expect(partners.map(partner => partner.partnername)).not.toContain('Half')
    expect(await refusal('webhook', 'enable', partnerid, 'none')).toMatch(/none/)
  })
})

describe('keys', () => {
  test('are rotated without a gap: two live at once, a third refused, the revoked one dead within a second', async () => {
    const created = await runJson<Created>(['partner', 'create', '--name', 'Rotating'], place)
    const rotated = await runJson<Rotated>(['key', 'rotate', created.partnerid], place)
    const secret = expect.stringMatching(/^enr_cs_live_\w+$/)
    expect(rotated).toEqual({
      kind: 'client_secret',
      secret,
      clientsecret: rotated.secret,
      id: expect.any(String),
      live: [expect.any(String), expect.any(String)],
      older: [expect.any(String)],
    })
    const [older = ''] = rotated.older
    expect([...rotated.live].sort()).toEqual([older, rotated.id].sort())
    expect(rotated.secret).toContain(`${rotated.id}_`)
    expect(await refusal('key', 'rotate', created.partnerid)).toMatch(
      new RegExp(`^Two are live already .*revoke the older with \`enrolment key revoke ${created.partnerid}`),
    )
    const before = clientOf(service, created)
    const after = clientOf(service, { ...created, clientsecret: rotated.secret })
    await before.prefillUser({ userid: 'u1' })
    await after.prefillUser({ userid: 'u1' })
    // Both were used, so the operator can see when the older one may be revoked.
    await expect
      .poll(async () => {
        const { credentials } = await runJson<{ credentials: { id: string; lastusedat: string | null }[] }>(
          ['partner', 'show', created.partnerid],
          place,
        )
        return credentials.filter(one => one.lastusedat !== null).map(one => one.id)
      }, soon)
      .toEqual(expect.arrayContaining([older, rotated.id]))
    expect(await runJson(['key', 'revoke', created.partnerid, older], place)).toEqual({
      id: older,
      revoked: true,
    })
    await expect.poll(() => codeOf(before.prefillUser({ userid: 'u2' })), soon).toBe('invalid_client')
    expect(await codeOf(after.prefillUser({ userid: 'u2' }))).toBe('')
    expect(await refusal('key', 'revoke', created.partnerid, older)).toMatch(/no live credential/)

    const { stdout } = await run(['key', 'rotate', created.partnerid, '--kind', 'api_key'], place)
    const [, apikey = '', id] =
      /^apikey +(\S+)\nid +(\S+)\n\nKeep it: it is not shown again\.\n/.exec(stdout) ?? []
    const newKey = clientOf(service, { ...created, clientsecret: rotated.secret, apikey })
    expect(await codeOf(newKey.prefillUser({ userid: 'u2' }))).toBe('')
    const [, olderKey = ''] =
      new RegExp(`enrolment key revoke ${created.partnerid} (\\S+)\``).exec(stdout) ?? []
    expect(olderKey).not.toBe(id)
    await runJson(['key', 'revoke', created.partnerid, olderKey], place)
    expect(await codeOf(newKey.prefillUser({ userid: 'u2' }))).toBe('')
    expect(await refusal('key', 'rotate', created.partnerid, '--kind', 'password')).toMatch(
      /--kind must be client_secret or api_key/,
    )
  })
})

describe('a database that is not for this', () => {
  test('in production no clock is moved', async () => {
    const { partnerid } = await runJson<Created>(['partner', 'create', '--name', 'Timeless'], place)
    expect(await refusal('clock', 'advance', partnerid, '2099-01-01T00:00:00Z')).toBe(
      'This is not a sandbox: only the clock of a sandbox can be moved.',
    )
  })

  test('a production one is refused to dev', async () => {
    expect(await lastLine(run(['dev', '--port', '0'], place))).toMatch(
      /^This database is a production one: `enrolment dev` never touches it/,
    )
  })

  test('one whose keys are others is refused by every command that needs keys', async () => {
    const others = {
      ...place,
      env: { ...place.env, ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64') },
    }
    for (const words of [
      ['serve', '--port', '0'],
      ['partner', 'list'],
    ])
      expect(await lastLine(run(words, others))).toMatch(
        /^The keys are not those of this database: it belongs to the root key \w+, and these are \w+\. Restore the keyring\.json/,
      )
  })

  test('a port that is taken is named', async () => {
    const { port } = new URL(service.address)
    const { code, stderr, stdout } = await run(['serve', '--port', port], place)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      new RegExp(`^Port ${port} is taken: .*another --port \\(0 picks a free one\\)`, 'm'),
    )
  })

  test('a host that is not this machine’s is named', async () => {
    expect(
      await lastLine(run(['serve', '--port', '0', '--host', '192.0.2.1', '--insecure-http'], place)),
    ).toMatch(/^It cannot listen on 192\.0\.2\.1:0 \(EADDRNOTAVAIL\)/)
  })
})

test('the log of the service holds JSON lines, and neither secrets nor personal data', async () => {
  const created = await runJson<Created>(['partner', 'create', '--name', 'Logged'], place)
  const client = clientOf(service, created)
  await client.prefillUser({ userid: 'canary-user', ...ada }, { idempotencyKey: 'canary-key' })
  for (const path of ['/healthz', '/readyz']) await fetch(service.address + path)
  await client.getUser({ userid: 'canary-user' })
  await codeOf(client.cancelUser({ userid: 'canary-user' }))
  const log = service.log()
  expect(log.filter(line => line.event === 'request').length).toBeGreaterThan(2)
  expect(log.every(line => typeof line.event === 'string' && typeof line['at'] === 'string')).toBe(true)
  expect(log.filter(line => /^\/(health|ready)z$/.test(String(line['route'])))).toEqual([])
  const { version } = JSON.parse(await readFile(join(root, 'service/package.json'), 'utf8'))
  expect(log.find(line => line.event === 'started')).toMatchObject({ level: 'info', version })
  const text = service.stderr()
  for (const value of Object.values(ada).flatMap(part => (typeof part === 'string' ? [part] : [])))
    if (value.length > 4) expect(text).not.toContain(value)
  for (const value of ['canary', created.clientsecret, created.apikey, 'Canary Drive'])
    expect(text.toLowerCase()).not.toContain(value.toLowerCase())
})

test('with ENROLMENT_LOG=warn no line tells what was merely done', async () => {
  const quiet = await startProcess(['serve', '--port', '0', '--insecure-http'], {
    ...place,
    env: { ...place.env, ENROLMENT_LOG: 'warn' },
  })
  expect((await fetch(`${quiet.address}/nowhere`)).status).toBe(404)
  expect(await quiet.stop()).toBe(0)
  expect(quiet.log().filter(line => !['warn', 'error'].includes(String(line['level'])))).toEqual([])
  expect(await refusalOf({ ENROLMENT_LOG: 'loud' })).toMatch(
    /^ENROLMENT_LOG must be one of error, warn, info/,
  )
})
function refusalOf(env: Readonly<Record<string, string>>): Promise<string> {
  return runRefused(['serve', '--port', '0'], { ...place, env: { ...place.env, ...env } })
}

/** It only catches a hang. */
const soon = { timeout: 180_000, interval: 100 }
async function lastLine(ended: ReturnType<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await ended
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  return stderr.trim().split('\n').at(-1) ?? ''
}

wholeRunTest('a service that serves owns its endpoints for six seconds after each sign of life', async () => {
  const database = openDatabase({ url: place.env?.['DATABASE_URL'] ?? '' }, { max: 1, ...patientDatabase })
  // Read right after the sign of life, by the database's clock, which the service uses too.
  const look = async () => {
    const [row] = await database.query<{ until: string; left: number }>({
      name: '',
      text: `select until::text as until, extract(epoch from until - clock_timestamp())::float8 as left
        from dispatchers where until > clock_timestamp()`,
      values: [],
    })
    return row
  }
  const lefts: number[] = []
  let before = (await look())?.until
  // Until a look comes shortly after a sign of life; on a busy machine the first few may not.
  while (lefts.length < 3 || Math.max(...lefts) <= 5.5) {
    const now = await look()
    if (now && now.until !== before) lefts.push(now.left)
    before = now?.until
  }
  for (const left of lefts) expect(left).toBeLessThanOrEqual(6)
  await database.close()
})
