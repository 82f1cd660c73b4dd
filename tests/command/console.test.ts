import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { holdLocks } from '../hold-locks.ts'
import { ada, demoCatalogueFile } from '../rig.ts'
import { urlOf } from './database-url.ts'
import { type Created, clientOf, newWorkplace } from './place.ts'
import { runJson, runRefused, startKeptProcess, startProcess } from './process.ts'
import { signedIn } from './signed-in.ts'

// `enrolment serve` and `enrolment console`, two processes that share the database, the keys and the list of erasures.
const workplace = forAllTests(async () => {
  const { place, address, remove } = await newWorkplace()
  const env = {
    ...place.env,
    ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64'),
    ENROLMENT_ERASURES: join(place.cwd ?? '', 'erasures'),
  }
  return {
    place: { ...place, env },
    databaseUrl: urlOf(address),
    erasures: env.ENROLMENT_ERASURES,
    close: remove,
  }
})
function started(words: readonly string[]) {
  return forAllTests(async () => {
    const kept = await startKeptProcess(words, workplace.place)
    return { ...kept, close: () => kept.stop('SIGKILL') }
  })
}
const service = started(['serve', '--port', '0'])
const console = started(['console', '--port', '0'])
let created: Created
beforeAll(async () => {
  await runJson(['catalogue', 'publish', demoCatalogueFile], workplace.place)
  created = await runJson(
    ['partner', 'create', '--name', 'Harbor Rides', '--offer', 'starter'],
    workplace.place,
  )
})

/** Signs a new operator in by the printed link, and returns what sends the forms of its session. */
async function signIn(name: string) {
  const ask = await signedIn(workplace.place, name, 'admin')
  const page = async (path: string) => (await ask(path)).text()
  const token = /name="token" value="([^"]+)"/.exec(await page('/'))?.[1] ?? ''
  const post = (path: string, fields: Readonly<Record<string, string>>) => ask(path, { token, ...fields })
  return { page, post }
}

test('the printed link of an operator signs in at the console that runs, and its first page says that the service does', async () => {
  const { page } = await signIn('Grace')
  expect(await page('/')).toContain('The service runs')
  expect(console.log().find(({ event }) => event === 'started')).toMatchObject({ console: console.address })
})

test('a partner that is stopped at the console is refused by the service, without a word between the processes', async () => {
  const client = clientOf(service, created)
  const outcome = () =>
    client.prefillUser({ userid: 'stop-1', ...ada }).catch((error: { status: number }) => error.status)
  expect(await outcome()).toBe('prefill saved')
  const { page, post } = await signIn('Katherine')
  await post(`/partners/${created.partnerid}/disable`, { reason: 'contract ended' })
  await expect.poll(outcome, { timeout: 60_000 }).toBe(401)
  // Without a base URL the console knows from the service where it is.
  expect(await page(`/partners/${created.partnerid}`)).toContain(service.address)
  await post(`/partners/${created.partnerid}/enable`, { reason: 'renewed' })
  await expect.poll(outcome, { timeout: 60_000 }).toBe('prefill saved')
})

test('an erasure at the console is in the list of erasures when it says that it is done', async () => {
  await runJson(['operator', 'policy', 'erase', 'off'], workplace.place)
  const { serviceid } = await clientOf(service, created).createUser({
    ...ada,
    userid: 'erased-1',
    offername: 'starter',
    benefits: [],
  })
  const { page, post } = await signIn('Edith')
  const path = `/users/${serviceid}/act/erase`
  const seen = (/name="seen" value="([^"]+)"/.exec(await page(path))?.[1] ?? '').replaceAll('&quot;', '"')
  expect((await post(path, { seen, sure: 'yes', reason: 'a letter' })).status).toBe(303)
  expect(readFileSync(workplace.erasures, 'utf8')).toContain(serviceid)
})

test('SIGTERM lets a sign-in that waits for the database be answered, and the service goes on', async () => {
  const other = await startProcess(['console', '--port', '0'], workplace.place)
  const { path } = await runJson<{ path: string }>(
    ['operator', 'add', 'Jean', '--role', 'viewer'],
    workplace.place,
  )
  const held = await holdLocks(workplace.databaseUrl, ['lock table operator_sessions in share mode'])
  const origin = other.address
  const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
  const answer = fetch(origin + path, { method: 'POST', redirect: 'manual', headers }).then(
    ({ status }) => status,
  )
  await expect.poll(held.waiting, { interval: 20, timeout: 60_000 }).toBe(1)
  const ended = other.stop('SIGTERM')
  await held.release()
  expect([303, 503]).toContain(await answer)
  expect(await ended).toBe(0)
  expect((await fetch(`${service.address}/readyz`)).status).toBe(200)
})

test('a console that cannot know its name, or finds no schema, is refused with a sentence', async () => {
  expect(await runRefused(['console', '--host', '0.0.0.0'], workplace.place)).toContain(
    'ENROLMENT_CONSOLE_BASE_URL must be the https address',
  )
})
