// @slow

import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { enrolment } from '../../service/src/program.ts'
import { everydayOr, wholeRunTest } from '../long.ts'
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
  const serve = ['serve', '--data', '/nonexistent/never-made']
  // The files of each command have more of its own: partners.test.ts.
  const mistyped: [string[], RegExp][] = [
    [[...serve, '--prot', '1'], /--prot.*see `enrolment serve --help`/],
    [[...serve, '--port'], /--port.*see `enrolment serve --help`/],
    [['serve', 'now'], /takes no "now"; see --help/],
    [['partner', 'show'], /`enrolment partner show` needs ID; see --help/],
    [['partner', 'show', 'a', 'b'], /takes no "b"/],
    [['key', 'revoke', 'a'], /`enrolment key revoke` needs PARTNER and ID/],
    [['catalogue', 'check'], /needs FILE/],
    [[...serve, '--port', 'abc'], /--port must be a port number/],
    [['dev', ...serve.slice(1), '--port', '65536'], /--port must be a port number/],
    [
      ['partner', 'create', '--name', 'A', '--api-key-optional', '--api-key-required'],
      /--api-key-optional or --api-key-required, not both/,
    ],
    [['partner', 'update', 'a', '--offer', 'plus', '--all-offers'], /--offer or --all-offers, not both/],
    [['partner', 'create', '--name', 'A', '--events', 'all'], /--events is for an endpoint/],
    [
      ['partner', 'create', '--name', 'A', '--webhook-username', 'a'],
      /--webhook-username is for an endpoint/,
    ],
    [
      ['partner', 'create', '--name', 'A', '--webhook-password', 'b'],
      /--webhook-password is for an endpoint/,
    ],
    [
      ['partner', 'create', '--name', 'A', '--webhook-url', 'https://a.example'],
      /--webhook-username is needed/,
    ],
    [['key', 'rotate', 'a', '--kind', 'foo'], /--kind must be client_secret or api_key/],
    [['partner', 'create', '--name', ' '], /--name is needed/],
    [['operator', 'add', 'A\nB', '--role', 'viewer'], /A name of one line/],
    [
      ['user', 'correct', 'a', 'b', '--benefit', 'art', '--start', '9999-12-31', '--dry-run'],
      /--start must be a date like 2026-11-30, from 1900 to 2999/,
    ],
    [['user', 'show', 'a', 'b', '--timezone', 'Mars'], /--timezone must be a zone/],
    [['clock', 'advance', 'a', 'noon'], /The instant must look like/],
    [
      ['trigger', 'user_erased', '--userid', 'u', '--repeat', '0'],
      /--repeat must be a whole number from 1 to 1000/,
    ],
    [['link', 'open', 'a', '--data', ''], /--data must be a directory/],
    [['migrate', '--data', ''], /--data must be a directory/],
    [['serve', '--data', ''], /--data must be a directory/],
  ]
  test.each(everydayOr(everyFifth(mistyped), mistyped))(
    'enrolment %j is not understood',
    async (words, sentence) => {
      const cwd = await newDataDir()
      const said = await runRefused(words, { cwd })
      expect(said).toMatch(/see (`enrolment .*)?--help/)
      expect(said).toMatch(sentence)
      // Nothing was created, neither there nor in ./data.
      expect([existsSync('/nonexistent'), await readdir(cwd)]).toEqual([false, []])
    },
  )

  test('a file that cannot be read is refused', async () => {
    const sentence = await runRefused(['catalogue', 'check', '/nonexistent.yaml'])
    expect(sentence).toMatch(/The file \/nonexistent\.yaml cannot be read \(ENOENT\)/)
  })

  test('an unknown command lists those that begin with the same word', async () => {
    const { code, stdout, stderr } = await run(['partner', 'destroy'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^There is no command "partner destroy"\.\n/)
    expect(stderr).toContain('partner create')
    expect(stderr).not.toContain('webhook add')
    expect((await run(['partner', '--name', 'x'])).stderr).toMatch(/^There is no command "partner"\.\n/)
    expect((await run(['--json'])).stderr).toMatch(/^There is no command "--json"\.\n/)
    const group = await run(['partner', '--help'])
    expect(group).toMatchObject({ code: 0, stderr: '' })
    expect(group.stdout).toContain('partner create')
    expect(group.stdout).not.toContain('webhook add')
  })

  test('--help names at most sixty commands on a screen of sixty lines; that of a command tells what it does and takes', async () => {
    const overview = await run(['--help'])
    expect(overview.code).toBe(0)
    expect(overview.stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
    for (const line of [
      'dev ',
      'serve ',
      'migrate ',
      'partner +create, list',
      'key +rotate',
      'catalogue +check',
    ])
      expect(overview.stdout).toMatch(new RegExp(`^  ${line}`, 'm'))
    const commands = (await Promise.all(enrolment.groups.map(group => group.load()))).flat()
    expect(commands.length).toBeLessThanOrEqual(60)
    const { code, stdout } = await run(['partner', 'show', '--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^enrolment partner show ID \[options\]\n/)
    for (const option of ['--data DIR', '--json', '--help']) expect(stdout).toContain(option)
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
  const elsewhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  const settings: [Record<string, string>, RegExp][] = [
    [{ ENROLMENT_BASEURL: 'x' }, /ENROLMENT_BASEURL is not a setting.*ENROLMENT_BASE_URL/],
    [{ PORT: 'http' }, /PORT must be a port number from 0 to 65535/],
    [{ PORT: '65536' }, /PORT must be a port number/],
    [{ ENROLMENT_METRICS_PORT: '-1' }, /ENROLMENT_METRICS_PORT must be a port number/],
    [{ ENROLMENT_METRICS_HOST: 'everywhere' }, /ENROLMENT_METRICS_HOST must be an address/],
    [{ ENROLMENT_BASE_URL: 'benefits.example.com' }, /ENROLMENT_BASE_URL must be an absolute address/],
    [{ ENROLMENT_BASE_URL: 'https://benefits.example.com/a/../b' }, /ENROLMENT_BASE_URL must be an absolute/],
    [{ ENROLMENT_BASE_URL: 'https://benefits.example.com\\b' }, /ENROLMENT_BASE_URL must be an absolute/],
    [{ ENROLMENT_TRUST_PROXY: '10.1.2' }, /ENROLMENT_TRUST_PROXY must be a list of addresses/],
    [{ ENROLMENT_BASE_URL: 'ftp://example.com' }, /ENROLMENT_BASE_URL must be an absolute address/],
    [
      { ENROLMENT_BASE_URL: 'https://example.com/#' },
      /ENROLMENT_BASE_URL must be .* without query, fragment/,
    ],
    [{ ENROLMENT_BASE_URL: 'https://example.com?' }, /ENROLMENT_BASE_URL must be .* without query, fragment/],
    [{ ENROLMENT_BASE_URL: 'https://example.com/:stage' }, /ENROLMENT_BASE_URL must be .* its path has only/],
    [{ ENROLMENT_DATABASE_CONNECTIONS: '0' }, /ENROLMENT_DATABASE_CONNECTIONS must be a number/],
    [{ ENROLMENT_PROCESSES: '0' }, /ENROLMENT_PROCESSES must be auto or a number from 1/],
    [{ ENROLMENT_REQUESTS_AT_ONCE: 'many' }, /ENROLMENT_REQUESTS_AT_ONCE must be a number from 16/],
    [{ ENROLMENT_WAIT_SECONDS: '0' }, /ENROLMENT_WAIT_SECONDS must be a number from 1 to 60/],
    [{ ENROLMENT_BODY_KIB: '15' }, /ENROLMENT_BODY_KIB must be a number from 16 to 1024/],
    [{ ENROLMENT_REQUEST_SECONDS: '16' }, /ENROLMENT_REQUEST_SECONDS must be a number from 1 to 15/],
    [
      { ENROLMENT_REQUEST_SECONDS: '5', ENROLMENT_HEADERS_SECONDS: '6' },
      /ENROLMENT_HEADERS_SECONDS must be a number from 1 to 5/,
    ],
    [{ ENROLMENT_TRUST_PROXY: '10.0.0.0/8,proxy' }, /ENROLMENT_TRUST_PROXY must be/],
    [{ ENROLMENT_WEBHOOK_ALLOW: '10.0.0.0/99' }, /ENROLMENT_WEBHOOK_ALLOW: "10\.0\.0\.0\/99"/],
    [{ ENROLMENT_WEBHOOK_PROXY: 'http://user:secret@proxy:3128/x' }, /ENROLMENT_WEBHOOK_PROXY must be/],
    [{ ENROLMENT_ROOT_KEY: 'secret' }, /ENROLMENT_ROOT_KEY .*32 random bytes in base64/],
    [{ DATABASE_URL: 'mysql://localhost/db' }, /DATABASE_URL must be an address like postgres:/],
    [{ DATABASE_URL: '' }, /DATABASE_URL must be an address like postgres:/],
    [
      { DATABASE_URL: 'postgres://user:secret/of+base64=@host/db' },
      /percent-encode .*, or leave the password out and set PGPASSWORD/,
    ],
    [{ ENROLMENT_DATA: '' }, /ENROLMENT_DATA must be a directory/],
  ]
  test.each(everydayOr(everyFifth(settings), settings))('%j stops the start', async (env, sentence) => {
    const sentences = await runRefused(['serve'], { env: { ...elsewhere, ...env } })
    expect(sentences).toMatch(sentence)
    // A root key is a secret, and so is the password in an address.
    expect(sentences).not.toContain('secret')
  })

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

  wholeRunTest(
    'without a database is refused by what looks and changes, and nothing is made there',
    async () => {
      const dataDir = join(await newDataDir(), 'misspelt')
      for (const words of [
        ['partner', 'create', '--name', 'First'],
        ['partner', 'list'],
        ['key', 'rotate', 'someone'],
        ['keyring', 'show'],
        ['statement', 'list', 'someone'],
        ['user', 'show', 'someone', 'u1'],
        ['clock', 'advance', 'someone', '2030-01-01T00:00:00Z'],
      ])
        expect(await runRefused([...words, '--data', dataDir])).toBe(
          `There is no database in ${dataDir}: name its directory with --data, or set DATABASE_URL. A new one is made by \`enrolment serve\`, \`dev\` or \`migrate\`.`,
        )
      // A file can be checked without an earlier version.
      const catalogue = join(root, 'service/assets/demo-catalogue.yaml')
      expect(await run(['catalogue', 'check', catalogue, '--data', dataDir])).toMatchObject({ code: 0 })
      expect(existsSync(dataDir)).toBe(false)
    },
  )

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

function everyFifth<T>(all: readonly T[]): readonly T[] {
  return all.filter((_, index) => index % 5 === 0)
}

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
