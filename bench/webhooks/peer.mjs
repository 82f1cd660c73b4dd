// The work of every peer's handler: it sends the service's headers with one undici call, and writes the service's
// row into the log of attempts, either by a prepared statement of its own, as a handler would, or gathered as the
// service does.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const dist = new URL('../../service/dist/', import.meta.url)
function load(name) {
  return import(new URL(name, dist).href)
}
const { Agent, request } = await import('undici')
const { basicAuthorization, newWebhookSecret, signingKey, attemptHeaders } = await load(
  'webhooks/egress/envelope.js',
)
const { openDatabase } = await load('db/database.js')
const { coalesce } = await load('db/coalesce.js')
const { sql } = await load('db/sql.js')
const { uuidv7 } = await load('vault/uuid.js')

/** Imports a peer's package from where the benchmark installed it. */
export function importPeer(folder, name) {
  return import(createRequire(join(folder, 'package.json')).resolve(name)).then(loaded =>
    loaded.default && Object.keys(loaded).length < 3 ? loaded.default : loaded,
  )
}

const PARTNER = uuidv7(Date.now())

/** Opens what a peer's handlers share. An attempt that is not answered with 200 throws, so that the peer repeats it. */
export async function openHandler({ address, origin, concurrency, peerLog }) {
  const database = openDatabase(address, { max: 10, onError: () => {} })
  await database.script(`create table attempts (partner_id uuid not null, attempt_id uuid not null, endpoint_id uuid not null,
    event_id uuid not null, attempt integer not null, started_at timestamptz not null, pair text not null, status integer,
    error_class text, address text, dns_ms integer, connect_ms integer, tls_ms integer, first_byte_ms integer,
    total_ms integer not null, answer text, primary key (partner_id, attempt_id, started_at));
    create index on attempts (partner_id, event_id, started_at)`)
  const gathered = coalesce({
    maxBatch: 500,
    run: async rows => {
      await writeAttempts(database, rows)
      return rows.map(() => ({ ok: true, value: undefined }))
    },
  })
  const write = peerLog === 'batched' ? gathered : row => writeAttempts(database, [row])
  const agent = new Agent({ connections: concurrency, pipelining: 1 })
  const authorization = basicAuthorization('hook', 'pass')
  const keys = [signingKey(newWebhookSecret())]
  return {
    async deliver({ key, body, target }) {
      const startedAt = Date.now()
      const bytes = Buffer.from(body)
      const headers = attemptHeaders({
        eventId: key,
        body: bytes,
        attempt: 1,
        at: startedAt,
        authorization,
        keys,
      })
      const ended = await send(new URL(target, origin), { headers, body: bytes, dispatcher: agent })
      await write({ key, startedAt, tookMs: Date.now() - startedAt, ...ended })
      if (ended.status !== 200) throw new Error(ended.error ?? `status ${ended.status}`)
    },
    async close() {
      await agent.destroy()
      await database.close()
    },
  }
}

async function send(url, options) {
  try {
    const answer = await request(url, {
      method: 'POST',
      headersTimeout: 15_000,
      bodyTimeout: 15_000,
      ...options,
    })
    return { status: answer.statusCode, error: null, answer: (await answer.body.text()).slice(0, 1024) }
  } catch (error) {
    return { status: null, error: error.code ?? 'error', answer: null }
  }
}

function writeAttempts(database, rows) {
  const at = rows.map(row => new Date(row.startedAt).toISOString())
  const none = rows.map(() => null)
  return database.query(sql`
    insert into attempts select * from unnest(${rows.map(() => PARTNER)}::uuid[],
      ${rows.map(row => uuidv7(row.startedAt))}::uuid[], ${rows.map(() => PARTNER)}::uuid[],
      ${rows.map(row => row.key)}::uuid[], ${rows.map(() => 1)}::integer[], ${at}::timestamptz[],
      ${rows.map(() => 'current')}::text[], ${rows.map(row => row.status)}::integer[],
      ${rows.map(row => row.error)}::text[], ${rows.map(() => '127.0.0.1')}::text[], ${none}::integer[],
      ${none}::integer[], ${none}::integer[], ${rows.map(row => row.tookMs)}::integer[],
      ${rows.map(row => row.tookMs)}::integer[], ${rows.map(row => row.answer)}::text[])`)
}
