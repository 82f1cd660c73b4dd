import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { findEndpointLines } from '../../service/src/console/webhooks/store.ts'
import { sql } from '../../service/src/db/sql.ts'
import { markInstallation } from '../../service/src/installation.ts'
import { findRefusedCreates } from '../../service/src/membership/records/refused-creates.ts'
import { requirePartner } from '../../service/src/partners/administer.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { listDeliveries } from '../../service/src/webhooks/log/deliveries.ts'
import { onNode } from '../cluster.ts'
import { urlOf } from '../command/database-url.ts'
import { ada, adaAsks, startTestService, type TestService } from '../rig.ts'

// On a cluster, what one partner asks for must not need the nodes of others: while one is away, they go on.

const server = inject('testServer')

/** Far longer than an operation takes that reaches only its own node. */
const PATIENCE_MS = 20_000

/** A database of a test, and who makes partners in it. */
type Stored = Pick<TestService, 'database' | 'address'> & {
  readonly newPartner: () => Promise<{ readonly partnerId: string }>
}

/** The worker that stores a partner, by its port. */
async function workerOf(
  { database }: Stored,
  { partnerId }: { readonly partnerId: string },
): Promise<number> {
  const [node] = await database.query<{ port: number }>(sql`
    select s.nodeport as port from partners p join citus_shards s on s.table_name = to_regclass(p.cell || '.users')
    where p.partner_id = ${partnerId}`)
  return node?.port ?? 0
}

/** New partners go to one cell after the other, so they are made until one is on another worker. */
async function partnerElsewhere(stored: Stored, own: number): Promise<number> {
  for (;;) {
    const worker = await workerOf(stored, await stored.newPartner())
    if (worker !== own) return worker
  }
}

/** Holds the tables of the cells that a worker has, so that a statement about them waits. */
async function holdWorker({ address }: Stored, port: number): Promise<AsyncDisposable> {
  const url = new URL(urlOf(address))
  url.port = `${port}`
  const shards = await onNode<{ name: string }>(
    urlOf(address),
    `select distinct shard_name as name from citus_shards where nodeport = ${port} and table_name::text like 'cell%'`,
  )
  const holder = new pg.Client({ connectionString: url.href })
  holder.on('error', () => {})
  await holder.connect()
  await holder.query('set citus.enable_manual_changes_to_shards = on')
  await holder.query('begin')
  await holder.query(`lock table ${shards.map(({ name }) => name).join(', ')} in access exclusive mode`)
  return { [Symbol.asyncDispose]: () => holder.end() }
}

test.runIf(server.kind === 'cluster')(
  'no operation of a partner, nothing that an operator asks about one, and no start needs the node of another',
  async () => {
    await using service = await startTestService({ cells: 2 })
    const partner = await service.newPartner()
    const { client, partnerId } = partner
    await using _held = await holdWorker(
      service,
      await partnerElsewhere(service, await workerOf(service, partner)),
    )
    const held = { userid: 'held' }
    const url = 'https://receiver.example.com/hook'
    const from = new Date(service.now() - 60_000).toISOString()
    const to = new Date(service.now() + 60_000).toISOString()
    let webhookid = ''
    let eventid = ''
    const operations: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['prefill', () => client.prefillUser({ ...ada, userid: 'prefilled' })],
      ['create', () => client.createUser({ ...ada, ...held, offername: 'plus' })],
      ['benefits', () => client.getBenefits({ ...adaAsks, ...held })],
      ['get', () => client.getUser(held)],
      ['update', () => client.updateUser({ ...held, firstname: 'Evecanary' })],
      ['beneficiaries', () => client.getBeneficiaries(held)],
      ['available offers', () => client.listAvailableOffers(held)],
      ['preview', () => client.previewOfferChange({ ...held, offername: 'starter' })],
      ['offer change', () => client.changeOffer({ ...held, offername: 'starter' })],
      ['undo', () => client.undoOfferChange(held)],
      ['link token', () => client.createLinkToken({ ...held, purpose: 'benefits' })],
      [
        'new webhook',
        async () => {
          const made = await client.createWebhook({
            url,
            username: 'hook',
            password: 'a-long-password',
            events: ['all'],
          })
          webhookid = made.webhookid
        },
      ],
      ['webhooks', () => client.listWebhooks({})],
      ['webhook', () => client.getWebhook({ webhookid })],
      ['changed webhook', () => client.updateWebhook({ webhookid, rotatesecret: true })],
      ['test', () => client.testWebhook({ webhookid })],
      ['enabled webhook', () => client.enableWebhook({ webhookid })],
      ['replay of a time', () => client.replayWebhook({ webhookid, from, to })],
      ['replay of the dead', () => client.replayWebhook({ webhookid, status: 'dead' })],
      ['replay of what waits', () => client.replayWebhook({ webhookid, status: 'waiting' })],
      [
        'events',
        async () => {
          eventid = (await client.listEvents({})).events.at(-1)?.eventid ?? ''
        },
      ],
      ['event', () => client.getEvent({ eventid })],
      ['attempts', () => client.listAttempts({ eventid })],
      ['replay of an event', () => client.replayEvent({ eventid })],
      ['cancel', () => client.cancelUser(held)],
      ['reinstate', () => client.reinstateUser(held)],
      ['erase', () => client.eraseUser({ userid: 'prefilled' })],
      ['the list of webhooks', () => findEndpointLines(service.database, [partnerId], service.now())],
      ['deliveries', () => listDeliveries(service.database, { partnerId, limit: 10 })],
      [
        'refused creates',
        async () => {
          const row = await requirePartner(service.database, partnerId)
          return findRefusedCreates(service.database, partnerOf(row, service.keyring), 'nobody')
        },
      ],
      ['readiness', async () => expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200)],
      [
        'the mark that a start looks at',
        () =>
          markInstallation(service.database, {
            keyring: service.keyring,
            wanted: 'sandbox',
            now: service.now(),
          }),
      ],
      ['deleted webhook', () => client.deleteWebhook({ webhookid })],
    ]
    for (const [name, run] of operations) {
      const outcome = await Promise.race([
        run().then(() => 'done', String),
        setTimeout(PATIENCE_MS, 'waits for the node of another', { ref: false }),
      ])
      expect({ name, outcome }).toEqual({ name, outcome: 'done' })
    }
  },
)
