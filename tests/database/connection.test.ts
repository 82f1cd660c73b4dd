import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newDirectory, run, runRefused } from '../command/process.ts'
import { canRunServers, type OwnServer, startOwnServer, startPooler } from './own-server.ts'

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
          'PostgreSQL refused the password: check user and password in DATABASE_URL.',
        )
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
      expect(await refusal('sealed:right@localhost', 'postgres?sslmode=verify-full')).toMatch(
        /^The certificate of PostgreSQL is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\): add `\?sslmode=verify-full&sslrootcert=FILE`/,
      )
      const trusted = `postgres?sslmode=verify-full&sslrootcert=${server.certificate}`
      expect(await refusal('sealed:right@localhost', trusted)).toMatch(/^This database is empty/)
      expect(await refusal('sealed:right@127.0.0.1', trusted)).toContain('(ERR_TLS_CERT_ALTNAME_INVALID)')
    })

    test('a server that is not there', async () => {
      expect(
        await runRefused(['partner', 'list'], {
          cwd,
          env: { DATABASE_URL: 'postgres://open@127.0.0.1:1/x' },
        }),
      ).toBe('The database cannot be reached (ECONNREFUSED): check DATABASE_URL and that the server runs.')
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

    test('a pooler in transaction mode', async () => {
      const shared = await behind('pool_mode = transaction', 'ignore_startup_parameters = options')
      expect(await runRefused(['migrate'], shared)).toMatch(/^A pooler in transaction mode stands in front/)
    })
  },
)
