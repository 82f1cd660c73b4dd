import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type IdentityProvider, startIdentityProvider } from '../console/identity-provider.ts'
import { run, runRefused } from './process.ts'

let identity: IdentityProvider
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'enrolment-sign-in-'))
  identity = await startIdentityProvider()
  identity.serve(['http://127.0.0.1:1'])
})
afterAll(async () => {
  await identity.close()
  await rm(folder, { recursive: true })
})

type Told = { issuer: string; findings: { check: string; result: string; told: string; remedy?: string }[] }

/** Runs the doctor with a settings file; returns the exit code and the results. */
async function examine(more = '', issuer = identity.issuer) {
  const path = join(folder, 'sign-in.yaml')
  const groups = 'groups: [{ group: call-center, role: support }]'
  await writeFile(join(folder, 'secret'), 'x\n')
  await writeFile(path, `issuer: ${issuer}\nclientid: c\n${groups}\nsecretfile: secret\n${more}`)
  const { code, stdout, stderr } = await run(['doctor', '--json'], {
    env: { ENROLMENT_CONSOLE_SIGN_IN: path },
  })
  expect(stdout, stderr).toMatch(/^\{/)
  const { findings } = JSON.parse(stdout) as Told
  // Which Node runs the test is not what is asked here.
  const asked = findings.filter(({ check }) => check !== 'Node.js')
  return { code, results: Object.fromEntries(asked.map(({ check, result }) => [check, result])) }
}

test('doctor asks the identity provider what signing in needs', async () => {
  const right = {
    'the issuer': 'ok',
    keys: 'ok',
    PKCE: 'ok',
    'the client': 'ok',
    scopes: 'ok',
    'sign-out': 'ok',
  }
  expect(await examine()).toEqual({ code: 0, results: right })
  expect(await examine('scopes: [openid, choir]\n')).toEqual({
    code: 0,
    results: { ...right, scopes: 'warn' },
  })
})

test('an issuer of another name, or that does not answer, fails', async () => {
  const failed = { code: 1, results: { 'the issuer': 'fail' } }
  expect(await examine('', identity.issuer.replace('127.0.0.1', 'localhost'))).toEqual(failed)
  const gone = await startIdentityProvider()
  await gone.close()
  expect(await examine('', gone.issuer)).toEqual(failed)
})

test('without settings it tells of Node.js alone, and serve refuses a wrong file', async () => {
  const { code, stdout } = await run(['doctor'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^(OK|WARN) +Node\.js +v/)
  expect(stdout).toContain('`benefit-enrolment doctor URL` tests a receiver')
  const path = join(folder, 'wrong.yaml')
  await writeFile(path, 'issuer: http://login.example.com\n')
  const env = { ENROLMENT_CONSOLE_SIGN_IN: path }
  const data = join(folder, 'never-made')
  expect(await runRefused(['dev', '--data', data], { env })).toContain('needs issuer as an https address')
})
