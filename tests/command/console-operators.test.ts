import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { runJson } from './process.ts'
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
})
