// @prism

import { beforeAll, describe, expect, test } from 'vitest'
import type { BulkLine } from '../../client/src/index.ts'
import { operations } from '../../contract/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, startTestService, type TestPartner } from '../rig.ts'
import { keepTexts } from './listener.ts'
import { openCaller } from './raw.ts'
import { outcomesOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

const partners: TestPartner[] = []
const tokens: string[] = []
// In the middle of a month, because at its end swaps are refused.
const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))
beforeAll(async () => {
  for (const _ of ['one', 'another']) {
    const partner = await service.newPartner()
    partners.push(partner)
    await liveThrough(partner)
  }
})

const canaries = [
  'Adacanary',
  'Riveracanary',
  'ada.canary@example.com',
  '1990-03-27',
  '3055550142',
  '12 Canary Drive',
  'Ciudadcanaria',
  'Evecanary',
  'Childcanary',
  '3055559876',
  '1985-11-30',
  'Reasoncanary',
  'Detailcanary',
  'Laterdetailcanary',
]
const key = 'keycanary-7f3a'
const called = new Set<string>()
/** The operations that neither take nor give anything of a person but ids. */
const withoutPerson = [
  ...['listWebhooks', 'createWebhook', 'getWebhook', 'updateWebhook', 'deleteWebhook', 'testWebhook'],
  ...['enableWebhook', 'replayWebhook', 'listEvents', 'getEvent', 'listAttempts', 'replayEvent'],
  ...['listStatements', 'revokeLinkToken', 'exchangeResult', 'advanceClock'],
]

/** Every operation on a user, with right and wrong requests, and with canaries in every place for personal data. */
async function liveThrough(partner: TestPartner): Promise<void> {
  const { texts, fetch } = keepTexts(service.conformance.fetch)
  const client = new Proxy(partner.connect({ fetch }), {
    get(target, name, receiver) {
      called.add(String(name))
      return Reflect.get(target, name, receiver)
    },
  })
  const v2 = { idempotencyKey: `${key}-1` }
  const person = { ...ada, address: { ...ada.address, city: 'Ciudadcanaria' } }
  const user = { userid: 'u1' }
  const created = {
    ...user,
    ...person,
    offername: 'starter',
    benefits: ['dental', 'identity'],
    moredetails: { site: 'Detailcanary' },
  }
  const child = {
    relationship: 'child',
    firstname: 'Childcanary',
    lastname: 'King',
    dob: '2019-05-04',
  } as const
  const benefits = [{ name: 'dental' }]
  const keyed = { idempotencyKey: `"${key}-2"` }
  const consents = [{ name: 'identity', version: '2026-01' }]
  const update = {
    ...user,
    firstname: 'Evecanary',
    phone: '3055559876',
    dob: '1985-11-30',
    moredetails: { site: 'Laterdetailcanary' },
  }
  const reason = 'Reasoncanary Adacanary'
  const steps: [() => Promise<unknown>, 200 | string][] = [
    [() => client.prefillUser({ ...user, ...person }, v2), 200],
    [() => client.prefillUser({ ...user, ...person }, v2), 'user_exists'],
    [() => client.prefillUser({ ...user, firstname: 'Evecanary' }, v2), 'idempotency_key_reused'],
    [() => client.prefillUser(unchecked({ ...user, phone: 3055550142, Adacanary: 'x' })), 'bad_request'],
    [() => client.prefillUser({ ...user, ...person, zipcode: 'ada.canary@example.com' }), 'bad_request'],
    [() => sendRaw(partner), 200],
    [() => client.getBenefits({ ...user, ...adaAsks, partnername: 'Adacanary' }), 'partnername_not_allowed'],
    [() => client.getBenefits({ ...user, ...adaAsks }), 200],
    [() => client.createUser({ ...created, dob: '2020-01-01' }, keyed), 'ineligible'],
    [() => client.createUser(created, keyed), 200],
    [() => client.createUser(created, keyed), 200],
    [() => client.getUser({ ...user, include: ['timeline'] }), 200],
    [() => client.updateUser(update, { idempotencyKey: `${key}-3` }), 200],
    [() => client.prefillUser({ ...user, ...person }), 200],
    [() => client.enrolBenefit({ ...user, name: 'identity', consents }), 200],
    [() => client.declineBenefit({ ...user, name: 'vision', reason }), 200],
    [() => client.setDependants({ ...user, dependants: [{ ...child, dob: '2099-01-01' }] }), 'bad_request'],
    [() => client.setDependants({ ...user, dependants: [child] }), 200],
    [() => client.getDependants(user), 200],
    [
      () => client.changeCover({ ...user, name: 'identity', dependants: ['Childcanary'] }),
      'dependant_unknown',
    ],
    [() => client.undoCover({ ...user, name: 'identity' }), 'dependant_not_eligible'],
    [() => client.swapBenefits({ ...user, add: ['legal'], remove: ['dental'] }), 200],
    [() => client.previewOfferChange({ ...user, offername: 'plus' }), 200],
    [() => client.listAvailableOffers(user), 200],
    [() => client.changeOffer({ ...user, offername: 'premier' }, { idempotencyKey: `${key}-4` }), 200],
    [() => client.undoSwap(user), 200],
    [() => client.undoOfferChange(user), 200],
    [() => client.cancelUser(unchecked({ ...user, email: 'ada.canary@example.com' })), 'bad_request'],
    [() => client.cancelUser({ ...user, effective: 'immediate' }), 200],
    [() => client.reinstateUser(user), 200],
    [() => client.prefillUser({ ...person, userid: 'u2' }), 200],
    [() => client.createUser({ ...created, userid: 'u3', dependants: [{ ...child, benefits }] }), 200],
    [() => client.eraseUser({ userid: 'u3' }, { idempotencyKey: `${key}-5` }), 200],
    [
      () =>
        client.createLinkToken({ ...user, deeplinkdata: `redirecturl=${encodeURIComponent('Adacanary')}` }),
      'bad_request',
    ],
    [() => client.createLinkToken(user), 200],
    [() => client.getBeneficiaries(user), 200],
    [() => client.listUsers({}), 200],
    [() => client.listStatementLines({ month: '2027-03' }), 200],
    [() => bulkOf(client, { ...created, userid: 'u4' }, 200), 200],
    [() => bulkOf(client, { ...created, userid: 'u5', dob: 'Adacanary' }, 400), 200],
  ]
  for (const [index, [step, wanted]] of steps.entries()) {
    expect([index, ...(await outcomesOf([step()]))]).toEqual([index, wanted])
  }
  const { access_token: token } = JSON.parse(texts[0] ?? '') as { access_token: string }
  tokens.push(token)
}

/** Sends one line of a bulk. */
async function bulkOf(client: TestPartner['client'], body: object, wanted: number): Promise<void> {
  for await (const { status } of client.bulk([{ operation: 'create', key: `${key}-6`, body } as BulkLine]))
    expect(status).toBe(wanted)
}

/** Requests that a client cannot send: broken JSON, and canaries in a path and in a query that do not exist. */
async function sendRaw(partner: TestPartner): Promise<void> {
  const { send, credentials } = await openCaller(service, partner)
  const broken = { bytes: '{"firstname":"Adacanary","firstname":"Riveracanary"' }
  expect(await send('POST', '/user/prefill', broken)).toMatchObject({ status: 400 })
  expect(await send('POST', '/user/Adacanary/3055550142?dob=1990-03-27')).toMatchObject({ status: 404 })
  tokens.push((await credentials())['authorization']?.slice('Bearer '.length) ?? '')
}

/** Every table as text. */
async function dump(): Promise<Map<string, string>> {
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

/** The forms in which a text may appear in a dump: in clear, in hexadecimal, in base64. */
function forms(text: string): string[] {
  const bytes = Buffer.from(text)
  return [text, bytes.toString('hex'), bytes.toString('base64').replace(/.{2}=*$/, '')]
}
function found(haystack: string, needles: readonly string[]): string[] {
  return needles.filter(needle =>
    forms(needle).some(form => haystack.toLowerCase().includes(form.toLowerCase())),
  )
}

describe('after a run of all operations', () => {
  const secrets = () => [
    ...partners.flatMap(({ clientSecret, apiKey }) => [clientSecret, apiKey]),
    ...tokens,
    ...['-1', '-2', '-3', '-4', '-5', '-6'].map(suffix => key + suffix),
  ]

  test('the run was one: the users are there, and what is looked for can be found where it may stand', async () => {
    const tables = await dump()
    expect(tables.get('users')).toContain('u1')
    expect(tables.get('sealed_records')?.split('\n').length).toBeGreaterThanOrEqual(4)
    expect(tables.get('events')).toContain(Buffer.from('offer_upgrade_successful').toString('hex'))
    expect(found(tables.get('users') ?? '', ['premier', 'nowhere'])).toEqual(['premier'])
    expect(tokens.map(token => token.slice(0, 7))).toEqual(['enr_at_', 'enr_at_', 'enr_at_', 'enr_at_'])
    for (const { client } of partners) {
      expect(await client.getUser({ userid: 'u1' })).toMatchObject({ status: 'active' })
    }
  })

  test('every operation of a partner took part, unless it takes and gives nothing of a person', () => {
    const ids = Object.values(operations)
      .filter(({ caller }) => caller === 'partner')
      .map(({ id }) => id)
    expect(ids.filter(id => !called.has(id)).sort()).toEqual(withoutPerson.sort())
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
        (select count(*) from sealed_records d join users u using (partner_id, service_id) where u.status = 'erased') as documents,
        (select count(*) from idempotency_keys k join users u using (partner_id, service_id)
          where u.status = 'erased' and k.sealed_answer is not null) as answers,
        (select count(*) from users where status = 'erased') as users`,
      values: [],
    })
    expect(row).toEqual({ keys: 0, documents: 0, answers: 0, users: 2 })
  })
})
