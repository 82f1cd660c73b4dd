import { request } from 'node:http'
import { expect, test } from 'vitest'
import { noPartner } from '../../service/src/audit/entries.ts'
import { sql } from '../../service/src/db/sql.ts'
import { disableOperator } from '../../service/src/operators/store.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { consoleOf, newLink, newOperator, signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))

function form(base: string) {
  return {
    method: 'POST',
    redirect: 'manual' as const,
    headers: { origin: base, 'content-type': 'application/x-www-form-urlencoded' },
  }
}

test('a sign-in link works once, and opening it spends nothing', async () => {
  const base = consoleOf(service)
  const { path } = await newOperator(service, 'viewer')
  expect((await fetch(base + path)).status).toBe(200)
  expect((await fetch(base + path)).status).toBe(200)
  const signedIn = await fetch(base + path, form(base))
  expect(signedIn.status).toBe(303)
  expect(signedIn.headers.get('set-cookie')).toMatch(
    /^enrolment-console=enr_os_sandbox_\w+; Path=\/; HttpOnly; SameSite=Lax$/,
  )
  for (const again of [await fetch(base + path), await fetch(base + path, form(base))]) {
    expect(again.status).toBe(410)
    expect(await again.text()).toContain('This link has ended')
  }
})

test('of two who press one link at once, one is signed in', async () => {
  const base = consoleOf(service)
  const { path } = await newOperator(service, 'viewer')
  const answers = await Promise.all([fetch(base + path, form(base)), fetch(base + path, form(base))])
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 410])
})

test('a newer link ends the one before, and a day ends both', async () => {
  const base = consoleOf(service)
  const { path, name } = await newOperator(service, 'viewer')
  const newer = await newLink(service, name)
  expect((await fetch(base + path)).status).toBe(410)
  expect((await fetch(base + newer)).status).toBe(200)
  service.advance(24 * 3_600_000)
  expect((await fetch(base + newer)).status).toBe(410)
})

test('a session ends after 8 hours, by signing out, and when its operator is disabled', async () => {
  const aged = await signIn(service, 'viewer')
  expect((await aged.get('/')).status).toBe(200)
  service.advance(8 * 3_600_000)
  expect((await aged.get('/')).status).toBe(401)

  const left = await signIn(service, 'viewer')
  expect((await left.post('/sign-out')).text).toContain('You are signed out')
  expect((await left.get('/')).status).toBe(401)

  const { name, path } = await newOperator(service, 'admin')
  await disableOperator(service.database, name, service.now())
  expect((await fetch(consoleOf(service) + path)).status).toBe(410)
})

test('the console answers to its own name alone', async () => {
  const { port } = new URL(consoleOf(service))
  const ask = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path: '/', headers: { host } }, answer => {
        answer.resume()
        resolve(answer.statusCode)
      })
        .on('error', reject)
        .end()
    })
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) expect(await ask(host)).toBe(401)
  for (const host of [
    'evil.example',
    `127.evil.example:${port}`,
    `localhost.evil.example:${port}`,
    'localhost',
  ])
    expect(await ask(host)).toBe(421)
})

test('partners’ address knows nothing of the console, and the console nothing of the API', async () => {
  expect((await fetch(`${service.baseUrl}/sign-in/x`)).status).toBe(404)
  expect((await fetch(`${consoleOf(service)}/openapi.json`)).status).toBe(401)
})

test('no page runs a script of others, is framed or kept', async () => {
  const operator = await signIn(service, 'viewer')
  const { headers } = await operator.get('/')
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  )
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
})

test('who signed in and out is on record, and no secret is in the log', async () => {
  const operator = await signIn(service, 'support')
  await operator.post('/sign-out')
  const rows = await service.database.query<{ action: string }>(sql`
    select action from audit_log where partner_id = ${noPartner} and actor = ${operator.operatorId} order by entry_id`)
  expect(rows.map(({ action }) => action)).toEqual(['sign in', 'sign out'])
  expect(JSON.stringify(service.logged)).not.toMatch(/enr_o[ls]_/)
})
