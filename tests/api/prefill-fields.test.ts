import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { states } from '../../contract/src/index.ts'
import { ada, startTestService, type TestService } from '../rig.ts'
import { type Answer, type Caller, openCaller } from './send.ts'

let service: TestService
let caller: Caller
beforeAll(async () => {
  service = await startTestService()
  caller = await openCaller(service)
})
afterAll(() => service[Symbol.asyncDispose]())

/** A prefill of one field; a name like `address.city` stands inside the address. */
const prefillOf = (field: string, value: unknown): Promise<Answer> => {
  const inside = field.startsWith('address.') ? field.slice('address.'.length) : undefined
  const given = inside === undefined ? { [field]: value } : { address: { [inside]: value } }
  return caller.post('/user/prefill', { userid: 'u1', ...given })
}
const isoDate = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const day = 86_400_000

type Examples = { right: unknown[]; wrong: unknown[] }
const long = (count: number) => 'ä'.repeat(count)
const zipcodes = {
  right: ['33101', '331011234', '00501', ''],
  wrong: ['8040', '804011', '80401-1234', '80401 ', ' 80401', 'ABCDE', '８０４０１', '80401\n', '8040112345'],
}
const addressLines = { right: ['', '12 Ocean Drive', long(100)], wrong: [long(101)] }
const usps = {
  right: [...states, ''],
  wrong: ['fl', 'Fl', 'XX', 'FLA', 'F', ' FL', 'Florida', 'ZZ'],
}
const fields: Record<string, Examples> = {
  userid: {
    right: ['u', 'U', ' ', '...', 'ü😀/\\%', '😀'.repeat(128), 'x'.repeat(128)],
    wrong: ['', '.', '..', 'x'.repeat(129), '😀'.repeat(129), 'a\tb', 'a\nb', '\u0001', '\u007f', '\u0085'],
  },
  firstname: { right: ['', 'Zoë', "O'Neill", '李', '😀', long(100)], wrong: [long(101)] },
  lastname: { right: ['', 'de la Cruz', long(100)], wrong: [long(101)] },
  email: {
    right: ['', 'a@b.co', 'a+b.c@sub.example.com', `${'x'.repeat(242)}@example.com`],
    wrong: [
      'a',
      'a@',
      '@b.co',
      'a@b',
      'a@@b.co',
      'a@b@c.co',
      'a b@c.co',
      'a@b..co',
      'a@.co',
      'a@b.co.',
    ].concat(`${'x'.repeat(243)}@example.com`),
  },
  zipcode: zipcodes,
  dob: {
    right: ['', '1900-01-01', '2000-02-29', isoDate(Date.now() - day)],
    wrong: [
      '1899-12-31',
      '2001-02-29',
      '1990-13-01',
      '1990-00-10',
      '1990-04-31',
      '1990-4-1',
      '27/03/1990',
      '19900327',
      '1990-03-27T00:00:00Z',
      ' 1990-03-27',
      isoDate(Date.now() + 2 * day),
      '9999-12-31',
    ],
  },
  phone: {
    right: ['', '3055550142', '123456789012345'],
    wrong: [
      '305555014',
      '1234567890123456',
      '+13055550142',
      '305-555-0142',
      '305 555 0142',
      '３０５５５５０１４２',
    ],
  },
  gender: { right: ['M', 'F', 'X', 'U', ''], wrong: ['m', 'D', 'MF', 'female', ' '] },
  address: { right: [{}, ada.address], wrong: ['x', [], 1] },
  'address.addline1': addressLines,
  'address.addline2': addressLines,
  'address.addline3': addressLines,
  'address.city': { right: ['', 'Miami', long(60)], wrong: [long(61)] },
  'address.state': usps,
  'address.zipcode': zipcodes,
}

describe.each(Object.entries(fields))('%s', (field, { right, wrong }) => {
  test('what fits the rule is taken', async () => {
    const answers = await Promise.all(right.map(value => prefillOf(field, value)))
    expect(right.filter((_, index) => answers[index]?.status !== 200)).toEqual([])
  })

  test('what does not is 400: the field is named with its rule, the value is not told', async () => {
    const values = [...wrong, 7, false, null]
    const answers = await Promise.all(values.map(value => prefillOf(field, value)))
    for (const [index, value] of values.entries()) {
      const answer = answers[index]
      expect({ value, code: answer?.code }).toEqual({ value, code: 'bad_request' })
      if (!answer) continue
      const { errors } = answer.body as { errors: { field: string; code: string; message: string }[] }
      expect(errors).toHaveLength(1)
      expect(errors[0]).toMatchObject({ field, code: expect.stringMatching(/^[a-z_A-Z]+$/) })
      expect(errors[0]?.message.startsWith(`${field} must`)).toBe(true)
      if (typeof value === 'string' && value.length > 3) expect(answer.text).not.toContain(value)
    }
  })
})

describe('the record as a whole', () => {
  test('only userid is required', async () => {
    expect(await caller.post('/user/prefill', { userid: 'only' })).toMatchObject({ status: 200 })
    const answer = await caller.post('/user/prefill', { ...ada })
    expect(answer.body).toMatchObject({
      errors: [{ field: 'userid', code: 'required', message: 'userid is required' }],
    })
  })

  test('the body of the documented sample is taken: empty address lines, digits as text', async () => {
    expect(await caller.post('/user/prefill', { userid: 'sample', ...ada })).toMatchObject({ status: 200 })
  })

  test('a state at the top level is not a field of the prefill record', async () => {
    expect(await prefillOf('state', 'FL')).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'state', code: 'unknown_field' }] },
    })
  })

  test('the birth date of today is taken, that of tomorrow is not, by the date in the zone of the partner', async () => {
    const east = await openCaller(service, { timezone: 'Pacific/Kiritimati' })
    const west = await openCaller(service, { timezone: 'Pacific/Pago_Pago' })
    const zoned = (zone: string, at: number) =>
      new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date(at))
    const today = zoned('Pacific/Kiritimati', service.now())
    expect(await east.post('/user/prefill', { userid: 'u1', dob: today })).toMatchObject({ status: 200 })
    expect(await west.post('/user/prefill', { userid: 'u1', dob: today })).toMatchObject({ status: 400 })
  })
})

test('no problem document repeats a value that was sent', async () => {
  const canary = fc.stringMatching(/^[a-z0-9]{8}$/).map(text => `Zq${text}`)
  const value: fc.Arbitrary<unknown> = fc.oneof(
    canary,
    canary.map(text => `${text}@`),
    canary.map(text => text.repeat(30)),
    fc.array(canary, { minLength: 1, maxLength: 3 }),
    fc.record({ name: canary }),
  )
  const paths = [
    '/user/prefill',
    '/user/benefits',
    '/user/account/create',
    '/user/account/get',
    '/user/offers',
  ]
  const names = [...Object.keys(fields).filter(name => !name.includes('.')), 'age', 'state', 'offername']
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.dictionary(fc.constantFrom(...names, 'consents', 'include', 'benefits', 'effectivedate'), value, {
        minKeys: 1,
      }),
      async (path, sent) => {
        const answer = await caller.post(path, sent)
        if (answer.status === 200) return
        const told = JSON.stringify(answer.body)
        for (const [text] of JSON.stringify(sent).matchAll(/Zq[a-z0-9]{8}/g)) expect(told).not.toContain(text)
      },
    ),
    { numRuns: 150 },
  )
})

test('a name that looks like a value is not repeated as a field', async () => {
  const answer = await caller.post('/user/prefill', {
    userid: 'u1',
    'ada.canary@example.com': 1,
    '3055550142': 2,
  })
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ code: 'unknown_field' }] } })
  expect(answer.text).not.toContain('canary')
  expect(answer.text).not.toContain('3055550142')
})
