// @databases embedded

import { randomBytes, randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { installationKey, openBlockKeys } from '../../service/src/audit/block-keys.ts'
import { type BlockKeys, blocksOf, type Finding, verifyPartner } from '../../service/src/audit/blocks.ts'
import { addEntries, listEntries, noPartner } from '../../service/src/audit/entries.ts'
import { type Searched, signBlocks } from '../../service/src/audit/sign-blocks.ts'
import { openTrail } from '../../service/src/audit/trail.ts'
import { openDatabase } from '../../service/src/db/database.ts'
import { Unavailable } from '../../service/src/db/failure.ts'
import { sql } from '../../service/src/db/sql.ts'
import { markAnew, markInstallation } from '../../service/src/installation.ts'
import { loadKeyring } from '../../service/src/vault/keyring.ts'
import { patientDatabase } from '../patient-database.ts'
import { freshDatabase } from '../rig.ts'

function faults(findings: readonly Finding[]) {
  return findings.map(({ source, fault }) => `${source} ${fault}`)
}

/** An empty database with its keys, and entries of the operator's commands at these instants, of any partner. */
async function emptyTrail() {
  const { address, drop } = await freshDatabase()
  const database = openDatabase(address, { max: 4, ...patientDatabase })
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  const keyring = loadKeyring({ rootKey: randomBytes(32).toString('base64') })
  await markInstallation(database, { keyring, wanted: 'live', now: 1000 })
  const add = (partnerId: string, at: number) =>
    addEntries(database, [{ ...operatorsEntry, partnerId, entryId: randomUUID(), at, times: 1 }])
  const keys = openBlockKeys(database, keyring)
  const findingsOf = async (partnerId: string, by: BlockKeys = keys) =>
    faults((await verifyPartner(database, by, partnerId)).findings)
  return { database, keyring, keys, add, findingsOf }
}

const operatorsEntry = { actorKind: 'command', actor: 'root', action: 'backup', result: 'done' } as const
const minute = 60_000

test('entries of a partner that was deleted keep no later ones from being signed', async () => {
  const { database, keys, add, findingsOf } = await emptyTrail()
  await add(randomUUID(), 10_000)
  expect(await signBlocks(database, keys, 5 * minute)).toBe(0)
  await add(noPartner, 60 * minute)
  expect(await signBlocks(database, keys, 70 * minute)).toBe(1)
  expect(await findingsOf(noPartner)).toEqual([])
})

test('a partner whose key cannot be opened holds up the signing of others for an hour at most', async () => {
  const { database, keys, add, findingsOf } = await emptyTrail()
  const closed = randomUUID()
  const broken: BlockKeys = {
    ...keys,
    current: partnerId =>
      partnerId === closed ? Promise.reject(new Error('closed')) : keys.current(partnerId),
  }
  await add(closed, 10_000)
  await add(noPartner, 20_000)
  await add(noPartner, 2 * minute)
  await expect(signBlocks(database, broken, 30 * minute)).rejects.toThrow('closed')
  expect(await signBlocks(database, broken, 90 * minute)).toBe(2)
  expect(await findingsOf(noPartner)).toEqual([])
  const closedNow = { ...keys, byId: () => Promise.reject(new Error('closed')) }
  expect(await findingsOf(noPartner, closedNow)).toEqual(['audit_log key gone', 'audit_log key gone'])
})

test('an idle service searches no time twice, and signs nothing that appears there later', async () => {
  const { database, keys, add, findingsOf } = await emptyTrail()
  const searched: Searched = new Map()
  let statements = 0
  const query: typeof database.query = one => {
    statements += 1
    return database.query(one)
  }
  const sign = (at: number) => signBlocks({ ...database, query }, keys, at, searched)
  expect(await sign(60 * minute)).toBe(0)
  statements = 0
  expect(await sign(60.5 * minute)).toBe(0)
  // Of each of the two tables the end of the newest block, and the time since the last search.
  expect(statements).toBe(4)
  await add(noPartner, 30 * minute)
  await add(noPartner, 59 * minute)
  expect(await sign(62 * minute)).toBe(1)
  expect(await findingsOf(noPartner)).toEqual(['audit_log added'])
})

test('what was searched while the clock was an hour ahead is searched again once it is right', async () => {
  const { database, keys, add, findingsOf } = await emptyTrail()
  const searched: Searched = new Map()
  expect(await signBlocks(database, keys, 120 * minute, searched)).toBe(0)
  await add(noPartner, 70 * minute)
  expect(await signBlocks(database, keys, 80 * minute, searched)).toBe(1)
  expect(await findingsOf(noPartner)).toEqual([])
})

test('a busy half minute is signed whole, in parts between which requests have their turn', async () => {
  const { database, keys, findingsOf } = await emptyTrail()
  const count = 45_000
  await database.query(sql`
    insert into audit_log (partner_id, entry_id, at, actor_kind, actor, action, result)
    select ${noPartner}, gen_random_uuid(), to_timestamp(1 + n * 0.0006), 'command', 'root', 'backup', 'done'
    from generate_series(1, ${count}::integer) n`)
  let turns = 0
  let isSigned = false
  const countTurns = () => {
    turns += 1
    if (!isSigned) setImmediate(countTurns)
  }
  countTurns()
  expect(await signBlocks(database, keys, 5 * minute)).toBe(1)
  isSigned = true
  expect(turns).toBeGreaterThan(count / 1000)
  const [block] = await blocksOf(database, 'audit_log', noPartner)
  expect(block?.leaves.length).toBe(count * 24)
  expect(await findingsOf(noPartner)).toEqual([])
})

test('two processes that sign at once leave no row between their blocks', async () => {
  const { database, keys, add, findingsOf } = await emptyTrail()
  const [first, second] = [randomUUID(), randomUUID()]
  const keyOf = (partnerId: string) => Buffer.from(partnerId.padEnd(64))
  const ownKeys: BlockKeys = {
    current: async partnerId => ({ id: 'own', key: keyOf(partnerId) }),
    byId: async partnerId => keyOf(partnerId),
  }
  await add(first, 2_000)
  await add(first, 40_000)
  await add(second, 41_000)
  let isBeside = true
  const interrupted: BlockKeys = {
    ...ownKeys,
    current: async partnerId => {
      // The other process, whose clock is behind, signs while this one has read the rows and not yet written.
      if (isBeside && partnerId === second) {
        isBeside = false
        await signBlocks(database, ownKeys, 2 * minute + 31_000)
      }
      return ownKeys.current(partnerId)
    },
  }
  await signBlocks(database, interrupted, 3 * minute + 1000)
  expect(await signBlocks(database, ownKeys, 10 * minute)).toBe(0)
  for (const partnerId of [first, second]) expect(await findingsOf(partnerId, ownKeys)).toEqual([])
  expect(await signBlocks(database, keys, 10 * minute)).toBe(0)
})

test('after the database was away, refusals are still counted and written, and none looks forged', async () => {
  const { database, keyring, keys, add, findingsOf } = await emptyTrail()
  let now = 30 * minute
  let isAway = true
  const failures: unknown[] = []
  const trail = openTrail({
    database: {
      ...database,
      query: query => (isAway ? Promise.reject(new Unavailable('away')) : database.query(query)),
    },
    keyring,
    real: () => now,
    onError: error => failures.push(error),
  })
  const refuse = () =>
    trail.noteRefusal({ partnerId: undefined, credentialId: 'known', address: '127.0.0.1' })
  refuse()
  await vi.waitFor(() => expect(failures.length).toBeGreaterThan(0), { timeout: 120_000 })
  // In the same minute, so under the same id.
  refuse()
  await vi.waitFor(() => expect(failures.length).toBeGreaterThan(2), { timeout: 120_000 })
  await add(noPartner, now + minute)
  now += 5 * minute
  expect(await signBlocks(database, keys, now)).toBe(1)
  isAway = false
  await trail.close()
  const [counted, ...others] = (
    await listEntries(database, { partnerId: noPartner, from: 0, until: now + 1 })
  ).filter(row => row.result === 'refused')
  expect(counted).toMatchObject({ actor: 'known', times: 2 })
  expect(others).toEqual([])
  await signBlocks(database, keys, now + 5 * minute)
  expect(await findingsOf(noPartner)).toEqual([])
})

test('an entry that the database refuses keeps no other from being written', async () => {
  const { database, keyring } = await emptyTrail()
  const lost: number[] = []
  const trail = openTrail({
    database,
    keyring,
    real: () => minute,
    onError: (_, count) => lost.push(count),
  })
  for (const actor of ['before', 'a\0b', 'after'])
    trail.note({ ...operatorsEntry, partnerId: noPartner, actor, action: 'show' })
  await trail.close()
  const entries = await listEntries(database, { partnerId: noPartner, from: 0, until: 2 * minute })
  expect(entries.map(row => row.actor).sort()).toEqual(['after', 'before'])
  expect(lost).toEqual([1])
})

test('blocks of entries without a partner are compared after every key was rotated and retired', async () => {
  const { address, drop } = await freshDatabase()
  const database = openDatabase(address, { max: 2, ...patientDatabase })
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  const [before, after] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const old = loadKeyring({ rootKey: before })
  await markInstallation(database, { keyring: old, wanted: 'live', now: 1000 })
  await addEntries(database, [
    { ...operatorsEntry, partnerId: noPartner, entryId: randomUUID(), at: 2000, times: 1 },
  ])
  expect(await signBlocks(database, openBlockKeys(database, old), 3_600_000)).toBe(1)
  const sealing = await installationKey(database, old)
  // With both keys in hand the marks are made anew, and then the old ones are gone.
  await markAnew(database, loadKeyring({ rootKey: `${after},${before}` }))
  const only = loadKeyring({ rootKey: after })
  const keys = openBlockKeys(database, only)
  const compared = () => verifyPartner(database, keys, noPartner)
  expect(await compared()).toEqual({ rows: 1, findings: [] })
  // Their reasons and requests are opened then, too.
  expect(await installationKey(database, only)).toEqual(sealing)
  await database.query(sql`update audit_log set actor = 'somebody'`)
  expect(faults((await compared()).findings)).toEqual(['audit_log altered'])
})
