// Measurements that take turns, so that whatever else the machine does concerns both sides alike.
import { lookAtBare, lookAtService, middle } from './measure.mjs'
import { rounds, warmUp } from './options.mjs'
import { ratio, row, whole } from './table.mjs'

/** The names of what each service has been warmed up for. */
const warmed = new WeakMap()

/** Puts the service under the load of a scenario. */
export async function lookAt(stand, { job, expected, answered = () => {} }, more = {}, how = {}) {
  const seen = await lookAtService(stand, { ...job(), ...more }, { expected, ...how })
  answered(seen.requests)
  return seen
}

/** Has the service and the bare server, if one is given, answer enough requests of a scenario that compiled code is measured. */
export async function warm(stand, scenario, processes = 1) {
  const { job, bare } = scenario
  const { kind, prefix } = job()
  const name = [kind, prefix, processes].join(' ')
  const names = warmed.get(stand) ?? new Set()
  warmed.set(stand, names)
  if (names.has(name)) return
  names.add(name)
  // The load generator ends after a minute, whatever is left.
  await lookAt(stand, scenario, { seconds: 0.5, requests: warmUp * processes }, { processes })
  if (bare) await lookAtBare(bare, { ...job(), seconds: 0.5, requests: warmUp })
}

/** Measures a scenario and its yardstick by turns, after a round of each to warm up. */
export async function compare(stand, scenario, more = {}, times = rounds) {
  const { job, bare } = scenario
  const seen = []
  const beside = []
  await warm(stand, scenario)
  const first = { ...more, seconds: Math.min(0.5, more.seconds ?? 0.5) }
  await lookAt(stand, scenario, first)
  await lookAtBare(bare, { ...job(), ...first })
  for (let round = 0; round < times; round += 1) {
    seen.push(await lookAt(stand, scenario, more))
    beside.push(await lookAtBare(bare, { ...job(), ...more }))
  }
  return { service: middle(seen), bare: middle(beside) }
}

/**
 * Makes two measurements by turns, each round in the other order, and returns the median of each figure. The first round is
 * left out.
 */
export async function byTurns(lookAtA, lookAtB) {
  const seen = [[], []]
  for (let round = 0; round <= rounds; round += 1) {
    const both = [lookAtA, lookAtB].map((look, at) => [look, at])
    for (const [look, at] of round % 2 === 0 ? both : both.toReversed()) seen[at].push(await look())
  }
  return seen.map(looks => middle(looks.slice(1)))
}

/** Headings of the processor time of a request in the first and in the second. */
const times = ['Node µs', 'Node µs', 'PG µs', 'PG µs']

/** Prints the heading of lines that compare two measurements. */
export function headTwo(name, a, b) {
  row(name, a, b, 'ratio', ...times)
}

/** Prints two measurements on a line: their rates, the second over the first, the processor times, and the aim. */
export function tellTwo(name, [a, b], aim) {
  const cost = [a.node, b.node, a.database, b.database].map(whole)
  row(
    name,
    whole(a.perSecond),
    whole(b.perSecond),
    ratio(b.perSecond / a.perSecond),
    ...cost,
    `   ${aim(b.perSecond / a.perSecond)}`,
  )
}
