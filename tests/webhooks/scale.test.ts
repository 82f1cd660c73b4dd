import { expect, test } from 'vitest'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { sealSecrets } from '../../service/src/webhooks/endpoint/secrets.ts'
import { closedBreaker } from '../../service/src/webhooks/endpoint/verdict.ts'
import { everydayOr } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

const COUNT = Number(process.env['SCALE_ENDPOINTS'] ?? everydayOr(1500, 6000))
/** Only catches a hang. */
const patient = { timeout: 120_000 }

/** Endpoints that do not subscribe to the events of this test. */
async function addSilent({ database, partner, now }: DispatchRig, count: number): Promise<void> {
  const secrets = {
    current: { kind: 'basic', username: 'hook', password: 'pass' },
    next: null,
    signing: [],
    headers: {},
    client: null,
  } as const
  const { partnerId, key } = partner
  for (let left = count; left > 0; left -= 1000) {
    const ids = Array.from({ length: Math.min(1000, left) }, () => uuidv7(now()))
    const sealed = ids.map(endpointId => sealSecrets({ partnerId, endpointId, key }, secrets))
    await database.query(sql`
      with made as (
        insert into webhook_endpoints (partner_id, endpoint_id, url, sealed_secrets, events, all_events, ordering,
          created_at, updated_at)
        select ${partnerId}::uuid, id, 'http://127.0.0.1:1/hook', sealed, '{user_erased}', false, 'none', now(), now()
        from unnest(${ids}::uuid[], ${sealed}::bytea[]) as row (id, sealed)
        returning partner_id, endpoint_id
      )
      insert into endpoint_health (partner_id, endpoint_id, breaker)
      select partner_id, endpoint_id, ${JSON.stringify(closedBreaker())}::jsonb from made`)
  }
}

test(`${COUNT} endpoints are listed and served by statements that stay within their time-out`, async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await addSilent(rig, COUNT)
  await rig.addEndpoint(receiver.url)
  // Four times the time that production allows a statement, because this machine may be busy; a plan that compares each
  // row with each takes longer still.
  const limited = { ...patientDatabase, max: 8, statementTimeoutMs: 20_000 }
  const databases = [openDatabase(rig.address, limited), openDatabase(rig.address, limited)] as const
  for (const database of databases) await database.learnCells()
  const cellOf = (all: Database) => all.cells()[0] ?? all
  const first = rig.open({}, { database: cellOf(databases[0]) })
  await expect.poll(() => first.inventory().endpoints, patient).toBe(COUNT + 1)
  await rig.raise(['u1'])
  await receiver.received(1)
  const second = rig.open({}, { database: cellOf(databases[1]) })
  await expect.poll(() => second.inventory().endpoints, patient).toBe(COUNT + 1)
  await first.close()
  await rig.raise(['u2'])
  await receiver.received(2)
  expect(rig.logged.filter(({ event }) => event.startsWith('webhook_'))).toEqual([])
  await second.close()
  for (const database of databases) await database.close()
  await receiver.close()
})
