// The yardstick for the cost of a request's rows in PostgreSQL: pgbench, or the same loop in Node when pgbench is
// not installed.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import pg from 'pg'

function findPgbench() {
  const folders = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : []
  const places = folders.map(version => `/usr/lib/postgresql/${version}/bin/pgbench`)
  return ['pgbench', ...places].find(place => spawnSync(place, ['--version']).status === 0)
}
const program = findPgbench()

/** The program that runs the statement. */
export const runner = program ? 'pgbench' : 'a loop over pg (pgbench is not installed)'

/**
 * Runs a statement, given as text and as a file, over and over; resolves to transactions in a second and their
 * latency.
 */
export async function repeat({ server, file, text, clients, seconds }) {
  if (!program) return repeatByHand({ server, text, clients, seconds })
  const where = ['-h', server.host, '-p', String(server.port), '-U', 'enrolment']
  const how = ['-n', '-M', 'prepared', '-f', file, '-c', String(clients), '-j', '2', '-T', String(seconds)]
  const child = spawn(program, [...where, ...how, server.database], { stdio: ['ignore', 'pipe', 'pipe'] })
  const read = async stream => {
    let all = ''
    for await (const chunk of stream) all += chunk
    return all
  }
  const [out, problems] = await Promise.all([read(child.stdout), read(child.stderr)])
  const perSecond = Number(/tps = ([\d.]+)/.exec(out)?.[1])
  const transactions = Number(/actually processed: (\d+)/.exec(out)?.[1])
  if (!perSecond) throw new Error(`pgbench: ${problems}`)
  return { perSecond, transactions, latencyMs: Number(/latency average = ([\d.]+)/.exec(out)?.[1]) }
}

async function repeatByHand({ server, text, clients, seconds }) {
  const endsAt = performance.now() + seconds * 1000
  let transactions = 0
  const run = async () => {
    const client = new pg.Client({ ...server, user: 'enrolment' })
    await client.connect()
    while (performance.now() < endsAt) {
      await client.query({ name: 'rows', text })
      transactions += 1
    }
    await client.end()
  }
  await Promise.all(Array.from({ length: clients }, run))
  const perSecond = transactions / seconds
  return { perSecond, transactions, latencyMs: (1000 * clients) / perSecond }
}
