// How fast the service is through HTTP, as ratios that hold within one run on one machine:
//   prefill    requests a second (v2, credentials, a new user and a new key each) over what pgbench reaches when it
//              writes the same rows into the same server, one transaction each, at its best concurrency
//   benefits   requests a second over those of a bare node:http server that answers the same bytes
// `serve` runs as built, on an embedded PostgreSQL of its own, and writes its log into a file.
//   npm run bench -- [--seconds 10] [--connections 64] [--profile DIR]
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '64' },
    profile: { type: 'string' },
  },
})
const seconds = Number(options.seconds)
const connections = Number(options.connections)
const bin = fileURLToPath(new URL('../service/bin/enrolment.js', import.meta.url))
const loader = fileURLToPath(new URL('load.mjs', import.meta.url))
const catalogue = fileURLToPath(new URL('../service/assets/demo-catalogue.yaml', import.meta.url))
const scratch = process.env.BENCH_BARE ? tmpdir() : mkdtempSync(join(tmpdir(), 'enrolment-bench-'))
const dataDir = join(scratch, 'data')
const environment = { PATH: process.env.PATH, HOME: scratch }

const say = (name, text) => process.stdout.write(`${name.padEnd(34)}${text}\n`)
const rate = result => result.requests / result.seconds
const shown = perSecond => `${Math.round(perSecond).toLocaleString('en-US')}/s`

const enrolment = (...words) => {
  const args = [bin, ...words, '--data', dataDir, '--json']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: scratch,
    encoding: 'utf8',
    env: environment,
  })
  if (status !== 0) throw new Error(`enrolment ${words.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

const startService = async () => {
  const profiling = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []
  if (options.profile) mkdirSync(options.profile, { recursive: true })
  const log = openSync(join(scratch, 'service.log'), 'a')
  const args = [...profiling, bin, 'serve', '--port', '0', '--data', dataDir]
  const child = spawn(process.execPath, args, {
    cwd: scratch,
    env: environment,
    stdio: ['ignore', 'pipe', log],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('listening on ')) return { child, address: line.slice('listening on '.length) }
  }
  throw new Error(`the service did not start: ${readFileSync(join(scratch, 'service.log'), 'utf8')}`)
}

const residentMegabytes = pid => {
  try {
    return (
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024
    )
  } catch {
    return Number.NaN
  }
}

const load = async job => {
  const full = { connections, seconds, ...job }
  const child = spawn(process.execPath, [loader, JSON.stringify(full)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  return JSON.parse(text)
}

const tokenOf = async (address, partner) => {
  const basic = Buffer.from(`${partner.clientid}:${partner.clientsecret}`).toString('base64')
  const response = await fetch(`${address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  return (await response.json()).access_token
}

const headOf = (path, token, partner) =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    `x-api-key: ${partner.apikey}`,
    'Content-Type: application/json\r\n',
  ].join('\r\n')

/** The socket's directory and port of the embedded server. */
const serverOf = () => {
  const lines = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')
  return { host: lines[4], port: Number(lines[3]) }
}

const asSuperuser = async work => {
  const client = new pg.Client({ ...serverOf(), user: 'postgres', database: 'enrolment' })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
const checkpoint = () => asSuperuser(client => client.query('checkpoint'))

const findPgbench = () => {
  const folders = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : []
  const places = folders.map(version => `/usr/lib/postgresql/${version}/bin/pgbench`)
  return ['pgbench', ...places].find(place => spawnSync(place, ['--version']).status === 0)
}

/** One prefill as one statement: the same tables, row counts and sizes as the service writes; a single round trip. */
const writePrefillScript = async partnerId => {
  const size = await asSuperuser(async client => {
    const { rows } = await client.query(`
      select (select avg(octet_length(sealed))::int from documents) as sealed,
        (select avg(octet_length(wrapped_key))::int from data_keys) as wrapped,
        (select avg(octet_length(body))::int from events) as body,
        (select (count(*) / greatest(1, (select count(*) from users)))::int from history) as lines`)
    return rows[0]
  })
  const bytes = length => `decode(repeat('5a', ${length}), 'hex')`
  const lines = Array.from(
    { length: size.lines },
    (_, at) => `(${at + 1}, uuidv7(), 'prefill', '', 'stored')`,
  ).join(', ')
  const file = join(scratch, 'prefill.sql')
  writeFileSync(
    file,
    `with fresh as (select uuidv7() as id, now() as at),
    u as (insert into users (partner_id, service_id, userid, status, created_at, updated_at, prefill_count,
        prefill_written_at, entry_expires_at, due_at)
      select '${partnerId}', id, id::text, 'prefilled', at, at, 1, at, at + interval '90 days', at + interval '90 days' from fresh),
    k as (insert into data_keys select '${partnerId}', id, ${bytes(size.wrapped)} from fresh),
    d as (insert into documents select '${partnerId}', id, 'prefill', ${bytes(size.sealed)}, at from fresh),
    h as (insert into history (partner_id, service_id, sequence_number, entry_id, at, recorded_at, what, from_state, to_state, who, why)
      select '${partnerId}', id, line.number, line.entry, at, at, line.what, line.old, line.new, 'partner', 'prefill'
      from fresh, (values ${lines}) as line (number, entry, what, old, new)),
    e as (insert into events (partner_id, event_id, service_id, userid, eventname, idempotency_key, body, data, created_at)
      select '${partnerId}', uuidv7(), id, id::text, 'enrollment_request_received', gen_random_uuid(), ${bytes(size.body)}, '{}', at from fresh)
    insert into idempotency_keys (partner_id, operation, key_hash, request_hash, attempt_id, service_id, prefill_number,
      created_at, expires_at)
    select '${partnerId}', 'prefillUser', sha256(id::text::bytea), sha256(id::text::bytea), gen_random_uuid(), id, 1, at,
      at + interval '90 days' from fresh;\n`.replace(/\n\s*/g, ' '),
  )
  return file
}

const pgbench = (program, script, clients, duration) => {
  const { host, port } = serverOf()
  const where = ['-h', host, '-p', String(port), '-U', 'enrolment']
  const how = ['-n', '-M', 'prepared', '-f', script, '-c', String(clients), '-j', '2', '-T', String(duration)]
  const { status, stdout, stderr } = spawnSync(program, [...where, ...how, 'enrolment'], { encoding: 'utf8' })
  const perSecond = Number(/tps = ([\d.]+)/.exec(stdout ?? '')?.[1])
  if (status !== 0 || !perSecond) throw new Error(`pgbench: ${stderr}`)
  return perSecond
}

const measurePrefill = async (service, partner, token) => {
  const head = headOf('/user/prefill', token, partner)
  const job = { address: service.address, head, kind: 'prefill' }
  await load({ ...job, name: `warm-${Date.now()}`, seconds: 2 })
  await checkpoint()
  const http = await load({ ...job, name: `bench-${Date.now()}` })
  const time = `median ${http.milliseconds.median} ms, p99 ${http.milliseconds.p99} ms`
  say('prefill through HTTP', `${shown(rate(http))}   ${time}   ${JSON.stringify(http.statuses)}`)
  const program = findPgbench()
  if (!program) {
    say('pgbench', 'is not installed (Debian: postgresql-15); the ratio is left out')
    return
  }
  const script = await writePrefillScript(partner.partnerid)
  await checkpoint()
  const tried = [8, 16, 32, 64].map(clients => ({ clients, perSecond: pgbench(program, script, clients, 2) }))
  const best = tried.reduce((a, b) => (a.perSecond > b.perSecond ? a : b))
  await checkpoint()
  const reached = Math.max(best.perSecond, pgbench(program, script, best.clients, seconds))
  say('the same rows by pgbench', `${shown(reached)}   ${best.clients} clients`)
  say('prefill / pgbench', (rate(http) / reached).toFixed(2))
}

const startBare = async body => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': body.length,
      })
      response.end(body)
    })
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', 4096, resolve))
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`)
}

const measureBenefits = async (service, partner, token) => {
  const call = (path, body, more = {}) =>
    fetch(service.address + path, {
      method: 'POST',
      headers: {
        ...{
          authorization: `Bearer ${token}`,
          'x-api-key': partner.apikey,
          'content-type': 'application/json',
        },
        ...more,
      },
      body: JSON.stringify(body),
    })
  const person = {
    firstname: 'Ada',
    lastname: 'Rivera',
    email: 'ada@example.com',
    dob: '1990-03-27',
    state: 'FL',
    zipcode: '33101',
  }
  const users = Array.from({ length: 500 }, (_, index) => `holder-${index}`)
  for (const userid of users) {
    const created = await call('/user/account/create', {
      userid,
      ...person,
      offername: 'starter',
      benefits: ['telehealth'],
    })
    if (created.status !== 200 && created.status !== 409) throw new Error(`create: ${created.status}`)
  }
  const asked = { userid: users[0], age: 36, state: 'FL', zipcode: '33101', partnername: '', offername: '' }
  const body = Buffer.from(await (await call('/user/benefits', asked)).arrayBuffer())
  const bareFile = join(scratch, 'answer.json')
  writeFileSync(bareFile, body)
  const job = { head: headOf('/user/benefits', token, partner), kind: 'benefits', users }
  await load({ ...job, address: service.address, seconds: 2 })
  const http = await load({ ...job, address: service.address })
  const time = `median ${http.milliseconds.median} ms, p99 ${http.milliseconds.p99} ms`
  say(
    'benefits through HTTP',
    `${shown(rate(http))}   ${time}   ${JSON.stringify(http.statuses)}   ${body.length} bytes`,
  )
  const bare = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    env: { ...environment, BENCH_BARE: bareFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let address = ''
    for await (const line of createInterface({ input: bare.stdout })) {
      address = line.slice('listening on '.length)
      break
    }
    await load({ ...job, address, seconds: 2 })
    const plain = await load({ ...job, address })
    say('the same bytes by bare node:http', shown(rate(plain)))
    say('benefits / bare', (rate(http) / rate(plain)).toFixed(2))
  } finally {
    bare.kill()
  }
}

const main = async () => {
  const service = await startService()
  try {
    enrolment('catalogue', 'publish', catalogue)
    const partner = enrolment('partner', 'create', '--name', 'bench')
    await sleep(3000)
    say('at rest', `${residentMegabytes(service.child.pid).toFixed(0)} MB resident`)
    const token = await tokenOf(service.address, partner)
    await measurePrefill(service, partner, token)
    await measureBenefits(service, partner, token)
    say('after the load', `${residentMegabytes(service.child.pid).toFixed(0)} MB resident`)
  } finally {
    service.child.kill('SIGTERM')
    await new Promise(resolve => service.child.once('exit', resolve))
    rmSync(scratch, { recursive: true, force: true })
  }
}

if (process.env.BENCH_BARE) await startBare(readFileSync(process.env.BENCH_BARE))
else await main()
