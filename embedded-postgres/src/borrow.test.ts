import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  dataDirWithDatabase,
  ending,
  eventually,
  imports,
  isAlive,
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
import { borrowEmbeddedDatabase } from './borrow.ts'
import { holdsDatabase } from './cluster.ts'
import { takeLock } from './process-locks.ts'

beforeAll(preparePristine)

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
