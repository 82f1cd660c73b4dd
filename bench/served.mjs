// The service as built, on an embedded PostgreSQL of its own in a scratch directory, for a benchmark that sends load to it
// from other processes.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

function fileOf(path) {
  return fileURLToPath(new URL(path, import.meta.url))
}
const bin = fileOf('../service/bin/enrolment.js')

/** Prints one figure on a line. */
export function say(name, text) {
  return process.stdout.write(`${name.padEnd(34)}${text}\n`)
}

/** Starts the service with the demo catalog; `profile` names a folder for a CPU profile. */
export async function startServed(name, { profile } = {}) {
  const scratch = mkdtempSync(join(tmpdir(), `enrolment-${name}-`))
  const dataDir = join(scratch, 'data')
  const env = { ...process.env, HOME: scratch }
  const logFile = join(scratch, 'service.log')
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []
  if (profile) mkdirSync(profile, { recursive: true })

  const enrolment = (...words) => {
    const args = [bin, ...words, '--data', dataDir, '--json']
    const options = { cwd: scratch, encoding: 'utf8', env }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
    if (status !== 0) throw new Error(`enrolment ${words.join(' ')}: ${stderr}`)
    return JSON.parse(stdout)
  }
  const child = spawn(process.execPath, [...profiling, bin, 'serve', '--port', '0', '--data', dataDir], {
    cwd: scratch,
    env,
    stdio: ['ignore', 'pipe', openSync(logFile, 'a')],
  })
  const log = () => readFileSync(logFile, 'utf8')
  const address = await addressFrom(child)
  if (!address) throw new Error(`the service did not start: ${log()}`)
  enrolment('catalogue', 'publish', fileOf('../service/assets/demo-catalogue.yaml'))
  return {
    address,
    dataDir,
    log,
    /** Creates a partner; returns a function that writes the head of its requests to a path. */
    async openPartner(partnerName) {
      const partner = enrolment('partner', 'create', '--name', partnerName)
      const basic = Buffer.from(`${partner.clientid}:${partner.clientsecret}`).toString('base64')
      const response = await fetch(`${address}/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      })
      const { access_token } = await response.json()
      const credentials = [`Authorization: Bearer ${access_token}`, `x-api-key: ${partner.apikey}`]
      const type = 'Content-Type: application/json\r\n'
      return path => [`POST ${path} HTTP/1.1`, 'Host: localhost', ...credentials, type].join('\r\n')
    },
    async close() {
      child.kill('SIGTERM')
      await new Promise(resolve => child.once('exit', resolve))
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

async function addressFrom(child) {
  const start = 'listening on '
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith(start)) return line.slice(start.length)
  return undefined
}

/** Runs a generator in a process of its own and returns what it printed. */
export async function generate(program, job) {
  const child = spawn(process.execPath, [fileOf(program), JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  return JSON.parse(text)
}
