import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onNode } from '../cluster.ts'
import { freePort } from '../free-port.ts'

const home = '/usr/lib/postgresql/15'

/** Debian's PostgreSQL 15 with Citus, and a user who may run it as `postgres`. */
export const canRunCluster = existsSync(`${home}/lib/citus.so`) && process.getuid?.() === 0

/** A Citus cluster that belongs to one test file, whose nodes may be killed. */
export type OwnCluster = {
  /** The address of the coordinator's database. */
  readonly url: string
  /** The port of the coordinator. */
  readonly coordinator: number
  /** The ports of the two workers. */
  readonly workers: readonly number[]
  /** Stops a node with all its sessions, so that it takes connections and never answers. */
  readonly hang: (node: number) => void
  /** Ends a node with all its sessions, as in a crash. */
  readonly kill: (node: number) => void
  /** Starts a killed node again. */
  readonly revive: (node: number) => void
  /** Writes what is only in the nodes' memory to their data files. */
  readonly checkpoint: () => Promise<void>
  /** The directory in which all nodes are, and where in it. */
  readonly directory: string
  readonly nodes: readonly { readonly data: string; readonly log: string }[]
  readonly stop: () => void
}

/** Starts a coordinator and two workers. They do not sync to disk, because only processes end here, not the machine. */
export async function startOwnCluster(): Promise<OwnCluster> {
  const place = mkdtempSync(join(tmpdir(), 'enrolment-cluster-'))
  chownSync(place, idOf('-u'), idOf('-g'))
  const ports = [await freePort(), await freePort(), await freePort()] as const
  const [coordinator, ...workers] = ports
  const dataOf = (port: number) => join(place, `${port}`)
  const start = (port: number) =>
    asPostgres('pg_ctl', ['-D', dataOf(port), '-l', join(place, `${port}.log`), '-w', '-t', '120', 'start'])
  const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`
  for (const port of ports) {
    asPostgres('initdb', [
      '-D',
      dataOf(port),
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ])
    writeFileSync(join(dataOf(port), 'postgresql.conf'), settingsOf(port))
    start(port)
    await onNode(urlOf(port), 'create extension citus')
  }
  await onNode(urlOf(coordinator), `select citus_set_coordinator_host('127.0.0.1', ${coordinator})`)
  for (const port of workers) await onNode(urlOf(coordinator), `select citus_add_node('127.0.0.1', ${port})`)
  const signal = (node: number, name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL') => {
    const postmaster = Number(readFileSync(join(dataOf(node), 'postmaster.pid'), 'utf8').split('\n')[0])
    const sessions = execFileSync('pgrep', ['-P', `${postmaster}`], { encoding: 'utf8' })
    // The postmaster first, because it would notice the end of the others.
    for (const pid of [postmaster, ...sessions.trim().split('\n').map(Number)]) send(pid, name)
  }
  return {
    url: urlOf(coordinator),
    coordinator,
    workers,
    hang: node => signal(node, 'SIGSTOP'),
    kill: node => signal(node, 'SIGKILL'),
    revive(node) {
      // A session that has not ended yet may hold its memory for a moment.
      for (let tries = 0; ; tries += 1) {
        try {
          return start(node)
        } catch (error) {
          if (tries === 20) throw error
        }
      }
    },
    async checkpoint() {
      for (const port of ports) await onNode(urlOf(port), 'checkpoint')
    },
    directory: place,
    nodes: ports.map(port => ({ data: `${port}`, log: `${port}.log` })),
    stop() {
      for (const port of ports) {
        // A node that a failed test left killed cannot be stopped.
        try {
          signal(port, 'SIGCONT')
          asPostgres('pg_ctl', ['-D', dataOf(port), '-m', 'immediate', '-w', 'stop'])
        } catch {}
      }
      rmSync(place, { recursive: true, force: true })
    },
  }
}

function settingsOf(port: number): string {
  return [
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    "unix_socket_directories = ''",
    "shared_preload_libraries = 'citus'",
    'max_connections = 200',
    'max_prepared_transactions = 400',
    'wal_level = logical',
    'fsync = off',
    'jit = off',
    'citus.shard_count = 4',
    '',
  ].join('\n')
}

/** A session may have ended by itself meanwhile. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error
  }
}

function idOf(flag: string): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
}

/** Its output is discarded: a server that it starts would keep a pipe open forever. */
function asPostgres(program: string, args: readonly string[]): void {
  execFileSync('runuser', ['-u', 'postgres', '--', `${home}/bin/${program}`, ...args], { stdio: 'ignore' })
}
