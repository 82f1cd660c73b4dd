import { afterAll, beforeAll, expect, test, vi } from 'vitest'
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
  await database.script('create table public.written (name text primary key)')
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

test('a statement whose first use fails is used again on the same connection, also twice in one transaction', async () => {
  const before = await names()
  const divided = (name: string, by: number) =>
    sql`insert into written select ${name} where 1 / ${by}::integer = 1`
  for (let tries = 0; tries < 2; tries += 1)
    await expect(database.commit([divided('p', 0), divided('q', 1)])).rejects.toMatchObject({ code: '22012' })
  expect(await names()).toEqual(before)
  await database.commit([divided('p', 1), divided('q', 1)])
  await expect(database.commit([divided('r', 1), divided('s', 0)])).rejects.toMatchObject({ code: '22012' })
  await database.commit([divided('r', 1)])
  expect(await names()).toEqual([...before, 'p', 'q', 'r'])
})

test('a statement may be sent alone and in a transaction on the same connection, in either order', async () => {
  const before = await names()
  const first = (name: string) => sql`insert into written (name) select ${name} || ${'1'}`
  const second = (name: string) => sql`insert into written (name) select ${name} || ${'2'}`
  await database.query(first('t'))
  await database.commit([first('u'), second('u')])
  await database.query(second('t'))
  await database.commit([second('v')])
  expect(await names()).toEqual([...before, 't1', 't2', 'u1', 'u2', 'v2'])
})

test('values of every kind arrive as they were given', async () => {
  const given = {
    text: 'ö"\\{',
    many: ['a,"b"', null, '\\', ''],
    bytes: Buffer.from([0, 255]),
    more: [Buffer.from([1, 34]), null],
    yes: true,
    count: 7,
    none: null,
  }
  await database.commit([
    sql`create table if not exists kinds (text text, many text[], bytes bytea, more bytea[], yes boolean, count integer, none text)`,
  ])
  await database.commit([
    sql`insert into kinds values (${given.text}, ${given.many}, ${given.bytes}, ${given.more}, ${given.yes}, ${given.count},
      ${given.none})`,
  ])
  expect(await database.query(sql`select * from kinds`)).toEqual([given])
})

test('rows, notices and changed settings that a statement brings change nothing about the others', async () => {
  const before = await names()
  await database.commit([
    write('w'),
    sql`select repeat(${'x'}, 1000000) from generate_series(1, 5)`,
    sql`do $$ begin raise notice 'noticed'; end $$`,
    sql`set local application_name = 'changed'`,
    write('x'),
  ])
  expect(await names()).toEqual([...before, 'w', 'x'])
})

test('a session that the server ends in the midst has written nothing, and the next one does', async () => {
  const before = await names()
  const end = sql`select pg_terminate_backend(pg_backend_pid())`
  for (let tries = 0; tries < 2; tries += 1)
    await expect(database.commit([write('y'), end, write('z')])).rejects.toMatchObject({ code: '57P01' })
  expect(await names()).toEqual(before)
  await database.commit([write('y'), write('z')])
  expect(await names()).toEqual([...before, 'y', 'z'])
})

test('two definitions that wait for each other both take place', async () => {
  const two = openDatabase(address, { max: 2, ...patientDatabase })
  await two.learnCells()
  let holding = 0
  const define = (locked: readonly string[]) =>
    two.transaction(async tx => {
      for (const name of locked) {
        await tx.query(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`)
        holding += 1
        await vi.waitFor(() => expect(holding).toBeGreaterThan(1), { timeout: 60_000 })
      }
      await tx.query({ name: '', text: `create table public.${locked[0]} (id bigint)`, values: [] })
      return locked[0]
    })
  expect(await Promise.all([define(['one', 'other']), define(['other', 'one'])])).toEqual(['one', 'other'])
  await two.close()
})
