import { beforeEach, expect, test, vi } from 'vitest'
import { type Cluster, openCluster } from './cluster.ts'
import { Unavailable } from './failure.ts'
import type { Node } from './node.ts'
import { sql } from './sql.ts'

const [ours, theirs] = ['0190a0b0-0000-7000-8000-000000000001', '0190a0b0-0000-7000-8000-000000000002']
const silent = new Error('Query read timeout')
/** A node that is away, so that the map of cells cannot be read again either. */
function away(name: string): Node {
  return { name, withClient: () => Promise.reject(silent) } as unknown as Node
}
const home = away('home')
const nodes = new Map([1, 2].map(port => [port, away(`node ${port}`)]))

let cluster: Cluster
beforeEach(() => {
  vi.useFakeTimers()
  const map = {
    nodes: new Map([1, 2].map(port => [`cell_${port}`, { host: 'db', port }])),
    partners: new Map([
      [ours, 'cell_1'],
      [theirs, 'cell_2'],
    ]),
  }
  cluster = openCluster(map, home, ({ port }) => nodes.get(port) ?? home)
  return () => vi.useRealTimers()
})

function query(partner: string) {
  return sql`select 1 from users where partner_id = ${partner}`
}
async function run(partner: string, answer: Promise<unknown>): Promise<unknown> {
  return cluster.run(cluster.placeNamed(query(partner)), () => answer).catch((error: unknown) => error)
}

test('partners of a node that did not answer are refused for five seconds, and nobody else is', async () => {
  expect(await run(ours, Promise.reject(silent))).toBe(silent)
  expect(() => cluster.placeNamed(query(ours))).toThrow(Unavailable)
  expect(await run(theirs, Promise.resolve('answer'))).toBe('answer')
  vi.advanceTimersByTime(5000)
  expect(await run(ours, Promise.resolve('answer'))).toBe('answer')
  expect(await run(ours, Promise.resolve('answer'))).toBe('answer')
})

test('after them one statement is tried, and the others are refused until it has its answer', async () => {
  await run(ours, Promise.reject(silent))
  vi.advanceTimersByTime(5000)
  let answer = (_: string) => {}
  const tried = run(
    ours,
    new Promise<string>(resolve => {
      answer = resolve
    }),
  )
  expect(() => cluster.placeNamed(query(ours))).toThrow(Unavailable)
  answer('answer')
  expect(await tried).toBe('answer')
  expect(cluster.placeNamed(query(ours)).cell).toBe('cell_1')
})

test('a read that names no partner goes to a node that answers, though the coordinator hangs', async () => {
  const shared = sql`select 1 from operators`
  expect(cluster.placeNamed(shared).node).toBe(home)
  await cluster.run(cluster.placeNamed(shared), () => Promise.reject(silent)).catch(() => undefined)
  expect(cluster.placeNamed(shared).node).toBe(nodes.get(1))
})
