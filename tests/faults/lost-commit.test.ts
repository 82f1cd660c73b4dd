// @databases stock

import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import type { PartnerClient } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { wholeRunTest } from '../long.ts'
import { ada } from '../rig.ts'
import { openBench } from './bench.ts'
import type { Fate } from './postgres-proxy.ts'

// One commit at a time is lost, and its caller is told the truth. The last test compares the books of all others: what is sent
// beside them must have had no effect.
const bench = forAllTests(() => openBench({ proxied: true, refuses: false }))
let client: PartnerClient
beforeAll(async () => {
  await bench.start()
  client = bench.clientOf(bench.ports[0] ?? 0)
})

function newUserid() {
  return `lost-${randomBytes(6).toString('hex')}`
}
async function meet(fate: Fate, userid: string): Promise<void> {
  if (!bench.proxy) throw new Error('no proxy')
  await bench.proxy.arm(fate, userid)
}

const keyed = (userid: string) => client.prefillUser({ userid, ...ada }, { idempotencyKey: userid })
/** Version 1 takes a write without a key. */
const unkeyed = (userid: string) => client.prefillUser({ userid, ...ada }, { version: 'v1' })
const create = (userid: string) =>
  client.createUser({ userid, ...ada, offername: 'starter' }, { idempotencyKey: userid })

function outcomeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )
}

type Row = [what: string, fate: Fate, ask: (userid: string) => Promise<unknown>, told: string]

test.each<Row>([
  ['a keyed prefill', 'before', keyed, 'done'],
  ['a keyed prefill', 'after', keyed, 'done'],
  ['a keyed prefill', 'late', keyed, 'done'],
  ['a keyed prefill of a user who was there', 'before', keyed, 'done'],
  ['a keyed prefill of a user who was there', 'after', keyed, 'done'],
  ['a keyed prefill of a user who was there', 'late', keyed, 'done'],
  ['a keyed create', 'before', create, 'done'],
  ['a keyed create', 'after', create, 'done'],
  ['a keyed create', 'late', create, 'done'],
  ['a prefill without a key', 'before', unkeyed, 'unavailable'],
  ['a prefill without a key', 'after', unkeyed, 'done'],
  ['a prefill without a key', 'late', unkeyed, 'done or unavailable'],
])('%s, whose commit was cut %s it, has one effect or none, as it is told', async (what, fate, ask, told) => {
  const userid = newUserid()
  if (what.endsWith('was there')) await bench.own.write(userid, 'prefill', () => unkeyed(userid))
  const met = meet(fate, userid)
  const answer = ask(userid)
  expect(told).toContain(await outcomeOf(answer))
  await met
  // Late, it is there soon, whatever was answered.
  if (told !== 'unavailable') bench.own.note(userid, ask === create ? 'create' : 'prefill')
  if (fate === 'late')
    await expect
      .poll(() => bench.database.query(sql`select 1 from users where userid = ${userid}`))
      .toHaveLength(1)
  if (ask === keyed) expect(await outcomeOf(ask(userid))).toBe('user_exists')
  if (ask === create) expect(await ask(userid)).toEqual(await answer)
})

test('those with a key and those without one, written together, each get their own truth', async () => {
  const marker = newUserid()
  const met = meet('before', marker)
  const userids = Array.from({ length: 40 }, (_, index) => `${marker}-${index}`)
  const told = await Promise.all(
    userids.map((userid, index) => outcomeOf(index % 2 === 0 ? keyed(userid) : unkeyed(userid))),
  )
  await met
  for (const [index, outcome] of told.entries()) {
    expect(index % 2 === 0 ? ['done'] : ['done', 'unavailable']).toContain(outcome)
    if (outcome === 'done') bench.own.note(userids[index] ?? '', 'prefill')
  }
})

wholeRunTest(
  'a connection that falls silent holds nobody up for long, and the truth is still told',
  async () => {
    const userid = newUserid()
    const met = meet('silent', userid)
    const first = bench.own.write(userid, 'prefill', () => keyed(userid))
    await met
    const neighbour = newUserid()
    await Promise.all([first, bench.own.write(neighbour, 'prefill', () => keyed(neighbour))])
  },
)

test('afterwards all books agree', async () => {
  await bench.check()
})
