// What each key, index and foreign key of the hot tables costs PostgreSQL: the processor time of one inserted row with all of
// them, less that without the one. The rows are those of a short load; they are inserted 60,000 at once into copies of the
// tables, so the figures say less about batches of 64, in which more is paid once a statement.
//   node bench/indexes.mjs
import pg from 'pg'
import { median } from './http/measure.mjs'
import { processorSeconds } from './http/processor-time.mjs'
import { demoCatalogue, embeddedServer, generate, headFor, say, startServed } from './served.mjs'

const tables = [
  'users',
  'data_keys',
  'sealed_records',
  'enrolments',
  'history',
  'events',
  'idempotency_keys',
  'access_tokens',
  'search_hashes',
]
const ROWS = 60_000
const ROUNDS = 5

async function fill(served) {
  served.enrolment('catalogue', 'publish', demoCatalogue)
  const partner = await served.newPartner('indexes')
  const { address } = served
  const job = { address, partners: [partner], connections: 64, seconds: 1 }
  const head = headFor(partner, '/user/prefill')
  await generate('load.mjs', { ...job, kind: 'prefill', head, name: 'p', requests: ROWS })
  await generate('load.mjs', { ...job, kind: 'create', name: 'c', requests: ROWS / 3 })
  await generate('load.mjs', { ...job, kind: 'token', requests: ROWS / 3 })
}

async function main() {
  const served = await startServed('indexes')
  try {
    await fill(served)
    const { host, port, database } = embeddedServer(served.dataDir)
    const client = new pg.Client({ host, port, database, user: 'postgres' })
    await client.connect()
    const ask = async text => (await client.query(text)).rows
    await ask('set synchronous_commit = off; set enable_seqscan = on; set statement_timeout = 0; analyze')
    const [{ pid }] = await ask('select pg_backend_pid() as pid')
    for (const table of tables) await tellTable(ask, table, pid)
    await client.end()
  } finally {
    await served.close()
  }
}

async function tellTable(ask, table, pid) {
  const copy = `drop table if exists copied; create table copied (like ${table} including all)`
  await ask(
    `drop table if exists source; create unlogged table source as select * from ${table} limit ${ROWS}`,
  )
  const [{ rows }] = await ask('select count(*)::integer as rows from source')
  const cost = async (change = '') => {
    const looks = []
    for (let round = 0; round < ROUNDS; round += 1) {
      await ask(`${copy}; ${change}`)
      await ask('checkpoint')
      const before = processorSeconds([pid])
      await ask('insert into copied select * from source')
      looks.push(((processorSeconds([pid]) - before) * 1e6) / rows)
    }
    return median(looks)
  }
  const all = await cost()
  say(table, `${rows} rows, ${all.toFixed(1)} µs a row`)
  await ask(copy)
  const indexes = await ask(`
    select index.indexrelid::regclass::text as name, held.conname as constraint, pg_get_indexdef(index.indexrelid) as made
    from pg_index index left join pg_constraint held on held.conindid = index.indexrelid and held.contype in ('p', 'u', 'x')
    where index.indrelid = 'copied'::regclass`)
  for (const { name, constraint, made } of indexes) {
    const less = await cost(
      constraint ? `alter table copied drop constraint ${constraint}` : `drop index ${name}`,
    )
    say(`  ${(all - less).toFixed(1)} µs`, made.slice(made.indexOf('USING') + 6))
  }
  const keys = await ask(`
    select pg_get_constraintdef(oid) as made from pg_constraint where conrelid = '${table}'::regclass and contype = 'f'`)
  for (const { made } of keys) {
    const more = await cost(`alter table copied add foreign key ${made.slice('FOREIGN KEY '.length)}`)
    say(`  ${(more - all).toFixed(1)} µs`, made)
  }
}

await main()
