// @databases citus

import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { isUnavailable } from '../../service/src/db/failure.ts'
import { sql } from '../../service/src/db/sql.ts'
import { runKeyed } from '../../service/src/idempotency/keyed.ts'
import { addEndpoint } from '../../service/src/webhooks/endpoint/endpoints.ts'
import { startPostgresProxy } from '../faults/postgres-proxy.ts'
import { forAllTests } from '../for-all-tests.ts'
import { everydayOr } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { dispatchRig } from './rig.ts'

// A write about the partner as a whole, on a database that is reached through a proxy. It makes an endpoint, and neither a
// user nor an event, so the ledger has nothing to compare: the endpoints are counted here, by their addresses.
const rig = forAllTests(dispatchRig)
const proxy = forAllTests(() => startPostgresProxy(rig.address))
let database: ReturnType<typeof openDatabase>
beforeAll(async () => {
  // As in production: a connection that falls silent is given up soon after.
  database = openDatabase({ url: proxy.url }, { max: 2, ...patientDatabase, statementTimeoutMs: 5000 })
})
afterAll(async () => {
  await database.close()
})

function make(url: string, key: string | undefined) {
  const headers: Record<string, string> = {}
  const wish = { partner: rig.partner, url, username: 'hook', password: 'pass', events: 'all' as const }
  const answer = runKeyed(
    {
      request: {
        operation: { id: 'createWebhook', method: 'POST' },
        target: () => ({ path: '/webhooks', query: '' }),
        sent: { url },
        headers: key === undefined ? {} : { 'idempotency-key': key },
        caller: { partner: rig.partner },
        setHeader: (name, value) => {
          headers[name] = value
        },
      },
      effect: async tx => {
        const made = await addEndpoint(tx, wish, { rules: { sandbox: true, allow: [] }, real: rig.now })
        if ('refused' in made) throw new Error('the address is refused')
        return made
      },
      stored: ({ webhookid }) => ({ webhookid, webhooksecret: '' }),
    },
    { database, real: rig.now },
  )
  return { answer, headers }
}

async function made(url: string): Promise<string[]> {
  const rows = await rig.database.query<{ endpoint_id: string }>(
    sql`select endpoint_id from webhook_endpoints where url = ${url}`,
  )
  return rows.map(row => row.endpoint_id)
}

test.each(everydayOr(['after'] as const, ['before', 'after', 'late', 'silent'] as const))(
  'a keyed write whose commit was cut %s it is done once, and answered with what was made',
  async fate => {
    const url = `http://127.0.0.1:1/${fate}`
    const met = proxy.arm(fate, url)
    const { webhookid, webhooksecret } = await make(url, fate).answer
    await met
    expect(webhooksecret).toMatch(/^whsec_/)
    expect(await made(url)).toEqual([webhookid])
    const again = make(url, fate)
    expect(await again.answer).toEqual({ webhookid, webhooksecret: '' })
    expect(again.headers).toEqual({ 'Idempotency-Replayed': 'true' })
    expect(await made(url)).toEqual([webhookid])
  },
)

test.each([
  ['before', 0],
  ['after', 1],
] as const)(
  'one without a key whose commit was cut %s it is answered 503, as its outcome is not known',
  async (fate, count) => {
    const url = `http://127.0.0.1:1/${fate}-without`
    const met = proxy.arm(fate, url)
    await expect(make(url, undefined).answer).rejects.toSatisfy(isUnavailable)
    await met
    expect(await made(url)).toHaveLength(count)
  },
)
