import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { wholeRunTest } from '../long.ts'
import { ada, demoCatalogueFile } from '../rig.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { type Created, clientOf, codeOf, hookAt } from './place.ts'
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

async function stage(data: string, ...words: string[]) {
  const service = await serveOn(data)
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', data])
  const partner = await runJson<Created>(
    ['partner', 'create', '--name', 'Drill', '--data', data, ...words],
    allowed,
  )
  return { service, partner, client: clientOf(service, partner) }
}

test('the drill: a backup made under load is restored elsewhere, quiet, and serves once it is told to', async () => {
  const data = await newDataDir()
  const { service, partner, client } = await stage(data)
  await client.createUser({ ...ada, userid: 'before', offername: 'plus', effectivedate: '' })
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
  expect(await service.stop()).toBe(0)

  const elsewhere = await newDataDir()
  // The keys are copied separately, as an operator must do.
  await cp(join(data, 'keyring.json'), join(elsewhere, 'keyring.json'))
  const restoring = await run(['restore', into, '--data', elsewhere])
  expect(restoring.stdout).toContain(`the newest list of erasures there: ${join(elsewhere, 'erasures')}`)
  expect(restoring.stdout).not.toContain('put its keys there')
  const copy = await serveOn(elsewhere)
  // The copy was made between the two entries.
  expect(await backupsOnRecord(elsewhere)).toEqual(['begun'])
  const restored = clientOf(copy, partner)
  expect(await restored.getUser({ userid: 'before' })).toMatchObject({ status: 'active' })
  for (const userid of present)
    expect(await restored.getUser({ userid })).toMatchObject({ status: 'prefilled' })
  expect(await codeOf(restored.prefillUser({ userid: 'new' }))).toBe('unavailable')
  await runJson(['resume', '--data', elsewhere])
  await expect.poll(() => codeOf(restored.prefillUser({ userid: 'new' })), { timeout: 180_000 }).toBe('')
  expect(await copy.stop()).toBe(0)
})

wholeRunTest('a quiet copy answers reads alone, and delivers what waited once it is resumed', async () => {
  const receiver = await startReceiver()
  const data = await newDataDir()
  const { service, partner, client } = await stage(data, ...hookAt(receiver.url))
  receiver.answer = () => 500
  await client.createUser({ ...ada, userid: 'u-1', offername: 'plus', effectivedate: '' })
  await receiver.received(1)
  expect(await service.stop()).toBe(0)
  const seen = receiver.deliveries.length

  const copy = await serveOn(data, '--quiet')
  const quiet = clientOf(copy, partner)
  expect(await quiet.getUser({ userid: 'u-1' })).toMatchObject({ status: 'active' })
  expect(await codeOf(quiet.prefillUser({ userid: 'u-2' }))).toBe('unavailable')
  expect(await codeOf(quiet.createLinkToken({ userid: 'u-1' }))).toBe('unavailable')
  expect(await codeOf(quiet.cancelUser({ userid: 'u-1' }))).toBe('unavailable')
  const ready = await fetch(`${copy.address}/readyz`)
  expect([ready.status, ((await ready.json()) as { detail: string }).detail]).toEqual([
    503,
    expect.stringContaining('quiet'),
  ])
  expect((await fetch(`${copy.address}/healthz`)).status).toBe(200)
  expect((await fetch(`${copy.address}/register`)).status).toBe(503)
  expect(receiver.deliveries.length).toBe(seen)
  receiver.answer = () => 200
  expect(await copy.stop()).toBe(0)

  const again = await serveOn(data)
  expect(await codeOf(clientOf(again, partner).prefillUser({ userid: 'u-2' }))).toBe('unavailable')
  await runJson(['resume', '--data', data])
  await expect
    .poll(async () => (await fetch(`${again.address}/readyz`)).status, { timeout: 180_000 })
    .toBe(200)
  await clientOf(again, partner).prefillUser({ userid: 'u-2' })
  await expect.poll(() => receiver.deliveries.length, { timeout: 180_000 }).toBeGreaterThan(seen)
  expect(await again.stop()).toBe(0)
  await receiver.close()
})

wholeRunTest(
  'a backup that was damaged, cut short or has a place taken is refused, and leaves nothing',
  async () => {
    const data = await newDataDir()
    await runJson(['migrate', '--data', data])
    const into = join(await newDataDir(), 'backup')
    await runJson(['backup', into, '--data', data])
    expect(await runRefused(['backup', into, '--data', data])).toContain('is not empty')
    expect(await runRefused(['restore', into, '--data', data])).toContain('There already is a database')
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
