import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort } from '../free-port.ts'

const bin = '/usr/lib/postgresql/15/bin'

/** Whether Debian's PostgreSQL 15 and PgBouncer are installed, and this user may run them. */
export const canRunServers =
  existsSync(`${bin}/postgres`) && existsSync('/usr/sbin/pgbouncer') && process.getuid?.() === 0

function idOf(flag: string) {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
}

function newPlace() {
  const path = mkdtempSync(join(tmpdir(), 'enrolment-server-'))
  chownSync(path, idOf('-u'), idOf('-g'))
  return path
}

function asPostgres(program: string, args: readonly string[]) {
  return execFileSync('runuser', ['-u', 'postgres', '--', program, ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
  })
}

/** A PostgreSQL that belongs to one test file, with TLS by a self-signed certificate. */
export type OwnServer = {
  readonly port: number
  readonly certificate: string
  /** Runs a statement as `open`, who is a superuser. */
  readonly execute: (statement: string) => void
  /** Starts a warm standby of it. */
  readonly startStandby: () => Promise<{ readonly port: number; readonly stop: () => void }>
  readonly stop: () => void
}

/** Starts it: `open` is trusted, `plain` needs a password, `sealed` a password and TLS. */
export async function startOwnServer(): Promise<OwnServer> {
  const place = newPlace()
  const data = join(place, 'data')
  const port = await freePort()
  asPostgres(`${bin}/initdb`, ['-D', data, '-U', 'open', '-A', 'trust', '-E', 'UTF8', '--no-sync'])
  const certificate = join(data, 'server.crt')
  asPostgres('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '3650',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
    '-keyout',
    join(data, 'server.key'),
    '-out',
    certificate,
  ])
  writeFileSync(
    join(data, 'pg_hba.conf'),
    [
      'host all open 127.0.0.1/32 trust',
      'host all reader 127.0.0.1/32 trust',
      'host replication open 127.0.0.1/32 trust',
      'host all plain 127.0.0.1/32 scram-sha-256',
      'hostssl all sealed 127.0.0.1/32 scram-sha-256',
    ].join('\n'),
  )
  const start = (directory: string, onPort: number) => {
    const settings = [
      `-p ${onPort}`,
      '-c listen_addresses=127.0.0.1',
      '-c unix_socket_directories=',
      '-c ssl=on',
    ]
    const options = [...settings, '-c fsync=off'].join(' ')
    asPostgres(`${bin}/pg_ctl`, ['-D', directory, '-l', `${directory}.log`, '-w', 'start', '-o', options])
  }
  const stop = (directory: string) => {
    asPostgres(`${bin}/pg_ctl`, ['-D', directory, '-m', 'immediate', '-w', 'stop'])
  }
  start(data, port)
  const here = ['-h', '127.0.0.1', '-p', `${port}`, '-U', 'open']
  const execute = (statement: string) => {
    asPostgres(`${bin}/psql`, [...here, '-d', 'postgres', '-qc', statement])
  }
  for (const role of ['plain', 'sealed']) execute(`create role ${role} login superuser password 'right'`)
  return {
    port,
    certificate,
    execute,
    startStandby: async () => {
      const copy = join(place, 'standby')
      const itsPort = await freePort()
      asPostgres(`${bin}/pg_basebackup`, [...here, '-D', copy, '-R', '-c', 'fast', '-X', 'stream'])
      start(copy, itsPort)
      return { port: itsPort, stop: () => stop(copy) }
    },
    stop: () => {
      stop(data)
      rmSync(place, { recursive: true, force: true })
    },
  }
}

/** Starts a PgBouncer in front of it for one test; returns its port. */
export async function startPooler(server: OwnServer, settings: readonly string[]): Promise<number> {
  const place = newPlace()
  const port = await freePort()
  writeFileSync(join(place, 'users'), '"open" ""\n')
  writeFileSync(
    join(place, 'ini'),
    [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port}`,
      '[pgbouncer]',
      `listen_port = ${port}`,
      'listen_addr = 127.0.0.1',
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${join(place, 'users')}`,
      ...settings,
      '',
    ].join('\n'),
  )
  const child = spawn('runuser', ['-u', 'postgres', '--', '/usr/sbin/pgbouncer', '-q', join(place, 'ini')], {
    stdio: 'ignore',
  })
  const ended = new Promise(resolve => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(place, { recursive: true, force: true })
  })
  while (!(await answers(port))) if (child.exitCode !== null) throw new Error('PgBouncer did not start')
  return port
}

function answers(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => setTimeout(() => resolve(false), 20))
  })
}
