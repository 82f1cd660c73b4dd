import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  dataDirWithDatabase,
  ending,
  eventually,
  imports,
  isAlive,
  kill,
  long,
  newDataDir,
  own,
  ownerScript,
  postgresFiles,
  postmasterPid,
  preparePristine,
  query,
  runScript,
  startOwner,
} from '../test/stage.ts'
import { openCluster } from './cluster.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { ownEmbeddedDatabase } from './own.ts'
import { withDatabase } from './running.ts'
import { startPostgres } from './start.ts'

beforeAll(preparePristine)

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

  // Under another clock (scripts/clocks.mjs) it does.
  const isLinux = process.platform === 'linux'
  test.runIf(isLinux && !process.env['CLOCK_AHEAD'])('inherits nothing of our environment', async () => {
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
    // A query that would run far longer than any machine takes to start a database; the test ends it itself.
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
      expect(existsSync(owned.address.host)).toBe(false)
      expect(await readdir(join(dataDir, 'locks'))).toEqual([])
      // The system may still be clearing away the killed process, which runs nothing any more.
      await eventually(async () => expect(isAlive(last)).toBe(false), 1)
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

  test('a start removes the copy of an interrupted restore, and ends the PostgreSQL that brought it up', async () => {
    const dataDir = await dataDirWithDatabase()
    const directory = join(dataDir, 'postgres-unfinished-1')
    await cp(join(dataDir, 'postgres'), directory, { recursive: true })
    const cluster = await openCluster(dataDir)
    if (cluster.account) execFileSync('chown', ['-R', cluster.account.name, directory])
    const { postmaster } = await startPostgres({ ...cluster, directory })
    await own(dataDir)
    expect((await readdir(dataDir)).filter(name => name.startsWith('postgres-'))).toEqual([])
    expect([isAlive(postmaster.pid), existsSync(postmaster.socketDirectory)]).toEqual([false, false])
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
      // The database was complete before its owner was killed, which this test is not about: try again in a new directory.
      await withDatabase({ dataDir }, async () => {})
      return begin(await newDataDir())
    }
    const dataDir = await begin(await newDataDir())

    const owned = await own(dataDir)
    expect(await query(owned.address, 'select 1 as one')).toEqual([{ one: 1 }])
    expect((await readdir(dataDir)).sort()).toEqual(['locks', 'postgres', 'postgres.log'])
  })
})
