import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, type DatabaseAddress, openDatabase } from '../../service/src/db/database.ts'
import { type Query, sql } from '../../service/src/db/sql.ts'
import { patientDatabase } from '../patient-database.ts'
import { freshDatabase } from '../rig.ts'

// One connection, so that anything a transaction leaves behind on it affects the next one.
let database: Database
let address: DatabaseAddress
let drop: () => Promise<void>
beforeAll(async () => {
  const fresh = await freshDatabase()
  address = fresh.address
  drop = fresh.drop
  database = openDatabase(address, { max: 1, ...patientDatabase })
  await database.script('create table written (name text primary key)')
})
afterAll(async () => {
  await database.close()
  await drop()
})

function write(name: unknown): Query {
  return sql`insert into written (name) values (${name})`
}

async function names(): Promise<string[]> {
  const rows = await database.query<{ name: string }>(sql`select name from written order by name`)
  return rows.map(({ name }) => name)
}

test('statements that travel as one are all written', async () => {
  await database.commit([write('a'), write('b'), sql`update written set name = ${'c'} where name = ${'b'}`])
  expect(await names()).toEqual(['a', 'c'])
})

test('where one fails none is written, and what the server skipped is sent again in whole later', async () => {
  const before = await names()
  const later = [sql`insert into written values (${'e'})`, sql`delete from written where name = ${'e'}`]
  for (let tries = 0; tries < 2; tries += 1)
    await expect(database.commit([write('d'), write('a'), ...later])).rejects.toMatchObject({ code: '23505' })
  expect(await names()).toEqual(before)
  await database.commit([...later, write('f')])
  expect(await names()).toEqual([...before, 'f'])
})

test('a statement that the server cannot understand is refused each time, and those beside it are not kept', async () => {
  const before = await names()
  for (let tries = 0; tries < 2; tries += 1)
    await expect(
      database.commit([write('g'), sql`update written set nothing = ${'g'}`, write('h')]),
    ).rejects.toMatchObject({ code: '42703' })
  expect(await names()).toEqual(before)
})

test('where a value cannot be sent, nothing is written', async () => {
  const before = await names()
  const unsendable = {
    toPostgres: () => {
      throw new RangeError('not to be sent')
    },
  }
  await expect(database.commit([write('i'), write(unsendable), write('j')])).rejects.toThrow()
  expect(await names()).toEqual(before)
  await database.commit([write('k')])
  expect(await names()).toContain('k')
})

test('a row that is held fails the transaction after the time that it was given, which the next one does not inherit', async () => {
  await database.commit([write('m')])
  const before = await names()
  const other = openDatabase(address, { max: 1, ...patientDatabase })
  await other.transaction(async tx => {
    await tx.query(sql`update written set name = name where name = ${'m'}`)
    const held = sql`delete from written where name = ${'m'}`
    await expect(database.commit([write('n'), held], 50)).rejects.toMatchObject({ code: '55P03' })
  })
  await other.close()
  expect(await names()).toEqual(before)
  await database.commit([write('o')], 50)
  expect(await database.query(sql`show lock_timeout`)).toEqual([{ lock_timeout: '2s' }])
})
