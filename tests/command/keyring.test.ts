import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Client, createClient } from '../../client/src/index.ts'
import { readKeyringFile, replaceKeyringFile } from '../../service/src/vault/keyring.ts'
import { withCurrent, withNext, withoutOld } from '../../service/src/vault/keyring-file.ts'
import { newKey } from '../../service/src/vault/seal.ts'
import { ada, demoCatalogueFile, freshDatabase } from '../rig.ts'
import { urlOf } from './database-url.ts'
import {
  newDirectory,
  type Place,
  run,
  runJson,
  runKilledWhen,
  type ServiceProcess,
  startKeptProcess,
} from './process.ts'

// Only catches a hang: each test runs many processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

type Created = { partnerid: string; clientid: string; clientsecret: string; apikey: string }
type Key = {
  id: string
  kind: 'root' | 'pepper'
  state: string
  replacedat?: string
  inuse: Record<string, number>
}
type Shown = { source: string; keys: Key[] }

/** Two services on one database and one keyring, as two processes of one machine, and the commands beside them. */
type Stage = {
  readonly place: Place & { readonly cwd: string }
  readonly dataDir: string
  readonly services: readonly ServiceProcess[]
  readonly newPartner: () => Promise<Created>
  readonly keys: (kind?: Key['kind']) => Promise<Key[]>
  /** Ends both and starts them anew, with more in their environment. */
  readonly restart: (env?: Readonly<Record<string, string>>) => Promise<void>
  /** All that was ever written by the services and the commands of `said`. */
  readonly written: () => string
  readonly close: () => Promise<void>
}

const openStage = async (env: Readonly<Record<string, string>> = {}): Promise<Stage> => {
  const { address, drop } = await freshDatabase()
  const { path: cwd, remove } = await newDirectory()
  let place = { cwd, env: { DATABASE_URL: urlOf(address), ...env } }
  let services: ServiceProcess[] = []
  let written = ''
  const start = async () => {
    // One after the other: the first makes the keyring.
    for (const _ of [1, 2]) services.push(await startKeptProcess(['serve', '--port', '0'], place))
  }
  const stop = async () => {
    for (const service of services) {
      expect(await service.stop()).toBe(0)
      written += service.stdout() + service.stderr()
    }
    services = []
  }
  await start()
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
  return {
    get place() {
      return place
    },
    get services() {
      return services
    },
    dataDir: join(cwd, 'data'),
    newPartner: () => runJson<Created>(['partner', 'create', '--name', 'Partner'], place),
    keys: async kind =>
      (await runJson<Shown>(['keyring', 'show'], place)).keys.filter(
        key => kind === undefined || key.kind === kind,
      ),
    async restart(more = {}) {
      await stop()
      place = { ...place, env: { ...place.env, ...more } }
      await start()
    },
    written: () => written + services.map(service => service.stdout() + service.stderr()).join(''),
    async close() {
      await stop()
      await drop()
      await remove()
    },
  }
}

const clientOf = (service: ServiceProcess, partner: Created): Client =>
  createClient({
    baseUrl: service.address,
    clientId: partner.clientid,
    clientSecret: partner.clientsecret,
    apiKey: partner.apikey,
    tries: 1,
  })

/** A client of each of the two services. */
const clientsOf = ({ services }: Stage, partner: Created): [Client, Client] => {
  const [first, second] = services
  if (!first || !second) throw new Error('not started')
  return [clientOf(first, partner), clientOf(second, partner)]
}

const refusal = async (stage: Stage, ...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(words, stage.place)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^[^{}]+[.)]\n$/)
  expect(stderr).not.toMatch(/\bat .*:\d+:\d+|Error:/)
  return stderr.trim()
}

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => '',
    (error: { code: string; replayed: boolean }) => error.code + (error.replayed ? ' replayed' : ''),
  )

const idOf = (keys: readonly Key[], state: string): string => {
  const found = keys.filter(key => key.state === state)
  expect(found).toHaveLength(1)
  return found[0]?.id ?? ''
}

/** All events of a partner. */
const eventsOf = async (client: Client): Promise<{ userid: string; eventname: string }[]> => {
  const events: { userid: string; eventname: string }[] = []
  for (let after: string | undefined; ; ) {
    const page = await client.listEvents(after === undefined ? {} : { after })
    if (page.events.length === 0) return events
    events.push(...page.events)
    after = page.next
  }
}

describe('a rotation of both under load, on two processes', () => {
  let stage: Stage
  let partner: Created
  let linkId = ''
  const outputs: string[] = []
  beforeAll(async () => {
    stage = await openStage()
    partner = await stage.newPartner()
  })
  afterAll(() => stage.close())

  /** One user's life with every keyed write sent to both processes, at once or one after the other. */
  const liveOnce = async (round: number) => {
    const userid = `user-${round}`
    // Clients of their own, so that each round fetches tokens too.
    const [a, b] = clientsOf(stage, partner)
    const key = (verb: string) => ({ idempotencyKey: `${verb}-${round}` })
    const prefills = await Promise.all(
      [a, b].map(one => codeOf(one.prefillUser({ userid, ...ada }, key('prefill')))),
    )
    expect(prefills.toSorted()).toEqual(['', 'user_exists replayed'])
    const created = await a.createUser({ userid, offername: 'plus' }, key('create'))
    expect(await b.createUser({ userid, offername: 'plus' }, key('create'))).toEqual(created)
    const cancelled = await Promise.all([a, b].map(one => one.cancelUser({ userid }, key('cancel'))))
    expect(cancelled[1]).toEqual(cancelled[0])
    expect(await codeOf(b.prefillUser({ userid, ...ada }, key('prefill')))).toBe('user_exists replayed')
  }

  test('fails no request, and a keyed write has one effect whichever process it meets', async () => {
    let isOver = false
    let rounds = 0
    const failures: unknown[] = []
    const worker = async () => {
      while (!isOver) {
        rounds += 1
        await liveOnce(rounds).catch(error => failures.push(error))
      }
    }
    const workers = [worker(), worker(), worker()]
    const atFirst = await stage.keys()
    const { code, stdout, stderr } = await run(['keyring', 'rotate'], stage.place)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    outputs.push(stdout)
    const afterwards = rounds + 20
    await expect.poll(() => rounds, { timeout: 120_000 }).toBeGreaterThan(afterwards)
    isOver = true
    await Promise.all(workers)
    expect(failures).toEqual([])

    const counts = new Map<string, number>()
    for (const { userid, eventname } of await eventsOf(clientsOf(stage, partner)[0])) {
      const name = `${userid} ${eventname}`
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    for (let round = 1; round <= rounds; round += 1)
      for (const eventname of [
        'enrollment_request_received',
        'enrollment_successful',
        'offer_cancel_scheduled',
      ])
        expect(counts.get(`user-${round} ${eventname}`)).toBe(1)
    for (const kind of ['root', 'pepper'] as const) {
      const now = await stage.keys(kind)
      expect(idOf(now, 'old')).toBe(
        idOf(
          atFirst.filter(key => key.kind === kind),
          'current',
        ),
      )
      expect(idOf(now, 'current')).not.toBe(idOf(now, 'old'))
    }
  })

  test('keeps what was begun before it: keys, sealed data, previews, links, answers', async () => {
    const [a, b] = clientsOf(stage, partner)
    await a.prefillUser({ userid: 'ada', ...ada }, { idempotencyKey: 'ada' })
    const created = await a.createUser(
      { userid: 'eve', ...ada, offername: 'plus' },
      { idempotencyKey: 'eve' },
    )
    const down = { userid: 'eve', offername: 'starter', action: 'downgrade', effective: 'immediate' } as const
    const { previewid } = await a.previewOfferChange(down)
    const link = await a.createLinkToken({ userid: 'ada' })
    linkId = link.sessionid
    const hook = {
      url: 'https://hooks.example.com/in',
      username: 'hook',
      password: 'hidden',
      events: ['user_erased' as const],
    }
    const added = await a.createWebhook(hook, { idempotencyKey: 'hook' })

    outputs.push((await run(['keyring', 'rotate', '--json'], stage.place)).stdout)

    expect(await codeOf(b.prefillUser({ userid: 'ada', ...ada }, { idempotencyKey: 'ada' }))).toBe(
      'user_exists replayed',
    )
    expect(await codeOf(a.prefillUser({ userid: 'ada' }, { idempotencyKey: 'ada' }))).toBe(
      'idempotency_key_reused',
    )
    expect(
      await b.createUser({ userid: 'eve', ...ada, offername: 'plus' }, { idempotencyKey: 'eve' }),
    ).toEqual(created)
    expect(await b.createWebhook(hook, { idempotencyKey: 'hook' })).toMatchObject({
      webhookid: added.webhookid,
    })
    expect((await b.listWebhooks({})).webhooks).toHaveLength(1)
    // All that create needs stands in the prefill, which was sealed before.
    expect(await b.createUser({ userid: 'ada', offername: 'starter' })).toMatchObject({ status: 'active' })
    expect(await b.changeOffer({ ...down, previewid })).toMatchObject({ direction: 'downgrade' })
    const page = await fetch(link.linkurl ?? '')
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<button')
  })

  test('is told by ids alone: no key is in an output or in a log', async () => {
    const file = readKeyringFile(stage.dataDir)
    const shown = await run(['keyring', 'show'], stage.place)
    outputs.push(shown.stdout)
    const text = outputs.join('') + stage.written()
    for (const { id, key } of [...file.rootKeys.keys, ...file.peppers.keys]) {
      expect(shown.stdout).toContain(id)
      for (const form of ['base64', 'hex', 'base64url'] as const)
        expect(text).not.toContain(key.toString(form))
    }
  })

  test('ends with the old keys retired once nothing hangs on them, and a restart that knows the new ones only', async () => {
    const [a, b] = clientsOf(stage, partner)
    await Promise.all([a, b].map(one => one.getUser({ userid: 'ada' })))
    const old = (await stage.keys()).filter(key => key.state === 'old')
    for (const { id } of old.filter(key => key.kind === 'root'))
      await runJson(['keyring', 'retire', id], stage.place)
    const peppers = old.filter(key => key.kind === 'pepper')
    // The link was made under the later of the two.
    expect(peppers.map(key => key.inuse['sessions'])).toEqual([0, 1])
    expect(await refusal(stage, 'keyring', 'retire', peppers.at(-1)?.id ?? '')).toMatch(
      /^The pepper \w+ is in use \(.*access token.*\): `enrolment keyring show` tells when/,
    )
    // What was hashed under the old ones is given up: the link, and the secret together with its tokens.
    await a.revokeLinkToken({ sessionid: linkId })
    const { live, secret } = await runJson<{ live: string[]; secret: string }>(
      ['key', 'rotate', partner.partnerid],
      stage.place,
    )
    await runJson(['key', 'revoke', partner.partnerid, live[0] ?? ''], stage.place)
    for (const { id } of peppers) await runJson(['keyring', 'retire', id], stage.place)
    expect((await stage.keys()).map(key => key.state)).toEqual(['current', 'current'])

    const renewed = { ...partner, clientsecret: secret }
    for (const one of clientsOf(stage, renewed)) await one.getUser({ userid: 'ada' })
    await stage.restart()
    for (const [round, one] of clientsOf(stage, renewed).entries()) {
      expect(await codeOf(one.prefillUser({ userid: 'ada', ...ada }, { idempotencyKey: 'ada' }))).toBe(
        'user_exists replayed',
      )
      await one.updateUser({ userid: 'ada', phone: `305555014${round}` })
    }
    expect(stage.written()).not.toMatch(/"event":"(failure|keyring_unreadable|crashed)"/)
  })
})

describe('a rotation that does not run to its end', () => {
  let stage: Stage
  let partner: Created
  beforeAll(async () => {
    stage = await openStage()
    partner = await stage.newPartner()
  })
  afterAll(() => stage.close())

  let users = 0
  /** Both services read and write with old data and new. */
  const bothWork = async () => {
    users += 1
    const userid = `user-${users}`
    const [a, b] = clientsOf(stage, partner)
    await a.prefillUser({ userid, ...ada })
    await b.createUser({ userid, offername: 'starter' })
    await a.getUser({ userid: 'user-1' })
    for (const one of clientsOf(stage, await stage.newPartner())) await one.prefillUser({ userid })
  }

  test('because it was killed with the new keys added leaves keys that work, and the next goes on with them', async () => {
    await bothWork()
    const before = readKeyringFile(stage.dataDir)
    const isAdded = () => readKeyringFile(stage.dataDir).rootKeys.next !== undefined
    expect(await runKilledWhen(['keyring', 'rotate'], stage.place, isAdded)).toBe(true)
    const { rootKeys, peppers } = readKeyringFile(stage.dataDir)
    expect([rootKeys.current, peppers.current]).toEqual([before.rootKeys.current, before.peppers.current])
    expect(idOf(await stage.keys('root'), 'next')).toBe(rootKeys.next)
    expect(await refusal(stage, 'keyring', 'retire', rootKeys.next ?? '')).toMatch(
      /is about to become current/,
    )
    await bothWork()

    const { rotated } = await runJson<{ rotated: Key[] }>(['keyring', 'rotate'], stage.place)
    expect(rotated.map(key => key.id)).toEqual([rootKeys.next, peppers.next])
    expect(await stage.keys()).toHaveLength(4)
    await bothWork()
  })

  test('because it was killed before the re-wrap works too, and the key is not retired before a re-wrap', async () => {
    const file = readKeyringFile(stage.dataDir)
    const old = file.rootKeys.current
    const added = withNext(file.rootKeys, newKey())
    replaceKeyringFile(stage.dataDir, { ...file, rootKeys: added })
    await bothWork()
    const rootKeys = withCurrent(added, added.next ?? '', 1)
    if (!rootKeys) throw new Error('refused')
    replaceKeyringFile(stage.dataDir, { ...file, rootKeys })
    await bothWork()
    const partners = (await stage.keys('root')).find(key => key.id === old)?.inuse['partners'] ?? 0
    expect(partners).toBeGreaterThan(0)

    expect(await refusal(stage, 'keyring', 'retire', old)).toMatch(
      /^The root key \w+ is in use \(\d+ partners, 1 mark of the database\): run `enrolment keyring rewrap`/,
    )
    expect(await runJson(['keyring', 'rewrap'], stage.place)).toEqual({
      current: rootKeys.current,
      rewrapped: partners,
    })
    expect(await runJson(['keyring', 'rewrap'], stage.place)).toMatchObject({ rewrapped: 0 })
    expect(await runJson(['keyring', 'retire', old], stage.place)).toEqual({
      id: old,
      kind: 'root',
      retired: true,
    })
    await bothWork()
    await stage.restart()
    await bothWork()
  })

  test('because the file cannot be written says so and changes nothing', async () => {
    const path = join(stage.dataDir, 'keyring.json')
    const before = await readFile(path, 'utf8')
    // A directory in the draft's place stops whoever writes, root too.
    await mkdir(`${path}.new`)
    for (const words of [['rotate'], ['rotate', 'pepper']])
      expect(await refusal(stage, 'keyring', ...words)).toMatch(
        /^The file .*keyring\.json cannot be written \(E\w+\): check the path and its permissions\.$/,
      )
    await rm(`${path}.new`, { recursive: true })
    expect(await readFile(path, 'utf8')).toBe(before)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test('beside another at the same time ends well as that one does, and no key is lost', async () => {
    const before = readKeyringFile(stage.dataDir)
    const both = await Promise.all([1, 2].map(() => run(['keyring', 'rotate', 'root'], stage.place)))
    expect(both.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ])
    const after = readKeyringFile(stage.dataDir)
    expect(after.rootKeys.next).toBeUndefined()
    for (const { id } of before.rootKeys.keys) expect(after.rootKeys.keys.map(key => key.id)).toContain(id)
    expect(after.peppers).toEqual(before.peppers)
    for (const key of await stage.keys('root'))
      expect(key.inuse['partners'] === 0).toBe(key.id !== after.rootKeys.current)
    await bothWork()
  })

  test('or is asked for in other words is refused', async () => {
    const { peppers } = readKeyringFile(stage.dataDir)
    expect(await refusal(stage, 'keyring', 'retire', 'feedfeedfeedfeed')).toMatch(
      /^There is no key feedfeedfeedfeed in the keyring: see `enrolment keyring show`\.$/,
    )
    expect(await refusal(stage, 'keyring', 'retire', peppers.current)).toMatch(
      /is the current one: run `enrolment keyring rotate pepper` first\.$/,
    )
    expect(await run(['keyring', 'rotate', 'salt'], stage.place)).toMatchObject({ code: 2, stdout: '' })
    expect((await run(['keyring', 'retire', '--help'])).stdout).toMatch(
      /^enrolment keyring retire KEYID \[options\]\n/,
    )
  })
})

test('what is hashed under a pepper that is gone opens nothing more, on either process', async () => {
  const stage = await openStage()
  onTestFinished(() => stage.close())
  const partner = await stage.newPartner()
  const clients = clientsOf(stage, partner)
  for (const one of clients) await one.prefillUser({ userid: 'u1' })
  await runJson(['keyring', 'rotate', 'pepper'], stage.place)
  for (const one of clients) await one.getUser({ userid: 'u1' })
  const file = readKeyringFile(stage.dataDir)
  const peppers = withoutOld(file.peppers, idOf(await stage.keys('pepper'), 'old'))
  if (!peppers) throw new Error('refused')
  // No command would do it: the tokens of both clients hang on it, and the secret that was not used since.
  replaceKeyringFile(stage.dataDir, { ...file, peppers })
  for (const one of clients)
    await expect.poll(() => codeOf(one.getUser({ userid: 'u1' }))).toBe('invalid_client')
})

test('a keyring that cannot be read any more stops no running process, and the log says so', async () => {
  const stage = await openStage()
  onTestFinished(() => stage.close())
  const partner = await stage.newPartner()
  const path = join(stage.dataDir, 'keyring.json')
  const good = await readFile(path)
  await writeFile(path, '{')
  const [a] = clientsOf(stage, partner)
  await expect
    .poll(async () => {
      await clientsOf(stage, partner)[0].prefillUser({ userid: 'u1' })
      return stage.services[0]?.log().filter(line => line.event === 'keyring_unreadable').length
    })
    .toBe(1)
  await a.prefillUser({ userid: 'u1', ...ada })
  await writeFile(path, good)
  await runJson(['keyring', 'rotate'], stage.place)
  for (const one of clientsOf(stage, partner)) await one.getUser({ userid: 'u1' })
})

test('with ENROLMENT_ROOT_KEY the keys rotate by its list: behind, in front, alone', async () => {
  const [older, newer] = [1, 2].map(() => randomBytes(32).toString('base64'))
  const stage = await openStage({ ENROLMENT_ROOT_KEY: `${older}` })
  onTestFinished(() => stage.close())
  const partner = await stage.newPartner()
  await clientsOf(stage, partner)[0].prefillUser({ userid: 'u1', ...ada }, { idempotencyKey: 'k1' })
  const oldIds = (await stage.keys()).map(key => key.id)
  const works = async () => {
    for (const one of clientsOf(stage, partner)) {
      expect(await codeOf(one.prefillUser({ userid: 'u1', ...ada }, { idempotencyKey: 'k1' }))).toBe(
        'user_exists replayed',
      )
      expect(await one.getUser({ userid: 'u1' })).toMatchObject({ status: 'prefilled' })
    }
  }

  await stage.restart({ ENROLMENT_ROOT_KEY: `${older},${newer}` })
  await works()
  await stage.restart({ ENROLMENT_ROOT_KEY: `${newer},${older}` })
  await works()
  expect(await refusal(stage, 'keyring', 'rotate')).toMatch(
    /^The keys come from ENROLMENT_ROOT_KEY, and no command can change that: put a new key behind it/,
  )
  expect(await refusal(stage, 'keyring', 'retire', oldIds[0] ?? '')).toMatch(
    /^The keys come from ENROLMENT_ROOT_KEY/,
  )
  const only = { ...stage.place, env: { ...stage.place.env, ENROLMENT_ROOT_KEY: `${newer}` } }
  expect(await runJson(['keyring', 'rewrap'], stage.place)).toMatchObject({ rewrapped: 1 })
  const shown = await runJson<Shown>(['keyring', 'show'], only)
  expect(shown.source).toBe('environment')
  // Said of the old pepper while it is not among the keys: what would be lost without it.
  expect(shown.keys.filter(key => key.state === 'missing').map(key => key.kind)).toEqual(['pepper'])
  const { live, secret } = await runJson<{ live: string[]; secret: string }>(
    ['key', 'rotate', partner.partnerid],
    stage.place,
  )
  await runJson(['key', 'revoke', partner.partnerid, live[0] ?? ''], stage.place)
  partner.clientsecret = secret
  const others = (await stage.keys()).filter(key => oldIds.includes(key.id))
  expect(others.flatMap(key => Object.values(key.inuse))).toEqual([0, 0, 0, 0, 0])

  await stage.restart({ ENROLMENT_ROOT_KEY: `${newer}` })
  await works()
  for (const key of [older, newer]) expect(stage.written()).not.toContain(key)
})
