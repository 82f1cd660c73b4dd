import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { onTestFinished, test } from 'vitest'
import type { SocketAddress } from '../src/database.ts'
import { type OwnedDatabase, ownEmbeddedDatabase } from '../src/own.ts'
import { withDatabase } from '../src/running.ts'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const nobody = { uid: 65534, gid: 65534 }

let pristine = ''

/** Builds the packages and makes a database to copy; returns a function that removes it. For `beforeAll`. */
export async function preparePristine(): Promise<() => Promise<void>> {
  // The owners that are killed here run as processes of their own, from the built output.
  execFileSync('npx', ['tsc', '-b'], { cwd: join(root, '..'), stdio: 'pipe' })
  pristine = await mkdtemp(join(tmpdir(), 'embedded-test-'))
  await withDatabase({ dataDir: pristine }, async () => {})
  return () => rm(pristine, { recursive: true, force: true })
}

// The everyday run leaves these out: see `tests/long.ts`.
export const long = test.skipIf(['everyday', 'ci'].includes(process.env['TESTS'] ?? ''))
export const rootTest = process.getuid?.() === 0 ? long : test.skip

export const imports = `
  import pg from 'pg'
  import { ownEmbeddedDatabase } from '${root}/dist/own.js'
  import { withDatabase } from '${root}/dist/running.js'`

export const ownerScript = `${imports}
  const owned = await ownEmbeddedDatabase({ dataDir: process.argv[1], log: () => {} })
  console.log(JSON.stringify(owned.address))
  setInterval(() => {}, 60_000)`

export async function newDataDir(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'embedded-test-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A data directory after a first start and a clean stop, copied to save the time of the first start. */
export async function dataDirWithDatabase(): Promise<string> {
  const dataDir = await newDataDir()
  execFileSync('cp', ['-a', `${pristine}/.`, dataDir])
  return dataDir
}

export async function own(
  dataDir: string,
  log: (event: string) => void = () => undefined,
): Promise<OwnedDatabase> {
  const owned = await ownEmbeddedDatabase({ dataDir, log })
  onTestFinished(() => owned.stop())
  return owned
}

export function runScript(
  script: string,
  dataDir: string,
  account: { uid?: number; gid?: number } = {},
): ChildProcess {
  return spawn(process.execPath, ['--input-type=module', '--eval', script, dataDir], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...account,
  })
}

/** An owner in a process of its own; what it leaves behind is cleared away after the test. */
export async function startOwner(
  dataDir: string,
  account: { uid?: number; gid?: number } = {},
): Promise<{ child: ChildProcess; address: SocketAddress }> {
  const child = runScript(ownerScript, dataDir, account)
  onTestFinished(async () => {
    await kill(child)
    if (existsSync(join(dataDir, 'postgres/postmaster.pid'))) await withDatabase({ dataDir }, async () => {})
  })
  if (!child.stdout) throw new Error('the owner has no standard output')
  for await (const line of createInterface(child.stdout)) return { child, address: JSON.parse(line) }
  throw new Error('the owner ended without an address')
}

export async function refusal(dataDir: string): Promise<{ said: string }> {
  const script = `${imports}
    await ownEmbeddedDatabase({ dataDir: process.argv[1], log: () => {} })
      .catch(error => console.log(error.name + ': ' + error.message))`
  const child = runScript(script, dataDir, nobody)
  let said = ''
  child.stdout?.on('data', (printed: Buffer) => {
    said += printed
  })
  await ending(child)
  return { said: said.trim() }
}

export function canRead(uid: number): boolean {
  try {
    execFileSync(process.execPath, ['--input-type=module', '--eval', imports], {
      cwd: root,
      uid,
      stdio: 'pipe',
    })
    return true
  } catch {
    return false
  }
}

export async function ending(child: ChildProcess): Promise<number | null> {
  return new Promise(resolve => child.once('close', resolve))
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = ending(child)
  child.kill('SIGKILL')
  await ended
}

export async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

export function postgresFiles(dataDir: string): string[] {
  return execFileSync('ls', [join(dataDir, 'postgres')])
    .toString()
    .split('\n')
}

export function isAlive(pid: number): boolean {
  const [state] = execFileSync('sh', ['-c', `ps -o state= -p ${pid} || true`])
    .toString()
    .trim()
  return state !== undefined && state !== 'Z'
}

export async function query(
  address: SocketAddress,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(address)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}

export async function eventually<T>(attempt: () => Promise<T>, pause = 20): Promise<T> {
  const deadline = performance.now() + 90_000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(pause)
    }
  }
}
