// Starts what is measured: `serve` as built, on an embedded PostgreSQL of its own, with its log in a file; and a
// bare node:http server that answers the same bytes.
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { embeddedServer, ended, generate, headersOf, listening, startServed, tokenOf } from '../served.mjs'

/** Loads a module of the service as built. */
export function built(path) {
  return import(new URL(`../../service/dist/${path}`, import.meta.url))
}

/** Starts the service with the demo catalog; `profile` names a folder for a CPU profile of each process. */
export async function startStand({ profile } = {}) {
  const served = await startServed('bench', { profile })
  const { scratch, dataDir, address, services, newPartner } = served
  const { pid, ...server } = embeddedServer(dataDir)
  served.publishDemo()
  const admin = new pg.Client({ ...server, user: 'postgres' })
  await admin.connect()

  return {
    scratch,
    server,
    admin,
    services,
    startMs: services[0].startMs,
    addresses: count => services.slice(0, count).map(one => one.address),
    servicePids: () => services.map(({ child }) => child.pid),
    postmasterPids: [pid],
    /** Starts another service with that many processes on the same database. */
    startAnother: processes =>
      served.startAnother({
        ENROLMENT_PROCESSES: String(processes),
        DATABASE_URL: `postgres://enrolment@localhost:${server.port}/enrolment?host=${encodeURIComponent(server.host)}`,
      }),
    newPartner,
    newPartners: count =>
      makePartners(count, { address, database: { ...server, user: 'enrolment' }, keys: { dataDir } }),
    /** Sends one request of a partner and resolves to the bytes of the answer. Throws unless the status is 200. */
    async call(partner, path, body, headers = {}) {
      const asked = {
        method: 'POST',
        headers: { ...headersOf(partner), ...headers },
        body: JSON.stringify(body),
      }
      const response = await fetch(address + path, asked)
      const answer = Buffer.from(await response.arrayBuffer())
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${answer}`)
      return answer
    },
    async close() {
      await admin.end()
      await served.close()
    },
  }
}

/** Creates many partners of a service, in its database, with the function behind `partner create`. */
export async function makePartners(count, { address, database: where, keys }) {
  const { createPartner } = await built('partners/administer.js')
  const { clientIdOf } = await built('oauth/client-credentials.js')
  const { openDatabase } = await built('db/database.js')
  const { loadKeyring } = await built('vault/keyring.js')
  const database = openDatabase(where, { max: 2, onError: () => {} })
  await database.learnCells()
  const keyring = loadKeyring(keys)
  const context = { database, keyring, mode: 'live', real: Date.now, by: 'bench', knownOffers: [] }
  const partners = []
  for (let at = 0; at < count; at += 1) {
    const { row, clientSecret, apiKey } = await createPartner({ name: `bench ${at}` }, context)
    partners.push(
      await tokenOf(address, {
        partnerid: row.partner_id,
        apikey: apiKey,
        clientid: clientIdOf(row.partner_id),
        clientsecret: clientSecret,
      }),
    )
  }
  await database.close()
  return partners
}

/** Starts a bare node:http server, which reads each request's body and always answers the same bytes. */
export async function startBare(bytes) {
  const { child, address } = await listening([fileURLToPath(new URL('bare.mjs', import.meta.url))], {
    env: { PATH: process.env.PATH, BENCH_ANSWER: bytes.toString('base64') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { address, pid: child.pid, close: () => ended(child) }
}

/** Runs the load generator and returns its figures. */
export function load(job) {
  return generate('load.mjs', job)
}
