// One measurement: requests in a second, and the processor time of a request in the service and in the database.

import { repeat } from './pgbench.mjs'
import { processorSeconds, residentMegabytes } from './processor-time.mjs'
import { load } from './stand.mjs'

/** The median of a figure over several measurements. */
export function median(values) {
  const sorted = [...values].filter(value => Number.isFinite(value)).sort((a, b) => a - b)
  return sorted.length === 0 ? Number.NaN : sorted[Math.floor(sorted.length / 2)]
}

/** The median of each figure over several measurements. */
export function middle(looks) {
  return Object.fromEntries(
    Object.keys(looks[0] ?? {}).map(name => [
      name,
      typeof looks[0][name] === 'number' ? median(looks.map(look => look[name])) : looks.at(-1)[name],
    ]),
  )
}

function microseconds(seconds, requests) {
  return (seconds * 1e6) / requests
}

/** Puts the service under load. Answers other than `expected` are reported, because a wrong answer costs less. */
export async function measureService(stand, job, { expected = '200', service = 0 } = {}) {
  const services = stand.servicePids()
  const database = stand.postmasterPids
  // The embedded database is a child of the service.
  const used = () => [processorSeconds(services, database), processorSeconds(database)]
  const before = used()
  const seen = await load({ address: stand.services[service].address, ...job })
  const after = used()
  const right = seen.statuses[expected] ?? 0
  if (right < seen.requests)
    process.stdout.write(`  NOT AS EXPECTED: ${job.kind} was answered ${JSON.stringify(seen.statuses)}\n`)
  return {
    perSecond: seen.requests / seen.seconds,
    node: microseconds(after[0] - before[0], seen.requests),
    database: microseconds(after[1] - before[1], seen.requests),
    p50: seen.milliseconds.median,
    p99: seen.milliseconds.p99,
    requests: seen.requests,
    memory: residentMegabytes(services[0]),
  }
}

/** Puts the bare server under the same load. */
export async function measureBare(bare, job) {
  const before = processorSeconds([bare.pid])
  const seen = await load({ address: bare.address, ...job })
  return {
    perSecond: seen.requests / seen.seconds,
    node: microseconds(processorSeconds([bare.pid]) - before, seen.requests),
    p50: seen.milliseconds.median,
    p99: seen.milliseconds.p99,
  }
}

/** Runs a statement alone, as often as PostgreSQL can. */
export async function measureStatement(stand, statement, { clients, seconds }) {
  const before = processorSeconds(stand.postmasterPids)
  const { perSecond, transactions, latencyMs } = await repeat({
    server: stand.server,
    ...statement,
    clients,
    seconds,
  })
  const used = processorSeconds(stand.postmasterPids) - before
  return { perSecond, database: microseconds(used, transactions), p50: latencyMs }
}
