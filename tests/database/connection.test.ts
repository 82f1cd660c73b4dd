// @databases embedded

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { newDirectory, run, runRefused, startKeptProcess } from '../command/process.ts'
import { canRunServers, type OwnServer, startOwnServer, startPooler } from './own-server.ts'

/** Starts a proxy for one test that no longer answers anybody once a statement contains the word; returns its port. */
async function startSilencing(port: number, word: string): Promise<number> {
  let isSilent = false
  const sockets = new Set<Socket>()
  const proxy = createServer(client => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('data', bytes => {
      isSilent ||= bytes.includes(word)
      if (!isSilent) upstream.write(bytes)
    })
    upstream.on('data', bytes => {
      if (!isSilent) client.write(bytes)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => {
      if (!isSilent) client.destroy()
    })
  })
  await new Promise<void>(resolve => {
    proxy.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  return (proxy.address() as AddressInfo).port
}

if (!canRunServers)
  process.stderr.write(
    '\nNOT RUN: what stands between service and database wants root, PostgreSQL 15 and PgBouncer of Debian.\n',
  )

describe.skipIf(!canRunServers)(
  'what stands between the service and its database is told in a sentence',
  () => {
    let server: OwnServer
    let cwd: string
    let removeDirectory: () => Promise<void>
    beforeAll(async () => {
      server = await startOwnServer()
      const directory = await newDirectory()
      cwd = directory.path
      removeDirectory = directory.remove
    })
    afterAll(async () => {
      server.stop()
      await removeDirectory()
    })

    const place = (userAndHost: string, rest = 'postgres') => ({
      cwd,
      env: { DATABASE_URL: `postgres://${userAndHost}:${server.port}/${rest}` },
    })
    const refusal = (userAndHost: string, rest?: string) =>
      runRefused(['partner', 'list'], place(userAndHost, rest))

    test('a wrong password, and none', async () => {
      for (const user of ['plain:wrong', 'plain'])
        expect(await refusal(`${user}@127.0.0.1`)).toBe(
          'PostgreSQL refused the password: check user and password in DATABASE_URL, where % / ? # [ ] @ : are percent-encoded, or PGPASSWORD.',
        )
    })

    test('a password beside the address may have any character', async () => {
      const password = 'a/b+c#d?e@f%g:h'
      server.execute(`alter role plain password '${password}'`)
      const { cwd, env } = place('plain@127.0.0.1')
      const beside = { cwd, env: { ...env, PGPASSWORD: password } }
      expect(await runRefused(['partner', 'list'], beside)).toMatch(/^This database is empty/)
      server.execute("alter role plain password 'right'")
    })

    test('no such database', async () => {
      expect(await refusal('open@127.0.0.1', 'nowhere')).toBe(
        'There is no such database: make it (`createdb`), or check the name in DATABASE_URL.',
      )
    })

    test('a server that demands TLS, and a certificate that nobody vouches for', async () => {
      expect(await refusal('sealed:right@localhost')).toMatch(
        /^PostgreSQL does not let this user in without encryption: add `\?sslmode=verify-full` to DATABASE_URL/,
      )
      // The driver itself would say much about `require`.
      for (const mode of ['verify-full', 'require'])
        expect(await refusal('sealed:right@localhost', `postgres?sslmode=${mode}`)).toMatch(
          /^The certificate of PostgreSQL is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\): add `\?sslmode=verify-full&sslrootcert=FILE`/,
        )
      const trusted = `postgres?sslmode=verify-full&sslrootcert=${server.certificate}`
      expect(await refusal('sealed:right@localhost', trusted)).toMatch(/^This database is empty/)
      expect(await refusal('sealed:right@127.0.0.1', trusted)).toContain('(ERR_TLS_CERT_ALTNAME_INVALID)')
    })

    test('a database that cannot store every character', async () => {
      server.execute("create database narrow template template0 encoding 'LATIN1' locale 'C'")
      for (const words of [['migrate'], ['serve', '--port', '0']])
        expect((await run(words, place('open@127.0.0.1', 'narrow'))).stderr).toMatch(
          /^The database has the encoding LATIN1, in which not every character can be stored: make one with `createdb/,
        )
    })

    test('a user who may only read', async () => {
      server.execute('create role reader login superuser')
      server.execute('alter role reader set default_transaction_read_only = on')
      expect(await refusal('reader@127.0.0.1')).toMatch(/^PostgreSQL lets the user of DATABASE_URL only read/)
    })

    test('a standby', async () => {
      const standby = await server.startStandby()
      onTestFinished(standby.stop)
      const env = { DATABASE_URL: `postgres://open@127.0.0.1:${standby.port}/postgres` }
      for (const words of [['partner', 'list'], ['migrate'], ['serve', '--port', '0']])
        expect(await runRefused(words, { cwd, env })).toMatch(
          /^DATABASE_URL names a standby, which takes no writes: name the primary\./,
        )
    })

    test('a server that is not there', async () => {
      expect(
        await runRefused(['partner', 'list'], {
          cwd,
          env: { DATABASE_URL: 'postgres://open@127.0.0.1:1/x' },
        }),
      ).toBe('The database cannot be reached (ECONNREFUSED): check DATABASE_URL and that the server runs.')
    })

    test('a server that stops answering while the service starts', async () => {
      const own = place('open@127.0.0.1')
      const env = { ...own.env, ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64') }
      server.execute('create database silent')
      const url = (port: number) => ({ ...env, DATABASE_URL: `postgres://open@127.0.0.1:${port}/silent` })
      expect((await run(['migrate'], { cwd, env: url(server.port) })).code).toBe(0)
      const port = await startSilencing(server.port, 'from installation')
      expect(await runRefused(['serve', '--port', '0'], { cwd, env: url(port) })).toMatch(
        /^The database cannot be reached: check DATABASE_URL and that the server runs\.$/m,
      )
    })

    test('a database that takes no writes, and one without a connection left', async () => {
      const url = `postgres://open@127.0.0.1:${server.port}/postgres`
      const database = openDatabase({ url }, { max: 1, onError: () => {} })
      onTestFinished(() => database.close())
      await database.query(sql`create database stubborn`)
      await database.query(sql`alter database stubborn set default_transaction_read_only = on`)
      expect(
        await runRefused(['partner', 'create', '--name', 'A'], place('open@127.0.0.1', 'stubborn')),
      ).toMatch(/^PostgreSQL lets the user of DATABASE_URL only read \(default_transaction_read_only\)/)
      await database.query(sql`alter database stubborn connection limit 0`)
      // No limit holds for a superuser.
      await database.query(sql`alter role plain nosuperuser`)
      expect(await refusal('plain:right@127.0.0.1', 'stubborn')).toMatch(/^PostgreSQL has no connection left/)
    })

    const behind = async (...settings: string[]) => ({
      cwd,
      env: { DATABASE_URL: `postgres://open@127.0.0.1:${await startPooler(server, settings)}/postgres` },
    })

    test('a pooler that refuses the options of a session', async () => {
      expect(await runRefused(['partner', 'list'], await behind('pool_mode = session'))).toMatch(
        /^A pooler in front of PostgreSQL refuses the options of a session\. Connect to PostgreSQL directly/,
      )
    })

    test('a pooler that drops the settings of a session in silence', async () => {
      const dropping = await behind('pool_mode = session', 'ignore_startup_parameters = options')
      for (const words of [['partner', 'list'], ['migrate']])
        expect(await runRefused(words, dropping)).toMatch(
          /^The settings of a session do not arrive at PostgreSQL \(statement_timeout is 0, .*\), as a pooler drops them\./,
        )
      const served = await run(['serve', '--port', '0'], dropping)
      expect(served.code).toBe(1)
      expect(served.stderr).toContain('as a pooler drops them')
    })

    test('a pooler in transaction mode, which lends one session to two connections', async () => {
      const shared = await behind('pool_mode = transaction', 'ignore_startup_parameters = options')
      // PostgreSQL reports 42P05 when the second connection prepares a statement that the first has prepared on the
      // same server process.
      const lost =
        /^A pooler in transaction mode stands in front of PostgreSQL, and prepared statements are lost\./
      expect(await runRefused(['migrate'], shared)).toMatch(lost)
      const served = await run(['serve', '--port', '0'], shared)
      expect(served.code).toBe(1)
      expect(served.stderr).toMatch(/A pooler in transaction mode stands in front of PostgreSQL/)
    })

    test('a user whom the server lets in from nowhere', async () => {
      expect(await refusal('nobody@127.0.0.1')).toMatch(
        /^PostgreSQL does not let this user in (from here: check the user|without encryption)/,
      )
    })

    test('a server without TLS, where TLS is asked for', async () => {
      const plain = await behind('pool_mode = session', 'client_tls_sslmode = disable')
      const url = `${plain.env.DATABASE_URL}?sslmode=verify-full`
      expect(await runRefused(['partner', 'list'], { ...plain, env: { DATABASE_URL: url } })).toMatch(
        /^PostgreSQL speaks no TLS, and DATABASE_URL asks for it/,
      )
    })

    test('keys that are not those of the database, and none at all: which key is wanted, and nothing is made', async () => {
      const own = place('open@127.0.0.1')
      const rootKey = () => ({ ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64') })
      const env = { ...own.env, ...rootKey() }
      expect((await run(['migrate'], { cwd, env })).code).toBe(0)
      // The first service marks the database with the key.
      const first = await startKeptProcess(['serve', '--port', '0'], { cwd, env })
      expect(await first.stop()).toBe(0)
      expect(await runRefused(['partner', 'list'], { cwd, env: { ...env, ...rootKey() } })).toMatch(
        /^The keys are not those of this database: it belongs to the root key \S+, and these are \S+\./,
      )
      expect(await runRefused(['partner', 'list'], { cwd, env: own.env })).toMatch(
        /^There is no \S+keyring\.json, and this database belongs to the root key \S+: restore .* \(none was made\), name its directory with --data, or set/,
      )
      expect(existsSync(join(cwd, 'data'))).toBe(false)
    })
  },
)
