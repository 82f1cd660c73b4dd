// What the handlers of all peers do with a job, the same for each: the headers that we send, one undici call, and the row
// that we write into the log of tries: by a prepared statement of its own, as a handler does, or gathered as ours are.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const dist = new URL('../../service/dist/', import.meta.url)
const load = name => import(new URL(name, dist).href)
const { Agent, request } = await import('undici')
const { basicAuthorization, newWebhookSecret, signingKey, tryHeaders } = await load('webhooks/envelope.js')
const { openDatabase } = await load('db/database.js')
const { coalesce } = await load('db/coalesce.js')
const { sql } = await load('db/sql.js')
const { uuidv7 } = await load('vault/uuid.js')

/** Imports a peer's package from where the benchmark installed it. */
export const importPeer = (folder, name) =>
  import(createRequire(join(folder, 'package.json')).resolve(name)).then(loaded =>
    loaded.default && Object.keys(loaded).length < 3 ? loaded.default : loaded,
  )

const PARTNER = uuidv7(Date.now())

/** Opens what the handlers of a peer share; a try that is not answered 2xx throws, so that the peer tries again. */
export const openHandler = async ({ address, origin, concurrency, peerLog }) => {
  const database = openDatabase(address, { max: 10, onError: () => {} })
  await database.script(`create table tries (partner_id uuid not null, attempt_id uuid not null, endpoint_id uuid not null,
    event_id uuid not null, attempt integer not null, started_at timestamptz not null, pair text not null, status integer,
    error_class text, address text, dns_ms integer, connect_ms integer, tls_ms integer, first_byte_ms integer,
    total_ms integer not null, answer text, primary key (partner_id, attempt_id, started_at));
    create index on tries (partner_id, event_id, started_at)`)
  const gathered = coalesce({
    maxBatch: 500,
    run: async rows => {
      await writeTries(database, rows)
      return rows.map(() => ({ ok: true, value: undefined }))
    },
  })
  const write = peerLog === 'batched' ? gathered : row => writeTries(database, [row])
  const agent = new Agent({ connections: concurrency, pipelining: 1 })
  const authorization = basicAuthorization('hook', 'pass')
  const keys = [signingKey(newWebhookSecret())]
  return {
    async deliver({ key, body, target }) {
      const startedAt = Date.now()
      const bytes = Buffer.from(body)
      const headers = tryHeaders({
        ...{ idempotencyKey: key, body: bytes, attempt: 1, at: startedAt },
        ...{ authorization, keys },
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

const send = async (url, options) => {
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

const writeTries = (database, rows) => {
  const at = rows.map(row => new Date(row.startedAt).toISOString())
  const none = rows.map(() => null)
  return database.query(sql`
    insert into tries select * from unnest(${rows.map(() => PARTNER)}::uuid[],
      ${rows.map(row => uuidv7(row.startedAt))}::uuid[], ${rows.map(() => PARTNER)}::uuid[],
      ${rows.map(row => row.key)}::uuid[], ${rows.map(() => 1)}::integer[], ${at}::timestamptz[],
      ${rows.map(() => 'current')}::text[], ${rows.map(row => row.status)}::integer[],
      ${rows.map(row => row.error)}::text[], ${rows.map(() => '127.0.0.1')}::text[], ${none}::integer[],
      ${none}::integer[], ${none}::integer[], ${rows.map(row => row.tookMs)}::integer[],
      ${rows.map(row => row.tookMs)}::integer[], ${rows.map(row => row.answer)}::text[])`)
}
