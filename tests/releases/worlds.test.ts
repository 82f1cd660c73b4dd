// @databases citus stock

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { withDatabase } from '@benefit-enrolment/embedded-postgres'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createClient } from '../../client/src/index.ts'
import type { DatabaseAddress } from '../../service/src/db/database.ts'
import { databaseUrl, dropOnCluster, onNode } from '../cluster.ts'
import { urlOf } from '../command/database-url.ts'
import { newDirectory, type Place, runJson } from '../command/process.ts'
import { signIn } from '../console/operator-browser.ts'
import { emptyDatabase } from '../global-setup.ts'
import { isLong } from '../long.ts'
import { newVisitor } from '../page/visitor.ts'
import { ada, freshDatabase, startTestService, type TestService } from '../rig.ts'
import { checkLedger } from '../trust/ledger.ts'
import { type Answers, insurersFiles, partnersAnswers, publishTiers } from './plain-answers.ts'
import { WORLD_BEGINS } from './real-time.ts'
import { liveTheYear, type World } from './scripted-year.ts'

// A year in the database of each release, brought to today's version. `node scripts/freeze.mjs` writes that of a release.

const folder = new URL('./', import.meta.url)
const releases = readdirSync(folder).filter(name => existsSync(new URL(`${name}/world.json`, folder)))
const { WRITE_RELEASE: written, PG_DUMP: pgDump = 'pg_dump' } = process.env

test.skipIf(written === undefined)('the year of a release is written', async () => {
  const at = new URL(`${written}/`, folder)
  const { path, remove } = await newDirectory()
  onTestFinished(remove)
  await using service = await startTestService({ startAt: WORLD_BEGINS, console: true })
  const world = await liveTheYear(service)
  const url = urlOf(service.address)
  const dump = execFileSync(pgDump, ['--no-owner', '--no-privileges', '--rows-per-insert=100', url], {
    maxBuffer: 2 ** 28,
  })
  writeFileSync(new URL('database.sql.gz', at), gzipSync(dump, { level: 9 }))
  writeFileSync(new URL('world.json', at), `${JSON.stringify(world)}\n`)
  const env = { ENROLMENT_ROOT_KEY: world.rootKey }
  const [data, backup] = [join(path, 'data'), join(path, 'backup')]
  await runJson(['copy', '--to', data], { env: { ...env, DATABASE_URL: url } })
  await withDatabase({ dataDir: data }, address =>
    runJson(['resume'], { env: { ...env, DATABASE_URL: urlOf(address) } }),
  )
  await runJson(['backup', backup, '--data', data], { env })
  for (const [name, directory] of [['backup', backup] as const, ['data', data] as const])
    execFileSync('tar', ['-cJf', fileURLToPath(new URL(`${name}.tar.xz`, at)), '-C', directory, '.'], {
      env: { ...process.env, XZ_OPT: '-9e' },
    })
})

test.runIf(isLong)('the year that a release will be written with can be lived today', async () => {
  await using service = await startTestService({ startAt: WORLD_BEGINS, console: true })
  expect((await liveTheYear(service)).users.length).toBeGreaterThan(30)
})

test.skipIf(releases.length === 0)(
  'the database of each release is brought to today’s version: books, users, page and console are as they were, and a month passes',
  async () => {
    for (const release of releases) {
      const world = worldOf(release)
      const old = await load(release)
      const place = { env: { DATABASE_URL: urlOf(old), ENROLMENT_ROOT_KEY: world.rootKey } }
      await runJson(['migrate'], place)
      await readWorld(world, await onThisServer(place, old), answersOf(release))
    }
  },
)

test
  .skipIf(releases.length === 0 || process.env['TEST_DATABASE_URL'] !== undefined)
  .each(['data', 'backup'] as const)('so is the %s of an embedded database of each release', async kind => {
  for (const release of releases) {
    const world = worldOf(release)
    const { path, remove } = await newDirectory()
    onTestFinished(remove)
    const data = join(path, 'data')
    const place = { env: { ENROLMENT_ROOT_KEY: world.rootKey } }
    const packed = fileURLToPath(new URL(`${release}/${kind}.tar.xz`, folder))
    const unpacked = kind === 'data' ? data : path
    mkdirSync(unpacked, { recursive: true, mode: 0o700 })
    execFileSync('tar', ['-xJf', packed, '-C', unpacked])
    if (kind === 'backup') await runJson(['restore', path, '--data', data], place)
    else await runJson(['migrate', '--data', data], place)
    await withDatabase({ dataDir: data }, async address => {
      if (kind === 'backup')
        await runJson(['resume'], { env: { ...place.env, DATABASE_URL: urlOf(address) } })
      await readWorld(world, address)
    })
  }
})

function worldOf(release: string): World {
  return JSON.parse(readFileSync(new URL(`${release}/world.json`, folder), 'utf8')) as World
}

/** A database with the dump of a release, on the server of this test; on a cluster, on its coordinator alone. */
async function load(release: string): Promise<DatabaseAddress> {
  const server = inject('testServer')
  let address: DatabaseAddress
  if (server.kind === 'cluster') {
    const name = `world_${randomBytes(6).toString('hex')}`
    await onNode(server.url, `create database ${name} ${emptyDatabase}`)
    onTestFinished(() => dropOnCluster([server.url], name))
    address = { url: databaseUrl(server.url, name) }
  } else {
    const fresh = await freshDatabase({ empty: true })
    onTestFinished(fresh.drop)
    address = fresh.address
  }
  const dump = gunzipSync(readFileSync(new URL(`${release}/database.sql.gz`, folder))).toString('utf8')
  await onNode(urlOf(address), dump.replace(/^\\.*$/gm, ''))
  return address
}

/** The same database, moved to the cluster where this test runs on one. */
async function onThisServer(place: Place, old: DatabaseAddress): Promise<DatabaseAddress> {
  if (inject('testServer').kind !== 'cluster') return old
  const { address, drop } = await freshDatabase({ empty: true })
  onTestFinished(drop)
  const there = { env: { ...place.env, DATABASE_URL: urlOf(address) } }
  // One for each partner: a copy would make sixteen.
  await runJson(['migrate', '--cells', '2'], there)
  await runJson(['copy', '--to', urlOf(address)], place)
  await runJson(['resume'], there)
  return address
}

/** What was answered about the world of a release before there was family cover. */
function answersOf(release: string): Answers | undefined {
  const file = new URL(`${release}/without-families.json.gz`, folder)
  return existsSync(file)
    ? (JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as Answers)
    : undefined
}

async function readWorld(world: World, address: DatabaseAddress, before?: Answers): Promise<void> {
  const on = { address, rootKey: world.rootKey }
  await using service = await startTestService({ on, startAt: world.at, console: true })
  const clients = world.partners.map(partner =>
    createClient({ baseUrl: service.baseUrl, tries: 1, fetch: service.conformance.fetch, ...partner }),
  )
  const [harbor, corner] = clients
  if (!harbor || !corner) throw new Error('a world without its partners')
  await checkLedger({
    journal: { entries: world.entries, wrong: [] },
    receiver: { wrong: [], arrived: new Map(world.arrived.map(([key, bodies]) => [key, bodies.map(hexOf)])) },
    database: service.database,
    partnerId: world.partners[0]?.partnerId ?? '',
    logs: '',
  })
  for (const { partner, user } of world.users)
    expect({
      ...(await clients[partner]?.getUser({ userid: user.userid })),
      userid: user.userid,
    }).toMatchObject(user)
  expect((await harbor.listEvents({ after: world.cursor })).events.length).toBeGreaterThan(0)
  const { key, userid, serviceid } = world.stored
  const again = { userid, ...ada, offername: 'plus', benefits: ['telehealth'] }
  expect(await corner.createUser(again, { idempotencyKey: key })).toMatchObject({ serviceid })
  if (before) {
    const plain = await partnersAnswers(world, service)
    // On a cluster insurers are told of people cell by cell, and not in this order.
    const files = service.database.cells().length === 1 ? await insurersFiles(service) : {}
    expect(before).toMatchObject({ ...plain, ...files })
    // Also once the same benefits cover families: who holds them keeps the terms.
    const told = await partnersAnswers(world, service)
    await publishTiers(service)
    expect(await partnersAnswers(world, service)).toEqual(told)
  }
  await readByPage(world, service, clients)
  await readByConsole(world, service)
  await verifyAudit(world, address)

  for (const client of clients) await client.advanceClock({ advanceto: '2026-12-20T15:00:00.000Z' })
  expect(await harbor.getUser({ userid: 'leaves' })).toMatchObject({ status: 'cancelled' })
  expect(await harbor.getUser({ userid: 'moves' })).toMatchObject({
    currentofferdetails: { offer: 'starter' },
  })
  const { statements } = await corner.listStatements({})
  expect(statements.find(({ month }) => month === '2026-11')).toMatchObject({ status: 'final' })
}

/** Compares the audit record with its signatures, and those with the ones that were kept elsewhere. */
async function verifyAudit({ heads, rootKey }: World, address: DatabaseAddress): Promise<void> {
  const { path, remove } = await newDirectory()
  onTestFinished(remove)
  const kept = join(path, 'heads')
  writeFileSync(kept, heads)
  const place = { env: { DATABASE_URL: urlOf(address), ENROLMENT_ROOT_KEY: rootKey } }
  const found = await runJson<{ rows: number }>(['audit', 'verify', '--heads', kept], place)
  expect(found).toMatchObject({ ok: true, heads: heads.trim().split('\n').length })
  expect(found.rows).toBeGreaterThan(100)
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex')
}

type Clients = readonly ReturnType<typeof createClient>[]

/** The view that a new link opens for a user of each status; an erased one gets no link. */
const firstViews = new Map([
  ['active', 'BENEFITS'],
  ['cancelled', 'DETAILS_REVIEW'],
  ['prefilled', 'DETAILS_REVIEW'],
  ['registering', 'DETAILS_REVIEW'],
])

/** Opens the link that was never opened, which asks for the birth date as it came by mail, and a new one of each user. */
async function readByPage(world: World, { baseUrl }: TestService, clients: Clients): Promise<void> {
  expect(await newVisitor(baseUrl).post(world.link)).toMatchObject({ status: 200, view: 'CHALLENGE' })
  for (const { partner, user } of world.users) {
    const { status } = user as { status?: string }
    if (status === 'erased') continue
    const purpose = status === 'active' ? 'benefits' : 'registration'
    const link = await clients[partner]?.createLinkToken({ userid: user.userid, purpose })
    const { view } = await newVisitor(baseUrl).post(link?.linkurl ?? '')
    expect([user.userid, view]).toEqual([user.userid, firstViews.get(status ?? '')])
  }
}

/** Looks at each user, and confirms the request that waits for a second person. */
async function readByConsole(world: World, service: TestService): Promise<void> {
  const operator = await signIn(service, 'support')
  for (const { user } of world.users) {
    const { serviceid } = user as { serviceid?: string }
    expect((await operator.get(`/users/${serviceid}`)).status).toBe(200)
  }
  expect((await operator.get(world.request)).text).toContain('ticket 4711')
  const done = await operator.post(`${world.request}/confirm`, { reason: 'read the ticket' })
  expect(done.path).toMatch(/^\/users\//)
}
