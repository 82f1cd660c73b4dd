// What one partner notices of others, in one run on one machine.
//   beside N × …   how much slower its reads become while another partner, or a stranger, sends expensive requests over 20
//              connections: the median beside them, divided by the median without them
//       wrong   60 KB with 20,000 faults, refused each time
//       /docs, /openapi.yaml   public pages, requested again and again without credentials
//       without a token   refused with 401, again and again
//   refused    how many prefills are refused although nothing is overloaded, without and with a program that takes a core:
//       a lone partner beside three requests a second of strangers and two of its own for a token; 2, 20 and 200 equally
//       busy partners on 64 connections; a rolling restart of two processes
// Runs `serve` as built, on an embedded PostgreSQL of its own. Fails when a ratio reaches 3, or when a request is refused.
//   npm run bench:fair -- [--seconds 6] [--connections 20]
import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startStand } from './http/stand.mjs'
import { ended, generate as generateWith, headFor, say } from './served.mjs'

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '6' }, connections: { type: 'string', default: '20' } },
})
const seconds = Number(options.seconds)
const MOST_RATIO = 3
function generate(job) {
  return generateWith('load.mjs', job)
}

async function measure({ newPartner, addresses }) {
  const [address] = addresses(1)
  const [quiet, loud] = [await newPartner('quiet'), await newPartner('loud')]
  const seeding = {
    address,
    connections: 1,
    seconds: 1,
    head: headFor(quiet, '/user/prefill'),
    kind: 'prefill',
  }
  await generate({ ...seeding, name: 'u' })
  const known = { prefix: 'u', from: 1, users: 50 }
  const reads = {
    address,
    connections: 1,
    seconds,
    head: headFor(quiet, '/user/benefits'),
    kind: 'benefits',
    ...known,
  }
  await generate({ ...reads, seconds: 3 })
  const pageHead = path => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`
  const noises = [
    ['wrong', { head: headFor(loud, '/user/account/create'), kind: 'wrong' }],
    ['/docs', { head: pageHead('/docs'), kind: 'page' }],
    ['/openapi.yaml', { head: pageHead('/openapi.yaml'), kind: 'page' }],
    ['without a token', { head: pageHead('/webhooks'), kind: 'page' }],
  ]
  const ratios = []
  for (const [name, noise] of noises) {
    const alone = await generate(reads)
    const others = generate({
      address,
      connections: Number(options.connections),
      seconds: seconds + 2,
      ...noise,
    })
    // The first second is not measured: the loud partner has used so little by then that nothing holds it back.
    await wait(1000)
    const beside = await generate(reads)
    const { requests, statuses } = await others
    const ratio = beside.milliseconds.median / alone.milliseconds.median
    ratios.push(ratio)
    say(`beside ${options.connections} × ${name}`, `median ${ratio.toFixed(2)} × its own`)
    say(
      '',
      `alone ${JSON.stringify(alone.milliseconds)} ms, beside ${JSON.stringify(beside.milliseconds)} ms`,
    )
    say('', `answers to the other: ${Math.round(requests / (seconds + 2))}/s ${JSON.stringify(statuses)}`)
    say('', `answers to this one: ${JSON.stringify(beside.statuses)}`)
  }
  return ratios
}

const CONNECTIONS = 64

/** Prefills over 64 connections, with something else beside them; returns how many were refused. */
async function refusedIn(address, name, { partners, beside = async () => {} }) {
  const job = { address, connections: CONNECTIONS, seconds, kind: 'prefill', name: `p${Date.now()}` }
  const prefills = generate({ ...job, partners })
  await beside()
  const { requests, statuses } = await prefills
  const refused = statuses['503'] ?? 0
  say(
    name,
    `${refused} refused of ${requests}, ${Math.round(requests / seconds)}/s ${JSON.stringify(statuses)}`,
  )
  return refused
}

/** A stranger's request three times a second, and one for a token of the partner twice. */
async function trickle(address, { basic }) {
  const until = performance.now() + (seconds - 1) * 1000
  while (performance.now() < until) {
    for (const path of ['/webhooks', '/docs', '/webhooks'])
      await fetch(address + path).then(answer => answer.text())
    for (let count = 0; count < 2; count += 1)
      await fetch(`${address}/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      }).then(answer => answer.text())
    await wait(1000)
  }
}

/** Replaces the process that serves, three times, behind a balancer that sends new connections to the newest. */
async function refusedInRollingRestart({ addresses, services, startAnother }, partner) {
  let target = new URL(addresses(1)[0])
  const balancer = createServer(near => {
    const far = connect(Number(target.port), target.hostname)
    near.pipe(far).pipe(near)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ])
      one.on('error', () => other.destroy())
  })
  await new Promise(resolve => balancer.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${balancer.address().port}`
  const restarts = async () => {
    for (let count = 0; count < 3; count += 1) {
      await startAnother(1)
      target = new URL(services.at(-1).address)
      // The first has the database.
      if (services.length > 2) await ended(services.at(-2).child)
    }
  }
  const refused = await refusedIn(address, 'rolling restart', { partners: [partner], beside: restarts })
  balancer.close()
  return refused
}

async function countRefusals(stand) {
  const [address] = stand.addresses(1)
  const partners = await stand.newPartners(200)
  const [lone] = partners
  let refused = 0
  for (const isBeside of [false, true]) {
    const busy = isBeside ? spawn(process.execPath, ['-e', 'for (;;) {}']) : undefined
    if (isBeside) say('while another program takes a core', '')
    refused += await refusedIn(address, 'a lone partner alone', { partners: [lone] })
    const beside = () => trickle(address, lone)
    refused += await refusedIn(address, 'beside strangers and its own tokens', { partners: [lone], beside })
    for (const count of [2, 20, 200])
      refused += await refusedIn(address, `${count} equally busy partners`, {
        partners: partners.slice(0, count),
      })
    refused += await refusedInRollingRestart(stand, lone)
    busy?.kill()
  }
  return refused
}

const stand = await startStand()
try {
  const ratios = await measure(stand)
  const refused = await countRefusals(stand)
  if (refused > 0 || ratios.some(ratio => !(ratio < MOST_RATIO))) process.exitCode = 1
} finally {
  await stand.close()
}
