import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  canRead,
  dataDirWithDatabase,
  ending,
  eventually,
  imports,
  kill,
  long,
  newDataDir,
  nobody,
  own,
  postmasterPid,
  preparePristine,
  query,
  refusal,
  rootTest,
  runScript,
  startOwner,
} from '../test/stage.ts'
import { createDatabase, dropDatabase } from './database.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { ownEmbeddedDatabase } from './own.ts'

beforeAll(preparePristine)

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

  test('what lies in the place of the database and is none is refused in a sentence, and left as it is', async () => {
    const dataDir = await newDataDir()
    await mkdir(join(dataDir, 'postgres'))
    await writeFile(join(dataDir, 'postgres/notes'), '')
    const refused = ownEmbeddedDatabase({ dataDir, log: () => undefined })
    await expect(refused).rejects.toThrow(EmbeddedPostgresError)
    await expect(refused).rejects.toThrow(`${dataDir}/postgres holds no database (it has no PG_VERSION)`)
    expect(await readdir(join(dataDir, 'postgres'))).toEqual(['notes'])
    expect((await readdir(dataDir)).filter(name => name.includes('unfinished'))).toEqual([])
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
      await withDatabase({ dataDir: process.argv[1] }, async () => {})`,
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
      await withDatabase({ dataDir: process.argv[1] }, async () => {})`,
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

test.each([
  [false, 'on'],
  [true, 'off'],
])(
  'each commit is synced to the disk, unless the database is thrown away (%s)',
  async (isThrownAway, synced) => {
    const dataDir = await dataDirWithDatabase()
    const owned = await ownEmbeddedDatabase({ dataDir, log: () => undefined, isThrownAway })
    onTestFinished(() => owned.stop())
    for (const setting of ['fsync', 'full_page_writes'])
      expect(await query(owned.address, `show ${setting}`)).toEqual([{ [setting]: synced }])
  },
)

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
