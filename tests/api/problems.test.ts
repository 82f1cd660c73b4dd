// @prism

// The document itself, and answers outside operations, are read raw; what the client makes of them is tested through
// it.
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { errors } from '../../contract/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { checkLogs } from '../trust/canaries.ts'
import { openOwnJournal } from '../trust/journal.ts'
import { checkUsers } from '../trust/ledger.ts'
import { keepTexts, listenTo } from './listener.ts'
import { openCaller, send } from './raw.ts'
import { refusalOf } from './refusal.ts'

const service = forAllTests(() => startTestService({ basePath: '/v1' }))

const json = { 'content-type': 'application/json' }

describe('a problem document (RFC 9457)', () => {
  test('has exactly its members; type, instance and requestid name page and request', async () => {
    const { texts, fetch } = keepTexts(service.conformance.fetch)
    const { client, last } = listenTo(await service.newPartner(), { fetch })
    const refusal = await refusalOf(client.prefillUser({ userid: 'u1', zipcode: 'x' }))
    const { requestId: requestid, headers } = last()
    const problem = JSON.parse(texts.at(-1) ?? '') as Record<string, unknown>
    expect(Object.keys(problem)).toEqual([
      'type',
      'title',
      'status',
      'detail',
      'instance',
      'code',
      'requestid',
      'errors',
      'usermessage',
    ])
    expect(problem).toEqual({
      type: `${service.service().baseUrl}/docs/errors/bad_request`,
      title: 'The request is not valid',
      status: 400,
      detail: 'Correct the fields named in errors and send the request again.',
      instance: `urn:uuid:${requestid}`,
      code: 'bad_request',
      requestid,
      errors: [{ field: 'zipcode', code: 'pattern', message: 'zipcode must be 5 or 9 digits, like 33101' }],
      usermessage: 'We could not process your information. Please contact the company that sent you here.',
    })
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
    // The client's view of the problem.
    const { status, code, detail, errors, requestId, userMessage } = refusal
    expect({ status, code, detail, errors, requestid: requestId, usermessage: userMessage }).toEqual(
      Object.fromEntries(
        ['status', 'code', 'detail', 'errors', 'requestid', 'usermessage'].map(name => [name, problem[name]]),
      ),
    )
  })

  test('usermessage comes in the language of Accept-Language, whatever was refused', async () => {
    const { send: call } = await openCaller(service)
    const spanish = 'No pudimos procesar su información. Comuníquese con la empresa que le envió aquí.'
    const headers = { 'accept-language': 'es' }
    for (const answer of [
      await call('POST', '/user/prefill', { body: {}, headers }),
      await call('POST', '/user/account/get', { body: { userid: 'nobody' }, headers }),
      await call('GET', '/user/prefill', { headers }),
      await call('GET', '/nothing', { headers }),
      await send(service, 'POST', '/user/prefill', { headers: { ...json, ...headers } }),
    ]) {
      expect(answer.body).toMatchObject({ usermessage: spanish })
      expect(answer.headers.get('content-language')).toBe('es')
    }
  })

  test('each request has an id of its own, also one that asks for another', async () => {
    const ids = new Set<string | null>()
    for (let count = 0; count < 5; count += 1) {
      const answer = await send(service, 'GET', '/healthz', { headers: { 'request-id': 'mine' } })
      ids.add(answer.headers.get('request-id'))
    }
    expect(ids.size).toBe(5)
    expect(ids.has('mine')).toBe(false)
  })

  test('the Host header never reaches an address', async () => {
    const answer = await send(service, 'GET', '/nothing', { headers: { 'x-forwarded-host': 'evil.example' } })
    expect(answer.text).not.toContain('evil')
  })
})

test.each(Object.entries(errors))('the page of %s is served where type points', async (code, entry) => {
  const answer = await send(service, 'GET', `/docs/errors/${code}`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(answer.text).toContain(`<h1>${code}</h1>`)
  expect(answer.text).toContain(String(entry.status))
})

test('there is no page of what is no code', async () => {
  for (const code of ['nonsense', 'constructor', '%3Cscript%3E']) {
    expect((await send(service, 'GET', `/docs/errors/${code}`)).status).toBe(404)
  }
})

describe('healthz and readyz', () => {
  test('answer 200 without credentials', async () => {
    for (const path of ['/healthz', '/readyz']) {
      expect(await send(service, 'GET', path)).toMatchObject({ status: 200, body: { status: 'ok' } })
    }
  })

  test('while the database is away: alive, not ready, 503 with Retry-After to all, also on the page; then as before', async () => {
    await using own = await startTestService()
    const { client, partnerId } = await own.newPartner()
    const journal = openOwnJournal()
    const prefill = () => client.prefillUser({ userid: 'u1', ...ada })
    await journal.write('u1', 'prefill', prefill)
    const { linkurl } = await client.createLinkToken({ userid: 'u1' })
    const { address } = own
    const [{ database = '' } = {}] = await own.database.query<{ database: string }>({
      name: '',
      text: 'select current_database() as database',
      values: [],
    })
    const admin = new pg.Client(
      'url' in address
        ? { connectionString: address.url.replace(`/${database}`, '/postgres') }
        : { ...address, database: 'postgres' },
    )
    await admin.connect()
    await admin.query(`alter database ${database} with allow_connections false`)
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
    expect((await send(own, 'GET', '/healthz')).status).toBe(200)
    const ready = await send(own, 'GET', '/readyz')
    expect(ready).toMatchObject({ status: 503, code: 'unavailable' })
    expect(ready.headers.get('retry-after')).toBe('1')
    for (const refusal of [await refusalOf(prefill()), await refusalOf(client.getUser({ userid: 'u1' }))]) {
      expect(refusal).toMatchObject({ status: 503, code: 'unavailable', retryAfterMs: 1000 })
    }
    const page = await fetch(linkurl ?? '')
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await page.text()).toContain('We’re very busy right now')
    await admin.query(`alter database ${database} with allow_connections true`)
    await admin.end()
    expect((await send(own, 'GET', '/readyz')).status).toBe(200)
    expect(await journal.write('u1', 'prefill', prefill)).toBe('prefill saved')
    // What was refused is not in the journal, and must have had no effect.
    await checkUsers({ journal, database: own.database, partnerId })
    checkLogs(JSON.stringify(own.logged))
  })
})

test('a fault of our own is 500 internal and tells nothing but the request id', async () => {
  await using own = await startTestService()
  const { texts, fetch } = keepTexts(own.conformance.fetch)
  const client = (await own.newPartner()).connect({ fetch })
  await own.database.script('alter table users rename to users_elsewhere')
  const refusal = await refusalOf(client.prefillUser({ userid: 'Zqcanary' }))
  await own.database.script('alter table users_elsewhere rename to users')
  expect(refusal).toMatchObject({ status: 500, code: 'internal', errors: [] })
  expect(texts.at(-1)).not.toMatch(/users|relation|select|Zqcanary/)
  const failures = own.logged.filter(({ event }) => event === 'failure')
  expect(failures).toMatchObject([{ fields: { code: 'internal', causecode: '42P01' } }])
  expect(JSON.stringify(own.logged)).not.toContain('Zqcanary')
})
