import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { borrowEmbeddedDatabase } from './borrow.ts'
import { holdsDatabase } from './cluster.ts'
import { createDatabase, dropDatabase, type SocketAddress } from './database.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { type OwnedDatabase, ownEmbeddedDatabase } from './own.ts'
import { takeLock } from './process-locks.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const nobody = { uid: 65534, gid: 65534 }

let pristine = ''

beforeAll(async () => {
  // The owners that are killed here run as processes of their own, from the built output.
  execFileSync('npx', ['tsc', '-b'], { cwd: join(root, '..'), stdio: 'pipe' })
  pristine = await mkdtemp(join(tmpdir(), 'embedded-test-'))
  const borrowed = await borrowEmbeddedDatabase({ dataDir: pristine })
  await borrowed.release()
  return () => rm(pristine, { recursive: true, force: true })
})

// The everyday run of `npm test` leaves these to `.ci/run`.
const long = test.skipIf(process.env['TESTS'] === 'everyday')
const rootTest = process.getuid?.() === 0 ? long : test.skip

describe('an owned database', () => {
  test('is made at the first start with what we promise, and found again at the second', async () => {
    const dataDir = await newDataDir()
    const first = await own(dataDir)
    await query(first.address, 'create table kept (line text)')
    await query(first.address, "insert into kept values ('still here')")
    await first.stop()
    expect(postgresFiles(dataDir)).not.toContain('postmaster.pid')

    const second = await own(dataDir)
    expect(await query(second.address, 'select line from kept')).toEqual([{ line: 'still here' }])
    expect(
      await query(
        second.address,
        `select current_setting('data_checksums') as checksums, current_setting('fsync') as fsync,
                current_setting('listen_addresses') as addresses, current_setting('server_version_num')::int / 10000 as major,
                pg_encoding_to_char(encoding) as encoding, datcollate, datctype, rolsuper
         from pg_database, pg_roles where datname = current_database() and rolname = current_user`,
      ),
    ).toEqual([
      {
        checksums: 'on',
        fsync: 'on',
        addresses: '',
        major: 18,
        encoding: 'UTF8',
        datcollate: 'C',
        datctype: 'C',
        rolsuper: false,
      },
    ])
  })

  test('leaves neither process nor socket directory nor lock behind when it is stopped', async () => {
    const dataDir = await dataDirWithDatabase()
    const owned = await own(dataDir)
    const pid = await postmasterPid(dataDir)
    await Promise.all([owned.stop(), owned.stop()])
    expect(isAlive(pid)).toBe(false)
    expect(existsSync(owned.address.host)).toBe(false)
    expect(await readdir(join(dataDir, 'locks'))).toEqual([])
  })

  long('keeps no process alive once it is stopped', async () => {
    const script = `${imports}
      const owned = await ownEmbeddedDatabase({ dataDir: process.argv[1], log: () => {} })
      await owned.stop()`
    expect(await ending(runScript(script, await newDataDir()))).toBe(0)
  })

  test.runIf(process.platform === 'linux')('inherits nothing of our environment', async () => {
    const dataDir = await newDataDir()
    await own(dataDir)
    const environment = await readFile(`/proc/${await postmasterPid(dataDir)}/environ`, 'utf8')
    expect(environment.split('\0').filter(Boolean)).toEqual(['LC_ALL=C'])
  })

  test('writes no value of a failing statement into its log', async () => {
    const dataDir = await dataDirWithDatabase()
    const { address } = await own(dataDir)
    await query(address, 'create table people (name text primary key)')
    await query(address, "insert into people values ('Canary Lovelace')")
    const insert = query(address, 'insert into people values ($1)', ['Canary Lovelace'])
    await expect(insert).rejects.toMatchObject({ code: '23505' })
    await expect(query(address, 'select $1::int', ['Canary Lovelace'])).rejects.toMatchObject({
      code: '22P02',
    })
    const log = await readFile(join(dataDir, 'postgres.log'), 'utf8')
    expect(log).toContain('ready to accept connections')
    expect(log).not.toContain('Canary')
  })

  test('is started again at the same address when its postmaster is killed', async () => {
    const dataDir = await dataDirWithDatabase()
    const { address } = await own(dataDir)
    await query(address, 'create table acknowledged (id int)')
    for (const round of [1, 2]) {
      await query(address, 'insert into acknowledged values ($1)', [round])
      const killed = await postmasterPid(dataDir)
      process.kill(killed, 'SIGKILL')
      expect(await eventually(() => query(address, 'select count(*)::int from acknowledged'))).toEqual([
        { count: round },
      ])
      expect(await postmasterPid(dataDir)).not.toBe(killed)
    }
  })

  long('is started again also when a session outlives the killed postmaster for a while', async () => {
    const dataDir = await dataDirWithDatabase()
    const { address } = await own(dataDir)
    // Far longer than any machine takes to start a database: it is ended from here.
    const work = 'select count(*) from generate_series(1, 1000000), generate_series(1, 1000000) as busy'
    const busy = query(address, work).catch(() => 'cut off')
    const session = await eventually(async () => {
      const look = "select pid from pg_stat_activity where query like '%as busy' and pid <> pg_backend_pid()"
      const [active] = await query(address, look)
      if (!active) throw new Error('not busy yet')
      return Number(active['pid'])
    })
    process.kill(await postmasterPid(dataDir), 'SIGKILL')
    const isAttempted = async () =>
      expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toMatch(/block .* still in use/)
    await eventually(isAttempted).finally(() => process.kill(session, 'SIGKILL'))
    await eventually(() => query(address, 'select 1'))
    await busy
  })

  test('is not started again, or not left running, when it is stopped just after its postmaster was killed', async () => {
    for (const waitsForRestart of [false, true]) {
      const dataDir = await dataDirWithDatabase()
      const owned = await own(dataDir)
      const killed = await postmasterPid(dataDir)
      process.kill(killed, 'SIGKILL')
      if (waitsForRestart)
        await eventually(async () => expect(await postmasterPid(dataDir)).not.toBe(killed), 1)
      await owned.stop()
      const last = await postmasterPid(dataDir).catch(() => killed)
      expect(isAlive(last)).toBe(false)
      expect(existsSync(owned.address.host)).toBe(false)
      expect(await readdir(join(dataDir, 'locks'))).toEqual([])
    }
  })

  test('gets its socket back at the same address when the temp folder is cleaned', async () => {
    const { address } = await own(await dataDirWithDatabase())
    await rm(address.host, { recursive: true })
    expect(await eventually(() => query(address, 'select 1 as one'))).toEqual([{ one: 1 }])
  })

  long('is refused to a second owner, in this process or another, and goes on unharmed', async () => {
    const dataDir = await dataDirWithDatabase()
    const owner = await startOwner(dataDir)
    const before = await postmasterPid(dataDir)
    const second = ownEmbeddedDatabase({ dataDir, log: () => undefined })
    await expect(second).rejects.toThrow(EmbeddedPostgresError)
    await expect(second).rejects.toThrow(`in use by the process ${owner.child.pid}`)
    expect(await postmasterPid(dataDir)).toBe(before)
    expect(await query(owner.address, 'select 1 as one')).toEqual([{ one: 1 }])

    const ours = await dataDirWithDatabase()
    await own(ours)
    await expect(own(ours)).rejects.toThrow(`in use by the process ${process.pid}`)
  })

  test('goes to exactly one of several who want it at once', async () => {
    const dataDir = await newDataDir()
    const outcomes = await Promise.allSettled([own(dataDir), own(dataDir), own(dataDir)])
    expect(outcomes.map(outcome => outcome.status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
  })
})

describe('what a kill leaves behind', () => {
  long('an orphan is stopped and started anew, with all that was acknowledged', async () => {
    const dataDir = await dataDirWithDatabase()
    const owner = await startOwner(dataDir)
    await query(owner.address, 'create table acknowledged (id int)')
    const orphan = await postmasterPid(dataDir)
    await kill(owner.child)
    expect(isAlive(orphan)).toBe(true)

    const events: string[] = []
    const owned = await own(dataDir, event => events.push(event))
    expect(events).toContain('database_orphan_found')
    expect(isAlive(orphan)).toBe(false)
    expect(existsSync(owner.address.host)).toBe(false)
    expect(await query(owned.address, 'select * from acknowledged')).toEqual([])
  })

  test('a command uses an orphan and ends it', async () => {
    const dataDir = await dataDirWithDatabase()
    const owner = await startOwner(dataDir)
    const orphan = await postmasterPid(dataDir)
    await kill(owner.child)
    const borrowed = await borrowEmbeddedDatabase({ dataDir })
    expect(await query(borrowed.address, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(await postmasterPid(dataDir)).toBe(orphan)
    await borrowed.release()
    expect(isAlive(orphan)).toBe(false)
  })

  long('a process that was given the old process id is not signalled', async () => {
    const dataDir = await dataDirWithDatabase()
    const before = await own(dataDir)
    const pidFile = join(dataDir, 'postgres/postmaster.pid')
    const left = await readFile(pidFile, 'utf8')
    await before.stop()
    const stranger = spawn('sleep', ['600'])
    onTestFinished(() => kill(stranger))
    await writeFile(pidFile, left.replace(/^\d+/, String(stranger.pid)))

    const after = await own(dataDir)
    expect(await query(after.address, 'select 1 as one')).toEqual([{ one: 1 }])
    await after.stop()
    expect(stranger.exitCode ?? stranger.signalCode).toBe(null)
  })

  long('a half-made database does not keep the next start from making a whole one', async () => {
    const begin = async (dataDir: string): Promise<string> => {
      const owner = runScript(ownerScript, dataDir)
      await eventually(async () => {
        const begun = (await readdir(dataDir)).find(name => /^postgres(-|$)/.test(name))
        await readFile(join(dataDir, begun ?? 'none', 'PG_VERSION'))
      }, 1)
      await kill(owner)
      if (!existsSync(join(dataDir, 'postgres'))) return dataDir
      // It was whole before this process came to kill its owner.
      await (await borrowEmbeddedDatabase({ dataDir })).release()
      return begin(await newDataDir())
    }
    const dataDir = await begin(await newDataDir())

    const owned = await own(dataDir)
    expect(await query(owned.address, 'select 1 as one')).toEqual([{ one: 1 }])
    expect((await readdir(dataDir)).sort()).toEqual(['locks', 'postgres', 'postgres.log'])
  })
})

describe('a borrowed database', () => {
  long('is the owner’s while there is one, and is left running', async () => {
    const dataDir = await dataDirWithDatabase()
    const owner = await startOwner(dataDir)
    const borrowed = await borrowEmbeddedDatabase({ dataDir })
    expect(borrowed.address).toEqual(owner.address)
    await borrowed.release()
    expect(await query(owner.address, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  long('is started for a lone command and ended after it', async () => {
    const dataDir = await dataDirWithDatabase()
    const borrowed = await borrowEmbeddedDatabase({ dataDir })
    await query(borrowed.address, 'create table kept (id int)')
    const pid = await postmasterPid(dataDir)
    await borrowed.release()
    expect(isAlive(pid)).toBe(false)
    expect(existsSync(borrowed.address.host)).toBe(false)
    const again = await borrowEmbeddedDatabase({ dataDir })
    expect(await query(again.address, 'select * from kept')).toEqual([])
    await again.release()
  })

  long('serves several commands that come and go at once, and is ended by the last', async () => {
    const dataDir = await newDataDir()
    const command = `${imports}
      const borrowed = await borrowEmbeddedDatabase({ dataDir: process.argv[1] })
      const client = new pg.Client(borrowed.address)
      await client.connect()
      await client.query('select 1')
      await client.end()
      await borrowed.release()`
    const elsewhere = [1, 2, 3].map(() => ending(runScript(command, dataDir)))
    const here = [1, 2].map(async () => {
      const borrowed = await borrowEmbeddedDatabase({ dataDir })
      const answer = await query(borrowed.address, 'select 1 as one')
      await borrowed.release()
      return answer
    })
    expect(await Promise.all(here)).toEqual([[{ one: 1 }], [{ one: 1 }]])
    expect(await Promise.all(elsewhere)).toEqual([0, 0, 0])
    expect(postgresFiles(dataDir)).not.toContain('postmaster.pid')
    expect(await readdir(join(dataDir, 'locks'))).toEqual([])
  })

  long('is left to its command by an owner who comes meanwhile, then started anew', async () => {
    const dataDir = await dataDirWithDatabase()
    const borrowed = await borrowEmbeddedDatabase({ dataDir })
    const lent = await postmasterPid(dataDir)
    const coming = own(dataDir)
    await eventually(async () => {
      const locks = await readdir(join(dataDir, 'locks'))
      if (!locks.some(lock => lock.startsWith('own.'))) throw new Error('not there yet')
    })
    expect(await query(borrowed.address, 'select 1 as one')).toEqual([{ one: 1 }])
    await borrowed.release()
    const owned = await coming
    expect(await query(owned.address, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(isAlive(lent)).toBe(false)
  })
})

describe('whether there is a database', () => {
  test('is seen without making anything: it lies there, or somebody is about to make it', async () => {
    const dataDir = join(await newDataDir(), 'none')
    expect(await holdsDatabase(dataDir)).toBe(false)
    expect(existsSync(dataDir)).toBe(false)
    const locks = join(dataDir, 'locks')
    await mkdir(locks, { recursive: true })
    const making = await takeLock(locks, 'turn')
    expect(await holdsDatabase(dataDir)).toBe(true)
    await making.release()
    expect(await holdsDatabase(dataDir)).toBe(false)
    expect(await holdsDatabase(await dataDirWithDatabase())).toBe(true)
  })
})

describe('where it runs', () => {
  test('a data directory that is a file is refused in a sentence', async () => {
    const file = join(await newDataDir(), 'file')
    await writeFile(file, '')
    for (const dataDir of [file, join(file, 'below')]) {
      const refused = ownEmbeddedDatabase({ dataDir, log: () => undefined })
      await expect(refused).rejects.toThrow(EmbeddedPostgresError)
      await expect(refused).rejects.toThrow(`${dataDir} is not a directory: choose another with --data.`)
    }
  })

  long('a missing data directory is made for its owner alone', async () => {
    const dataDir = join(await newDataDir(), 'not', 'yet')
    await own(dataDir)
    expect(execFileSync('ls', ['-ld', dataDir]).toString()).toMatch(/^drwx------/)
  })

  long('a database of another major version is refused and left as it is', async () => {
    const dataDir = await dataDirWithDatabase()
    await (await own(dataDir)).stop()
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '17\n')
    await expect(own(dataDir)).rejects.toThrow('was created by PostgreSQL 17, and this is PostgreSQL 18')
  })

  test('what keeps PostgreSQL from starting is told in its own words', async () => {
    const dataDir = await dataDirWithDatabase()
    await (await own(dataDir)).stop()
    await writeFile(join(dataDir, 'postgres/postgresql.auto.conf'), "shared_buffers = 'much'\n")
    await expect(own(dataDir)).rejects.toThrow(
      /does not start .*\(configuration file .* contains errors\): see .*postgres\.log/,
    )
    expect(await readdir(join(dataDir, 'locks'))).toEqual([])
  })

  rootTest('root may keep it below a private directory; PostgreSQL itself is not root', async () => {
    const closed = await newDataDir()
    await chmod(closed, 0o700)
    const { address } = await own(join(closed, 'data'))
    expect(await query(address, 'select 1 as one')).toEqual([{ one: 1 }])
    const pid = await postmasterPid(join(closed, 'data'))
    expect(
      execFileSync('ps', ['-o', 'uid=', '-p', String(pid)])
        .toString()
        .trim(),
    ).not.toBe('0')
  })

  rootTest('an ordinary user can run it, and is refused what is not his', async context => {
    const dataDir = await newDataDir()
    if (!canRead(nobody.uid)) context.skip('this checkout lies where no ordinary user can read it')
    await chown(dataDir, nobody.uid, nobody.gid)
    const owner = await startOwner(dataDir, nobody)
    expect(await query(owner.address, 'select 1 as one')).toEqual([{ one: 1 }])
    await kill(owner.child)
    expect(
      await ending(
        runScript(
          `${imports}
      const borrowed = await borrowEmbeddedDatabase({ dataDir: process.argv[1] })
      await borrowed.release()`,
          dataDir,
          nobody,
        ),
      ),
    ).toBe(0)

    const closed = await newDataDir()
    for (const refused of [closed, join(closed, 'below')]) {
      const { said } = await refusal(refused)
      expect(said).toBe(
        `EmbeddedPostgresError: The data directory ${refused} cannot be read and written by this user: change its owner or choose another with --data.`,
      )
    }
  })

  rootTest('root takes over what an ordinary user began, as that user', async context => {
    const dataDir = await newDataDir()
    if (!canRead(nobody.uid)) context.skip('this checkout lies where no ordinary user can read it')
    await chown(dataDir, nobody.uid, nobody.gid)
    const first = runScript(
      `${imports}
      await (await borrowEmbeddedDatabase({ dataDir: process.argv[1] })).release()`,
      dataDir,
      nobody,
    )
    expect(await ending(first)).toBe(0)
    const { address } = await own(dataDir)
    expect(await query(address, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  rootTest('a nearly full disk is noticed', async context => {
    const small = await newDataDir()
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'small', small], { stdio: 'pipe' })
    } catch {
      context.skip('no file system can be mounted here')
    }
    onTestFinished(() => {
      execFileSync('umount', ['-l', small])
    })
    const dataDir = join(small, 'data')
    const events: string[] = []
    const owned = await own(dataDir, event => events.push(event))
    expect(owned.lowOnSpace()).toBe(false)
    await writeFile(join(small, 'filler'), Buffer.alloc(200 * 1024 * 1024))
    await eventually(async () => expect(owned.lowOnSpace()).toBe(true))
    await rm(join(small, 'filler'))
    await eventually(async () => expect(owned.lowOnSpace()).toBe(false))
    expect(events.filter(event => event.includes('space'))).toEqual([
      'database_low_on_space',
      'database_space_regained',
    ])
  })
})

test('databases are made from a template and dropped with their sessions', async () => {
  const { address } = await own(await dataDirWithDatabase())
  await createDatabase(address, 'pattern')
  await query({ ...address, database: 'pattern' }, 'create table "copied" (id int)')
  await createDatabase(address, 'Fresh "1"', 'pattern')
  const client = new pg.Client({ ...address, database: 'Fresh "1"' })
  const cutOff = new Promise(resolve => client.on('error', resolve))
  await client.connect()
  await client.query('insert into copied values (1)')
  await dropDatabase(address, 'Fresh "1"')
  await expect(cutOff).resolves.toBeInstanceOf(Error)
  await dropDatabase(address, 'Fresh "1"')
  const names = await query(
    address,
    "select datname from pg_database where datname not like 'template_' order by 1",
  )
  expect(names.map(row => row['datname'])).toEqual(['enrolment', 'pattern', 'postgres'])
})

const imports = `
  import pg from 'pg'
  import { ownEmbeddedDatabase } from '${root}/dist/own.js'
  import { borrowEmbeddedDatabase } from '${root}/dist/borrow.js'`

const ownerScript = `${imports}
  const owned = await ownEmbeddedDatabase({ dataDir: process.argv[1], log: () => {} })
  console.log(JSON.stringify(owned.address))
  setInterval(() => {}, 60_000)`

async function newDataDir(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'embedded-test-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A data directory after a first start and a clean stop, copied to save the time of the first start. */
async function dataDirWithDatabase(): Promise<string> {
  const dataDir = await newDataDir()
  execFileSync('cp', ['-a', `${pristine}/.`, dataDir])
  return dataDir
}

async function own(dataDir: string, log: (event: string) => void = () => undefined): Promise<OwnedDatabase> {
  const owned = await ownEmbeddedDatabase({ dataDir, log })
  onTestFinished(() => owned.stop())
  return owned
}

function runScript(
  script: string,
  dataDir: string,
  account: { uid?: number; gid?: number } = {},
): ChildProcess {
  return spawn(process.execPath, ['--input-type=module', '--eval', script, dataDir], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...account,
  })
}

/** An owner in a process of its own; what it leaves behind is cleared away after the test. */
async function startOwner(
  dataDir: string,
  account: { uid?: number; gid?: number } = {},
): Promise<{ child: ChildProcess; address: SocketAddress }> {
  const child = runScript(ownerScript, dataDir, account)
  onTestFinished(async () => {
    await kill(child)
    if (existsSync(join(dataDir, 'postgres/postmaster.pid')))
      await (await borrowEmbeddedDatabase({ dataDir })).release()
  })
  if (!child.stdout) throw new Error('the owner has no standard output')
  for await (const line of createInterface(child.stdout)) return { child, address: JSON.parse(line) }
  throw new Error('the owner ended without an address')
}

async function refusal(dataDir: string): Promise<{ said: string }> {
  const script = `${imports}
    await ownEmbeddedDatabase({ dataDir: process.argv[1], log: () => {} })
      .catch(error => console.log(error.name + ': ' + error.message))`
  const child = runScript(script, dataDir, nobody)
  let said = ''
  child.stdout?.on('data', (printed: Buffer) => {
    said += printed
  })
  await ending(child)
  return { said: said.trim() }
}

function canRead(uid: number): boolean {
  try {
    execFileSync(process.execPath, ['--input-type=module', '--eval', imports], {
      cwd: root,
      uid,
      stdio: 'pipe',
    })
    return true
  } catch {
    return false
  }
}

async function ending(child: ChildProcess): Promise<number | null> {
  return new Promise(resolve => child.once('close', resolve))
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = ending(child)
  child.kill('SIGKILL')
  await ended
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

function postgresFiles(dataDir: string): string[] {
  return execFileSync('ls', [join(dataDir, 'postgres')])
    .toString()
    .split('\n')
}

function isAlive(pid: number): boolean {
  const [state] = execFileSync('sh', ['-c', `ps -o state= -p ${pid} || true`])
    .toString()
    .trim()
  return state !== undefined && state !== 'Z'
}

async function query(
  address: SocketAddress,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(address)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function eventually<T>(attempt: () => Promise<T>, pause = 20): Promise<T> {
  const deadline = performance.now() + 90_000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(pause)
    }
  }
}
