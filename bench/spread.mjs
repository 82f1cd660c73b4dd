// What serving on a Citus cluster is like while a node is added and a partner moves, and how many commits need two phases.
//   node bench/spread.mjs DATABASE_URL [--seconds 10] [--mode force_logical|block_writes]
// DATABASE_URL is an empty database of a coordinator with two workers, of which the second is removed first, to be added
// under load; `force_logical` needs `wal_level = logical` on each.
// It prints, for each step, the requests a second, p50, p99 and the longest, refusals by code, and how many transactions
// were prepared on a node. The load, the service and the nodes share the machine: only comparisons within one run count.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { createClient } from '@benefit-enrolment/client'
import pg from 'pg'
import { demoCatalogue, startServed } from './served.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '10' }, mode: { type: 'string', default: 'force_logical' } },
})
const [url] = positionals
if (!url) throw new Error('the address of an empty database on a coordinator is missing')
const seconds = Number(values.seconds)
const database = new pg.Client({ connectionString: url, statement_timeout: 0 })
await database.connect()
async function ask(text, ...bound) {
  return (await database.query(text, bound)).rows
}
async function shardOf(partnerId) {
  const [row] = await ask(
    "select get_shard_id_for_distribution_column('users', $1::uuid)::bigint as id",
    partnerId,
  )
  return row.id
}
async function nodeOf(shardId) {
  const [row] = await ask(
    'select nodename, nodeport from pg_dist_placement join pg_dist_node using (groupid) where shardid = $1',
    shardId,
  )
  return row
}
async function prepared() {
  const [row] = await ask(
    "select n_tup_ins as count from pg_stat_all_tables where relname = 'pg_dist_transaction'",
  )
  return Number(row.count)
}

const workers = await ask('select nodename, nodeport from pg_dist_node where groupid <> 0 order by nodeport')
const added = workers.at(-1)
if (workers.length < 2) throw new Error('the cluster needs two workers')
await ask('select citus_remove_node($1, $2)', added.nodename, added.nodeport)

const served = await startServed('spread', {
  env: { DATABASE_URL: url, ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64') },
})
const { address: baseUrl, enrolment } = served
enrolment('catalogue', 'publish', demoCatalogue)
const partners = []
for (let n = 0; n < 6; n += 1) {
  const made = enrolment('partner', 'create', '--name', `Bench ${n}`)
  const { partnerid, clientid: clientId, clientsecret: clientSecret, apikey: apiKey } = made
  partners.push({ partnerid, client: createClient({ baseUrl, clientId, clientSecret, apiKey, tries: 1 }) })
}

/** Sends requests like 32 callers, two prefills for each list, until `work` is done and the time is over. */
async function during(name, work = () => {}) {
  const times = []
  const refused = new Map()
  const before = await prepared()
  const end = performance.now() + seconds * 1000
  let isDone = false
  const began = performance.now()
  const caller = async number => {
    for (let count = 0; !isDone || performance.now() < end; count += 1) {
      const { client } = partners[(number + count) % partners.length]
      const userid = `${number}-${count % 50}`
      const at = performance.now()
      try {
        if (count % 3 === 2) await client.getUser({ userid: `${number}-${(count - partners.length) % 50}` })
        else await client.prefillUser({ userid, firstname: 'Ada', zipcode: '33101' })
      } catch (error) {
        if (error.code !== 'user_not_found') refused.set(error.code, (refused.get(error.code) ?? 0) + 1)
      }
      times.push(performance.now() - at)
    }
  }
  const callers = Array.from({ length: 32 }, (_, number) => caller(number))
  let told = ''
  try {
    told = (await work()) ?? ''
  } catch (error) {
    told = `failed: ${error.message.split('\n')[0]}`
  }
  isDone = true
  const worked = performance.now() - began
  await Promise.all(callers)
  const took = (performance.now() - began) / 1000
  // The database counts a session's work a moment later.
  await new Promise(resolve => setTimeout(resolve, 1500))
  times.sort((a, b) => a - b)
  const share = part => times[Math.floor(times.length * part)]?.toFixed(0)
  console.log(
    [
      `${name}: ${(times.length / took).toFixed(0)}/s, p50 ${share(0.5)} ms, p99 ${share(0.99)} ms, longest ${times.at(-1)?.toFixed(0)} ms`,
      `refused ${JSON.stringify(Object.fromEntries(refused))}, prepared transactions ${(await prepared()) - before}`,
      told && `${told}, ${(worked / 1000).toFixed(1)} s`,
    ]
      .filter(Boolean)
      .join('; '),
  )
}

const [moved] = partners
async function isolate() {
  await ask(
    `select isolate_tenant_to_new_shard('users', $1::uuid, 'CASCADE', shard_transfer_mode => '${values.mode}')`,
    moved.partnerid,
  )
  return `the partner has shards of its own (${values.mode})`
}
async function move() {
  const shard = await shardOf(moved.partnerid)
  const from = await nodeOf(shard)
  const [to] = await ask(
    'select nodename, nodeport from pg_dist_node where groupid <> 0 and (nodename, nodeport) <> ($1, $2) limit 1',
    from.nodename,
    from.nodeport,
  )
  await ask(
    `select citus_move_shard_placement($1::bigint, $2, $3, $4, $5, '${values.mode}')`,
    shard,
    from.nodename,
    from.nodeport,
    to.nodename,
    to.nodeport,
  )
  return `the partner went from ${from.nodeport} to ${to.nodeport} (${values.mode})`
}
async function addNode() {
  await ask('select citus_add_node($1, $2)', added.nodename, added.nodeport)
  return `the worker ${added.nodeport} was added, without partners`
}
async function placements() {
  const rows = await ask(`
    select shardid, groupid from pg_dist_placement join pg_dist_shard using (shardid)
      join pg_dist_partition using (logicalrelid) where partmethod = 'h'`)
  return new Map(rows.map(({ shardid, groupid }) => [shardid, groupid]))
}
async function rebalance() {
  const before = await placements()
  await ask(`select rebalance_table_shards('users', shard_transfer_mode => '${values.mode}')`)
  const gone = [...(await placements())].filter(([shard, group]) => before.get(shard) !== group)
  return `rebalanced (${values.mode}): ${gone.length} of ${before.size} shards moved`
}
try {
  await during('warm-up')
  await during('nothing moves')
  await during('node added', addNode)
  await during('rebalanced onto it', rebalance)
  await during('isolated', isolate)
  await during('moved', move)
  await during('rebalanced', rebalance)
  await during('after')
} finally {
  await served.close()
  await database.end()
}
