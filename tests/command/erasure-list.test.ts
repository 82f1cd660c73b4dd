import { appendFile, cp, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { wholeRunTest } from '../long.ts'
import { ada, demoCatalogueFile } from '../rig.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { type Created, clientOf, codeOf, hookAt, newWorkplace } from './place.ts'
import { newDataDir, run, runJson, type ServiceProcess, startProcess } from './process.ts'

type Erased = { serviceid: string; status: string; erasedat: string }

/** The receiver of a test listens on loopback. */
const allowed = { ENROLMENT_WEBHOOK_ALLOW: '127.0.0.0/8' }
function serve(data: string, env: Record<string, string> = {}) {
  return startProcess(['serve', '--port', '0', '--data', data], { env: { ...allowed, ...env } })
}

async function newPartner(data: string, ...words: string[]): Promise<Created> {
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', data])
  return runJson<Created>(['partner', 'create', '--name', 'Drill', '--data', data, ...words], {
    env: allowed,
  })
}

function create(service: ServiceProcess, partner: Created, userid: string) {
  return clientOf(service, partner).createUser({ ...ada, userid, offername: 'plus', effectivedate: '' })
}
function get(service: ServiceProcess, partner: Created, userid: string) {
  return clientOf(service, partner).getUser({ userid }) as unknown as Promise<Erased>
}

wholeRunTest(
  'a restored backup and the list: who was erased since is erased again as of then, without events, and nobody else',
  async () => {
    const receiver = await startReceiver()
    const data = await newDataDir()
    const service = await serve(data)
    const partner = await newPartner(data, ...hookAt(receiver.url, { events: 'user_erased' }))
    const client = clientOf(service, partner)
    for (const userid of ['by-api', 'by-operator', 'stays', 'before']) await create(service, partner, userid)
    // Erased before the backup: a new user under the same userid is in the backup.
    await client.eraseUser({ userid: 'before' })
    const successor = await create(service, partner, 'before')
    const backup = join(await newDataDir(), 'backup')
    await runJson(['backup', backup, '--data', data])

    const byApi = (await client.eraseUser({ userid: 'by-api' })) as Erased
    const certificate = await runJson<Erased>([
      'user',
      'erase',
      partner.partnerid,
      'by-operator',
      '--reason',
      'asked by letter',
      '--data',
      data,
    ])
    // Killed immediately after the answer: an acknowledged erasure is on the disk.
    await service.stop('SIGKILL')
    const list = await readFile(join(data, 'erasures'), 'utf8')
    expect(list).toContain(`${partner.partnerid} ${byApi.serviceid} ${byApi.erasedat}\n`)
    expect(list).toContain(`${partner.partnerid} ${certificate.serviceid} ${certificate.erasedat}\n`)
    expect(list).not.toMatch(/by-api|by-operator|before|letter/)

    const elsewhere = await newDataDir()
    for (const file of ['keyring.json', 'erasures']) await cp(join(data, file), join(elsewhere, file))
    await runJson(['restore', backup, '--data', elsewhere])
    const told = receiver.deliveries.length
    const copy = await serve(elsewhere)
    expect(copy.log().find(({ event }) => event === 'erased_again')).toMatchObject({ count: 2 })
    // The copy is still quiet: these users were erased again before anybody could read them.
    for (const [userid, erased] of [
      ['by-api', byApi],
      ['by-operator', certificate],
    ] as const) {
      const { status, serviceid, erasedat } = erased
      expect(await get(copy, partner, userid)).toMatchObject({ status, serviceid, erasedat })
    }
    expect(await get(copy, partner, 'stays')).toMatchObject({ status: 'active' })
    expect(await get(copy, partner, 'before')).toMatchObject({
      status: 'active',
      serviceid: successor.serviceid,
    })
    const { events } = await clientOf(copy, partner).listEvents({ eventname: 'user_erased' })
    expect(events.map(({ userid }) => userid)).toEqual(['before'])
    expect(await copy.stop()).toBe(0)

    await runJson(['resume', '--data', elsewhere])
    const resumed = await serve(elsewhere)
    expect(resumed.log().filter(({ event }) => event === 'erased_again')).toEqual([])
    // Under a new key the userid starts a new person, as after any erasure.
    const fresh = await create(resumed, partner, 'by-api')
    expect(fresh.serviceid).not.toBe(byApi.serviceid)
    expect(receiver.deliveries.slice(told).filter(({ body }) => body.includes('by-'))).toEqual([])
    expect(await resumed.stop()).toBe(0)
    await receiver.close()
  },
)

test('an erasure is answered only once it is listed; a repeat lists what could not be, and a start what was cut off', async () => {
  const data = await newDataDir()
  const path = join(await newDataDir(), 'list')
  const env = { ENROLMENT_ERASURES: path }
  const service = await serve(data, env)
  const partner = await newPartner(data)
  const client = clientOf(service, partner)
  await create(service, partner, 'u-1')
  // A directory is now in the place of the list, so it cannot be written.
  await rename(path, `${path}.aside`)
  await mkdir(path)
  expect(await codeOf(client.eraseUser({ userid: 'u-1' }))).toBe('unavailable')
  expect(await codeOf(client.eraseUser({ userid: 'u-1' }))).toBe('unavailable')
  await rm(path, { recursive: true })
  await rename(`${path}.aside`, path)
  const erased = (await client.eraseUser({ userid: 'u-1' })) as Erased
  const line = `${partner.partnerid} ${erased.serviceid} ${erased.erasedat}\n`
  expect(await readFile(path, 'utf8')).toBe(line)
  await service.stop('SIGKILL')

  // The state that a kill between commit and list leaves, and a kill in the middle of a write.
  await rm(path)
  await appendFile(path, line.slice(0, 50))
  const again = await serve(data, env)
  const [torn, listed = '', ...rest] = (await readFile(path, 'utf8')).split('\n')
  // With the time at which the erasure was stored, some milliseconds away from that of its answer.
  expect([torn, listed.split(' ').slice(0, 2), rest]).toEqual([
    line.slice(0, 50),
    [partner.partnerid, erased.serviceid],
    [''],
  ])
  expect(await again.stop()).toBe(0)

  await appendFile(path, `${line.trim()} and more\n`)
  const refused = await run(['serve', '--port', '0', '--data', data], { env: { ...allowed, ...env } })
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('Line 3 of the list of erasures'),
  ])
})

test('with another PostgreSQL, the list that was put beside the keys counts, though no setting names it', async () => {
  const { place, remove } = await newWorkplace()
  const data = await newDataDir()
  const env = { ...allowed, ...place.env }
  const unlisted = await serve(data, place.env)
  expect(unlisted.log().map(({ event }) => event)).toContain('erasures_not_listed')
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', data], { env })
  const partner = await runJson<Created>(['partner', 'create', '--name', 'Drill', '--data', data], { env })
  const { serviceid } = await create(unlisted, partner, 'u-1')
  expect(await unlisted.stop()).toBe(0)

  // What a database restored from a dump looks like: it has the person, and the list says that the person was erased.
  const line = `${partner.partnerid} ${serviceid} ${new Date().toISOString()}\n`
  await appendFile(join(data, 'erasures'), line)
  const restored = await serve(data, place.env)
  expect(restored.log().find(({ event }) => event === 'erased_again')).toMatchObject({ count: 1 })
  expect(await get(restored, partner, 'u-1')).toMatchObject({ status: 'erased', serviceid })
  expect(await restored.stop()).toBe(0)
  await remove()
})
