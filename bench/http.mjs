// How many requests the service answers in a second over HTTP, and how much processor time of the service and of
// PostgreSQL each one costs, beside a yardstick. Ratios are valid within one run on one machine: rounds of service
// and yardstick alternate, and the median of each figure is printed.
//   bare      a node:http server that reads the same request and answers the same bytes
//   pgbench   the same rows written by one statement a user, each in a transaction of its own, at its best
//             concurrency
// Runs `serve` as built, on an embedded PostgreSQL of its own with fsync on; its log goes into a file. Beside each figure that
// has an aim it prints the aim, and by how much the figure misses it.
//   npm run bench -- [--quick] [--only GROUP,GROUP] [--seconds 2] [--rounds 3] [--connections 64] [--also 1,16,256]
//     [--users 1000000] [--scenario TEXT] [--warm-up REQUESTS] [--soak SECONDS] [--profile DIR]
// `--scenario` selects the scenarios of the group `requests` whose name contains a text; `--also` says over how many other
// connections each is measured, for a second a round. Groups: requests partners processes memory users
import { setTimeout as sleep } from 'node:timers/promises'
import { person } from './generator.mjs'
import { atLeast, atMost } from './http/aims.mjs'
import { byTurns, measureScenario, printTwo, printTwoHeadings, warm } from './http/compare.mjs'
import { connections, options, quick, seconds } from './http/options.mjs'
import { residentMegabytes } from './http/processor-time.mjs'
import { printRequests } from './http/requests.mjs'
import { copyToPartners, copyUser, findUser } from './http/rows.mjs'
import { crowd, scenariosIn } from './http/scenarios.mjs'
import { startBare, startStand } from './http/stand.mjs'
import { print, row, whole } from './http/table.mjs'
import { printUsers } from './http/users.mjs'

const manyPartners = quick ? 50 : 1000
const groups = (options.only ?? 'requests,partners,processes,memory,users').split(',')

/** What was started, and has to be stopped: each has a function `close`. */
const started = []
async function closeAll() {
  for (const one of started.splice(0).toReversed()) await one.close()
}
async function kept(starting) {
  const one = await starting
  started.push(one)
  return one
}

async function main() {
  if (groups.some(group => group !== 'users')) await printOneStand()
  // The databases of the last group are alone on the machine.
  await closeAll()
  if (groups.includes('users')) await printUsers(() => kept(startStand()))
}

async function printOneStand() {
  const stand = await kept(startStand({ profile: options.profile }))
  await sleep(quick ? 500 : 3000)
  const atRest = residentMegabytes(stand.servicePids()[0])
  const scene = await prepare(stand)
  if (groups.includes('requests')) await printRequests(scene)
  if (groups.includes('partners')) await printPartners(scene)
  if (groups.includes('processes')) await printProcesses(scene)
  if (groups.includes('memory')) await printMemory(scene, atRest)
}

/**
 * Creates users of each kind, records the answers about them, and starts the bare servers that give the same
 * answers.
 */
async function prepare(stand) {
  const partner = await stand.newPartner('bench')
  const call = (...asked) => stand.call(...asked)
  const bareFor = bytes => kept(startBare(bytes))
  const sample = async (prefix, count, userid) =>
    copyUser(stand.admin, await findUser(stand.admin, partner.partnerid, userid), { prefix, count })
  const asked = { age: 36, state: 'FL', zipcode: '33101', partnername: '', offername: '' }
  await call(partner, '/user/prefill', { userid: 'prefilled', ...person })
  await call(partner, '/user/account/create', {
    userid: 'holder',
    ...person,
    offername: 'starter',
    benefits: ['telehealth'],
  })
  const picks = ['telehealth', 'identity', 'dental']
  await call(partner, '/user/account/create', {
    userid: 'swapping',
    ...person,
    offername: 'plus',
    benefits: picks,
  })
  await call(partner, '/user/benefits/swap', { userid: 'swapping', add: ['vision'], remove: ['dental'] })
  const listed = {}
  for (const userid of ['prefilled', 'holder', 'swapping'])
    listed[userid] = await call(partner, '/user/benefits', { userid, ...asked })
  await sample('prefilled', 500, 'prefilled')
  await sample('holder', 500, 'holder')
  await sample('once', crowd, 'holder')
  await sample('swapping', 500, 'swapping')
  await stand.admin.query('analyze')
  const created = await call(partner, '/user/account/get', { userid: 'holder' })
  return {
    stand,
    partner,
    partners: [partner],
    bare: {
      saved: await bareFor(Buffer.from('"prefill saved"')),
      prefilled: await bareFor(listed.prefilled),
      holder: await bareFor(listed.holder),
      swapping: await bareFor(listed.swapping),
      created: await bareFor(created),
      token: await bareFor(Buffer.alloc(180, 'x')),
    },
  }
}

/**
 * Waits until the service has forgotten which partner kept it busy: for some seconds it would refuse that partner in favor
 * of others.
 */
function forgotten() {
  return sleep(quick ? 500 : 8000)
}

/** The scenarios that other numbers of partners and processes are compared by. */
const hotNames = ['prefill, new keys', 'benefits, same users']

async function printPartners(scene) {
  const { stand } = scene
  const partners = await stand.newPartners(manyPartners)
  const sample = await findUser(stand.admin, scene.partner.partnerid, 'holder')
  await copyToPartners(stand.admin, sample, partners)
  const one = scenariosIn(scene, { connections, seconds })
  // Each partner has one user of this name.
  const spread = { partners, prefix: 'shared', users: 1 }
  const look = async (name, more) => {
    const seen = await measureScenario(stand, one[name], more)
    await forgotten()
    return seen
  }
  print('')
  printTwoHeadings('by partners', '1', whole(manyPartners))
  for (const name of hotNames) {
    await warm(stand, one[name])
    const seen = await byTurns(
      () => look(name),
      () => look(name, spread),
    )
    printTwo(name, seen, value => atLeast('aim', value, 0.8))
  }
}

async function printProcesses(scene) {
  const { stand } = scene
  await stand.startAnother(2)
  const scenarios = scenariosIn(scene, { connections, seconds })
  print('')
  printTwoHeadings('by processes on two cores', '1', '2')
  for (const name of hotNames) {
    for (const service of [0, 1]) await warm(stand, scenarios[name], service)
    const look = service => measureScenario(stand, scenarios[name], {}, { service })
    const seen = await byTurns(
      () => look(0),
      () => look(1),
    )
    printTwo(name, seen, value => atLeast('aim', value, name.startsWith('prefill') ? 1.2 : 1))
  }
}

async function printMemory(scene, atRest) {
  const { stand } = scene
  const scenarios = scenariosIn(scene, { connections, seconds })
  print('')
  row('start', `${whole(stand.startMs)} ms`, `   ${atMost('aim', stand.startMs, 2000)}`)
  row('at rest', `${whole(atRest)} MB`, `   ${atMost('aim', atRest, 130)}`)
  const soak = Math.max(Number(options.soak), quick ? 2 : 20)
  const sizes = []
  const endsAt = performance.now() + soak * 1000
  while (performance.now() < endsAt) {
    const { memory } = await measureScenario(stand, scenarios['mix 60/30/10'], {
      seconds: Math.min(10, soak),
    })
    sizes.push(memory)
  }
  const most = Math.max(...sizes)
  const last = sizes.slice(-Math.ceil(sizes.length / 2))
  row(
    `under a mix for ${whole(soak)} s`,
    `${whole(most)} MB`,
    `   ${atMost('aim', most, 300)}; in the last half ${whole(Math.min(...last))} to ${whole(Math.max(...last))} MB`,
    soak < 600 ? ' (aim: flat over ten minutes, with --soak 600)' : ' (aim: flat)',
  )
}

let isStopped = false
// Ctrl-C stops the started processes too.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    isStopped = true
    await closeAll()
    process.exit(130)
  })
}

try {
  await main()
} catch (error) {
  // A stop breaks off what is being measured, which is no fault.
  if (!isStopped) throw error
} finally {
  await closeAll()
}
