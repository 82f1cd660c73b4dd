import { randomBytes } from 'node:crypto'
import { vi } from 'vitest'
import type { EventName } from '../../contract/src/index.ts'
import { type Database, type DatabaseAddress, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { newUser } from '../../service/src/membership/rules/state.ts'
import { statementsOf } from '../../service/src/membership/saving/save.ts'
import { noWrites } from '../../service/src/membership/saving/writes.ts'
import { createPartner } from '../../service/src/partners/administer.ts'
import { openDirectory } from '../../service/src/partners/directory.ts'
import type { Partner } from '../../service/src/partners/partner.ts'
import { type Keyring, loadKeyring } from '../../service/src/vault/keyring.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import {
  type Dispatcher,
  type DispatcherOptions,
  openDispatcher,
} from '../../service/src/webhooks/delivery/dispatcher.ts'
import { type WebhookMetrics, webhookMetrics } from '../../service/src/webhooks/delivery/metrics.ts'
import type { EgressProxy } from '../../service/src/webhooks/egress/connect.ts'
import { eventBody } from '../../service/src/webhooks/egress/envelope.ts'
import { createOutgoing } from '../../service/src/webhooks/egress/outgoing.ts'
import { createResolver, type NameResolver } from '../../service/src/webhooks/egress/resolver.ts'
import { addEndpoint, type EndpointInput } from '../../service/src/webhooks/endpoint/endpoints.ts'
import { patientDatabase } from '../patient-database.ts'
import { freshDatabase } from '../rig.ts'
import { slowClock } from '../slow-clock.ts'

const rules = { sandbox: true, allow: [] }

/** A process that raises events, by its own clock. */
export type Writer = { readonly aheadMs: number; readonly newId: typeof uuidv7 }

/** A writer whose ids do not follow those of others: within one process ids never go back, whatever the clock does. */
export async function newWriter(aheadMs: number): Promise<Writer> {
  vi.resetModules()
  const anew = '../../service/src/vault/uuid.ts?anew'
  const own = (await import(anew)) as typeof import('../../service/src/vault/uuid.ts')
  return { aheadMs, newId: own.uuidv7 }
}

/** Dispatchers on a bare database, with events raised as the executor raises them. */
export type DispatchRig = {
  readonly database: Database
  readonly address: DatabaseAddress
  readonly keyring: Keyring
  readonly rootKey: string
  readonly partner: Partner
  readonly logged: { event: string; fields: Readonly<Record<string, unknown>> }[]
  readonly newPartner: (name: string) => Promise<Partner>
  readonly addEndpoint: (
    url: string,
    wish?: Partial<EndpointInput>,
  ) => Promise<{ webhookid: string; webhooksecret: string }>
  /** Raises events in one transaction, one for each userid; returns their ids. */
  readonly raise: (
    userids: readonly string[],
    options?: { partner?: Partner; eventname?: EventName; writer?: Writer },
  ) => Promise<string[]>
  readonly open: (
    options?: DispatcherOptions,
    own?: {
      deadlineMs?: number
      resolver?: NameResolver
      database?: Database
      metrics?: WebhookMetrics
      trusted?: string
      proxy?: EgressProxy
      real?: () => number
    },
  ) => Dispatcher
  /** Moves the clock of the dispatchers and of new events; by itself it hardly moves. */
  readonly advance: (ms: number) => void
  readonly now: () => number
  readonly count: (table: 'deliveries' | 'dead_deliveries' | 'delivery_attempts') => Promise<number>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Opens the rig; everything that it starts is closed with it. */
export async function dispatchRig(): Promise<DispatchRig> {
  const { address, drop } = await freshDatabase()
  const all = openDatabase(address, { max: 8, ...patientDatabase })
  await all.learnCells()
  // On a cluster it has one cell.
  const [database = all] = all.cells()
  const rootKey = randomBytes(32).toString('base64')
  const keyring = loadKeyring({ rootKey })
  const { now: real, advance } = slowClock(Date.now())
  const logged: DispatchRig['logged'] = []
  const directory = openDirectory({ database, keyring, mode: 'sandbox', real })
  const closers: (() => Promise<void>)[] = []
  const services = new Map<string, string>()
  const newPartner = async (name: string): Promise<Partner> => {
    const { row } = await createPartner(
      { name },
      { database, keyring, mode: 'sandbox', real, knownOffers: [], by: 'rig' },
    )
    const partner = await directory.partner(row.partner_id)
    if (!partner) throw new Error('the partner is missing')
    return partner
  }
  const partner = await newPartner('Test Partner')

  return {
    database,
    address,
    keyring,
    rootKey,
    partner,
    logged,
    newPartner,
    async addEndpoint(url, wish = {}) {
      const made = await addEndpoint(
        database,
        { partner, url, username: 'hook', password: 'pass', events: 'all', ...wish },
        { rules, real },
      )
      if ('refused' in made) throw new Error(JSON.stringify(made.refused))
      return made
    },
    async raise(userids, options = {}) {
      const owner = options.partner ?? partner
      const eventname = options.eventname ?? 'offer_activiation_successful'
      const { aheadMs, newId } = options.writer ?? { aheadMs: 0, newId: uuidv7 }
      const now = () => real() + aheadMs
      const events = userids.map(userid => {
        const name = `${owner.partnerId} ${userid}`
        const serviceId = services.get(name) ?? newId(now())
        services.set(name, serviceId)
        const user = newUser({ partnerId: owner.partnerId, serviceId, userid, at: now() })
        return {
          id: newId(now()),
          user,
          eventname,
          body: eventBody({
            userid,
            eventname,
            offer: 'plus',
            updatedat: new Date(now()).toISOString(),
            serviceid: serviceId,
          }),
          data: {},
        }
      })
      await database.commit(statementsOf({ ...noWrites(now()), events }))
      return events.map(event => event.id)
    },
    open(options = {}, own = {}) {
      const outgoing = createOutgoing({
        rules,
        resolver: own.resolver ?? createResolver(),
        ...(own.deadlineMs === undefined ? {} : { deadlineMs: own.deadlineMs }),
        ...(own.trusted === undefined ? {} : { trusted: own.trusted }),
        proxy: own.proxy,
      })
      const dispatcher = openDispatcher(
        {
          database: own.database ?? database,
          directory,
          outgoing,
          metrics: own.metrics ?? webhookMetrics({ database, real }),
          real: own.real ?? real,
          log: (event, fields = {}) => logged.push({ event, fields }),
        },
        { pollMs: 50, graceMs: 300, ...options },
      )
      closers.push(async () => {
        await dispatcher.close()
        await outgoing.close()
      })
      return dispatcher
    },
    advance,
    now: real,
    async count(table) {
      const [row] = await database.query<{ count: number }>(
        table === 'deliveries'
          ? sql`select count(*) as count from deliveries`
          : table === 'dead_deliveries'
            ? sql`select count(*) as count from dead_deliveries`
            : sql`select count(*) as count from delivery_attempts`,
      )
      return row?.count ?? 0
    },
    async [Symbol.asyncDispose]() {
      for (const close of closers) await close()
      // On a busy machine a statement may outlast the grace of a close; a connection that is never returned is an
      // error.
      await vi.waitFor(
        () => {
          if (database.use().busy > 0) throw new Error('connections are still busy after close')
        },
        { timeout: 120_000 },
      )
      await database.close()
      await drop()
    },
  }
}

/**
 * Makes a failing endpoint open its breaker: one event fails four times, so that its fifth attempt is minutes away,
 * then another event fails.
 */
export async function failOldest(rig: DispatchRig, dispatcher: Dispatcher): Promise<void> {
  await rig.raise(['oldest'])
  await dispatcher.idle()
  for (const seconds of [6, 36, 144]) {
    rig.advance(seconds * 1000 + 10)
    await dispatcher.idle()
  }
  await rig.raise(['opener'])
  await dispatcher.idle()
}
