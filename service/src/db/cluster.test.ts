import { beforeEach, expect, test, vi } from 'vitest'
import { type Cluster, openCluster } from './cluster.ts'
import { SilentNode } from './failure.ts'
import type { Node } from './node.ts'
import { sql } from './sql.ts'

const [ours, theirs] = ['0190a0b0-0000-7000-8000-000000000001', '0190a0b0-0000-7000-8000-000000000002']
const silent = new Error('Query read timeout')
const answering = new Set<string>()
const told: string[] = []
/** A node whose map of cells cannot be read again, and that answers a connection of its own when the test says so. */
function away(name: string): Node {
  const answers = async () => answering.has(name)
  return { name, answers, withClient: () => Promise.reject(silent) } as unknown as Node
}
const home = away('home')
const nodes = new Map([1, 2].map(port => [port, away(`node ${port}`)]))

let cluster: Cluster
beforeEach(() => {
  vi.useFakeTimers()
  answering.clear()
  told.length = 0
  const map = {
    nodes: new Map([1, 2].map(port => [`cell_${port}`, { host: 'db', port }])),
    partners: new Map([
      [ours, 'cell_1'],
      [theirs, 'cell_2'],
    ]),
  }
  cluster = openCluster(map, home, {
    open: ({ port }) => nodes.get(port) ?? home,
    onNode: (node, answers) => told.push(`${node} ${answers ? 'answers' : 'is silent'}`),
  })
  return () => vi.useRealTimers()
})

function query(partner: string) {
  return sql`select 1 from users where partner_id = ${partner}`
}
async function run(partner: string, answer: Promise<unknown>): Promise<unknown> {
  return cluster.run(cluster.placeNamed(query(partner)), () => answer).catch((error: unknown) => error)
}

test('partners of a node that did not answer are refused until it does, and nobody else is', async () => {
  expect(await run(ours, Promise.reject(silent))).toEqual(new SilentNode('node 1', { cause: silent }))
  expect(() => cluster.placeNamed(query(ours))).toThrow(new SilentNode('node 1'))
  expect(cluster.silent()).toEqual([{ node: 'node 1', cells: ['cell_1'] }])
  expect(await run(theirs, Promise.resolve('answer'))).toBe('answer')
  answering.add('node 1')
  await vi.advanceTimersByTimeAsync(1000)
  expect(await run(ours, Promise.resolve('answer'))).toBe('answer')
  expect(told).toEqual(['node 1 is silent', 'node 1 answers'])
})

test('a server that ended a statement, and one whose connections are all in use, are not silent', async () => {
  answering.add('node 1')
  const ended = Object.assign(new Error('canceling statement'), { code: '57014' })
  const waited = new Error('timeout exceeded when trying to connect')
  for (const error of [ended, waited]) {
    expect(await run(ours, Promise.reject(error))).toBe(error)
    await vi.advanceTimersByTimeAsync(1000)
    expect(cluster.placeNamed(query(ours)).cell).toBe('cell_1')
  }
  expect(told).toEqual([])
})

test('a read that names no partner goes to the node that answered last, else to another', async () => {
  const shared = sql`select 1 from operators`
  const nodesFor = () => cluster.placesForAny(shared).map(({ node }) => node.name)
  expect(nodesFor()).toEqual(['home', 'node 1'])
  await cluster.run(cluster.placeNamed(shared), () => Promise.reject(silent)).catch(() => undefined)
  expect(nodesFor()).toEqual(['node 1', 'node 2'])
  await run(theirs, Promise.resolve('answer'))
  expect(nodesFor()).toEqual(['node 2', 'node 1'])
  expect(cluster.placesForAny(query(ours))).toEqual([])
})

test('a statement that names no partner in an empty list goes to a cell that answers', async () => {
  const read = sql`select 1 from users where partner_id = any (${[]}::uuid[])`
  const write = sql`delete from users where partner_id = any (${[]}::uuid[])`
  const placesOf = () => cluster.placesForAny(read).map(({ node, cell }) => `${cell} at ${node.name}`)
  expect(placesOf()).toEqual(['cell_1 at node 1', 'cell_2 at node 2'])
  expect(cluster.placesForAny(write)).toEqual([])
  expect(cluster.placeNamed(write).cell).toBe('cell_1')
  await run(ours, Promise.reject(silent))
  expect(placesOf()).toEqual(['cell_2 at node 2'])
  for (const query of [read, write]) expect(cluster.placeNamed(query).cell).toBe('cell_2')
  await run(theirs, Promise.reject(silent))
  expect(() => cluster.placeNamed(read)).toThrow(new SilentNode('node 1'))
})
