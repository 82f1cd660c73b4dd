import { AsyncLocalStorage } from 'node:async_hooks'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benefitEnrolment } from '@benefit-enrolment/cli'
import { runProgram } from '@benefit-enrolment/command'
import { withDatabase } from '@benefit-enrolment/embedded-postgres'
import { expect, onTestFinished } from 'vitest'
import { enrolment } from '../../service/src/program.ts'

/** The checkout. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The file that Node runs as `enrolment`. */
export const bin = join(root, 'service/bin/enrolment.js')
const partnerBin = join(root, 'cli/bin/benefit-enrolment.js')

/** Whether it is a command of the partner's program, `benefit-enrolment`. */
function isOfPartner([first = '', second = '-']: readonly string[]): boolean {
  if (first === 'doctor') return !second.startsWith('-')
  return ['listen', 'trigger', 'link', 'people'].includes(first)
}

type Environment = Readonly<Record<string, string>>

/** Where and as whom a command runs. */
export type Place = {
  readonly env?: Environment
  readonly cwd?: string
  readonly account?: { uid: number; gid: number }
}

/** How a command ended and what it wrote. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

function folderOf({ cwd = tmpdir() }: Place): string {
  return cwd
}

/** Only the part of the environment that a program needs to be found, and what the place adds. */
function environmentOf({ env }: Place): Environment {
  const few = { ENROLMENT_DRAIN_SECONDS: '0', ENROLMENT_PROCESSES: '1' }
  return { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), ...few, ...env }
}

function launch(words: readonly string[], place: Place, given?: string): ChildProcess {
  const file = given ?? (isOfPartner(words) ? partnerBin : bin)
  return spawn(process.execPath, [file, ...words], {
    cwd: folderOf(place),
    env: environmentOf(place),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...place.account,
  })
}

/** Runs `enrolment` with these words to its end, as a process of its own. */
export async function runProcess(words: readonly string[], place: Place = {}): Promise<Ended> {
  const child = launch(words, place)
  const written = gather(child)
  const code = await endOf(child)
  return { code, ...written() }
}

/** What a command that runs in this process has written. */
type Written = { stdout: string; stderr: string }
const writing = new AsyncLocalStorage<Written>()
for (const name of ['stdout', 'stderr'] as const) {
  const write = process[name].write.bind(process[name]) as (...given: unknown[]) => boolean
  process[name].write = ((...given: readonly unknown[]) => {
    const written = writing.getStore()
    if (!written) return write(...given)
    written[name] += String(given[0])
    const done = given.at(-1)
    if (typeof done === 'function') done()
    return true
  }) as typeof process.stdout.write
}

/** The folder of the commands that run in this process, which has only one. */
const here = { folder: '', running: 0, before: process.cwd() }

/**
 * Runs `enrolment`, or the partner's program, with these words to its end. A command is a function, so it runs in this process, as that costs a
 * fifth of starting one; a process of its own runs what must be one.
 */
export async function run(words: readonly string[], place: Place = {}): Promise<Ended> {
  const isElsewhere = here.running > 0 && here.folder !== folderOf(place)
  return isAlone(words, place) || isElsewhere ? runProcess(words, place) : runHere(words, place)
}

/** The same for one that ends by itself, in this process whatever it is. */
export async function runHere(words: readonly string[], place: Place): Promise<Ended> {
  const folder = folderOf(place)
  const written: Written = { stdout: '', stderr: '' }
  here.folder = folder
  here.running += 1
  process.chdir(folder)
  try {
    const code = await writing.run(written, () =>
      runProgram(isOfPartner(words) ? benefitEnrolment : enrolment, words, environmentOf(place)),
    )
    return { code, ...written }
  } finally {
    here.running -= 1
    if (here.running === 0) process.chdir(here.before)
  }
}

/** Whether it must be a process of its own: it serves, another user runs it, or its environment is read by Node.js or the driver. */
function isAlone([first = '']: readonly string[], { account, env = {} }: Place): boolean {
  const isRead = 'NODE_OPTIONS' in env || 'PGPASSWORD' in env
  return ['dev', 'serve', 'console', 'listen'].includes(first) || account !== undefined || isRead
}

/** Starts a command that runs until it is stopped; it is killed after the test. */
export function startCommand(
  words: readonly string[],
  place: Place = {},
): { stderr: () => string; stop: () => Promise<Ended> } {
  const child = launch(words, place)
  const written = gather(child)
  const ended = endOf(child)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    stderr: () => written().stderr,
    async stop() {
      child.kill('SIGTERM')
      const code = await ended
      return { code, ...written() }
    },
  }
}

/** Runs a command that answers with JSON; fails when it does not end with 0. */
export async function runJson<T>(words: readonly string[], place: Place = {}): Promise<T> {
  const { code, stdout, stderr } = await run([...words, '--json'], place)
  if (code !== 0) throw new Error(`enrolment ${words.join(' ')} ended with ${code}: ${stderr}`)
  if (!/^\S.*\n$/.test(stdout)) throw new Error(`not one line: ${stdout}`)
  return JSON.parse(stdout) as T
}

/**
 * Runs a command that is refused, and returns its message: plain sentences on standard error, nothing on standard
 * output. Its exit code is 2 when the message points to the help, because the words were not understood, else 1.
 */
export async function runRefused(words: readonly string[], place: Place = {}): Promise<string> {
  const { code, stdout, stderr } = await run(words, place)
  expect({ code, stdout }).toEqual({
    code: /see (`(?:benefit-)?enrolment [^`]*)?--help/.test(stderr) ? 2 : 1,
    stdout: '',
  })
  expect(stderr).toMatch(/^[^{}]+[.)]\n$/)
  expect(stderr).not.toMatch(/\bat .*:\d+:\d+|Error:/)
  return stderr.trim()
}

/** Runs a command and kills it without warning as soon as `isTime`; returns whether it was killed in time. */
export async function runKilledWhen(
  words: readonly string[],
  place: Place,
  isTime: () => boolean,
): Promise<boolean> {
  const child = launch(words, place)
  const looking = setInterval(() => isTime() && child.kill('SIGKILL'), 5)
  const code = await endOf(child)
  clearInterval(looking)
  return code === null
}

/** A service that runs as a process of its own. */
export type ServiceProcess = {
  readonly child: ChildProcess
  readonly pid: number
  /** The address in its first line: `http://HOST:PORT`. */
  readonly address: string
  readonly stdout: () => string
  readonly stderr: () => string
  /** The lines of its log. */
  readonly log: () => { event: string; [field: string]: unknown }[]
  /** Sends a signal and waits for the end; returns the exit code, `null` after a kill. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
}

/** Starts `enrolment dev` or `serve` and waits until it says that it listens; it is killed after the test. */
export async function startProcess(words: readonly string[], place: Place = {}): Promise<ServiceProcess> {
  const service = await startKeptProcess(words, place)
  onTestFinished(async () => {
    await service.stop('SIGKILL')
  })
  return service
}

/** The same for a whole file of tests, which stops it itself; `file` is what Node starts instead of the command. */
export async function startKeptProcess(
  words: readonly string[],
  place: Place = {},
  file?: string,
): Promise<ServiceProcess> {
  const child = launch(words, place, file)
  const written = gather(child)
  const ended = endOf(child)
  const address = await Promise.race([
    firstLine(child).then(line => line.replace(/^listening on /, '')),
    ended.then(code => {
      throw new Error(`enrolment ${words.join(' ')} ended with ${code}: ${written().stderr}`)
    }),
  ])
  return {
    child,
    pid: child.pid ?? 0,
    address,
    stdout: () => written().stdout,
    stderr: () => written().stderr,
    log: () =>
      written()
        .stderr.split('\n')
        // What root reads about the account of PostgreSQL is a sentence; all else is JSON.
        .filter(line => line !== '' && !line.startsWith('PostgreSQL never runs as root'))
        .map(line => JSON.parse(line) as { event: string }),
    stop: (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}

function gather(child: ChildProcess) {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  return () => ({ stdout, stderr })
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise(resolve => child.once('close', resolve))
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise(resolve => {
    let text = ''
    const read = (chunk: Buffer) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end < 0) return
      child.stdout?.off('data', read)
      resolve(text.slice(0, end))
    }
    child.stdout?.on('data', read)
  })
}

/** A fresh directory. */
export async function newDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'enrolment-test-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** A new data directory for one test; a database that still runs in it is stopped afterwards. */
export async function newDataDir(): Promise<string> {
  const { path, remove } = await newDirectory()
  onTestFinished(async () => {
    await endDatabase(path)
    await remove()
  })
  return path
}

/** Stops the embedded database of a data directory, if one runs there. */
export async function endDatabase(dataDir: string): Promise<void> {
  if (!existsSync(join(dataDir, 'postgres/postmaster.pid'))) return
  // A PostgreSQL that was left behind is stopped by whoever comes next.
  await withDatabase({ dataDir }, async () => {}).catch(() => {})
}
