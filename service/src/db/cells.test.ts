import { expect, test } from 'vitest'
import { EVERYONE, partnersNamed } from './cells.ts'
import { sql } from './sql.ts'

const [ONE, OTHER] = ['01978f5e-0000-7000-8000-000000000001', '01978f5e-0000-7000-8000-000000000002']
const tables = new Set(['users', 'events'])

test.each([
  [
    'compared, beside a userid that is the id of another',
    sql`select from users u where userid = ${OTHER} and u.partner_id = ${ONE}`,
    [ONE],
  ],
  ['a list', sql`select from users where partner_id = any(${[ONE, OTHER]}::uuid[])`, [ONE, OTHER]],
  [
    'a list whose length is hidden',
    sql`select from users where partner_id = any ((select ${[ONE]}::uuid[]))`,
    [ONE],
  ],
  ['inserted', sql`insert into users (partner_id, userid) values (${ONE}, ${OTHER})`, [ONE]],
  [
    'unnested',
    sql`select from unnest(${[ONE]}::uuid[], ${[OTHER]}::text[]) as p (partner_id, userid) join users using (partner_id)`,
    [ONE],
  ],
  [
    'inserted from lists',
    sql`insert into users (partner_id, userid) select * from unnest(${[ONE]}::uuid[], ${[OTHER]}::text[])`,
    [ONE],
  ],
  [
    'inserted as a value that all rows share',
    sql`insert into users (partner_id, userid) select partner_id, userid from (select ${ONE}::uuid as partner_id, userid from unnest(${[OTHER]}::text[]) as own (userid)) as row`,
    [ONE],
  ],
  ['about what all cells share', sql`select from partners where partner_id = ${ONE}`, undefined],
])('a statement says whose cell it is for: %s', (_, statement, partners) => {
  expect(partnersNamed(statement, tables)).toEqual(partners)
})

test('a statement that names no partner is about all cells', () => {
  expect(partnersNamed(sql`select from partners join events using (partner_id)`, tables)).toBe(EVERYONE)
})
