import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownEmbeddedDatabase, type SocketAddress } from '@benefit-enrolment/embedded-postgres'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'

const directory = fileURLToPath(new URL('../../embedded-postgres', import.meta.url))
const isRoot = process.getuid?.() === 0
const nobody = { uid: 65534, gid: 65534 }

test.runIf(isRoot)(
  'nobody else is let in, not even the account that PostgreSQL runs as, were the socket open to all',
  async context => {
    if ((await runAs(nobody, "import 'pg'; console.log('read')")) !== 'read')
      context.skip('this checkout lies where no ordinary user can read it')
    const { address, told } = await startDatabase()
    const account = ownAccount()
    expect(told).toContainEqual([
      'database_account',
      { user: account ? 'enrolment-pg' : 'nobody', isShared: !account },
    ])
    await chmod(address.host, 0o755)
    await chmod(join(address.host, '.s.PGSQL.5432'), 0o777)
    for (const stranger of [nobody, account ?? nobody]) {
      for (const user of ['enrolment', 'postgres']) {
        expect(await runAs(stranger, connecting({ ...address, user }))).toBe(
          `Peer authentication failed for user "${user}"`,
        )
      }
    }
    expect(await query(address, 'select 1 as one')).toEqual([{ one: 1 }])
  },
)

test('an access file that somebody put into its directory lets nobody in', async () => {
  const { address } = await startDatabase(dataDir =>
    writeFile(join(dataDir, 'postgres/pg_hba.conf'), 'local all all trust\n'),
  )
  const rules = await query(
    { ...address, user: 'postgres', database: 'postgres' },
    'select auth_method from pg_hba_file_rules',
  )
  expect(rules.map(rule => rule['auth_method'])).toEqual(['peer', 'peer'])
})

async function startDatabase(between: (dataDir: string) => Promise<void> = async () => {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'access-test-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const first = await ownEmbeddedDatabase({ dataDir, log: () => {} })
  await first.stop()
  await between(dataDir)
  const told: [string, Record<string, unknown>][] = []
  const owned = await ownEmbeddedDatabase({
    dataDir,
    log: (event, fields = {}) => told.push([event, fields]),
  })
  onTestFinished(() => owned.stop())
  return { address: owned.address, told }
}

function connecting(address: SocketAddress) {
  return `
  import pg from 'pg'
  const client = new pg.Client(${JSON.stringify(address)})
  await client.connect().then(() => console.log('let in'), error => console.log(error.message))
  await client.end()`
}

/** The output of a script that runs as another user. */
async function runAs(account: { uid: number; gid: number }, script: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'ignore'],
    ...account,
  })
  let said = ''
  child.stdout.on('data', (printed: Buffer) => {
    said += printed
  })
  await new Promise(resolve => child.once('close', resolve))
  return said.trim()
}

/** The account that root created for PostgreSQL; `undefined` where this system does not allow it. */
function ownAccount(): { uid: number; gid: number } | undefined {
  const [, uid, gid] = /^enrolment-pg:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined
}

async function query(address: SocketAddress, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(address)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
