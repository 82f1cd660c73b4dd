// The service as built, for a benchmark that sends load to it from other processes.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

function fileOf(path) {
  return fileURLToPath(new URL(path, import.meta.url))
}
const bin = fileOf('../service/bin/enrolment.js')

/** Prints one figure on a line. */
export function say(name, told) {
  return process.stdout.write(`${name.padEnd(44)}${told}\n`)
}

// Who fails or is stopped leaves no service behind, also none that is just starting.
const started = new Set()
process.once('exit', () => {
  for (const child of started) child.kill('SIGTERM')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))

/** Starts a program and waits until it says where it listens. */
export async function listening(args, options) {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, options)
  started.add(child)
  child.once('exit', () => started.delete(child))
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address] = /^listening on (\S+)/.exec(line) ?? []
    if (!address) continue
    child.stdout.resume()
    return { child, address, startMs: performance.now() - startedAt }
  }
  throw new Error(`it did not start: ${args.join(' ')}`)
}

/** Ends a program, and waits until it has ended. */
export async function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exit
}

/** Gets an access token for a partner as `partner create` prints it; returns it beside the other credentials. */
export async function tokenOf(address, { partnerid, clientid, clientsecret, apikey }) {
  const basic = Buffer.from(`${clientid}:${clientsecret}`).toString('base64')
  const response = await fetch(`${address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token: token } = await response.json()
  if (!token) throw new Error(`no token: ${response.status}`)
  return { partnerid, apikey, basic, token }
}

/** The headers of a partner's requests. */
export function headersOf({ token, apikey }) {
  return { authorization: `Bearer ${token}`, 'x-api-key': apikey, 'content-type': 'application/json' }
}

/**
 * Starts the service on an embedded PostgreSQL of its own, or on the database of `env.DATABASE_URL`. Its files are in a
 * scratch directory, or stay in `place`; `profile` names a folder for a CPU profile of each process.
 */
export async function startServed(name, { place, env, profile } = {}) {
  const scratch = place ?? mkdtempSync(join(tmpdir(), `enrolment-${name}-`))
  const dataDir = join(scratch, 'data')
  const logFile = join(scratch, 'service.log')
  const environment = { PATH: process.env.PATH, HOME: scratch, ENROLMENT_PROCESSES: '1', ...env }
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []
  if (profile) mkdirSync(profile, { recursive: true })
  const log = () => readFileSync(logFile, 'utf8')
  const serve = (more, command = 'serve') =>
    listening([...profiling, bin, command, '--port', '0', '--data', dataDir], {
      cwd: scratch,
      env: { ...environment, ...more },
      stdio: ['ignore', 'pipe', openSync(logFile, 'a')],
    })
  const enrolment = (...words) => {
    const args = [bin, ...words, '--data', dataDir, '--json']
    const how = { cwd: scratch, encoding: 'utf8', env: environment }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, how)
    if (status !== 0) throw new Error(`enrolment ${words.join(' ')}: ${stderr}`)
    return JSON.parse(stdout)
  }
  const services = [
    await serve().catch(error => {
      throw new Error(`${error.message}: ${log()}`)
    }),
  ]
  const { address } = services[0]
  return {
    scratch,
    dataDir,
    address,
    services,
    log,
    enrolment,
    /** Publishes the demo catalogue, with changes allowed to the end of a month, so that a bench runs on its last day, too. */
    publishDemo() {
      const assets = join(scratch, 'assets')
      cpSync(fileOf('../service/assets'), assets, { recursive: true })
      const file = join(assets, 'demo-catalogue.yaml')
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll('cutoffhours: 24', 'cutoffhours: 0'))
      enrolment('catalogue', 'publish', file)
    },
    /** Starts a command beside the service; its words are in the log. */
    spawn(...words) {
      const args = [bin, ...words, '--data', dataDir, '--json']
      return spawn(process.execPath, args, {
        cwd: scratch,
        env: environment,
        stdio: ['ignore', 'pipe', openSync(logFile, 'a')],
      })
    },
    /** Starts another process of the service. */
    async startAnother(more) {
      services.push(await serve(more))
    },
    /** Starts the operators' console, which ends with the services; returns its address. */
    async startConsole() {
      services.push(await serve({}, 'console'))
      return services.at(-1).address
    },
    /** Creates a partner; returns its id and credentials with an access token. */
    newPartner: partnerName => tokenOf(address, enrolment('partner', 'create', '--name', partnerName)),
    async close() {
      for (const { child } of services.toReversed()) await ended(child)
      if (!place) rmSync(scratch, { recursive: true, force: true })
    },
  }
}

/** The head of a partner's requests to a path, up to the length of the body. */
export function headFor(partner, path) {
  const fields = Object.entries(headersOf(partner)).map(([name, value]) => `${name}: ${value}`)
  return [`POST ${path} HTTP/1.1`, 'Host: localhost', ...fields, ''].join('\r\n')
}

/** The address of the embedded PostgreSQL of a data directory, and its process. */
export function embeddedServer(dataDir) {
  const lines = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')
  return { pid: Number(lines[0]), host: lines[4], port: Number(lines[3]), database: 'enrolment' }
}

/** Runs a generator in a process of its own and returns what it printed. */
export async function generate(program, job) {
  const child = spawn(process.execPath, [fileOf(program)], { stdio: ['pipe', 'pipe', 'inherit'] })
  // A thousand partners with their tokens are more than the arguments of a process may hold.
  child.stdin.end(JSON.stringify(job))
  return JSON.parse(await text(child.stdout))
}
