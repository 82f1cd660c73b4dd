import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { wholeRunTest } from '../long.ts'
import { ada, demoCatalogueFile } from '../rig.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { type Created, clientOf, codeOf, hookAt, newWorkplace } from './place.ts'
import { newDataDir, run, runJson, runRefused, startProcess } from './process.ts'

/** The receiver of a test listens on loopback. */
const allowed = { env: { ENROLMENT_WEBHOOK_ALLOW: '127.0.0.0/8' } }

function serveOn(data: string, ...words: string[]) {
  return startProcess(['serve', '--port', '0', '--data', data, ...words], allowed)
}

/** The results with which backups are in the audit log, the oldest first. */
async function backupsOnRecord(data: string): Promise<(string | undefined)[]> {
  const { stdout } = await run(['audit', 'export', '--data', data])
  const entries = [...stdout.matchAll(/"action":"backup".*?"result":"(\w+)"/g)]
  return entries.map(([, result]) => result)
}

function create(client: Client, userid: string) {
  return client.createUser({ ...ada, userid, offername: 'plus', effectivedate: '' })
}

/** What an erasure answers, and a read of an erased user. */
type Erased = { serviceid: string; status: string; erasedat: string }

async function stage(data: string, ...words: string[]) {
  const service = await serveOn(data)
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', data])
  const partner = await runJson<Created>(
    ['partner', 'create', '--name', 'Drill', '--data', data, ...words],
    allowed,
  )
  return { service, partner, client: clientOf(service, partner) }
}

test('the drill: a backup made under load is restored elsewhere, quiet, without those erased since, and serves once it is told to', async () => {
  const receiver = await startReceiver()
  const data = await newDataDir()
  const { service, partner, client } = await stage(data, ...hookAt(receiver.url, { events: 'user_erased' }))
  for (const userid of ['by-api', 'by-operator', 'stays', 'before']) await create(client, userid)
  // Erased before the backup: a new user under the same userid is in the backup.
  await client.eraseUser({ userid: 'before' })
  const successor = await create(client, 'before')
  const acknowledged: string[] = []
  let isOver = false
  const load = (async () => {
    for (let number = 0; !isOver; number += 1) {
      await client.prefillUser({ userid: `load-${number}`, firstname: 'Load' })
      acknowledged.push(`load-${number}`)
    }
  })()
  const into = join(await newDataDir(), 'backup')
  const atStart = acknowledged.length
  await runJson(['backup', into, '--data', data])
  isOver = true
  await load
  const present = acknowledged.slice(0, atStart)
  expect(await backupsOnRecord(data)).toEqual(['begun', 'done'])

  const byApi = (await client.eraseUser({ userid: 'by-api' })) as Erased
  const erase = ['user', 'erase', partner.partnerid, 'by-operator', '--alone', '--reason', 'asked by letter']
  const byOperator = await runJson<Erased>([...erase, '--data', data])
  // Killed immediately after the answer: an acknowledged erasure is on the disk.
  await service.stop('SIGKILL')
  const list = await readFile(join(data, 'erasures'), 'utf8')
  for (const { serviceid, erasedat } of [byApi, byOperator])
    expect(list).toContain(`${partner.partnerid} ${serviceid} ${erasedat}\n`)
  expect(list).not.toMatch(/by-api|by-operator|before|letter/)

  const elsewhere = await newDataDir()
  // Keys and list are copied separately, as an operator must do.
  await cp(join(data, 'keyring.json'), join(elsewhere, 'keyring.json'))
  // What a restore leaves that is interrupted.
  await mkdir(join(elsewhere, 'postgres-unfinished-1'))
  const restoring = await run(['restore', into, '--data', elsewhere])
  expect((await readdir(elsewhere)).filter(name => name.startsWith('postgres-'))).toEqual([])
  expect(restoring.stdout).toContain(`the newest list of erasures there: ${join(elsewhere, 'erasures')}`)
  expect(restoring.stdout).not.toContain('put its keys there')
  await cp(join(data, 'erasures'), join(elsewhere, 'erasures'))
  const told = receiver.deliveries.length
  const copy = await serveOn(elsewhere)
  expect(copy.log().find(({ event }) => event === 'erased_again')).toMatchObject({ count: 2 })
  // The copy was made between the two entries.
  expect(await backupsOnRecord(elsewhere)).toEqual(['begun'])
  const restored = clientOf(copy, partner)
  // The copy is still quiet: these users were erased again before anybody could read them.
  for (const [userid, { status, serviceid, erasedat }] of [
    ['by-api', byApi],
    ['by-operator', byOperator],
  ] as const)
    expect(await restored.getUser({ userid })).toMatchObject({ status, serviceid, erasedat })
  expect(await restored.getUser({ userid: 'stays' })).toMatchObject({ status: 'active' })
  const { serviceid } = successor
  expect(await restored.getUser({ userid: 'before' })).toMatchObject({ status: 'active', serviceid })
  const { events } = await restored.listEvents({ eventname: 'user_erased' })
  expect(events.map(({ userid }) => userid)).toEqual(['before'])
  for (const userid of present)
    expect(await restored.getUser({ userid })).toMatchObject({ status: 'prefilled' })
  expect(await codeOf(restored.prefillUser({ userid: 'new' }))).toBe('unavailable')

  await runJson(['resume', '--data', elsewhere])
  await expect.poll(() => codeOf(restored.prefillUser({ userid: 'new' }))).toBe('')
  // Under a new key the userid starts a new person, as after any erasure.
  expect((await create(restored, 'by-api')).serviceid).not.toBe(byApi.serviceid)
  expect(receiver.deliveries.slice(told).filter(({ body }) => body.includes('by-'))).toEqual([])
  expect(await copy.stop()).toBe(0)
  await receiver.close()
})

test('a process started with --quiet answers reads alone, and delivers what waited once it is resumed', async () => {
  const { place, remove } = await newWorkplace(allowed.env)
  const serve = (...words: string[]) => startProcess(['serve', '--port', '0', ...words], place)
  const receiver = await startReceiver()
  // It never answers, so the event is due again as soon as this process has ended.
  receiver.answer = () => () => {}
  const first = await serve()
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
  const partner = await runJson<Created>(
    ['partner', 'create', '--name', 'Quiet', ...hookAt(receiver.url)],
    place,
  )
  await create(clientOf(first, partner), 'u-1')
  await receiver.received(1)
  expect(await first.stop()).toBe(0)
  const seen = receiver.deliveries.length
  receiver.answer = () => 200

  const service = await serve('--quiet')
  const client = clientOf(service, partner)
  expect(await client.getUser({ userid: 'u-1' })).toMatchObject({ status: 'active' })
  expect(await codeOf(client.prefillUser({ userid: 'u-2' }))).toBe('unavailable')
  expect(await codeOf(client.createLinkToken({ userid: 'u-1' }))).toBe('unavailable')
  expect(await codeOf(client.cancelUser({ userid: 'u-1' }))).toBe('unavailable')
  const readiness = () => fetch(`${service.address}/readyz`)
  const ready = await readiness()
  expect([ready.status, ((await ready.json()) as { detail: string }).detail]).toEqual([
    503,
    expect.stringContaining('quiet'),
  ])
  expect((await fetch(`${service.address}/healthz`)).status).toBe(200)
  expect((await fetch(`${service.address}/register`)).status).toBe(503)

  const resumedAt = Date.now()
  await runJson(['resume'], place)
  await expect.poll(async () => (await readiness()).status).toBe(200)
  await client.prefillUser({ userid: 'u-2' })
  // The two events of the first user, and that of the second.
  await receiver.received(seen + 3)
  expect(receiver.deliveries.slice(seen).filter(({ at }) => at < resumedAt)).toEqual([])
  expect(await service.stop()).toBe(0)
  await receiver.close()
  await remove()
})

wholeRunTest(
  'a backup that was damaged, cut short or has a place taken is refused, and leaves nothing',
  async () => {
    const data = await newDataDir()
    await runJson(['migrate', '--data', data])
    const into = join(await newDataDir(), 'backup')
    await runJson(['backup', into, '--data', data])
    expect(await runRefused(['backup', into, '--data', data])).toContain('is not empty')
    const file = join(into, 'manifest.json')
    for (const taken of [file, join(file, 'below'), ...(existsSync('/proc') ? ['/proc/nowhere'] : [])])
      expect(await runRefused(['backup', taken, '--data', data])).toMatch(
        /cannot be made a directory \(E\w+\): give a backup a directory of its own\.$/,
      )
    expect(await runRefused(['restore', into, '--data', data])).toContain('There already is a database')
    expect(await runRefused(['restore', into, '--data', file])).toContain(`${file} is not a directory`)
    expect(await readdir(into)).toEqual(['manifest.json', 'postgres'])
    expect(await readFile(join(into, 'manifest.json'), 'utf8')).not.toContain('keyring')

    const elsewhere = await newDataDir()
    const control = join(into, 'postgres/global/pg_control')
    const whole = await readFile(control)
    await writeFile(control, Buffer.concat([whole.subarray(0, -1), Buffer.from([1])]))
    expect(await runRefused(['restore', into, '--data', elsewhere])).toContain(
      'pg_control is not as it was written',
    )
    const empty = join(await newDataDir(), 'nothing')
    await mkdir(empty)
    expect(await runRefused(['restore', empty, '--data', elsewhere])).toContain('There is no complete backup')
    expect(await readdir(elsewhere)).toEqual([])
    const place = { env: { DATABASE_URL: 'postgres://localhost/none' } }
    expect(await runRefused(['backup', empty], place)).toContain('pg_dump')
    expect((await run(['restore', into, '--data', elsewhere], place)).code).toBe(1)
  },
)
