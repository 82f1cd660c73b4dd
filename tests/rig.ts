import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDatabase, dropDatabase } from '@benefit-enrolment/embedded-postgres'
import { inject, vi } from 'vitest'
import { type ClientOptions, type CreateUser, createClient, type PartnerClient } from '../client/src/index.ts'
import { type RequestLimits, scopeNames } from '../contract/src/index.ts'
import { openConsole } from '../service/src/assembly/console.ts'
import { readWholeCatalogue } from '../service/src/catalogue/bring-files.ts'
import type { Language } from '../service/src/catalogue/model.ts'
import { publishVersion } from '../service/src/catalogue/published.ts'
import { type Database, type DatabaseAddress, openDatabase } from '../service/src/db/database.ts'
import { migrate } from '../service/src/db/migrate.ts'
import { SERVICE_SESSIONS } from '../service/src/db/pool.ts'
import { rewriteTable } from '../service/src/db/rewrite-table.ts'
import { sql } from '../service/src/db/sql.ts'
import type { TurnLimits } from '../service/src/http/shedding/turns.ts'
import { markInstallation } from '../service/src/installation.ts'
import type { Log } from '../service/src/log.ts'
import { clientIdOf } from '../service/src/oauth/client-credentials.ts'
import type { ProviderSettings } from '../service/src/operators/provider-settings.ts'
import { type AdministerContext, createPartner } from '../service/src/partners/administer.ts'
import type { PartnerSettings } from '../service/src/partners/settings.ts'
import { type Service, startService } from '../service/src/service.ts'
import { type Keyring, loadKeyring } from '../service/src/vault/keyring.ts'
import { copyOnCluster, createOnCluster, databaseUrl, dropOnCluster, onNode } from './cluster.ts'
import { type Conformance, openConformance } from './conformance.ts'
import { emptyDatabase } from './global-setup.ts'
import { patientDatabase } from './patient-database.ts'
import { startPrism } from './prism.ts'
import { clocks } from './slow-clock.ts'

/** Creates a new migrated database, or an empty one; `drop` removes it. */
export async function freshDatabase({
  empty = false,
}: {
  empty?: boolean
} = {}): Promise<{ address: DatabaseAddress; drop: () => Promise<void> }> {
  const server = inject('testServer')
  const name = `test_${randomBytes(6).toString('hex')}`
  if (server.kind === 'embedded') {
    const address = { host: server.host, port: server.port, user: server.user, database: name }
    await createDatabase(address, name, empty ? undefined : server.template)
    return { address, drop: () => dropDatabase(address, name) }
  }
  const address = { url: databaseUrl(server.url, name) }
  const cluster = server.kind === 'cluster' ? server.cluster : ([server.url] as const)
  if (server.kind === 'url')
    await onNode(
      server.url,
      `create database ${name} ${empty ? emptyDatabase : `template ${server.template} strategy file_copy`}`,
    )
  else if (empty) await createOnCluster(cluster, name, emptyDatabase)
  else await copyOnCluster(cluster, name, server.template)
  return { address, drop: () => dropOnCluster(cluster, name) }
}

/** Credentials of a partner, and a client that uses them. */
export type TestPartner = {
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly apiKey: string
  readonly client: PartnerClient
  /** A client with other options, for example with fewer scopes, or without the API key. */
  readonly connect: (options?: Partial<ClientOptions> & { withoutApiKey?: boolean }) => PartnerClient
  /** An access token. */
  readonly token: () => Promise<string>
}

/** A service under test. */
export type TestService = {
  readonly baseUrl: string
  readonly database: Database
  readonly address: DatabaseAddress
  readonly keyring: Keyring
  /** The root key in it, as ENROLMENT_ROOT_KEY gives it to a command. */
  readonly rootKey: string
  readonly manage: AdministerContext
  /** What the service logged. */
  readonly logged: { event: string; fields: Readonly<Record<string, unknown>> }[]
  /** Checks answers against the description; a violation fails the test file at its end. */
  readonly conformance: Conformance
  readonly service: () => Service & { readonly consoleUrl: string | undefined }
  /** Creates a partner that has every scope unless the settings say otherwise. */
  readonly newPartner: (settings?: PartnerSettings) => Promise<TestPartner>
  /** Publishes a catalogue given as YAML; the files that it names are beside the demo catalogue. */
  readonly publish: (yaml: string) => Promise<number>
  /** Moves the service's real time forward; by itself it hardly moves. */
  readonly advance: (ms: number) => void
  readonly now: () => number
  /** Stops the service and starts another on the same database. */
  readonly restart: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** The file of the demo catalogue. */
export const demoCatalogueFile = fileURLToPath(
  new URL('../service/assets/demo-catalogue.yaml', import.meta.url),
)
export const demoCatalogue = await readFile(demoCatalogueFile, 'utf8')

/**
 * Starts a service on a new database, with the demo catalogue published; a sandbox unless the options say otherwise.
 */
export async function startTestService(
  options: {
    sandbox?: boolean
    basePath?: string
    startAt?: number
    /** Whether its real time stands still at `startAt`, or is that of the machine; that of a slow clock unless given. */
    clock?: 'still' | 'machine'
    catalogue?: string
    limits?: TurnLimits
    requestLimits?: RequestLimits
    /** Also opens the operators' console: on any port, or on this one behind an address of its own. */
    console?: boolean | { readonly port: number; readonly url: string }
    /** The proxies whose X-Forwarded-For is believed. */
    trustProxy?: readonly string[]
    /** The identity provider at which the console's operators sign in. */
    signIn?: ProviderSettings
    /** Drafts of the page's languages that people may choose. */
    drafts?: readonly Language[]
    /** How many cells it has where the tests run on a cluster; one unless it is given. */
    cells?: number
    /** Whether it rewrites the table of data keys by itself, as the embedded database is kept. */
    rewritesKeys?: boolean
    /** A database that is there already, with its root key, in place of a new one; it stays afterwards. */
    on?: { readonly address: DatabaseAddress; readonly rootKey: string }
  } = {},
): Promise<TestService> {
  const { sandbox = true } = options
  const { address, drop } = options.on
    ? { ...options.on, drop: async () => {} }
    : await freshDatabase({ empty: options.cells !== undefined })
  const database = openDatabase(address, { max: 8, ...patientDatabase })
  if (options.cells !== undefined) await migrate(database, { cells: options.cells })
  await database.learnCells()
  const deliveryDatabase = openDatabase(address, {
    max: 4,
    sessionName: SERVICE_SESSIONS,
    ...patientDatabase,
  })
  const rootKey = options.on?.rootKey ?? randomBytes(32).toString('base64')
  const keyring = loadKeyring({ rootKey })
  const { now: real, advance } = clocks[options.clock ?? 'slow'](options.startAt)
  const installation = await markInstallation(database, {
    keyring,
    wanted: sandbox ? 'sandbox' : 'live',
    now: real(),
  })
  const publish = async (yaml: string): Promise<number> => {
    const parsed = await readWholeCatalogue(yaml, dirname(demoCatalogueFile))
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
    const { document, brought: files } = parsed
    return (await publishVersion(database, { document, files, at: real(), by: 'test' })).version
  }
  if (!options.on) await publish(options.catalogue ?? demoCatalogue)
  const logged: TestService['logged'] = []
  const conformance = openConformance(options.basePath ?? '')
  const log: Log = (event, fields = {}) => logged.push({ event, fields })
  const { trustProxy, signIn } = options
  const start = async () => {
    const service = await startService({
      database,
      deliveryDatabase,
      webhookRules: { sandbox, allow: [] },
      dispatcher: { pollMs: 50 },
      keyring,
      installation,
      host: '127.0.0.1',
      port: 0,
      ...(options.basePath ? { baseUrl: `http://127.0.0.1:1${options.basePath}` } : {}),
      log,
      real,
      trustProxy: trustProxy ?? [],
      // A slow machine does not count as overload unless a test says so.
      limits: options.limits ?? { atOnce: 224, patienceMs: 60_000 },
      drafts: options.drafts,
      ...(options.requestLimits ? { requestLimits: options.requestLimits } : {}),
      ...(options.rewritesKeys
        ? { rewriteKeys: (cell: string) => rewriteTable(address, { table: 'data_keys', cell }) }
        : {}),
    })
    if (!options.console) return { ...service, consoleUrl: undefined }
    const place = options.console === true ? { port: 0, url: undefined } : options.console
    const looking = openDatabase(address, { max: 2, ...patientDatabase })
    const opened = await openConsole({
      ...{ database, looking, keyring, installation, real, log },
      at: { host: '127.0.0.1', ...place, trustProxy, signIn },
      publicUrl: async () => service.baseUrl,
      erasures: undefined,
    })
    const close = async () => {
      await opened.close()
      await looking.close()
      await service.close()
    }
    return { ...service, consoleUrl: opened.url, close }
  }
  let service = await start()
  const prism = await startPrism(service.address, options.basePath)
  const manage: AdministerContext = {
    database,
    keyring,
    mode: sandbox ? 'sandbox' : 'live',
    real,
    knownOffers: [],
    by: 'rig',
  }
  const baseUrl = () => service.address + (options.basePath ?? '')

  return {
    get baseUrl() {
      return baseUrl()
    },
    database,
    address,
    keyring,
    rootKey,
    manage,
    logged,
    conformance,
    service: () => service,
    publish,
    advance,
    now: real,
    async newPartner(settings = {}) {
      const { row, clientSecret, apiKey } = await createPartner(
        { name: 'Test Partner', scopes: scopeNames, ...settings },
        manage,
      )
      const clientId = clientIdOf(row.partner_id)
      const connect: TestPartner['connect'] = ({ withoutApiKey = false, ...more } = {}) =>
        createClient({
          baseUrl: prism?.address ?? baseUrl(),
          clientId,
          clientSecret,
          ...(withoutApiKey ? {} : { apiKey }),
          tries: 1,
          // These limits only catch a hang.
          timeoutMs: 50_000,
          deadlineMs: 50_000,
          fetch: conformance.fetch,
          ...more,
        })
      return {
        partnerId: row.partner_id,
        clientId,
        clientSecret,
        apiKey,
        connect,
        client: connect(),
        token: async () => {
          const response = await fetch(`${baseUrl()}/oauth2/token`, {
            method: 'POST',
            headers: {
              authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
            },
            body: new URLSearchParams({ grant_type: 'client_credentials' }),
          })
          const { access_token } = (await response.json()) as { access_token: string }
          return access_token
        },
      }
    },
    async restart() {
      await service.close()
      service = await start()
    },
    async [Symbol.asyncDispose]() {
      await prism?.close()
      await service.close()
      // On a busy machine a statement may outlast the grace of a close; a connection that is never returned is an
      // error.
      await vi.waitFor(
        () => {
          if (database.use().busy > 0) throw new Error('connections are still busy after close')
        },
        { timeout: 120_000 },
      )
      const torn = await tornUsers(database)
      await deliveryDatabase.close()
      await database.close()
      await drop()
      if (torn.length > 0) throw new Error(`parts of one thing without the others: ${torn.join(' ')}`)
      if (conformance.violations.length > 0) {
        throw new Error(`not as the description says:\n${conformance.violations.join('\n')}`)
      }
    },
  }
}

/**
 * The users of whom a part is stored without what belongs to it. No check of the schema says so, because PostgreSQL would
 * read it anew for each statement that writes.
 */
async function tornUsers(database: Database): Promise<string[]> {
  const rows = await database.query<{ userid: string }>(sql`
    select userid from users where version < 1 or prefill_count < 0 or userid = ''
      or num_nonnulls(offer, offer_since, offer_version) not in (0, 3)
      or num_nonnulls(pending_offer, pending_offer_at) not in (0, 2)
      or num_nonnulls(swap_pairs, swap_at) not in (0, 2)
      or num_nonnulls(cancel_at, cancel_requested_at, cancel_reason) not in (0, 3)`)
  return rows.map(row => row.userid)
}

/** A person whom every offer of the demo catalogue admits. */
export const ada = {
  firstname: 'Adacanary',
  lastname: 'Riveracanary',
  email: 'ada.canary@example.com',
  zipcode: '33101',
  dob: '1990-03-27',
  phone: '3055550142',
  gender: 'F',
  address: {
    addline1: '12 Canary Drive',
    addline2: '',
    addline3: '',
    city: 'Miami',
    state: 'FL',
    zipcode: '33101',
  },
} as const

/** A child, whom the dental benefit of the demo catalogue covers. */
export const child = {
  relationship: 'child',
  firstname: 'Childcanary',
  lastname: 'Riveracanary',
  dob: '2019-05-04',
  benefits: [{ name: 'dental' }],
} satisfies NonNullable<CreateUser['dependants']>[number]

/** What the page would send for the same person. */
export const adaAsks = { age: 36, state: 'FL', zipcode: '33101', partnername: '', offername: '' } as const
