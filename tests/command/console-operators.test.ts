import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { wholeRunTest } from '../long.ts'
import { run, runJson } from './process.ts'
import { startSandboxProcess } from './sandbox.ts'

type Link = { name: string; role: string; path: string; expiresat: string }
type Listed = {
  operators: {
    name: string
    role: string
    partners: string[] | null
    email: string | null
    disabledat: string | null
  }[]
}

const sandbox = forAllTests(startSandboxProcess)

/** The line of the greeting with the console's address. */
function greeted() {
  return /console +(http:\S+)/.exec(sandbox.service.stdout())?.[1] ?? ''
}
function press(url: string) {
  return fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: new URL(url).origin, 'content-type': 'application/x-www-form-urlencoded' },
  })
}

test('npm start prints an address of the console that signs in, once', async () => {
  expect((await press(greeted())).status).toBe(303)
  expect((await press(greeted())).status).toBe(410)
})

test('an operator is added for a role and partners, listed, linked anew and disabled', async () => {
  const { place } = sandbox
  const { partnerid } = await sandbox.newPartner()
  const added = await runJson<Link>(
    ['operator', 'add', 'Grace', '--role', 'support', '--partner', partnerid],
    place,
  )
  const base = new URL(greeted()).origin
  const again = await runJson<Link>(['operator', 'link', 'Grace'], place)
  expect((await press(base + added.path)).status).toBe(410)
  const signedIn = await press(base + again.path)
  expect(signedIn.status).toBe(303)
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  expect((await fetch(base, { headers: { cookie } })).status).toBe(200)
  expect((await runJson<Listed>(['operator', 'list'], place)).operators).toMatchObject([
    { name: 'Grace', role: 'support', partners: [partnerid], disabledat: null },
    { name: 'demo', role: 'admin', partners: null, disabledat: null },
  ])
  await runJson(['operator', 'disable', 'Grace'], place)
  expect((await fetch(base, { headers: { cookie } })).status).toBe(401)
  expect(await sandbox.refusal('operator', 'link', 'Grace')).toContain('is disabled')
})

test('each command about an operator is on record with the id of that operator', async () => {
  const { place } = sandbox
  const words = ['Katherine', '--role', 'viewer']
  const { operatorid } = await runJson<{ operatorid: string }>(['operator', 'add', ...words], place)
  await sandbox.refusal('operator', 'add', ...words)
  for (const command of [['link'], ['disable'], ['enable']])
    await runJson(['operator', ...command, 'Katherine'], place)
  const { stdout } = await run(['audit', 'export'], place)
  const actions = stdout
    .split('\n')
    .filter(line => line.includes(operatorid) && line.includes('"command"'))
    .map(line => (JSON.parse(line) as { action: string }).action)
  expect(actions).toEqual(
    ['add viewer', 'link', 'disable', 'enable'].map(what => `operator ${what} ${operatorid}`),
  )
})

test('an operator who was disabled is enabled again, with the same rights and none of the sessions and links of before', async () => {
  const { place } = sandbox
  const added = await runJson<Link>(
    ['operator', 'add', 'Jean', '--role', 'support', '--email', 'Jean@Example.com'],
    place,
  )
  const base = new URL(greeted()).origin
  const cookieOf = async (path: string) =>
    (await press(base + path)).headers.get('set-cookie')?.split(';')[0] ?? ''
  const before = await cookieOf(added.path)
  const unused = await runJson<Link>(['operator', 'link', 'Jean'], place)
  await runJson(['operator', 'disable', 'Jean'], place)
  expect(await runJson(['operator', 'enable', 'Jean'], place)).toEqual({ name: 'Jean', disabled: false })
  expect((await fetch(base, { headers: { cookie: before } })).status).toBe(401)
  expect((await press(base + unused.path)).status).toBe(410)
  const { path } = await runJson<Link>(['operator', 'link', 'Jean'], place)
  const cookie = await cookieOf(path)
  expect(await (await fetch(base, { headers: { cookie } })).text()).toContain('Jean')
  const { operators } = await runJson<Listed>(['operator', 'list'], place)
  expect(operators.find(({ name }) => name === 'Jean')).toMatchObject({
    role: 'support',
    partners: null,
    email: 'jean@example.com',
    disabledat: null,
  })
  expect(await sandbox.refusal('operator', 'enable', 'nobody')).toContain('There is no operator nobody')
  expect(await sandbox.refusal('operator', 'add', 'Ada', '--role', 'viewer', '--email', 'x')).toContain(
    '--email must be an email address',
  )
})

wholeRunTest('what cannot be is refused with a sentence', async () => {
  expect(await sandbox.refusal('operator', 'add', 'Ada')).toContain('--role is needed')
  expect(await sandbox.refusal('operator', 'add', 'Ada', '--role', 'boss')).toContain(
    'viewer, support, admin or developer',
  )
  expect(await sandbox.refusal('operator', 'add', 'Ada', '--role', 'developer')).toContain(
    'A developer works for one partner',
  )
  expect(await sandbox.refusal('operator', 'add', 'demo', '--role', 'viewer')).toContain(
    'There is an operator demo already',
  )
  expect(await sandbox.refusal('operator', 'add', 'Ada', '--role', 'viewer', '--partner', 'x')).toContain(
    'There is no partner x',
  )
  expect(await sandbox.refusal('operator', 'disable', 'nobody')).toContain('There is no operator nobody')
})

test('what needs a second person is shown, set, and put on record', async () => {
  const { place } = sandbox
  const all = {
    void: true,
    move: true,
    erase: true,
    release: true,
    dateandlink: true,
    credentials: true,
  }
  expect(await runJson(['operator', 'policy'], place)).toEqual(all)
  expect(await runJson(['operator', 'policy', 'erase', 'off'], place)).toEqual({ ...all, erase: false })
  expect(await runJson(['operator', 'policy'], place)).toEqual({ ...all, erase: false })
  expect(await sandbox.refusal('operator', 'policy', 'cancel', 'off')).toContain('void, move, erase')
  expect(await sandbox.refusal('operator', 'policy', 'erase')).toContain('on or off')
  expect(await sandbox.refusal('operator', 'policy', 'erase', 'perhaps')).toContain('on or off')
  const { stdout } = await run(['audit', 'export'], place)
  const recorded = stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as { action: string; result: string })
  expect(recorded.filter(({ action }) => action.startsWith('operator policy '))).toMatchObject([
    { action: 'operator policy erase off', result: 'done' },
  ])
})
