import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ada, adaAsks, startTestService, type TestService } from '../rig.ts'
import { type Caller, openCaller } from './send.ts'

let service: TestService
const callers: Caller[] = []
const tokens: string[] = []
beforeAll(async () => {
  service = await startTestService()
  callers.push(await openCaller(service), await openCaller(service))
  for (const caller of callers) {
    await liveThrough(caller)
    tokens.push((await caller.credentials())['authorization']?.slice('Bearer '.length) ?? '')
  }
})
afterAll(() => service[Symbol.asyncDispose]())

const canaries = [
  ...['Adacanary', 'Riveracanary', 'ada.canary@example.com', '1990-03-27', '3055550142', '12 Canary Drive'],
  ...['Ciudadcanaria', 'Evecanary', '3055559876', '1985-11-30', 'Reasoncanary'],
]
const key = 'keycanary-7f3a'

/** Every operation on a user, well and badly asked, with canaries wherever a person's data may stand. */
const liveThrough = async (caller: Caller): Promise<void> => {
  const { post, send } = caller
  const v2 = { version: 'v2', 'idempotency-key': `${key}-1` }
  const person = { ...ada, address: { ...ada.address, city: 'Ciudadcanaria' } }
  const user = { userid: 'u1' }
  await post('/user/prefill', { ...user, ...person }, v2)
  await post('/user/prefill', { ...user, ...person }, v2)
  await post('/user/prefill', { ...user, ...person, firstname: 'Evecanary' }, v2)
  await post('/user/prefill', { ...user, phone: 3055550142, Adacanary: 'Riveracanary' })
  await post('/user/prefill', { ...user, ...person, zipcode: 'ada.canary@example.com' })
  await send('POST', '/user/prefill', { bytes: '{"firstname":"Adacanary","firstname":"Riveracanary"' })
  await send('POST', '/user/Adacanary/3055550142?dob=1990-03-27')
  await send('DELETE', '/user/account/cancel/nobody?email=ada.canary@example.com')
  await post('/user/benefits', { ...user, ...adaAsks, partnername: 'Adacanary' })
  await post('/user/benefits', { ...user, ...adaAsks })
  const created = { ...user, ...person, offername: 'starter', benefits: ['dental', 'identity'] }
  const keyed = { 'idempotency-key': `"${key}-2"` }
  await post('/user/account/create', { ...created, dob: '2020-01-01' }, keyed)
  await post('/user/account/create', created, keyed)
  await post('/user/account/create', created, keyed)
  await post('/user/account/get', { ...user, include: ['timeline'] })
  const update = { ...user, firstname: 'Evecanary', phone: '3055559876', dob: '1985-11-30' }
  await post('/user/account/update', update, { 'idempotency-key': `${key}-3` })
  await post('/user/prefill', { ...user, ...person })
  const consents = [{ name: 'identity', version: '2026-01' }]
  await post('/user/benefits/enrol', { ...user, name: 'identity', consents })
  await post('/user/benefits/decline', { ...user, name: 'vision', reason: 'Reasoncanary Adacanary' })
  await post('/user/benefits/swap', { ...user, add: ['legal'], remove: ['dental'] })
  await post('/user/offers/preview', { ...user, offername: 'plus' })
  await post('/user/offers/available', user)
  await post('/user/offers', { ...user, offername: 'premier' }, { 'idempotency-key': `${key}-4` })
  await send('DELETE', '/user/benefits/swap/u1')
  await send('DELETE', '/user/offers/pending/u1')
  await send('DELETE', '/user/account/cancel/u1?effective=immediate')
  await post('/user/account/reinstate', user)
  await post('/user/prefill', { ...user, ...person, userid: 'u2' })
  await post('/user/account/create', { ...created, userid: 'u3' })
  await post('/user/account/erase', { userid: 'u3' }, { 'idempotency-key': `${key}-5` })
}

/** Every table as text. */
const dump = async (): Promise<Map<string, string>> => {
  const tables = await service.database.query<{ name: string }>({
    name: '',
    text: `select table_name as name from information_schema.tables where table_schema = 'public'`,
    values: [],
  })
  const texts = new Map<string, string>()
  for (const { name } of tables) {
    const rows = await service.database.query<{ row: string }>({
      name: '',
      text: `select t::text as row from "${name}" t`,
      values: [],
    })
    texts.set(name, rows.map(({ row }) => row).join('\n'))
  }
  return texts
}

/** A text as it may stand in a dump: in clear, in hexadecimal, in base64. */
const forms = (text: string): string[] => {
  const bytes = Buffer.from(text)
  return [text, bytes.toString('hex'), bytes.toString('base64').replace(/.{2}=*$/, '')]
}
const found = (haystack: string, needles: readonly string[]): string[] =>
  needles.filter(needle => forms(needle).some(form => haystack.toLowerCase().includes(form.toLowerCase())))

describe('after a run of all operations', () => {
  const secrets = () => [
    ...callers.flatMap(({ partner }) => [partner.clientSecret, partner.apiKey]),
    ...tokens,
    ...['-1', '-2', '-3', '-4', '-5'].map(suffix => key + suffix),
  ]

  test('the run was one: the users are there, and what is looked for can be found where it may stand', async () => {
    const tables = await dump()
    expect(tables.get('users')).toContain('u1')
    expect(tables.get('documents')?.split('\n').length).toBeGreaterThanOrEqual(4)
    expect(tables.get('events')).toContain(Buffer.from('offer_upgrade_successful').toString('hex'))
    expect(found(tables.get('users') ?? '', ['premier', 'nowhere'])).toEqual(['premier'])
    for (const { send } of callers) {
      const answer = await send('POST', '/user/account/get', { body: { userid: 'u1' } })
      expect(answer).toMatchObject({ status: 200, body: { status: 'active' } })
    }
  })

  test('no table holds a name, a date, a phone, an address or a reason in clear', async () => {
    for (const [table, text] of await dump()) expect([table, found(text, canaries)]).toEqual([table, []])
  })

  test('no table holds a token, a secret, an API key or an idempotency key', async () => {
    for (const [table, text] of await dump()) expect([table, found(text, secrets())]).toEqual([table, []])
  })

  test('no log line holds any of them, nor a userid', () => {
    const lines = service.logged.map(line => JSON.stringify(line)).join('\n')
    expect(service.logged.length).toBeGreaterThanOrEqual(60)
    expect(found(lines, [...canaries, ...secrets()])).toEqual([])
    expect(lines).not.toMatch(/"u[123]"|\/u[123]\b/)
  })

  test('an erased user leaves no key, no document and no answer behind', async () => {
    const [row] = await service.database.query<Record<string, number>>({
      name: '',
      text: `select
        (select count(*) from data_keys k join users u using (partner_id, service_id) where u.status = 'erased') as keys,
        (select count(*) from documents d join users u using (partner_id, service_id) where u.status = 'erased') as documents,
        (select count(*) from idempotency_keys k join users u using (partner_id, service_id)
          where u.status = 'erased' and k.sealed_answer is not null) as answers,
        (select count(*) from users where status = 'erased') as users`,
      values: [],
    })
    expect(row).toEqual({ keys: 0, documents: 0, answers: 0, users: 2 })
  })
})
