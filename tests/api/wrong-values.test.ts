// @prism

import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, startTestService } from '../rig.ts'
import { openCaller } from './raw.ts'
import { fieldsOf, refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

const service = forAllTests(startTestService)
const partner = forAllTests(() => service.newPartner())

describe('400 bad_request', () => {
  test.each([
    ['no userid', {}, 'userid'],
    ['null for a field that must be given', { userid: null }, 'userid'],
    ['null for a field that does not exist', { userid: 'u1', nickname: null }, 'nickname'],
    ['a number as a text', { userid: 1 }, 'userid'],
    ['a ZIP code as a number', { userid: 'u1', zipcode: 33101 }, 'zipcode'],
    ['a boolean as a text', { userid: 'u1', lastname: true }, 'lastname'],
    ['a list as a text', { userid: 'u1', email: ['a@b.co'] }, 'email'],
    ['a text as an object', { userid: 'u1', address: 'x' }, 'address'],
    ['an unknown field', { userid: 'u1', first_name: 'Ada' }, 'first_name'],
    ['a field in another case', { userid: 'u1', firstName: 'Ada' }, 'firstName'],
    ['an unknown field inside', { userid: 'u1', address: { zip: '33101' } }, 'address.zip'],
    ['a field named constructor', { userid: 'u1', constructor: {} }, 'constructor'],
  ])('%s names the field', async (_, sent, field) => {
    const refusal = await refusalOf(partner.client.prefillUser(unchecked(sent)))
    expect(refusal).toMatchObject({ status: 400, code: 'bad_request' })
    expect(fieldsOf(refusal)).toEqual([field])
  })

  test.each([
    [{ age: '36' }, 'age must be a whole number, not text'],
    [{ age: 36.5 }, 'age must be a whole number from 0 to 120'],
    [{ state: 12 }, 'state must be text, not a number'],
    [{ zipcode: 33101 }, 'zipcode must be text, not a number'],
    [{ offername: ['starter'] }, 'offername must be text, not a list'],
    [{ age: null }, 'age is required'],
  ])('%j is told its type, never a bound that it cannot meet', async (sent, message) => {
    const asks = { userid: 'u1', ...adaAsks, ...unchecked<object>(sent) }
    expect(await refusalOf(partner.client.getBenefits(asks))).toMatchObject({ errors: [{ message }] })
  })

  test('a body that is missing is said to be an object', async () => {
    const { send } = await openCaller(service, partner)
    const { body } = await send('POST', '/user/account/create')
    expect(body).toMatchObject({
      status: 400,
      errors: [{ field: 'body', message: 'body must be an object' }],
    })
  })

  test('a parameter of a path that is far too long is named', async () => {
    const refusal = await refusalOf(partner.client.cancelUser({ userid: 'u'.repeat(3000) }))
    expect(fieldsOf(refusal)).toEqual(['userid'])
  })

  test('null in a list is refused', async () => {
    const benefits = unchecked<[]>(['dental', null])
    const refusal = await refusalOf(partner.client.createUser({ userid: 'u1', ...ada, benefits }))
    expect(refusal).toMatchObject({ errors: [{ message: 'benefits[1] must be text, not null' }] })
  })

  test('a list that is far too long is refused for its length, and none of its items is judged', async () => {
    const consents = unchecked<[]>(Array.from({ length: 15_000 }, () => ({})))
    const refusal = await refusalOf(partner.client.createUser({ userid: 'u1', consents }))
    expect(fieldsOf(refusal)).toEqual(['consents'])
    expect(refusal).toMatchObject({ errors: [{ code: 'maxItems' }] })
  })

  test('a large request is told its first wrong field, since to gather all would cost too much', async () => {
    const sent = { userid: '', firstname: 'x'.repeat(20_000), zipcode: 'x' }
    expect(fieldsOf(await refusalOf(partner.client.prefillUser(sent)))).toHaveLength(1)
  })

  test('all wrong fields are named at once', async () => {
    const sent = { userid: '', zipcode: 'x', dob: 'y', extra: 1 }
    const refusal = await refusalOf(partner.client.prefillUser(unchecked(sent)))
    expect(fieldsOf(refusal).sort()).toEqual(['dob', 'extra', 'userid', 'zipcode'])
  })

  test.each(['36', 36.5, null, true, -1, 121, [36]])(
    'an age of %j is not taken for a number of years',
    async age => {
      const asks = { userid: 'u1', ...adaAsks, age: unchecked<number>(age) }
      const refusal = await refusalOf(partner.client.getBenefits(asks))
      expect(refusal).toMatchObject({ status: 400, code: 'bad_request' })
      expect(fieldsOf(refusal)).toEqual(['age'])
    },
  )

  test.each([
    ['state', 'FL', 'a prefill takes it from the address only', 'prefillUser'],
    ['benefits', ['dental'], 'first picks belong to create', 'prefillUser'],
    ['dob', '1990-03-27', 'age is asked for', 'getBenefits'],
    ['include', ['timeline'], 'of get only', 'createUser'],
    ['email', 'a@b.co', 'get takes no data', 'getUser'],
  ] as const)('%s = %j in a request that does not have it: %s', async (field, value, _, call) => {
    const whole = {
      prefillUser: { userid: 'u1' },
      getBenefits: { userid: 'u1', ...adaAsks },
      createUser: { userid: 'u1', ...ada, offername: 'starter' },
      getUser: { userid: 'u1' },
    }[call]
    const refusal = await refusalOf(partner.client[call](unchecked({ ...whole, [field]: value })))
    expect(refusal).toMatchObject({ status: 400, errors: [{ field, code: 'unknown_field' }] })
  })

  test('names and address lines hold no control characters in an update either', async () => {
    const sent = {
      userid: 'u1',
      firstname: 'A\nB',
      lastname: '\u0085',
      address: { addline1: '\t', city: 'a\u007f' },
    }
    const refusal = await refusalOf(partner.client.updateUser(sent))
    expect(refusal).toMatchObject({ status: 400, code: 'bad_request' })
    expect(fieldsOf(refusal).sort()).toEqual(['address.addline1', 'address.city', 'firstname', 'lastname'])
  })

  test.each(['.', '..'])('the userid %s', async userid => {
    for (const call of ['prefillUser', 'getUser', 'createUser', 'eraseUser'] as const) {
      const refusal = await refusalOf(partner.client[call]({ userid, offername: 'starter' }))
      expect(refusal).toMatchObject({ status: 400 })
      expect(fieldsOf(refusal)).toContain('userid')
    }
  })
})

test('404 not_found says what was not found: a session, a result', async () => {
  const sessionid = '019abc12-3456-7def-8123-456789abcdea'
  const unknown = [
    [() => partner.client.revokeLinkToken({ sessionid }), /^The sessionid is unknown/],
    [() => partner.client.exchangeResult({ resulttoken: 'x' }), /^The result token is unknown/],
  ] as const
  for (const [call, detail] of unknown) {
    const refusal = await refusalOf(call())
    expect(refusal).toMatchObject({ status: 404, code: 'not_found' })
    expect(refusal.detail).toMatch(detail)
  }
})

test('userids are compared as sent, and percent-encoded in paths', async () => {
  const { client } = await service.newPartner()
  const userids = ['a/b', 'ä ö?&#%', 'A', 'a', ' a', '.hidden', '...', '%2e%2e', 'e\u0301', '\u00e9']
  const serviceids = new Set<string>()
  for (const userid of userids) {
    const { serviceid } = await client.createUser({ userid, ...ada, offername: 'starter' })
    serviceids.add(serviceid)
    expect(await client.cancelUser({ userid })).toMatchObject({ userid, serviceid })
    expect(await client.getUser({ userid })).toMatchObject({ userid, serviceid })
  }
  expect(serviceids.size).toBe(userids.length)
})

const account = { userid: 'u1', ...ada, offername: 'starter' }
const given = { name: 'identity', version: '2026-01' }

describe('an empty string', () => {
  test('"" in a required string is refused', async () => {
    const { client } = await service.newPartner()
    const refused = [
      [() => client.prefillUser({ userid: '' }), 'userid'],
      [() => client.changeOffer({ userid: 'u1', offername: '' }), 'offername'],
      [() => client.enrolBenefit({ userid: 'u1', name: '' }), 'name'],
      [() => client.createUser({ ...account, consents: [{ ...given, version: '' }] }), 'consents[0].version'],
    ] as const
    for (const [call, field] of refused) {
      expect(await refusalOf(call())).toMatchObject({ status: 400, errors: [{ field }] })
    }
  })
})
