import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, createClient } from '../../client/src/index.ts'
import { wholeRunTest } from '../long.ts'
import { ada, adaAsks } from '../rig.ts'
import { type Created, clientOf, codeOf, hookAt, newWorkplace, type Workplace } from './place.ts'
import { root, run, runJson, runRefused, type ServiceProcess, startKeptProcess } from './process.ts'

// One production service of its own process, and the operator's commands beside it.
let place: Workplace
let service: ServiceProcess
const endings: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const { place: made, remove } = await newWorkplace()
  place = made
  service = await startKeptProcess(['serve', '--port', '0'], place)
  endings.push(() => service.stop(), remove)
  await runJson(['catalogue', 'publish', join(root, 'service/assets/demo-catalogue.yaml')], place)
})
afterAll(async () => {
  for (const end of endings) await end()
})

function refusal(...words: string[]): Promise<string> {
  return runRefused(words, place)
}

/** It only catches a hang. */
const soon = { timeout: 120_000, interval: 100 }

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
    const shown = await runJson<{ credentials: { id: string; kind: string; createdby: string }[] }>(
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
    expect(shown.credentials.map(one => one.createdby)).toEqual([userInfo().username, userInfo().username])
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

  wholeRunTest('with wrong settings are refused in a sentence that names the setting', async () => {
    const create = (...words: string[]) => refusal('partner', 'create', '--name', 'Wrong', ...words)
    expect(await refusal('partner', 'create')).toMatch(/--name is needed/)
    expect(await refusal('partner', 'create', '--name', 'Two\nlines')).toMatch(/--name of one line/)
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
  const settings = ['--username', 'hook', '--password', 'very:secret']

  test('come with a partner or later; the signing secret is shown once, the password never', async () => {
    const created = await runJson<Created & { webhookid: string; webhooksecret: string }>(
      ['partner', 'create', '--name', 'Hooked', ...hookAt('https://hooks.example.com/a')],
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
    const { webhooks: listed } = await clientOf(service, created).listWebhooks({})
    expect(listed.map(one => one.webhookid).sort()).toEqual([created.webhookid, added.webhookid].sort())
  })

  wholeRunTest('that are wrong are refused, and no partner is left behind', async () => {
    const hookless = await runJson<Created>(['partner', 'create', '--name', 'Hookless'], place)
    const { partnerid } = hookless
    const add = (url: string, ...more: string[]) =>
      refusal('webhook', 'add', partnerid, '--url', url, ...settings, ...more)
    expect(await add('http://hooks.example.com/')).toMatch(/https/)
    expect(await add('https://10.0.0.1/')).toMatch(/address/)
    expect(await add('https://hooks.example.com/', '--events', 'nothing')).toMatch(/no event "nothing"/)
    expect(await add('https://hooks.example.com/', '--ordering', 'random')).toMatch(/--ordering must be/)
    expect(await refusal('webhook', 'add', partnerid, ...settings)).toMatch(/--url is needed/)
    expect(await add('https://hooks.example.com/', '--username', 'a'.repeat(256))).toMatch(
      /^--username: .*1 to 255 characters/m,
    )
    const half = (url: string, ...more: string[]) =>
      refusal('partner', 'create', '--name', 'Half', '--webhook-url', url, ...more)
    const pair = (username: string, password: string) => [
      ...['--webhook-username', username],
      ...['--webhook-password', password],
    ]
    expect(await half('https://hooks.example.com/')).toMatch(/--webhook-username/)
    expect(await half('https://10.0.0.1/', ...pair('hook', 'secret'))).toMatch(/^--webhook-url: .*address/m)
    expect(await half('https://hooks.example.com/', ...pair('a'.repeat(256), 'secret'))).toMatch(
      /^--webhook-username: .*1 to 255 characters/m,
    )
    expect(await half('https://hooks.example.com/', ...pair('hook', 'b'.repeat(256)))).toMatch(
      /^--webhook-password: .*1 to 255 characters/m,
    )
    expect((await clientOf(service, hookless).listWebhooks({})).webhooks).toEqual([])
    const { partners } = await runJson<{ partners: { partnername: string }[] }>(['partner', 'list'], place)
    expect(partners.map(partner => partner.partnername)).not.toContain('Half')
  })
})

/** Prefills again and again with these credentials; `stop` gives the codes with which any was refused, and how many were not. */
function pourIn(client: Client) {
  const refused = new Set<string>()
  let saved = 0
  let isOver = false
  const writing = (async () => {
    for (let number = 0; !isOver; number += 1) {
      const code = await codeOf(client.prefillUser({ userid: `load-${number}` }))
      // A machine that stands still answers 503 now and then.
      if (code === '') saved += 1
      else if (code !== 'unavailable') refused.add(code)
      await setTimeout(20)
    }
  })()
  return {
    async stop() {
      isOver = true
      await writing
      return { refused: [...refused], saved }
    },
  }
}
const allSaved = { refused: [], saved: expect.toSatisfy((saved: number) => saved > 0) }

describe('keys', () => {
  test('are rotated under load without a gap: two live at once, a third refused, the revoked one dead within a second', async () => {
    const created = await runJson<Created>(['partner', 'create', '--name', 'Rotating'], place)
    const byOld = pourIn(clientOf(service, created))
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
    const byNew = pourIn(clientOf(service, { ...created, clientsecret: rotated.secret }))
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
    expect(await byOld.stop()).toEqual(allSaved)
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
    const byNewKey = pourIn(newKey)
    expect(await byNew.stop()).toEqual(allSaved)
    const [, olderKey = ''] =
      new RegExp(`enrolment key revoke ${created.partnerid} (\\S+)\``).exec(stdout) ?? []
    expect(olderKey).not.toBe(id)
    await runJson(['key', 'revoke', created.partnerid, olderKey], place)
    await expect.poll(() => codeOf(after.getUser({ userid: 'u1' })), soon).toBe('invalid_api_key')
    expect(await byNewKey.stop()).toEqual(allSaved)
    expect(await refusal('key', 'rotate', created.partnerid, '--kind', 'password')).toMatch(
      /--kind must be client_secret or api_key/,
    )
  })
})
