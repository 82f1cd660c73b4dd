import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, onTestFinished, test } from 'vitest'
import { queueAgain } from '../../service/src/webhooks/log/replay.ts'
import { freePort } from '../free-port.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

// The receivers that docs/webhooks.md shows to partners, run unchanged.
const root = fileURLToPath(new URL('../..', import.meta.url))
const page = await readFile(join(root, 'docs/webhooks.md'), 'utf8')
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython)
  process.stderr.write('NO PYTHON: the receiver in Python that the docs show is not run here.\n')

/** The functions that the page leaves to the reader: they store in memory, and print what they do. */
const left = {
  ts: `
const stored = new Set<string>()
async function store(key: string, _event: unknown) {
  const isNew = !stored.has(key)
  stored.add(key)
  return isNew
}
function queueYourOwnWork(event: { userid: string }) {
  console.log('work for ' + event.userid)
}
`,
  python: `
stored = set()
def store(key, body):
    is_new = key not in stored
    stored.add(key)
    return is_new

def queue_your_own_work(event):
    print("work for " + event["userid"], flush=True)
`,
}

type Language = keyof typeof left
type Running = { url: string; said: () => string }

function shown(language: Language, port: number): string {
  const block = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''
  expect(block).toContain('8443')
  return (left[language] + block).replaceAll('8443', String(port))
}

/** How each receiver is started: compiled, or written into the folder. */
const start: Record<
  Language,
  (text: string, options: { folder: string; env: NodeJS.ProcessEnv }) => Promise<ChildProcess>
> = {
  async ts(text, { folder, env }) {
    const file = join(folder, 'receiver.mjs')
    await build({
      stdin: { contents: text, loader: 'ts', resolveDir: root },
      outfile: file,
      logLevel: 'silent',
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['source'],
    })
    return spawn(process.execPath, [file], { env })
  },
  async python(text, { folder, env }) {
    const file = join(folder, 'receiver.py')
    await writeFile(file, text)
    return spawn('python3', [file], { env })
  },
}

async function run(language: Language, { port, secret }: { port: number; secret: string }): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), 'documented-receiver-'))
  const env = { PATH: process.env.PATH, HOOK_PASSWORD: 'pass', HOOK_SECRET: secret }
  const child = await start[language](shown(language, port), { folder, env })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  let said = ''
  child.stdout?.on('data', chunk => {
    said += chunk
  })
  await expect.poll(() => answers(port)).toBe(true)
  return { url: `http://127.0.0.1:${port}/`, said: () => said }
}

function answers(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

async function deliverTwice(rig: DispatchRig, endpointId: string): Promise<void> {
  const dispatcher = rig.open()
  const [eventId = ''] = await rig.raise(['u-documented'])
  await dispatcher.idle()
  await queueAgain(rig.database, [{ partnerId: rig.partner.partnerId, endpointId, eventId }], rig.now())
  await dispatcher.idle()
}

describe.each([
  ['ts', true],
  ['python', hasPython],
] as const)('the receiver of the docs in %s', (language, isThere) => {
  test.runIf(isThere)(
    'takes what we send, works once for an event that comes twice, and refuses forgeries',
    async () => {
      await using rig = await dispatchRig()
      const port = await freePort()
      const made = await rig.addEndpoint(`http://127.0.0.1:${port}/`, { username: 'benefits' })
      const { url, said } = await run(language, { port, secret: made.webhooksecret })
      await deliverTwice(rig, made.webhookid)
      expect(await rig.count('deliveries')).toBe(0)
      expect(await rig.count('delivery_attempts')).toBe(2)
      const headers = {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from('benefits:pass').toString('base64')}`,
        'idempotency-key': '0b8f9a4e-5a53-4a55-9a0e-7b8f3f1c2d4e',
        'webhook-id': '0b8f9a4e-5a53-4a55-9a0e-7b8f3f1c2d4e',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
      }
      expect((await fetch(url, { method: 'POST', headers, body: '{"userid":"forged"}' })).status).toBe(401)
      await expect.poll(said).toBe('work for u-documented\n')
    },
  )
})
