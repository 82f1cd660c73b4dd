import { execFile, execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { enrolment } from '../../service/src/program.ts'
import { newDataDir, root, run, runRefused } from './process.ts'

const nobody = { uid: 65534, gid: 65534 }
const isRoot = process.getuid?.() === 0

/** A port on which nothing listens. */
async function deadPort(): Promise<number> {
  const server = await listening()
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

function listening(): Promise<Server> {
  return new Promise(resolve => {
    const server = createServer(socket => socket.destroy())
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

describe('what was typed', () => {
  test('--help names at most sixty commands on a screen of sixty lines', async () => {
    const overview = await run(['--help'])
    expect(overview.code).toBe(0)
    expect(overview.stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
    const commands = (await Promise.all(enrolment.groups.map(group => group.load()))).flat()
    expect(commands.length).toBeLessThanOrEqual(60)
  })

  test('--version tells the version of the package', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'service/package.json'), 'utf8'))
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('no words at all show the help and end with 2', async () => {
    expect(await run([])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('  serve ') })
  })
})

describe('what the environment says', () => {
  test('a database that nobody answers for is named with what to check, never with its password', async () => {
    const port = await deadPort()
    const env = { DATABASE_URL: `postgres://someone:hidden@127.0.0.1:${port}/none` }
    for (const words of [['serve'], ['migrate'], ['partner', 'list']]) {
      const sentence = await runRefused(words, { env, cwd: await newDataDir() })
      expect(sentence).toMatch(/database cannot be reached \(ECONNREFUSED\): check DATABASE_URL/)
      expect(sentence).not.toContain('hidden')
    }
  })

  test('so is one that is no PostgreSQL', async () => {
    const server = await listening()
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const env = { DATABASE_URL: `postgres://someone:hidden@127.0.0.1:${port}/none` }
    expect(await runRefused(['migrate'], { env })).toMatch(/database cannot be reached/)
  })
})

describe('before anything is loaded', () => {
  const program = promisify(execFile)
  const refused = (words: readonly string[], env = {}) =>
    program(process.execPath, words, {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      timeout: 30_000,
    }).then(
      () => undefined,
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    )

  test('an older Node is told which one is needed', async () => {
    const older = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'18.20.8'})`
    for (const file of ['service/bin/enrolment.js', 'scripts/start.mjs'])
      expect(await refused(['--import', older, join(root, file), '--help'])).toEqual({
        code: 1,
        stdout: '',
        stderr: 'This needs Node 20.19 or later; here is 18.20.8.\n',
      })
  })

  test('options that npm keeps to itself are named with the way to write them', async () => {
    const env = { npm_lifecycle_event: 'start', npm_config_port: '9000' }
    expect(await refused([join(root, 'scripts/start.mjs')], env)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'Write options after `--`, else npm keeps them: npm start -- --port …\n',
    })
  })
})

describe('the data directory', () => {
  test('that is a file is refused', async () => {
    const file = join(await newDataDir(), 'a-file')
    await writeFile(file, '')
    for (const words of [['serve'], ['dev', '--port', '0'], ['partner', 'list']])
      expect(await runRefused([...words, '--data', file])).toContain(`${file} is not a directory`)
  })

  test.runIf(isRoot)('that is somebody else’s is refused, to read or to write', async context => {
    if (!canRun(nobody)) return context.skip('the checkout lies in a private directory')
    const dataDir = await newDataDir()
    await chmod(dataDir, 0o700)
    expect(await runRefused(['dev', '--port', '0', '--data', dataDir], { account: nobody })).toMatch(
      /cannot be read and written by this user: change its owner or choose another with --data/,
    )
    await chmod(dataDir, 0o555)
    expect(await runRefused(['dev', '--port', '0', '--data', dataDir], { account: nobody })).toMatch(
      /cannot be read and written by this user/,
    )
  })

  test('whose keyring others may read is refused before anything is served', async () => {
    const dataDir = await newDataDir()
    await mkdir(dataDir, { recursive: true })
    await writeFile(join(dataDir, 'keyring.json'), '{}', { mode: 0o644 })
    const shared = await run(['dev', '--port', '0', '--data', dataDir])
    expect(shared).toMatchObject({ code: 1, stdout: '' })
    expect(shared.stderr).toMatch(/^Others than its owner may use the file .*keyring\.json: run chmod 600/m)
    await chmod(join(dataDir, 'keyring.json'), 0o600)
    const damaged = await run(['dev', '--port', '0', '--data', dataDir])
    expect(damaged).toMatchObject({ code: 1, stdout: '' })
    expect(damaged.stderr).toMatch(/^The keyring .* is damaged: put it back from a backup/m)
  })
})

function canRun(account: { uid: number; gid: number }): boolean {
  try {
    execFileSync(process.execPath, [join(root, 'service/bin/enrolment.js'), '--help'], {
      ...account,
      cwd: '/',
      stdio: 'pipe',
    })
    return true
  } catch {
    return false
  }
}
