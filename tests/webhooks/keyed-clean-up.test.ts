import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Database } from '../../service/src/db/database.ts'
import { sql, timestamp } from '../../service/src/db/sql.ts'
import { runKeyed } from '../../service/src/idempotency/keyed.ts'
import { clockOn } from '../../service/src/partners/partner.ts'
import { deleteLapsed } from '../../service/src/schedule/housekeeping.ts'
import { patientForLocks, waitForLock } from '../hold-users.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

// What is used or written anew while the clean-up deletes what has lapsed.

const day = 86_400_000

/** A keyed write of the partner that does `work`; returns how many times such a write was done, and how it was answered. */
function writes(rig: DispatchRig) {
  let done = 0
  const write = async (work = async () => {}, database: Database = rig.database) => {
    const headers: Record<string, string> = {}
    await runKeyed(
      {
        request: {
          operation: { id: 'createWebhook', method: 'POST' },
          target: () => ({ path: '/webhooks', query: '' }),
          sent: {},
          headers: { 'idempotency-key': 'key' },
          caller: { partner: rig.partner },
          setHeader: (name, value) => {
            headers[name] = value
          },
        },
        effect: async tx => {
          await tx.query({ name: '', text: 'set local idle_in_transaction_session_timeout = 0', values: [] })
          await work()
          done += 1
          return done
        },
      },
      { database, real: rig.now },
    )
    return headers['Idempotency-Replayed'] === 'true'
  }
  return { write, count: () => done }
}

function cleanUp(rig: DispatchRig): Promise<boolean> {
  const { partnerId } = rig.partner
  return deleteLapsed(patientForLocks(rig.database), [{ partnerId, clockOffsetMs: 0 }], clockOn(rig.now))
}

test('a key that is used anew when it has expired is kept, although the clean-up waits to delete it', async () => {
  await using rig = await dispatchRig()
  const { write, count } = writes(rig)
  await write()
  rig.advance(day + 1000)
  let cleaning: Promise<unknown> = Promise.resolve()
  await write(async () => {
    cleaning = cleanUp(rig)
    await waitForLock(rig, cleaning)
  })
  await cleaning
  expect(await write()).toBe(true)
  expect(count()).toBe(2)
})

test('a key whose expired row the clean-up deletes just before it is locked is reserved anew', async () => {
  await using rig = await dispatchRig()
  const { write, count } = writes(rig)
  await write()
  rig.advance(day + 1000)
  let statements = 0
  const interrupted: Database = {
    ...rig.database,
    transaction: work =>
      rig.database.transaction(tx =>
        work({
          ...tx,
          query: async query => {
            statements += 1
            // The first statement finds the row, the second one locks it.
            if (statements === 2) await cleanUp(rig)
            return tx.query(query)
          },
        }),
      ),
  }
  await write(undefined, interrupted)
  expect(statements).toBeGreaterThan(2)
  expect(await write()).toBe(true)
  expect(count()).toBe(2)
})

test('a draft that is written again when it has lapsed is kept, although the clean-up waits to delete it', async () => {
  await using rig = await dispatchRig()
  const { partnerId } = rig.partner
  await rig.database.query(sql`
    insert into sealed_records (partner_id, service_id, kind, name, version, sealed, at)
    values (${partnerId}, ${randomUUID()}, 'draft', '', '', '\\x00', ${timestamp(rig.now() - 91 * day)})`)
  let cleaning: Promise<unknown> = Promise.resolve()
  await patientForLocks(rig.database).transaction(async tx => {
    await tx.query({ name: '', text: 'set local idle_in_transaction_session_timeout = 0', values: [] })
    await tx.query(sql`
      update sealed_records set at = ${timestamp(rig.now())} where partner_id = ${partnerId} and kind = 'draft'`)
    cleaning = cleanUp(rig)
    await waitForLock(rig, cleaning)
  })
  await cleaning
  const drafts = () => rig.database.query(sql`select 1 from sealed_records where partner_id = ${partnerId}`)
  expect(await drafts()).toHaveLength(1)
  rig.advance(91 * day)
  await cleanUp(rig)
  expect(await drafts()).toHaveLength(0)
})
