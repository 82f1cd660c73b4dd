import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../client/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { fileOf, type TestCatalogue } from '../life/catalogue.ts'
import { everydayOr, wholeRunTest } from '../long.ts'
import { ada } from '../rig.ts'
import { openOwnJournal } from '../trust/journal.ts'
import { checkEmbeddedLedger } from '../trust/ledger.ts'
import {
  bin,
  newDataDir,
  newDirectory,
  run,
  runJson,
  runRefused,
  type ServiceProcess,
  startKeptProcess,
  startProcess,
} from './process.ts'
import { runOnTerminal, terminalTest } from './terminal.ts'

type Demo = { partnerid: string; clientid: string; clientsecret: string; apikey: string }

function startDev(dataDir: string, ...words: string[]): Promise<ServiceProcess> {
  return startProcess(['dev', '--port', '0', '--data', dataDir, ...words])
}
/** A first start, which takes as much work as two later ones: one test looks at it, and the others take what it leaves. */
const first = forAllTests(async () => {
  const { path, remove } = await newDirectory()
  const service = await startKeptProcess(['dev', '--port', '0', '--data', path])
  const close = () => service.stop().then(remove)
  return { path, service, close }
})
/** The data directory of one test, in which dev has started and ended before. */
async function usedDataDir(): Promise<string> {
  expect(await first.service.stop()).toBe(0)
  const dataDir = await newDataDir()
  await promisify(execFile)('cp', ['-a', `${first.path}/.`, dataDir])
  return dataDir
}
async function demoOf(dataDir: string): Promise<Demo> {
  return JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as Demo
}
function clientOf(service: ServiceProcess, demo: Demo) {
  return createClient({
    baseUrl: service.address,
    clientId: demo.clientid,
    clientSecret: demo.clientsecret,
    apiKey: demo.apikey,
  })
}
async function postmasterOf(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

test('dev prints where it listens, then curl lines that work as printed', async () => {
  const { path: dataDir, service } = first
  expect(service.stdout()).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\n/)
  const demo = await demoOf(dataDir)
  for (const shown of [service.address, demo.clientid, demo.clientsecret, demo.apikey])
    expect(service.stdout()).toContain(shown)
  expect(service.stderr()).not.toContain(demo.clientsecret)
  // Its own requests, by which it makes the people of the demo, would push the greeting out of a terminal's window.
  await expect.poll(() => service.log().map(line => line.event)).toContain('started')
  const [toldFirst] = service.stderr().split('"event":"started"')
  expect(toldFirst).not.toContain('"level":"info","event"')
  for (const file of ['demo.json', 'keyring.json'])
    expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600)
  expect((await stat(dataDir)).mode & 0o077).toBe(0)

  const ran = await runPrinted(service.stdout())
  expect(ran.map(step => step.status)).toEqual(expectedStatuses)
  const [, prefilled, again, before, created, after, family, inbox] = ran.map(step => step.body)
  expect(prefilled).toBe('prefill saved')
  expect(again).toMatchObject({ code: 'user_exists' })
  expect(statusesOf(before)).toEqual(['notenrolled'])
  expect(created).toMatchObject({ status: 'active', currentofferdetails: { offer: 'starter' } })
  expect((created as { benefits: object[] }).benefits).toContainEqual(
    expect.objectContaining({ name: 'dental', tier: 'mechildren' }),
  )
  expect(statusesOf(after)).toEqual(['enrolled', 'notenrolled'])
  expect(family).toMatchObject({
    dependants: [{ firstname: 'Leo', benefits: [{ name: 'dental', endsattimestamp: expect.any(String) }] }],
  })
  expect(Array.isArray(inbox)).toBe(true)
  expect(service.log().map(line => line.event)).not.toContain('request')
  if (process.getuid?.() === 0)
    expect(service.stderr()).toMatch(/^PostgreSQL never runs as root: it runs as \S+, .*\.$/m)

  const { linkurl } = await clientOf(service, demo).createLinkToken({ userid: 'looks' })
  const page = await (await fetch(linkurl ?? '')).text()
  for (const shown of [
    '/page/look.css?',
    '1-800-555-0142',
    'https://harborrides.example/privacy',
    'https://harborrides.example/terms',
    'Administered by Tidewater Benefits LLC',
  ])
    expect(page).toContain(shown)
})

test.runIf(process.getuid?.() === 0)(
  'a start on a nearly full disk is refused with what to do',
  async context => {
    const small = await newDataDir()
    await mkdir(small, { recursive: true })
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=250m', 'small', small], { stdio: 'pipe' })
    } catch {
      context.skip('no file system can be mounted here')
    }
    onTestFinished(() => {
      execFileSync('umount', ['-l', small])
    })
    const { code, stdout, stderr } = await run(['dev', '--port', '0', '--data', join(small, 'data')])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^The disk of .* is nearly full, .* choose another directory with --data\.$/m)
  },
)

const expectedStatuses = [200, 200, 409, 200, 200, 200, 200, 200]
function statusesOf(benefits: unknown): string[] {
  return [...new Set((benefits as { status: string }[]).map(benefit => benefit.status))].sort()
}

/** Runs the printed lines in bash unchanged; returns the status and the body of each curl. */
async function runPrinted(printed: string): Promise<{ status: number; body: unknown }[]> {
  const lines = printed.slice(printed.indexOf('# 1. a token'))
  // The only additions to the lines: each curl also prints its status, on standard error, and what npx would find is named.
  const npx = `npx() { shift; ${process.execPath} ${bin} "$@"; }`
  const script = `${npx}\ncurl() { command curl -w '%{stderr}%{http_code}\\n' "$@"; }\nset -e\n${lines.replace(/^(curl.*)$/gm, "$1; echo '---'")}`
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { timeout: 150_000 })
  const bodies = stdout.split('---\n').slice(0, -1)
  const statuses = stderr.trim().split('\n').map(Number)
  return statuses.map((status, index) => ({
    status,
    // The first is that of the token, which stays in a variable.
    body: index === 0 ? undefined : (JSON.parse(bodies[index - 1] ?? 'null') as unknown),
  }))
}

wholeRunTest(
  'dev starts behind a public address that this machine cannot reach, and its site works',
  async () => {
    const dataDir = await newDataDir()
    const baseUrl = 'https://benefits.invalid/stage'
    const service = await startProcess(['dev', '--port', '0', '--data', dataDir], {
      env: { ENROLMENT_BASE_URL: baseUrl },
    })
    const { clientid, clientsecret, apikey } = await demoOf(dataDir)
    const client = createClient({
      baseUrl: `${service.address}/stage`,
      clientId: clientid,
      clientSecret: clientsecret,
      apiKey: apikey,
    })
    expect((await client.createLinkToken({ userid: 'u1' })).linkurl).toContain(`${baseUrl}/register/link/`)
    const site = /http:\S+\/demo\b/.exec(service.stdout())?.[0] ?? ''
    expect(await (await fetch(site)).text()).toContain(`${baseUrl}/embed/`)
  },
)

wholeRunTest('dev makes the people of a sandbox once, and the inbox shows nothing of theirs', async () => {
  const dataDir = await newDataDir()
  const first = await startDev(dataDir)
  const demo = await demoOf(dataDir)
  const client = clientOf(first, demo)
  const people = ['person-eligible', 'person-enrolled', 'person-erased', 'person-webhook-fails']
  const idsOf = () => Promise.all(people.map(async userid => (await client.getUser({ userid })).serviceid))
  const made = await idsOf()
  const failing = (await client.listWebhooks({})).webhooks.filter(({ url }) => !url.endsWith('/webhook'))
  expect(failing.map(({ events }) => events)).toEqual([['offer_reinstate_successful']])
  expect((await runPrinted(first.stdout())).at(-1)?.body).not.toContainEqual(
    expect.objectContaining({ body: expect.objectContaining({ userid: expect.stringMatching(/^person-/) }) }),
  )
  expect(await first.stop()).toBe(0)
  const second = await startDev(dataDir)
  expect((await clientOf(second, demo).getUser({ userid: 'person-enrolled' })).serviceid).toBe(made[1])
  const { webhooks } = await clientOf(second, demo).listWebhooks({})
  expect(webhooks).toHaveLength(2)
})

wholeRunTest(
  'a second start finds its data and its demo partner, and tells its story with a new user',
  async () => {
    const dataDir = await usedDataDir()
    const first = await startDev(dataDir)
    const demo = await demoOf(dataDir)
    await clientOf(first, demo).prefillUser({ userid: 'kept', firstname: 'Ada' })
    expect(await first.stop()).toBe(0)
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false)
    const second = await startDev(dataDir)
    expect(await demoOf(dataDir)).toEqual({ ...demo, baseurl: second.address })
    expect(await clientOf(second, demo).getUser({ userid: 'kept' })).toMatchObject({ status: 'prefilled' })
    const run = await runPrinted(second.stdout())
    expect(run.map(step => step.status)).toEqual(expectedStatuses)
  },
)

wholeRunTest(
  'a start keeps the catalogue that was published last, says so, and names the way back to the demo',
  async () => {
    const dataDir = await usedDataDir()
    const data = ['--data', dataDir]
    const first = await startDev(dataDir)
    expect(first.stdout()).not.toContain('catalogue publish')
    const file = join(dataDir, 'own.json')
    await writeFile(file, fileOf(ownCatalogue))
    await runJson(['catalogue', 'publish', file, ...data])
    expect(await first.stop()).toBe(0)
    const second = await startDev(dataDir)
    const client = clientOf(second, await demoOf(dataDir))
    expect(await client.createUser({ userid: 'u-1', ...person, offername: 'own' })).toMatchObject({
      currentofferdetails: { offer: 'own' },
    })
    const [, back = ''] = /npx enrolment (catalogue publish \S+)/.exec(second.stdout()) ?? []
    await runJson([...back.split(' '), ...data])
    expect(await second.stop()).toBe(0)
    const third = await startDev(dataDir)
    expect(third.stdout()).not.toContain('catalogue publish')
    expect((await runPrinted(third.stdout())).map(step => step.status)).toEqual(expectedStatuses)
  },
)

wholeRunTest(
  'a start that the demo partner’s revoked secret makes fail ends by itself, with a sentence',
  async () => {
    const dataDir = await usedDataDir()
    const first = await startDev(dataDir)
    const { partnerid } = await demoOf(dataDir)
    const data = ['--data', dataDir]
    const { credentials } = await runJson<{ credentials: { id: string; kind: string }[] }>([
      'partner',
      'show',
      partnerid,
      ...data,
    ])
    const secret = credentials.find(({ kind }) => kind === 'client_secret')?.id ?? ''
    await runJson(['key', 'revoke', partnerid, secret, ...data])
    expect(await first.stop()).toBe(0)
    const second = await run(['dev', '--port', '0', ...data])
    expect(second.code).toBe(1)
    expect(second.stderr).toContain('refused the credentials')
  },
)

const ownCatalogue: TestCatalogue = {
  benefits: [{ name: 'bikes' }],
  offers: [{ offer: 'own', rank: 1, fixed: ['bikes'], selectable: [], slots: 0 }],
}
const person = {
  firstname: 'Ada',
  lastname: 'Rivera',
  email: 'ada.rivera@example.com',
  dob: '1990-03-27',
  state: 'FL',
  zipcode: '33101',
} as const

describe('ending', () => {
  test('with --json it says in one object how to use it; commands work on its database; a signal ends it with 0, its database with it, commands then say so, and what moves house works', async () => {
    const dataDir = await usedDataDir()
    const data = ['--data', dataDir]
    // Other tests end it with SIGTERM.
    for (const signal of everydayOr(['SIGINT'] as const, ['SIGINT', 'SIGHUP'] as const)) {
      const service = await startDev(dataDir, '--json')
      const { partnerid, clientid, clientsecret, apikey } = await demoOf(dataDir)
      await expect.poll(() => service.stdout().split('\n').length).toBe(3)
      const { inbox, ...answer } = JSON.parse(service.stdout().split('\n')[1] ?? '')
      expect(answer).toEqual({
        address: service.address,
        baseurl: service.address,
        console: expect.stringMatching(/^http:/),
        ...{ partnerid, clientid, clientsecret, apikey, credentials: join(dataDir, 'demo.json') },
        site: expect.stringMatching(/^http:.*\/demo$/),
        signin: expect.stringContaining(answer.console),
        owncatalogue: false,
      })
      expect((await fetch(inbox)).status).toBe(200)
      const during = await runJson<Demo>(['partner', 'create', '--name', 'During', ...data])
      expect(await runJson(['partner', 'show', during.partnerid, ...data])).toMatchObject({
        partnername: 'During',
        offers: ['starter', 'plus', 'premier'].map(offer => ({ offer, rank: expect.any(Number) })),
      })
      const pid = await postmasterOf(dataDir)
      expect(await service.stop(signal)).toBe(0)
      expect(isAlive(pid)).toBe(false)
      expect(service.log().map(line => line.event)).toEqual(
        expect.arrayContaining(['stopping', 'database_stopped', 'stopped']),
      )
    }
    expect(await runRefused(['partner', 'list', ...data])).toBe(
      `No service runs on the database in ${dataDir}, and this command does not start one: start \`enrolment serve\` or \`dev\` there first.`,
    )
    expect(await runJson(['migrate', ...data])).toMatchObject({ ok: true })
    expect(await runJson(['keyring', 'show', ...data])).toMatchObject({ source: 'file' })
    expect(await runJson(['resume', ...data])).toEqual({ resumed: false })
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false)
  })

  wholeRunTest('Ctrl-C that arrives twice, as npm passes it on, still ends it with 0', async () => {
    const dataDir = await usedDataDir()
    const service = await startDev(dataDir)
    const pid = await postmasterOf(dataDir)
    service.child.kill('SIGINT')
    // Soon: the first ends it within some tens of milliseconds, and a process about to exit is killed by any signal.
    await sleep(5)
    expect(await service.stop('SIGINT')).toBe(0)
    expect(isAlive(pid)).toBe(false)
  })

  wholeRunTest('the next start comes up after kill -9 of it, of its database, and of both', async () => {
    const dataDir = await usedDataDir()
    const services: ServiceProcess[] = []
    const start = async () => {
      const service = await startDev(dataDir)
      services.push(service)
      return service
    }
    const journal = openOwnJournal()
    let partner: Demo | undefined
    for (const [round, victims] of [['service'], ['database'], ['service', 'database']].entries()) {
      const service = await start()
      partner ??= await runJson<Demo>(['partner', 'create', '--name', 'Killed', '--data', dataDir])
      const client = clientOf(service, partner)
      const userid = `round-${round}`
      await journal.write(userid, 'prefill', () => client.prefillUser({ userid, ...ada }))
      if (victims.includes('database')) process.kill(await postmasterOf(dataDir), 'SIGKILL')
      if (victims.includes('service')) await service.stop('SIGKILL')
      else {
        await expect.poll(() => readinessOf(service), { interval: 100 }).toBe(200)
        expect(await service.stop()).toBe(0)
      }
    }
    await start()
    await checkEmbeddedLedger({
      journal,
      // The partner has no endpoint.
      receiver: { arrived: new Map(), wrong: [] },
      partnerId: partner?.partnerid ?? '',
      // On standard output are examples to copy, with a made-up person.
      logs: services.map(one => one.stderr()).join(''),
      dataDir,
    })
  })
})

terminalTest('on a terminal, Enter shows the greeting again', async () => {
  const words = [process.execPath, bin, 'dev', '--port', '0', '--data', await usedDataDir()]
  const { shown, type, ended } = runOnTerminal(`${words.join(' ')} 2>/dev/null`)
  const greetings = () => shown().split('# 1. a token').length - 1
  await expect.poll(greetings).toBe(1)
  type('\r')
  await expect.poll(greetings).toBe(2)
  // Ctrl-C.
  type('\u0003')
  expect(await ended).toBe(0)
})

describe('beside a running dev', () => {
  wholeRunTest('a second dev on the same data is refused, and the first goes on', async () => {
    const dataDir = await usedDataDir()
    const service = await startDev(dataDir)
    const second = await run(['dev', '--port', '0', '--data', dataDir])
    expect(second).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`is in use by the process ${service.pid}: stop that one first`),
    })
    expect(await readinessOf(service)).toBe(200)
  })

  wholeRunTest('its database is refused to serve, for ever', async () => {
    const dataDir = await usedDataDir()
    const { code, stdout, stderr } = await run(['serve', '--port', '0', '--data', dataDir])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.trim().split('\n').at(-1)).toMatch(
      /^This database is a sandbox of `enrolment dev` and stays one/,
    )
  })

  wholeRunTest('a lost or foreign keyring is refused, and put back works', async () => {
    const dataDir = await usedDataDir()
    const keyring = join(dataDir, 'keyring.json')
    execFileSync('mv', [keyring, `${keyring}.kept`])
    const { code, stderr } = await run(['dev', '--port', '0', '--data', dataDir])
    expect(code).toBe(1)
    const [wanted = ''] = JSON.parse(await readFile(`${keyring}.kept`, 'utf8')).rootkeys.keys.map(
      ({ id }: { id: string }) => id,
    )
    expect(stderr.trim().split('\n').at(-1)).toMatch(
      new RegExp(`^There is no ${keyring}, and this database belongs to the root key ${wanted}: restore`),
    )
    // No file was created that could be mistaken for the right one.
    expect(existsSync(keyring)).toBe(false)
    execFileSync('mv', [`${keyring}.kept`, keyring])
    expect(await (await startDev(dataDir)).stop()).toBe(0)
  })
})

async function readinessOf(service: ServiceProcess): Promise<number> {
  return (await fetch(`${service.address}/readyz`)).status
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
