// How fast the registration page is: the first view, START, for one person with a session.
//   alone      milliseconds of one request after the other, as a browser sees them on loopback
//   together   views in a second over 32 connections
// Runs `dev` as built, on an embedded PostgreSQL of its own; the load comes from this process, on the same cores.
//   node bench/page.mjs [--seconds 5]
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createClient } from '@benefit-enrolment/client'
import { Pool } from 'undici'

const { values: options } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } })
const forMs = Number(options.seconds) * 1000
const bin = fileURLToPath(new URL('../service/bin/enrolment.js', import.meta.url))
const dataDir = mkdtempSync(join(tmpdir(), 'enrolment-bench-page-'))

const child = spawn(process.execPath, [bin, 'dev', '--port', '0', '--data', dataDir], {
  stdio: ['ignore', 'pipe', 'ignore'],
})
const ended = new Promise(resolve => child.on('exit', resolve))
try {
  const service = await addressOf(child)
  const cookie = await openSession(service)
  const pool = new Pool(service, { connections: 32 })
  const headers = { cookie, 'accept-encoding': 'gzip' }
  const view = async () => {
    const { statusCode, body } = await pool.request({ path: '/register/start', method: 'GET', headers })
    await body.dump()
    if (statusCode !== 200) throw new Error(`status ${statusCode}`)
  }
  await during(forMs / 2, 8, view)
  const alone = await during(forMs, 1, view)
  const together = await during(forMs, 32, view)
  console.log(`alone      median ${alone.median.toFixed(2)} ms, 99th ${alone.last.toFixed(2)} ms`)
  console.log(`together   ${Math.round(together.perSecond)} views/s, median ${together.median.toFixed(2)} ms`)
  await pool.close()
} finally {
  child.kill('SIGTERM')
  await ended
  rmSync(dataDir, { recursive: true, force: true })
}

async function addressOf({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const address = /^listening on (\S+)/.exec(line)?.[1]
    if (address) return address
  }
  throw new Error('the service did not start')
}

async function openSession(service) {
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
  const { clientid: clientId, clientsecret: clientSecret, apikey: apiKey } = demo
  const client = createClient({ baseUrl: service, clientId, clientSecret, apiKey })
  await client.prefillUser({ userid: 'bench', firstname: 'Ada', email: 'ada@example.com', dob: '1990-03-27' })
  const { linkurl } = await client.createLinkToken({ userid: 'bench', offername: 'starter' })
  const pressed = await fetch(linkurl, { method: 'POST', redirect: 'manual' })
  return pressed.headers.getSetCookie()[0].split(';')[0]
}

/** Repeats `work` in `lanes` parallel loops for `seconds`. */
async function during(ms, lanes, work) {
  const took = []
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (performance.now() < startedAt + ms) {
        const at = performance.now()
        await work()
        took.push(performance.now() - at)
      }
    }),
  )
  took.sort((a, b) => a - b)
  const at = share => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0
  return { median: at(0.5), last: at(0.99), perSecond: (took.length / ms) * 1000 }
}
