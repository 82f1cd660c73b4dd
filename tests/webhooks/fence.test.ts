// @databases citus

import { expect, test } from 'vitest'
import { CommitUnknown, type Database } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { claimDue, type Item } from '../../service/src/webhooks/delivery/claim.ts'
import type { Result } from '../../service/src/webhooks/delivery/result.ts'
import { targetOf } from '../../service/src/webhooks/delivery/target.ts'
import { openWriter } from '../../service/src/webhooks/delivery/writer.ts'
import { readEndpoints } from '../../service/src/webhooks/endpoint/endpoint.ts'
import type { Assessment, Disposition } from '../../service/src/webhooks/endpoint/verdict.ts'
import { findAttempts } from '../../service/src/webhooks/log/attempts.ts'
import { dispatchRig } from './rig.ts'

/** An endpoint with claimed deliveries of two events, and a writer of what their attempts have shown. */
async function claimed(own: { commits?: (database: Database) => Partial<Database> } = {}) {
  const rig = await dispatchRig()
  const { partnerId } = rig.partner
  const { webhookid: endpointId } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  await rig.raise(['u', 'v'])
  const [row] = await readEndpoints(rig.database, [{ partnerId, endpointId }])
  if (!row) throw new Error('the endpoint is missing')
  const target = targetOf(row, rig.partner)
  const claim = async () => {
    const clock = { now: rig.now(), aheadMs: rig.now() - Date.now() }
    return (await claimDue(rig.database, [{ target, room: 4 }], clock)).items
  }
  const database: Database = { ...rig.database, ...own.commits?.(rig.database) }
  const directory = { partner: async () => rig.partner }
  const writer = openWriter({ database, directory, endpointSlots: 64, log: () => {}, onTold: () => {} })
  const timings = { dnsMs: 1, connectMs: 2, tlsMs: 3, firstByteMs: 4, totalMs: 5 }
  const resultOf = (item: Item, assessment: Assessment, disposition: Disposition): Result => {
    const at = rig.now()
    const status = assessment.kind === 'delivered' ? 200 : assessment.kind === 'gone' ? 410 : 500
    const outcome = { status, snippet: 'of a user without a key', address: '192.0.2.1', timings }
    const attempts = [{ attemptId: uuidv7(at), startedAt: at, pair: 'current' as const, outcome }]
    const ended = {
      ...{ eventId: item.event_id, version: row.version, assessment, pair: 'current' as const },
      ...{ startedAt: at, endedAt: at, certificateEndsAt: undefined },
    }
    return { target, item, disposition, attempts, endedAt: at, ended }
  }
  const write = (...results: Result[]) =>
    Promise.all(results.map(result => new Promise(done => writer.enqueue({ kind: 'result', result }, done))))
  const state = async () => ({
    health: await rig.database.query(
      sql`select revision, breaker, failing_since, accepted_pair from endpoint_health`,
    ),
    endpoint: await rig.database.query(sql`select version, disabled_reason from webhook_endpoints`),
    deliveries: await rig.database.query(
      sql`select event_id, work, attempts, due_at, held_from from deliveries order by event_id`,
    ),
    dead: await rig.database.query(sql`select event_id, attempts from dead_deliveries`),
  })
  return { rig, claim, write, resultOf, state, endpointId }
}

const failed: Assessment = { kind: 'failed', blame: 'endpoint' }

test('a result under a claim that has ended changes nothing but the log, whatever the attempt has shown', async () => {
  const { rig, claim, write, resultOf, state } = await claimed()
  await using _ = rig
  const [old] = await claim()
  rig.advance(61_000)
  const [anew] = await claim()
  if (!old || !anew) throw new Error('nothing was claimed')
  expect(anew.event_id).toBe(old.event_id)
  const before = await state()
  const later = { kind: 'later', attempts: 1, dueAt: rig.now(), queue: 'retry' } as const
  const cases: [Assessment, Disposition][] = [
    [{ kind: 'delivered' }, { kind: 'delivered' }],
    [failed, later],
    [failed, { kind: 'dead', attempts: 12 }],
    [{ kind: 'gone' }, later],
    [{ kind: 'unspent', fault: 'resolver' }, { kind: 'unchanged' }],
  ]
  for (const [assessment, disposition] of cases) await write(resultOf(old, assessment, disposition))
  expect(await state()).toEqual(before)
  expect(await rig.count('delivery_attempts')).toBe(cases.length)
})

test('a result is written whole: the attempt with its times, the new state of the delivery, the health of the endpoint', async () => {
  const { rig, claim, write, resultOf, state, endpointId } = await claimed()
  await using _ = rig
  const [first, second] = await claim()
  if (!first || !second) throw new Error('nothing was claimed')
  const dueAt = rig.now() + 5000
  await write(
    resultOf(first, failed, { kind: 'later', attempts: 1, dueAt, queue: 'retry' }),
    resultOf(second, { kind: 'gone' }, { kind: 'dead', attempts: 12 }),
  )
  expect(await state()).toMatchObject({
    health: [{ revision: 2, breaker: { endpointInRow: 1 }, accepted_pair: null }],
    endpoint: [{ version: 2, disabled_reason: 'gone' }],
    deliveries: [{ event_id: first.event_id, work: 'retry', attempts: 1, due_at: dueAt, held_from: null }],
    dead: [{ event_id: second.event_id, attempts: 12 }],
  })
  expect(await findAttempts(rig.database, rig.partner, first.event_id)).toMatchObject([
    {
      ...{ endpoint_id: endpointId, attempt: 1, pair: 'current', status: 500, error_class: null },
      ...{ address: '192.0.2.1', answer: null },
      ...{ dns_ms: 1, connect_ms: 2, tls_ms: 3, first_byte_ms: 4, total_ms: 5 },
    },
  ])
})

test('what two processes learn of an endpoint adds up', async () => {
  const { rig, claim, write, resultOf, state } = await claimed()
  await using _ = rig
  const [first, second] = await claim()
  if (!first || !second) throw new Error('nothing was claimed')
  const later = { kind: 'later', attempts: 1, dueAt: rig.now(), queue: 'retry' } as const
  // The second batch was judged without the first.
  await write(resultOf(first, failed, later))
  await write(resultOf(second, failed, later))
  expect((await state()).health).toMatchObject([{ revision: 3, breaker: { endpointInRow: 2 } }])
})

test('a result whose commit was not confirmed can be written again without a second effect, alone and beside another', async () => {
  let isLost = false
  const { rig, claim, write, resultOf, state } = await claimed({
    commits: database => ({
      async transaction(work) {
        const done = await database.transaction(work)
        if (isLost) return done
        isLost = true
        throw new CommitUnknown()
      },
    }),
  })
  await using _ = rig
  const later = { kind: 'later', attempts: 1, dueAt: rig.now() + 5000, queue: 'retry' } as const
  const [first, second] = await claim()
  if (!first || !second) throw new Error('nothing was claimed')
  await write(resultOf(first, failed, later))
  expect((await state()).health).toMatchObject([{ breaker: { endpointInRow: 1 } }])
  isLost = false
  await write(resultOf(first, failed, later), resultOf(second, failed, later))
  expect(await state()).toMatchObject({
    health: [{ breaker: { endpointInRow: 2 } }],
    deliveries: [{ attempts: 1 }, { attempts: 1 }],
  })
  expect(await rig.count('delivery_attempts')).toBe(3)
})
