// Starts what is measured: `serve` as built, on an embedded PostgreSQL of its own, with its log in a file; and a
// bare node:http server that answers the same bytes.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

function fileOf(path) {
  return fileURLToPath(new URL(path, import.meta.url))
}
const bin = fileOf('../../service/bin/enrolment.js')
function built(path) {
  return import(new URL(`../../service/dist/${path}`, import.meta.url))
}

/** Starts a program and waits until it says where it listens. */
async function listening(args, options) {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, options)
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address] = /^listening on (\S+)/.exec(line) ?? []
    if (!address) continue
    child.stdout.resume()
    return { child, address, startMs: performance.now() - startedAt }
  }
  throw new Error(`it did not start: ${args.join(' ')}`)
}

async function ended(child) {
  if (child.exitCode !== null) return
  const exit = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exit
}

/** Starts the service with the demo catalog; `profile` names a folder for a CPU profile of each process. */
export async function startStand({ profile } = {}) {
  const scratch = mkdtempSync(join(tmpdir(), 'enrolment-bench-'))
  const dataDir = join(scratch, 'data')
  const environment = { PATH: process.env.PATH, HOME: scratch }
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []
  if (profile) mkdirSync(profile, { recursive: true })
  const serve = more =>
    listening([...profiling, bin, 'serve', '--port', '0', '--data', dataDir], {
      cwd: scratch,
      env: { ...environment, ...more },
      stdio: ['ignore', 'pipe', openSync(join(scratch, 'service.log'), 'a')],
    })
  const enrolment = (...words) => {
    const args = [bin, ...words, '--data', dataDir, '--json']
    const how = { cwd: scratch, encoding: 'utf8', env: environment }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, how)
    if (status !== 0) throw new Error(`enrolment ${words.join(' ')}: ${stderr}`)
    return JSON.parse(stdout)
  }

  const services = [await serve({})]
  const lines = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')
  const server = { host: lines[4], port: Number(lines[3]), database: 'enrolment' }
  enrolment('catalogue', 'publish', fileOf('../../service/assets/demo-catalogue.yaml'))
  const admin = new pg.Client({ ...server, user: 'postgres' })
  await admin.connect()

  const tokenOf = async ({ clientid, clientsecret, apikey, partnerid }) => {
    const basic = Buffer.from(`${clientid}:${clientsecret}`).toString('base64')
    const response = await fetch(`${services[0].address}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    const { access_token: token } = await response.json()
    if (!token) throw new Error(`no token: ${response.status}`)
    return { partnerid, apikey, basic, token }
  }

  return {
    scratch,
    server,
    admin,
    startMs: services[0].startMs,
    addresses: count => services.slice(0, count).map(({ address }) => address),
    servicePids: () => services.map(({ child }) => child.pid),
    postmasterPid: Number(lines[0]),
    /** Starts another process of the service on the same database. */
    async startAnother() {
      const url = `postgres://enrolment@localhost:${server.port}/enrolment?host=${encodeURIComponent(server.host)}`
      services.push(await serve({ DATABASE_URL: url }))
    },
    newPartner: async name => tokenOf(enrolment('partner', 'create', '--name', name)),
    /** Creates many partners with the function behind `partner create`. */
    async newPartners(count) {
      const { createPartner } = await built('partners/manage.js')
      const { clientIdOf } = await built('oauth/client-credentials.js')
      const { openDatabase } = await built('db/database.js')
      const { loadKeyring } = await built('vault/keyring.js')
      const database = openDatabase({ ...server, user: 'enrolment' }, { max: 2, onError: () => {} })
      const keyring = loadKeyring({ dataDir })
      const context = { database, keyring, mode: 'live', real: Date.now, knownOffers: [] }
      const partners = []
      for (let at = 0; at < count; at += 1) {
        const { row, clientSecret, apiKey } = await createPartner({ name: `bench ${at}` }, context)
        partners.push(
          await tokenOf({
            partnerid: row.partner_id,
            apikey: apiKey,
            clientid: clientIdOf(row.partner_id),
            clientsecret: clientSecret,
          }),
        )
      }
      await database.close()
      return partners
    },
    /** Sends one request of a partner and resolves to the bytes of the answer. Throws unless the status is 200. */
    async call(partner, path, body) {
      const headers = {
        authorization: `Bearer ${partner.token}`,
        'x-api-key': partner.apikey,
        'content-type': 'application/json',
      }
      const response = await fetch(services[0].address + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      const answer = Buffer.from(await response.arrayBuffer())
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${answer}`)
      return answer
    },
    async close() {
      await admin.end()
      for (const { child } of services.toReversed()) await ended(child)
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

/** Starts a bare node:http server, which reads each request's body and always answers the same bytes. */
export async function startBare(bytes) {
  const { child, address } = await listening([fileOf('bare.mjs')], {
    env: { PATH: process.env.PATH, BENCH_ANSWER: bytes.toString('base64') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { address, pid: child.pid, close: () => ended(child) }
}

/** Runs the load generator and returns its figures. */
export async function load(job) {
  const child = spawn(process.execPath, [fileOf('../load.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] })
  // A thousand partners with their tokens are more than the arguments of a process may hold.
  child.stdin.end(JSON.stringify(job))
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  return JSON.parse(text)
}
