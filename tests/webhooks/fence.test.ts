// @databases citus

import { expect, test } from 'vitest'
import { CommitUnknown, type Database } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import type { Result } from '../../service/src/webhooks/delivery/result.ts'
import { parkDeliveries } from '../../service/src/webhooks/delivery/save-parked.ts'
import { writeResults } from '../../service/src/webhooks/delivery/save-results.ts'
import { openWriter } from '../../service/src/webhooks/delivery/writer.ts'
import { closedBreaker } from '../../service/src/webhooks/endpoint/breaker.ts'
import { findAttempts } from '../../service/src/webhooks/log/attempts.ts'
import { dispatchRig } from './rig.ts'

/**
 * An endpoint with two waiting events of one user, and the results that its owner would write about an attempt and
 * about the endpoint.
 */
async function withOwner() {
  const rig = await dispatchRig()
  const { partnerId } = rig.partner
  const { webhookid: endpointId } = await rig.addEndpoint('http://127.0.0.1:1/hook', { ordering: 'user' })
  const [first = '', second = ''] = await rig.raise(['u', 'u'])
  const owner = crypto.randomUUID()
  await rig.database.query(sql`
    with alive as (insert into dispatchers (dispatcher_id, until) values (${owner}, now()))
    insert into endpoint_leases (partner_id, endpoint_id, owner, epoch) values (${partnerId}, ${endpointId}, ${owner}, 7)`)
  const lease = { partnerId, endpointId, epoch: 7 }
  const at = rig.now()
  const timings = { dnsMs: 1, connectMs: 2, tlsMs: 3, firstByteMs: 4, totalMs: 5 }
  const outcome = { status: 500, snippet: 'of a user without a key', address: '192.0.2.1', timings }
  const result: Result = {
    lease,
    eventId: first,
    number: 1,
    endedAt: at,
    disposition: { kind: 'later', attempts: 1, dueAt: at, queue: 'retry' },
    attempts: [{ attemptId: uuidv7(at), startedAt: at, pair: 'current', outcome }],
  }
  const health = {
    revision: 1,
    breaker: { ...closedBreaker(), endpointInRow: 1 },
    failingSince: at,
    notices: 1,
    pausedUntil: at,
    acceptedPair: 'next' as const,
    nextAcceptedAt: at,
    certificateEndsAt: at,
  }
  const change = { lease, health, disable: { version: 1, reason: 'gone' as const, at, since: at } }
  const state = async () => ({
    health: await rig.database.query(sql`
      select breaker, failing_since, notices, paused_until, accepted_pair, next_accepted_at,
        certificate_ends_at from endpoint_health`),
    disabled: await rig.database.query(sql`select disabled_reason, version from webhook_endpoints`),
    deliveries: await rig.database.query(
      sql`select event_id, work, attempts, parked from deliveries order by event_id`,
    ),
    attempts: await findAttempts(rig.database, rig.partner, first),
  })
  const write = (who: string, batch: Parameters<typeof writeResults>[2]) =>
    rig.database.transaction(tx => writeResults(tx, who, batch))
  const directory = { partner: async () => rig.partner }
  return { write, rig, owner, lease, at, first, second, result, change, health, state, directory }
}

test('a process that no longer owns an endpoint writes nothing about it, whether the owner or only the epoch has changed', async () => {
  const { rig, owner, result, change, lease, second, state, write } = await withOwner()
  await using _ = rig
  const before = await state()
  for (const [who, named] of [
    [crypto.randomUUID(), lease],
    [owner, { ...lease, epoch: 6 }],
  ] as const) {
    const batch = { results: [{ ...result, lease: named }], changes: [{ ...change, lease: named }] }
    expect(await write(who, batch)).toEqual({ owned: new Set(), disabled: new Set() })
    for (const kind of ['delivered', 'dead'] as const) {
      const ended = { ...result, lease: named, disposition: { kind, attempts: 12 } }
      await write(who, { results: [ended], changes: [] })
    }
    await parkDeliveries(rig.database, who, [{ lease: named, eventId: second }])
    expect(await state()).toEqual(before)
  }
})

test('the owner writes a result whole: the attempt with its times, the new state of the delivery, the health of the endpoint', async () => {
  const { rig, owner, at, result, change, health, lease, first, second, state, write } = await withOwner()
  await using _ = rig
  // The second time is a repeat after a commit whose answer was lost.
  for (const isRepeat of [false, true]) {
    const written = await write(owner, {
      results: [result],
      changes: [change],
      isRepeat,
    })
    expect(written).toEqual({ owned: new Set([lease]), disabled: new Set([lease]) })
  }
  await parkDeliveries(rig.database, owner, [{ lease, eventId: second }])
  expect(await state()).toEqual({
    health: [
      {
        breaker: health.breaker,
        failing_since: at,
        notices: 1,
        paused_until: at,
        accepted_pair: 'next',
        next_accepted_at: at,
        certificate_ends_at: at,
      },
    ],
    disabled: [{ disabled_reason: 'gone', version: 2 }],
    deliveries: [
      { event_id: first, work: 'retry', attempts: 1, parked: false },
      { event_id: second, work: 'fresh', attempts: 0, parked: true },
    ],
    attempts: [
      {
        endpoint_id: lease.endpointId,
        attempt: 1,
        started_at: at,
        pair: 'current',
        status: 500,
        error_class: null,
        address: '192.0.2.1',
        answer: null,
        dns_ms: 1,
        connect_ms: 2,
        tls_ms: 3,
        first_byte_ms: 4,
        total_ms: 5,
      },
    ],
  })
  // A value that somebody has reset meanwhile is not overwritten by what the owner knew before.
  await rig.database.query(sql`update endpoint_health set revision = 2, notices = 0`)
  await write(owner, { results: [], changes: [change] })
  expect((await state()).health).toMatchObject([{ notices: 0 }])
})

test('a result under an older lease is not written, even beside one under a newer lease of the same process', async () => {
  const { rig, owner, result, change, lease, state, directory, write } = await withOwner()
  await using _ = rig
  const older = { ...lease, epoch: 6 }
  const { disable: _disable, ...newer } = { ...change, health: { ...change.health, notices: 2 } }
  const batch = {
    results: [{ ...result, lease: older }],
    changes: [{ ...change, lease: older }, newer],
  }
  expect(await write(owner, batch)).toEqual({
    owned: new Set([lease]),
    disabled: new Set(),
  })
  expect(await state()).toMatchObject({
    health: [{ notices: 2 }],
    disabled: [{ disabled_reason: null }],
    attempts: [],
    deliveries: [{ attempts: 0 }, { attempts: 0 }],
  })
  // The writer also keeps their changes apart: neither replaces the other.
  const writer = openWriter({ database: rig.database, directory, owner, log: () => {} })
  const health = { ...change.health, notices: 3 }
  const written = [lease, older].map(one => writer.write({ kind: 'result', change: { lease: one, health } }))
  expect((await Promise.all(written)).map(({ isOwned }) => isOwned)).toEqual([true, false])
  expect(await state()).toMatchObject({ health: [{ notices: 3 }] })
})

test('a result whose commit was not confirmed can be written again without a second effect, alone and beside another', async () => {
  const { rig, owner, at, result, second, state, directory } = await withOwner()
  await using _ = rig
  let isLost = false
  const transaction: Database['transaction'] = async work => {
    const done = await rig.database.transaction(work)
    if (isLost) return done
    isLost = true
    throw new CommitUnknown()
  }
  const database: Database = { ...rig.database, transaction }
  const writer = openWriter({ database, directory, owner, log: () => {} })
  const attemptOf = (eventId: string): Result => ({
    ...result,
    eventId,
    attempts: result.attempts.map(attempt => ({ ...attempt, attemptId: uuidv7(at) })),
  })
  const write = async (...results: Result[]) => {
    isLost = false
    const written = results.map(one => writer.write({ kind: 'result', result: one }))
    return (await Promise.all(written)).map(({ isOwned }) => isOwned)
  }
  expect(await write(attemptOf(result.eventId))).toEqual([true])
  expect(await write(attemptOf(result.eventId), attemptOf(second))).toEqual([true, true])
  expect(await state()).toMatchObject({ deliveries: [{ attempts: 1 }, { attempts: 1 }] })
  expect(await rig.count('delivery_attempts')).toBe(3)
})
