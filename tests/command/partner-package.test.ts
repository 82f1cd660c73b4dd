import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService, type TestPartner } from '../rig.ts'
import { root } from './process.ts'
import { runOnTerminal, terminalTest } from './terminal.ts'

const service = forAllTests(() => startTestService({ startAt: Date.parse('2026-11-12T15:00:00Z') }))

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-package-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

type Ended = { code: number; stdout: string; stderr: string }

/** Runs a program in a folder that is its user's home, too, and has nothing else of the environment. */
function runIn(folder: string, [file = '', ...words]: readonly string[]): Promise<Ended> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder }
  return new Promise(resolve =>
    execFile(file, words, { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    ),
  )
}

const program = join(root, 'cli/bin/benefit-enrolment.js')
function runCli(folder: string, ...words: readonly string[]): Promise<Ended> {
  return runIn(folder, [process.execPath, program, ...words])
}

/** The options of `login` for these credentials, with the secrets in files. */
async function loginWords(folder: string, partner: TestPartner, secret = partner.clientSecret) {
  await writeFile(join(folder, 'secret'), `${secret}\n`)
  await writeFile(join(folder, 'key'), `${partner.apiKey}\n`)
  const address = ['--base-url', service.baseUrl, '--client-id', partner.clientId]
  return [...address, '--client-secret-file', 'secret', '--api-key-file', 'key']
}

test('npx runs the tarball in an empty folder, from login to an event, without any other package', async () => {
  const tarballs = await emptyFolder()
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', tarballs]
  execFileSync('npm', words, { cwd: join(root, 'cli'), stdio: 'ignore' })
  const [name = ''] = await readdir(tarballs)
  const folder = await emptyFolder()
  const npx = (...command: string[]) =>
    runIn(folder, ['npx', '--yes', '--offline', relative(folder, join(tarballs, name)), ...command])
  const partner = await service.newPartner()
  expect(await npx('login', ...(await loginWords(folder, partner)))).toMatchObject({ code: 0 })
  expect(await npx('trigger', 'enrollment_successful', '--userid', 'first')).toMatchObject({ code: 0 })
  const listened = await npx('listen', '--once', '--from-start')
  expect(listened.stderr).toMatch(/^enrollment_successful \S+ for first$/m)
})

describe('a profile', () => {
  const fileIn = (folder: string) => join(folder, '.config/benefit-enrolment/profiles.json')

  terminalTest('is asked for on a terminal, which shows no secret', async () => {
    const folder = await emptyFolder()
    const { clientId, clientSecret, apiKey } = await service.newPartner()
    const options = { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } }
    const { shown, type, ended } = runOnTerminal(`${process.execPath} ${program} login`, options)
    for (const [question, answer] of [
      ['Address of the service: ', service.baseUrl],
      ['Client id: ', clientId],
      ['Client secret: ', clientSecret],
      ['API key: ', apiKey],
    ] as const) {
      await expect.poll(shown).toContain(question)
      type(`${answer}\r`)
    }
    expect(await ended).toBe(0)
    expect(shown()).toContain(clientId)
    for (const secret of [clientSecret, apiKey]) expect(shown()).not.toContain(secret)
    expect((await runCli(folder, 'env')).stdout).toContain(`CLIENT_SECRET='${clientSecret}'`)
  })

  test('is one of several by name, readable by its owner alone, and forgotten by logout', async () => {
    const folder = await emptyFolder()
    const [one, other] = [await service.newPartner(), await service.newPartner()]
    expect(await runCli(folder, 'login', ...(await loginWords(folder, one)))).toMatchObject({ code: 0 })
    expect(await runCli(folder, 'login', 'other', ...(await loginWords(folder, other)))).toMatchObject({
      code: 0,
    })
    expect((await stat(fileIn(folder))).mode & 0o777).toBe(0o600)
    expect((await runCli(folder, 'profiles')).stdout).toBe('default\nother\n')
    const clientOf = async (...words: string[]) =>
      (JSON.parse((await runCli(folder, 'env', '--json', ...words)).stdout) as { CLIENT_ID: string })
        .CLIENT_ID
    expect([await clientOf(), await clientOf('--profile', 'other')]).toEqual([one.clientId, other.clientId])
    await runCli(folder, 'logout', 'other')
    expect(await runCli(folder, 'env', '--profile', 'other')).toMatchObject({
      code: 1,
      stderr: 'There is no profile "other": `benefit-enrolment login other` stores one.\n',
    })
  })

  test('is not tried over plain http at another machine, where everybody between could read the secrets', async () => {
    const folder = await emptyFolder()
    const words = await loginWords(folder, await service.newPartner())
    await runCli(folder, 'login', 'known', ...words)
    for (const asked of [
      ['login', ...words],
      ['env', '--profile', 'known'],
    ])
      expect(await runCli(folder, ...asked, '--base-url', 'http://benefits.example.com')).toMatchObject({
        code: 2,
        stderr:
          'Your secrets would cross the network in clear: give the https address of the service; see --help.\n',
      })
  })

  test('of refused credentials is not stored', async () => {
    const folder = await emptyFolder()
    const words = await loginWords(folder, await service.newPartner(), 'wrong')
    const { code, stderr } = await runCli(folder, 'login', ...words)
    expect(code).toBe(1)
    expect(stderr).toContain('refused the credentials')
    await expect(stat(fileIn(folder))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('is printed by env so that a shell has the same credentials', async () => {
    const folder = await emptyFolder()
    const partner = await service.newPartner()
    await runCli(folder, 'login', ...(await loginWords(folder, partner)))
    const line = `eval "$('${process.execPath}' '${program}' env)" && printf '%s %s' "$CLIENT_SECRET" "$API_KEY"`
    expect((await runIn(folder, ['sh', '-c', line])).stdout).toBe(`${partner.clientSecret} ${partner.apiKey}`)
    await writeFile(fileIn(folder), '{"default":')
    expect((await runCli(folder, 'env')).stderr).toMatch(
      /profiles\.json is damaged: delete it, and log in again\.\n$/,
    )
  })
})

test('without credentials it says where they may come from', async () => {
  const { code, stderr } = await runCli(await emptyFolder(), 'people', 'list')
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Set CLIENT_ID, CLIENT_SECRET and API_KEY, or run `benefit-enrolment login`/)
})
