// The group `users`: the same service on a database with 1,000 users and on one with 1,000,000, by turns. Each has a service
// and a PostgreSQL of its own, and only one of the two is under load at a time.
import { person } from '../generator.mjs'
import { atLeast } from './aims.mjs'
import { byTurns, measureScenario, printTwo, printTwoHeadings, warm } from './compare.mjs'
import { connections, options, quick, seconds } from './options.mjs'
import { templatesOf } from './rows.mjs'
import { crowd, freshName, onceEach } from './scenarios.mjs'
import { print, whole } from './table.mjs'

const few = 1000
const many = Number(options.users ?? (quick ? 100_000 : 1_000_000))
/** Users with a plan, whom both services read over and over. */
const holders = 500
/** A prime number, which shares no factor with the numbers of users. */
const STRIDE = 7919

function users(total) {
  return [
    { template: 'holder', prefix: 'holder', count: holders },
    { template: 'prefilled', prefix: 'crowd', count: total - holders },
  ]
}

/**
 * Starts a service with that many users of one partner; returns it with the partner, and the functions that fill its tables
 * again.
 */
async function startSide(open, total) {
  const stand = await open()
  const partner = await stand.newPartner('bench')
  const key = { version: 'v2', 'idempotency-key': 'prefilled' }
  await stand.call(partner, '/user/prefill', { userid: 'prefilled', ...person }, key)
  const account = { userid: 'holder', ...person, offername: 'starter', benefits: ['telehealth'] }
  await stand.call(partner, '/user/account/create', account)
  const tables = await templatesOf(stand.admin, partner.partnerid, ['prefilled', 'holder'])
  const startedAt = performance.now()
  await tables.startAnew(users(total))
  await stand.admin.query('checkpoint')
  return { stand, partner, tables, total, tookMs: performance.now() - startedAt }
}

async function countUsers({ stand }) {
  const { rows } = await stand.admin.query('select count(*)::int as count from users')
  return whole(rows[0].count)
}

/** Compares both, and prints the figures; `open` starts a service with a database of its own. */
export async function printUsers(open) {
  const small = await startSide(open, few)
  const large = await startSide(open, many)
  const sides = [small, large]
  print('')
  printTwoHeadings('by users in the database', whole(few), whole(many))
  const printBoth = async (name, scenarioOf, { before = async () => {}, note = '' } = {}) => {
    const scenarios = sides.map(side => scenarioOf({ partners: [side.partner], connections, seconds }, side))
    for (const [at, { stand }] of sides.entries()) await warm(stand, scenarios[at])
    const looks = sides.map((side, at) => async () => {
      await before(side)
      return measureScenario(side.stand, scenarios[at])
    })
    const seen = await byTurns(...looks)
    printTwo(name, seen, value => `${atLeast('aim', value, 0.85)}${note}`)
    return seen
  }

  await printBoth('benefits, same users', job => ({
    job: () => ({ ...job, kind: 'benefits', prefix: 'holder', users: holders }),
  }))
  const [added] = await printBoth(
    'prefill, new keys',
    job => ({ job: () => ({ ...job, kind: 'prefill', name: freshName() }) }),
    // A round adds more users than the small database begins with, so each round of it begins with tables made anew. In the
    // large one the tables are only analyzed, as making them anew does too.
    { before: ({ tables, total }) => (total === few ? tables.startAnew(users(few)) : tables.add([])) },
  )

  // All of 1,000 users fit into the service's memory, so that nobody would be read anew.
  const unremembered = Math.min(crowd, many)
  await small.tables.startAnew(users(unremembered))
  await large.tables.add([])
  await printBoth(
    'benefits, each user once',
    (job, { total }) => {
      const count = Math.max(total, unremembered) - holders
      return onceEach({ job, prefix: 'crowd', users: count, stride: STRIDE })
    },
    { note: `, beside ${whole(unremembered)} users, as memory would hold ${whole(few)}` },
  )
  print(
    `each round of prefill begins with ${whole(few)} users on the left, made anew, and adds ${whole(added.requests)}; on the right it adds`,
  )
  print(
    `to those of the rounds before: ${await countUsers(large)} at the end (${(large.tookMs / 1000).toFixed(0)} s to make the first ${whole(many)})`,
  )
}
