import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  dataDirWithDatabase,
  ending,
  imports,
  isAlive,
  kill,
  long,
  newDataDir,
  own,
  postgresFiles,
  postmasterPid,
  preparePristine,
  query,
  runScript,
  startOwner,
} from '../test/stage.ts'
import { holdsDatabase } from './cluster.ts'
import { takeLock } from './process-locks.ts'
import { findRunningDatabase, withDatabase } from './running.ts'

beforeAll(preparePristine)

describe('the database that a command uses', () => {
  test('is the service’s while there is one, and is left running', async () => {
    const dataDir = await dataDirWithDatabase()
    const owned = await own(dataDir)
    expect(await findRunningDatabase({ dataDir })).toEqual(owned.address)
    expect(await withDatabase({ dataDir }, async address => address)).toEqual(owned.address)
    expect(await query(owned.address, 'select 1 as one')).toEqual([{ one: 1 }])
    await owned.stop()
    expect(await findRunningDatabase({ dataDir })).toBe(undefined)
  })

  test('is started for its work where none runs, and ended after it, also when the work fails', async () => {
    const dataDir = await dataDirWithDatabase()
    const used = await withDatabase({ dataDir }, async address => {
      await query(address, 'create table kept (id int)')
      return { address, pid: await postmasterPid(dataDir) }
    })
    expect([isAlive(used.pid), existsSync(used.address.host)]).toEqual([false, false])
    const failing = withDatabase({ dataDir }, async address => {
      expect(await query(address, 'select * from kept')).toEqual([])
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    expect(postgresFiles(dataDir)).not.toContain('postmaster.pid')
    expect(await readdir(join(dataDir, 'locks'))).toEqual([])
  })

  long(
    'is made for one of several who come at once, then for the next, and a service waits for them',
    async () => {
      const dataDir = await newDataDir()
      const command = `${imports}
      await withDatabase({ dataDir: process.argv[1] }, async address => {
        const client = new pg.Client(address)
        await client.connect()
        await client.query('select 1')
        await client.end()
      })`
      const elsewhere = [1, 2].map(() => ending(runScript(command, dataDir)))
      const here = [1, 2].map(() => withDatabase({ dataDir }, address => query(address, 'select 1 as one')))
      expect(await Promise.all(here)).toEqual([[{ one: 1 }], [{ one: 1 }]])
      const owned = await own(dataDir)
      expect(await Promise.all(elsewhere)).toEqual([0, 0])
      expect(await query(owned.address, 'select 1 as one')).toEqual([{ one: 1 }])
    },
  )

  test('is started anew where a killed service left PostgreSQL behind, which is never adopted', async () => {
    const dataDir = await dataDirWithDatabase()
    const owner = await startOwner(dataDir)
    const orphan = await postmasterPid(dataDir)
    await kill(owner.child)
    expect(await findRunningDatabase({ dataDir })).toBe(undefined)
    await withDatabase({ dataDir }, async address => {
      expect(await query(address, 'select 1 as one')).toEqual([{ one: 1 }])
      expect(isAlive(orphan)).toBe(false)
    })
  })
})

describe('whether there is a database', () => {
  test('is seen without making anything: it lies there, or somebody is about to make it', async () => {
    const dataDir = join(await newDataDir(), 'none')
    expect(await holdsDatabase(dataDir)).toBe(false)
    expect(existsSync(dataDir)).toBe(false)
    const locks = join(dataDir, 'locks')
    await mkdir(locks, { recursive: true })
    const making = await takeLock(locks, 'command', 0)
    expect(await holdsDatabase(dataDir)).toBe(true)
    if ('release' in making) await making.release()
    expect(await holdsDatabase(dataDir)).toBe(false)
    expect(await holdsDatabase(await dataDirWithDatabase())).toBe(true)
  })
})
