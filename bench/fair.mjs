// How much slower one partner's reads become while another partner sends expensive requests over 20 connections:
// the median beside them, divided by the median without them, in one run on one machine.
//   wrong   60 KB with 20,000 faults, refused each time
//   /docs, /openapi.yaml   public pages, requested again and again without credentials
//   without a token   refused with 401, again and again
// Runs `serve` as built, on an embedded PostgreSQL of its own. Fails when a ratio reaches 3.
//   npm run bench:fair -- [--seconds 6] [--connections 20]
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { demoCatalogue, generate as generateWith, headFor, say, startServed } from './served.mjs'

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '6' }, connections: { type: 'string', default: '20' } },
})
const seconds = Number(options.seconds)
const MOST_RATIO = 3
function generate(job) {
  return generateWith('load.mjs', job)
}

async function measure({ address, enrolment, newPartner }) {
  enrolment('catalogue', 'publish', demoCatalogue)
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

const served = await startServed('fair')
try {
  const ratios = await measure(served)
  if (ratios.some(ratio => !(ratio < MOST_RATIO))) process.exitCode = 1
} finally {
  await served.close()
}
