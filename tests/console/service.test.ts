// @databases citus

import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { addEntries, noPartner } from '../../service/src/audit/entries.ts'
import { readFigures } from '../../service/src/console/service/figures.ts'
import { sql } from '../../service/src/db/sql.ts'
import { makeQuiet } from '../../service/src/quiet.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { urlOf } from '../command/database-url.ts'
import { forAllTests } from '../for-all-tests.ts'
import { holdLocks } from '../hold-locks.ts'
import { sendRaw } from '../raw-http.ts'
import { ada, startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Canaryworks' }))
beforeAll(async () => {
  await partner.client.createUser({ ...ada, userid: 'rider-canary', offername: 'starter' })
})

function factOf(text: string, name: string): string {
  return new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`, 's').exec(text)?.[1] ?? ''
}

test('shows processes, lags, database, keys and versions, and nothing of partners or people', async () => {
  const viewer = await signIn(service, 'viewer')
  await expect
    .poll(async () => (await viewer.get('/service')).text, { timeout: 120_000 })
    .toMatch(/\d+ endpoints?/)
  const { text } = await viewer.get('/service')
  expect(factOf(text, 'Due changes')).toContain('no lag')
  expect(factOf(text, 'PostgreSQL')).toMatch(/^\d+/)
  expect(factOf(text, 'Kind')).toBe('sandbox')
  expect(factOf(text, 'Catalogue')).toContain('version 1')
  expect(factOf(text, 'Last backup')).toContain('not known here')
  expect(factOf(text, 'Schema')).toMatch(/^\d{3}_/)
  expect(Number(factOf(text, 'Requests answered'))).toBeGreaterThan(0)
  expect(text).toContain(service.keyring.rootKeys.current.id)
  expect(text).toMatch(/1 partner\b/)
  expect(text.toLowerCase()).not.toContain('canary')
  expect(text).not.toContain(partner.partnerId)
})

test('what lags is said aloud, and so are the last backup and the last rotation', async () => {
  const viewer = await signIn(service, 'viewer')
  const at = service.now() - 3_600_000
  await addEntries(
    service.database,
    ['backup', 'keyring rotate'].map(action => ({
      partnerId: noPartner,
      entryId: uuidv7(at),
      at,
      times: 1,
      action,
      result: 'done',
      actorKind: 'command' as const,
      actor: 'tester',
    })),
  )
  await service.database.query(sql`
    insert into erasures (partner_id, service_id, erased_at)
    values (${partner.partnerId}, ${uuidv7(at)}, ${new Date(service.now() - 3 * 86_400_000)})`)
  const { text } = await viewer.get('/service')
  expect(factOf(text, 'Last backup')).toContain('<time')
  expect(text).toContain('Rotated last')
  expect(factOf(text, 'Keys of erased users')).toMatch(/^1 still in files <span class="tag bad">/)
})

test('is refused to who works for some partners, and says when the copy is quiet', async () => {
  const ofOne = await signIn(service, 'admin', [partner.partnerId])
  expect((await ofOne.get('/service')).status).toBe(403)
  const viewer = await signIn(service, 'viewer')
  expect((await viewer.get('/service')).text).not.toContain('Quiet since')
  await makeQuiet(service.database, service.now())
  expect((await viewer.get('/service')).text).toContain('Quiet since')
})

test('each figure that the screen shows is one of the metrics, with the label it is looked for by', async () => {
  const source = await readFile(
    new URL('../../service/src/console/service/screens.ts', import.meta.url),
    'utf8',
  )
  const names = [...source.matchAll(/figures\('([a-z_]+)'/g)].map(([, name]) => name ?? '')
  expect(names).toContain('webhook_oldest_due_seconds')
  const text = await service.service().metrics()
  expect(names.filter(name => !new RegExp(`^# TYPE ${name} `, 'm').test(text))).toEqual([])
  for (const state of ['ok', 'failing'])
    expect(text).toContain(`webhook_oldest_due_seconds{state="${state}"}`)
})

test('figures are summed over labels, or over those with one value', () => {
  const figures = readFigures('# HELP a_b x\na_b{state="enabled",z="1"} 2\na_b{state="disabled"} 5\nc 0.25\n')
  expect(figures('a_b')).toBe(7)
  expect(figures('a_b', ['state', 'disabled'])).toBe(5)
  expect(figures('c')).toBe(0.25)
  expect(figures('d')).toBe(0)
})

test.each([
  ['two Host headers', 400, 'Host: HOST\r\nHost: HOST\r\n'],
  ['no Host', 400, ''],
  ['too many headers', 431, `Host: HOST\r\n${'x: 1\r\n'.repeat(70)}`],
])(
  'a request with %s is refused with a page, and is no failure of the service',
  async (_, status, headers) => {
    const { consoleUrl = '' } = service.service()
    const request = `GET / HTTP/1.1\r\n${headers.replaceAll('HOST', new URL(consoleUrl).host)}\r\n`
    const answer = await sendRaw(consoleUrl, request)
    expect(answer).toMatchObject({
      status,
      headers: { 'content-security-policy': expect.stringContaining("default-src 'none'") },
    })
    expect(answer.text).toContain('Not read')
    expect(service.logged.filter(({ event }) => event === 'failure')).toEqual([])
  },
)

test('a database that does not answer is told apart from a fault, with a status that says to come again', async () => {
  const viewer = await signIn(service, 'viewer')
  const held = await holdLocks(urlOf(service.address), [
    'lock table webhook_endpoints in access exclusive mode',
  ])
  const refused = await viewer.get('/webhooks').finally(() => held.release())
  expect(refused.status).toBe(503)
  expect(refused.text).toContain('The database does not answer')
  expect((await viewer.get('/webhooks')).status).toBe(200)
})
