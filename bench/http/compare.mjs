// Measures two sides by turns, so that other work on the machine slows both alike.
import { measureBare, measureService, middle } from './measure.mjs'
import { rounds, warmUp } from './options.mjs'
import { ratio, row, whole } from './table.mjs'

/** The names of what each service has been warmed up for. */
const warmed = new WeakMap()

/** Puts the service under the load of a scenario. */
export async function measureScenario(stand, { job, expected, answered = () => {} }, more = {}, how = {}) {
  const seen = await measureService(stand, { ...job(), ...more }, { expected, ...how })
  answered(seen.requests)
  return seen
}

/**
 * Sends requests of a scenario, to the service and to the bare server if there is one, until V8 has compiled the code that will
 * be measured.
 */
export async function warm(stand, scenario, service = 0) {
  const { job, bare } = scenario
  const { kind, prefix } = job()
  const name = [kind, prefix, service].join(' ')
  const names = warmed.get(stand) ?? new Set()
  warmed.set(stand, names)
  if (names.has(name)) return
  names.add(name)
  // The load generator ends after a minute, whatever is left.
  await measureScenario(stand, scenario, { seconds: 0.5, requests: warmUp * (1 + service) }, { service })
  if (bare) await measureBare(bare, { ...job(), seconds: 0.5, requests: warmUp })
}

/** Measures a scenario and its yardstick by turns, after a round of each to warm up. */
export async function compare(stand, scenario, more = {}, times = rounds) {
  const { job, bare } = scenario
  const seen = []
  const beside = []
  await warm(stand, scenario)
  const first = { ...more, seconds: Math.min(0.5, more.seconds ?? 0.5) }
  await measureScenario(stand, scenario, first)
  await measureBare(bare, { ...job(), ...first })
  for (let round = 0; round < times; round += 1) {
    seen.push(await measureScenario(stand, scenario, more))
    beside.push(await measureBare(bare, { ...job(), ...more }))
  }
  return { service: middle(seen), bare: middle(beside) }
}

/**
 * Makes two measurements by turns, in the opposite order each round, and returns the median of each figure. The first round
 * is left out.
 */
export async function byTurns(measureA, measureB) {
  const seen = [[], []]
  for (let round = 0; round <= rounds; round += 1) {
    const both = [measureA, measureB].map((look, at) => [look, at])
    for (const [look, at] of round % 2 === 0 ? both : both.toReversed()) seen[at].push(await look())
  }
  return seen.map(looks => middle(looks.slice(1)))
}

/** The headings of four columns: the processor time of a request in Node and in PostgreSQL, in both measurements. */
const times = ['Node µs', 'Node µs', 'PG µs', 'PG µs']

/** Prints the heading of lines that compare two measurements. */
export function printTwoHeadings(name, a, b) {
  row(name, a, b, 'ratio', ...times)
}

/** Prints two measurements on a line: their rates, the second over the first, the processor times, and the aim. */
export function printTwo(name, [a, b], aim) {
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
