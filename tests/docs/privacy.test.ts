import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Userid } from '../../contract/src/fields.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
function read(file: string) {
  return readFileSync(`${root}/${file}`, 'utf8')
}

/** The columns by which a row is somebody's: an id or a hash of the person, or the id of what belongs to one person. */
const naming = /user_?id|service_?id|^(event|session|enrolment|operator)_ids?$|email|phone|birth/i

/** The tables that the statements create or extend with such a column. */
function tablesOfPeople(statements: string): Set<string> {
  const found = new Set<string>()
  for (const statement of statements.replace(/--.*$/gm, '').split(';')) {
    const [, dropped] = /^\s*drop table (?:if exists )?(\w+)/i.exec(statement) ?? []
    if (dropped) found.delete(dropped)
    const [, table] = /^\s*(?:create|alter) table (?:if (?:not )?exists )?(\w+)/i.exec(statement) ?? []
    const columns = statement.matchAll(/(?:^\s+|add column (?:if not exists )?)(\w+) [a-z]/gim)
    if (table && [...columns].some(([, column = '']) => naming.test(column))) found.add(table)
  }
  return found
}

/** The tables that the column "where" of the page's tables names. */
function tablesTold(page: string): Set<string> {
  const cells = page.split('\n').flatMap(line => (line.startsWith('|') ? [line.split(' | ')[1] ?? ''] : []))
  return new Set(cells.flatMap(cell => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)))
}

test('a column added later makes its table one of people, too', () => {
  const statements = `create table visits (\n  at timestamptz\n);\nalter table visits add column userid text;`
  expect(tablesOfPeople(statements)).toEqual(new Set(['visits']))
})

test('the page on privacy says where each row about a person is kept', () => {
  const migrations = readdirSync(`${root}/service/migrations`).filter(file => file.endsWith('.sql'))
  const kept = tablesOfPeople(migrations.map(file => read(`service/migrations/${file}`)).join('\n'))
  const told = tablesTold(read('docs/privacy.md'))
  expect([...kept]).toEqual(expect.arrayContaining(['users', 'dead_deliveries', 'operator_requests']))
  expect([...kept].filter(table => !told.has(table)).sort()).toEqual([])
})

test('what partners read says that a userid must never be an email address', () => {
  const texts = ['prefill', 'going-live'].map(name => read(`docs/${name}.md`))
  for (const text of [...texts, JSON.stringify(Userid)]) expect(text).toMatch(/never an e-?mail address/i)
})

test('the page on privacy names the command by which erased keys leave an embedded database at once', () => {
  expect(read('docs/privacy.md')).toMatch(/embedded \|[^|]*`enrolment maintain --data DIR` does it at once/)
})
